"""Watch which functions run, and count what they do."""

from __future__ import annotations
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def profiled(note: Callable[[FrameType, str, Any], object]) -> Iterator[None]:
    """Call *note* at each call and return in this block, in this thread and in those
    that it starts.
    """
    before = sys.getprofile(), threading.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before[0])
        threading.setprofile(before[1])


def count_lines(work: Callable[[], object]) -> int:
    """Return how many lines of Python run in *work*, in this thread.

    The same work takes the same number on every machine, however busy it is. Work inside
    a function written in C, such as a search of `re`, counts as nothing.
    """
    lines = 0

    def count(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal lines
        if event == "line":
            lines += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines
