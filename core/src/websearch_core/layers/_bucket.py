"""How many extra requests a provider gets, so that retries and hedges cannot multiply an outage."""

from __future__ import annotations
import threading
from time import monotonic

from .._runtime.forks import start_over_after_fork

_MOST = 10.0  # requests saved up


class Bucket:
    """A bucket of extra requests: each call adds a *share* of one, each extra request takes one. It holds at most ten.

    Without a share there are always enough. *start* is what it holds at the beginning, and *per_second* what is gained
    by waiting, so that a program that calls seldom may always send some.

    Finagle's idea: https://finagle.github.io/blog/2016/02/08/retry-budgets.
    """

    def __init__(self, share: float | None, *, start: float = _MOST, per_second: float = 0.0) -> None:
        self._share, self._per_second = share, per_second
        self._left = start
        self._counted = monotonic()
        self.start_over()
        start_over_after_fork(self)

    def start_over(self) -> None:
        """Forget who holds the lock."""
        self._lock = threading.Lock()

    def add_call(self) -> None:
        if self._share is not None:
            with self._lock:
                self._refill(self._share)

    def take(self) -> bool:
        """Take a request out, and return whether there was one."""
        if self._share is None:
            return True
        with self._lock:
            self._refill(0)
            if self._left < 1:
                return False
            self._left -= 1
            return True

    def _refill(self, share: float) -> None:
        now = monotonic()
        by_time = (now - self._counted) * self._per_second if self._share else 0
        self._left = min(self._left + share + by_time, _MOST)
        self._counted = now
