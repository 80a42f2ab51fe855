"""
The time left for the current operation.

A limit applies to everything inside its ``with`` block, in this thread or task and in those it starts: sending, reading
and pausing, over all exchanges. Limits nest, and the earliest one counts.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextvars import ContextVar, copy_context
from typing import TypeVar

from ..errors import TimedOut

T = TypeVar("T")


class Deadline:
    """
    A moment of `time.monotonic`, until which there is time.

    Args:
        at: The moment; ``inf`` means never. It can be moved to a later one, for those who join while others wait.

    """

    def __init__(self, at: float = math.inf) -> None:
        self.at = at


_deadline: ContextVar[Deadline] = ContextVar("websearch_deadline", default=Deadline())  # noqa: B039 - never moved

_MIN_TIMEOUT = 0.001  # seconds; zero would make a socket non-blocking


class until:  # noqa: N801 - a block, which every call enters several times: a generator would take longer
    """Replace the deadline in this block, also by a later one."""

    __slots__ = "_limit", "_outer"

    def __init__(self, limit: Deadline) -> None:
        self._limit = limit

    def __enter__(self) -> None:
        self._outer = _deadline.get()
        _deadline.set(self._limit)

    def __exit__(self, *_: object) -> None:
        _deadline.set(self._outer)  # no token: a flow may be closed in another context


def time_limit(seconds: float) -> until:
    """Limit a block to *seconds*, or to the time left of the limits around it, if that is less."""
    return until(Deadline(min(deadline(), time.monotonic() + seconds)))


def in_time(work: Callable[[], T]) -> T:
    """
    Run blocking *work*, and wait for it only until the deadline.

    Nothing can interrupt it: past the deadline, it continues in a daemon thread.

    Raises:
        TimedOut: It took too long.

    """
    left = time_left()
    if left == math.inf:
        return work()
    done: Future[T] = Future()
    context = copy_context()

    def run() -> None:
        try:
            done.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 - raised again by the waiting thread
            done.set_exception(error)

    threading.Thread(target=run, name="websearch-work", daemon=True).start()
    try:
        return done.result(left)
    except FutureTimeout:
        if done.done():  # the work itself ended in a timeout
            raise
        raise TimedOut("no answer within the time allowed") from None


def deadline() -> float:
    """Return the moment of `time.monotonic` at which the time is up: ``inf`` without a limit."""
    return _deadline.get().at


def time_left() -> float:
    """Return the seconds left: ``inf`` without a limit, never below zero."""
    return max(0.0, deadline() - time.monotonic())


def timeout_left() -> float | None:
    """Return the seconds left as a timeout: None without a limit."""
    left = time_left()
    return left if left < math.inf else None


def clamp(timeout: float | None) -> float | None:
    """Shorten *timeout* to the time left; raise `TimedOut` if none is left."""
    left = time_left()
    if left <= 0:
        raise TimedOut("no answer within the time allowed")
    if timeout is None:
        return timeout_left()
    return max(min(timeout, left), _MIN_TIMEOUT)
