"""
Start over in a forked process.

It inherits counters, locks and sockets, but not the threads that would count down, release them, or read the answers:
a lock that is held stays held, and two processes that share a socket get each other's answers.
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


_inherited: WeakSet[Restartable] = WeakSet()


def start_over_after_fork(one: Restartable) -> None:
    """Call `Restartable.start_over` of *one* in every process that is forked while it exists."""
    _inherited.add(one)


def _start_over() -> None:
    for one in list(_inherited):
        one.start_over()


if hasattr(os, "register_at_fork"):  # pragma: no branch
    os.register_at_fork(after_in_child=_start_over)
