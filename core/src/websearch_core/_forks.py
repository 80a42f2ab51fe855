"""
Start over in a forked process.

It inherits counters, locks and sockets, but not the threads that would count down, release them, or read the answers:
a lock that is held stays held, and two processes that share a socket get each other's answers. What cannot be put right
in the child, such as a connection to SQLite, is closed before the fork.
"""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


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


def _pause() -> None:
    for one in _paused:
        one.pause()


def _resume() -> None:
    for one in _paused:
        one.resume()


def _start_over() -> None:
    for one in list(_inherited):
        one.start_over()


if hasattr(os, "register_at_fork"):  # pragma: no branch
    os.register_at_fork(before=_pause, after_in_parent=_resume, after_in_child=_start_over)
