"""The time left for the current operation.

A limit applies to everything inside its ``with`` block, in this thread or task and in
those it starts: sending, reading and pausing, over all exchanges. Limits nest, and the
earliest one counts.
"""

from __future__ import annotations
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import TimedOut
from .scope import Deadline, current_call, scope

_MIN_TIMEOUT = 0.001  # seconds; zero would make a socket non-blocking


def time_limit(seconds: float) -> scope:
    """Limit a block to *seconds*, or to the time left of the limits around it, if that
    is less.
    """
    call = current_call()
    waited = call.delay.seconds if call.delay else 0.0
    return scope(
        deadline=Deadline(min(call.deadline.at, time.monotonic() + seconds - waited))
    )


def time_left() -> float:
    """Return the seconds left: ``inf`` without a limit, never below zero."""
    return max(0.0, current_call().end - time.monotonic())


@contextmanager
def waiting_for_turn() -> Iterator[None]:
    """Wait for a turn in this block: a call of a list does so in the time of the list,
    and not in its own.
    """
    delay = current_call().delay
    if delay is None:
        yield
    else:
        with delay, scope(deadline=Deadline(delay.until)):
            yield


def timeout_left() -> float | None:
    """Return the seconds left as a timeout: None without a limit."""
    left = time_left()
    return left if left < math.inf else None


def clamp(timeout: float | None) -> float | None:
    """Shorten *timeout* to the time left; raise `TimedOut` if none is left."""
    left = current_call().end - time.monotonic()
    if left <= 0:
        raise TimedOut("no answer within the time allowed")
    if timeout is None:
        return left if left < math.inf else None
    return max(min(timeout, left), _MIN_TIMEOUT)
