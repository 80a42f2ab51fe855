"""Watch which functions run."""

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
