"""A bound on what is read before an answer begins."""

from __future__ import annotations
import math
from typing import Any

TOO_LONG = "no answer begins"  # the error's text

_MOST = 2**18  # bytes: h11 bounds each interim answer, but not how many there are


class HeadBound:
    """Counts what a stream of *core* (``httpcore`` or ``httpcore2``) reads until the head of an answer ends."""

    def __init__(self, core: Any) -> None:
        self._core = core
        self._left = math.inf

    def begin(self) -> None:
        """Note that a request was sent."""
        self._left = _MOST

    def count(self, size: int) -> None:
        """Count bytes that were read. Raise `RemoteProtocolError` if there are too many, and still no answer begins."""
        self._left -= size
        if self._left < 0:
            raise self._core.RemoteProtocolError(TOO_LONG)

    def end(self) -> None:
        """Note that the answer has begun, so that only its reader decides how much is read."""
        self._left = math.inf
