"""How many retries a provider gets, so that retries cannot multiply an outage."""

from __future__ import annotations

import threading
from time import monotonic
from typing import Any

from .._forks import start_over_after_fork

_MOST = 10.0  # retries saved up
_PER_SECOND = 0.1  # retries gained by waiting, so that a program that calls seldom may always retry


class RetryBudget:
    """
    A bucket of retries: each call adds a share of one, each retry takes one.

    Finagle's idea, with its default of 20 %: https://finagle.github.io/blog/2016/02/08/retry-budgets. A bucket that
    starts full allows ten retries in a row; time refills it with one every ten seconds. So while everything fails,
    calls in quick succession send at most 1.2 times the requests, and not three times as many.

    A copy starts full, with a lock of its own.

    Args:
        share: Retries that each call adds; None for any number of retries.

    """

    def __init__(self, share: float | None) -> None:
        self._share = share
        self._left = _MOST
        self._counted = monotonic()
        self.start_over()
        start_over_after_fork(self)

    def start_over(self) -> None:
        """Forget who holds the lock."""
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._share,)

    def add_call(self) -> None:
        """Count a call."""
        if self._share is not None:
            with self._lock:
                self._refill(self._share)

    def take_retry(self) -> bool:
        """Take a retry, and return whether there was one."""
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
        by_time = (now - self._counted) * _PER_SECOND if self._share else 0
        self._left = min(self._left + share + by_time, _MOST)
        self._counted = now
