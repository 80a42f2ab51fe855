"""How many extra requests a provider gets: retries and hedges must not multiply an
outage. And which calls are late.
"""

from __future__ import annotations
import re
import threading
from collections import deque
from time import monotonic

from .._runtime.forks import Restartable
from .._text.quantity import is_number
from ..errors import ConfigurationError

_MOST = 10.0  # requests saved up
_ENOUGH = 20  # times from which a percentile is taken
_KEPT = 200
_PERCENTILE = re.compile(r"p[5-9][0-9]", re.ASCII)


class Bucket(Restartable):
    """A bucket of extra requests: each call adds a *share* of one, each extra request
    takes one. It holds at most ten.

    Without a share there are always enough. *start* is what it holds at the beginning,
    and *per_second* what is gained by waiting, so that a program that calls seldom may
    always send some.

    Finagle's idea: https://finagle.github.io/blog/2016/02/08/retry-budgets.
    """

    def __init__(
        self, share: float | None, *, start: float = _MOST, per_second: float = 0.0
    ) -> None:
        self._share = share
        self._per_second = per_second
        self._left = start
        self._counted = monotonic()
        super().__init__()

    def start_over(self) -> None:
        """Forget who holds the lock."""
        self._lock = threading.Lock()

    def add_call(self) -> None:
        if self._share is not None:
            with self._lock:
                self._left = min(self._left + self._share, _MOST)

    def take(self) -> bool:
        """Take a request out, and return whether there was one."""
        if self._share is None:
            return True
        with self._lock:
            now = monotonic()
            if self._share:
                gained = (now - self._counted) * self._per_second
                self._left = min(self._left + gained, _MOST)
            self._counted = now
            if self._left < 1:
                return False
            self._left -= 1
            return True


class Hedging:
    """How long providers took lately, and how many more requests may be hedges: a
    *share* of the calls.

    A call is late after *hedge*: seconds, or a percentile of the times of the provider,
    such as ``p95``.
    """

    def __init__(self, hedge: float | str, share: float) -> None:
        self._seconds, self._percentile = parse_hedge(hedge)
        self._bucket = Bucket(share, start=1.0)
        self._times: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def begin(self, provider: str) -> float | None:
        """Count a call, and return after how many seconds it is late; None while too
        little is known.
        """
        self._bucket.add_call()
        if self._percentile is None:
            return self._seconds
        with self._lock:
            times = sorted(self._times.get(provider, ()))
        if len(times) < _ENOUGH:
            return None
        return times[int(len(times) * self._percentile)]

    def take(self) -> bool:
        """Return whether there may be another hedge, and count it."""
        return self._bucket.take()

    def add_time(self, provider: str, seconds: float) -> None:
        """Remember how long *provider* took, or at least, if nobody waited for it any
        more.
        """
        if self._percentile is not None:
            with self._lock:
                self._times.setdefault(provider, deque(maxlen=_KEPT)).append(seconds)


def parse_hedge(hedge: float | str) -> tuple[float, float | None]:
    """Return seconds, or the percentile that takes their place; raise
    `ConfigurationError` if *hedge* is neither.
    """
    if isinstance(hedge, str) and _PERCENTILE.fullmatch(hedge):
        return 0.0, int(hedge[1:]) / 100
    if is_number(hedge) and hedge > 0:
        return float(hedge), None
    raise ConfigurationError(
        "Fallback: hedge: must be a number of seconds, or a percentile from p50 to p99"
    )
