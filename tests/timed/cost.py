"""What work costs: the processor time of this thread, which does not grow when other
programs run. The least of several attempts counts, and one that is cheap enough ends
them.

`make test-timed` runs what uses this, in one process with nothing beside it: a heap that
other tests filled, or a thread that they left, would be measured, too.
"""

from __future__ import annotations
import time
from collections.abc import Callable
from math import inf
from typing import TypeVar

_ATTEMPTS = 4
_LEAST = 0.02  # seconds; what is shorter is noise
T = TypeVar("T")


def measure(work: Callable[[], object]) -> float:
    """Return the seconds of processor time that *work* takes."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def check_cost(work: Callable[[], T], seconds: float) -> T:
    """Assert that *work* takes at most so many *seconds*, and return its result."""
    least = inf
    for _ in range(_ATTEMPTS):
        began = time.thread_time()
        result = work()
        least = min(least, time.thread_time() - began)
        if least <= seconds:
            return result
    raise AssertionError(
        f"it takes {least:.2f} s of processor time or more, instead of {seconds} s"
    )


def check_ratio(
    work: Callable[[], object], other: Callable[[], object], ratio: float
) -> None:
    """Assert that *work* takes at most *ratio* times as long as *other*."""
    times = []
    for _ in range(_ATTEMPTS):
        short = max(measure(other), _LEAST)
        long = measure(work)
        if long <= ratio * short:
            return
        times.append(f"{long:.2f} s to {short:.2f} s")
    raise AssertionError(f"more than {ratio} times as long: {', '.join(times)}")
