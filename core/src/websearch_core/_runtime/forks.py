"""
Start over in a forked process.

It inherits counters, locks and sockets, but not the threads that would count down, release them, or read the answers:
a lock that is held stays held, and two processes that share a socket get each other's answers. What cannot be put right
in the child, such as a connection to SQLite, is closed before the fork.
"""

from __future__ import annotations

import os
import time
from typing import Protocol
from weakref import WeakSet

from .interrupts import releasing


class Restartable(Protocol):
    """What can start over."""

    def start_over(self) -> None:
        """Forget what belongs to the parent process. Only this thread exists."""
        ...


class Pausable(Restartable, Protocol):
    """What has to be at rest while its process is forked."""

    def pause(self) -> None:
        """Come to rest, in the parent before the fork. Other threads go on."""
        ...

    def resume(self) -> None:
        """Go on, in the parent after the fork."""
        ...


_inherited: WeakSet[Restartable] = WeakSet()
_paused: list[Pausable] = []


def start_over_after_fork(one: Restartable) -> None:
    """Call `Restartable.start_over` of *one* in every process that is forked while it exists."""
    _inherited.add(one)


def pause_for_fork(one: Pausable) -> None:
    """Call `Pausable.pause` before every fork, then `resume` in the parent and `start_over` in the child, forever."""
    _paused.append(one)
    start_over_after_fork(one)


class _Process:
    """Which process this is, as far as those who start over know."""

    def __init__(self) -> None:
        self._known = os.getpid()
        self._claims: dict[int, object] = {}

    def start_over(self) -> None:
        for one in list(_inherited):
            one.start_over()
        self._known = os.getpid()

    def notice(self) -> None:
        """Start over, once for all threads, in a process that was not forked by Python, but by uWSGI for example."""
        now, claim = os.getpid(), object()
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


def _pause() -> None:
    for one in _paused:
        one.pause()


def _resume() -> None:
    releasing(_resume_all).close()  # nobody may wait for this fork for ever


def _resume_all() -> None:
    for one in _paused:
        one.resume()


if hasattr(os, "register_at_fork"):  # pragma: no branch
    os.register_at_fork(before=_pause, after_in_parent=_resume, after_in_child=_process.start_over)
