"""Start over in a forked process.

It inherits counters, locks and sockets, but not the threads that would count down,
release them, or read the answers: a lock that is held stays held, and two processes
that share a socket get each other's answers. What cannot be put right in the child, a
connection to SQLite, is not in use when the process is forked (`sqlite`).
"""

from __future__ import annotations
import os
import time
from weakref import WeakSet


class Restartable:
    """What starts over when it is made, and in every process that is forked while it
    exists.
    """

    def __init__(self) -> None:
        self.start_over()
        start_over_after_fork(self)

    def start_over(self) -> None:
        """Forget what belongs to the parent process. Only this thread exists."""
        raise NotImplementedError


_inherited: WeakSet[Restartable] = WeakSet()


def start_over_after_fork(part: Restartable) -> None:
    """Let *part* start over in every process that is forked while it exists."""
    _inherited.add(part)


class _Process:
    """Which process this is, as far as those who start over know."""

    def __init__(self) -> None:
        self._known = os.getpid()
        self._claims: dict[int, object] = {}

    def start_over(self) -> None:
        for part in list(_inherited):
            part.start_over()
        self._known = os.getpid()

    def notice(self) -> None:
        """Start over, once for all threads, in a process that was not forked by Python,
        but by uWSGI for example.
        """
        now = os.getpid()
        claim = object()
        while self._known != now:
            if self._claims.setdefault(now, claim) is not claim:
                time.sleep(0.001)  # another thread is at it
                continue
            try:
                if self._known != now:  # still
                    self.start_over()
            finally:
                self._claims.pop(now, None)


_process = _Process()
notice_fork = _process.notice


if hasattr(os, "register_at_fork"):  # pragma: no branch
    os.register_at_fork(after_in_child=_process.start_over)
