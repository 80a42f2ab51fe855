"""When a call is late, and whether it may be sent to the next provider as well."""

from __future__ import annotations
import threading
from collections import deque

from ..errors import ConfigurationError
from ._bucket import Bucket

_ENOUGH = 20  # times from which a percentile is taken
_KEPT = 200


class Hedging:
    """How long providers took lately, and how many more requests may be hedges: a *share* of the calls.

    A call is late after *hedge*: seconds, or a percentile of the times of the provider, such as ``p95``.
    """

    def __init__(self, hedge: float | str, share: float) -> None:
        self._seconds, self._percentile = parse_hedge(hedge)
        self._bucket = Bucket(share, start=1.0)
        self._times: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def begin(self, provider: str) -> float | None:
        """Count a call, and return after how many seconds it is late; None while too little is known."""
        self._bucket.add_call()
        if self._percentile is None:
            return self._seconds
        with self._lock:
            times = sorted(self._times.get(provider, ()))
        return times[int(len(times) * self._percentile)] if len(times) >= _ENOUGH else None

    def take(self) -> bool:
        """Return whether there may be another hedge, and count it."""
        return self._bucket.take()

    def add_time(self, provider: str, seconds: float) -> None:
        """Remember how long *provider* took, or at least, if nobody waited for it any more."""
        if self._percentile is not None:
            with self._lock:
                self._times.setdefault(provider, deque(maxlen=_KEPT)).append(seconds)


def parse_hedge(hedge: float | str) -> tuple[float, float | None]:
    """Return seconds, or the percentile that takes their place; raise `ConfigurationError` if *hedge* is neither."""
    if isinstance(hedge, str) and hedge[:1] == "p" and hedge[1:].isdecimal() and 50 <= int(hedge[1:]) <= 99:
        return 0.0, int(hedge[1:]) / 100
    if isinstance(hedge, bool) or not isinstance(hedge, int | float) or not hedge > 0:
        raise ConfigurationError("Fallback: hedge: must be a number of seconds, or a percentile from p50 to p99")
    return float(hedge), None
