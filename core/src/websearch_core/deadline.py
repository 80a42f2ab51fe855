"""
How much time is left for what is going on now.

A limit holds for everything done inside its ``with`` block, in this thread or task and in those it starts: for
sending, reading, sleeping, however many exchanges a conversation has. Limits nest, and the nearest one counts.
"""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_deadline: ContextVar[float] = ContextVar("websearch_deadline", default=math.inf)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Let nothing in this block take longer than *seconds*, together with the limits around it."""
    outer = _deadline.get()
    _deadline.set(min(outer, time.monotonic() + seconds))
    try:
        yield
    finally:
        _deadline.set(outer)


def time_left() -> float:
    """Return the seconds left: ``inf`` without a limit, never below zero."""
    return max(0.0, _deadline.get() - time.monotonic())
