"""
Two pieces of work; the second begins only if the first is late. The first answer counts, and ends the other.

On an event loop, the loser is cancelled. In blocking calls each works in a thread of its own, and nothing can cancel a
thread: the loser ends with its next effect, and the connection that it waits for is shut down if it is one of ours.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, TypeAlias

from ._deadline import timeout_left
from .errors import WebSearchError

Pair: TypeAlias = tuple[Any, Any]
_GRACE = 0.1  # seconds; work that ends at the deadline says more precisely what was late


class Abandoned(BaseException):
    """Nobody waits for this work any more. Not an `Exception`, so that no flow takes it for a failure."""


class Leg:
    """Blocking work in a thread of its own."""

    def __init__(self, work: Callable[[Leg], Any]) -> None:
        self.done: Future[Any] = Future()
        self._is_abandoned = False
        self._interrupts: list[Callable[[], object]] = []
        self._lock = threading.Lock()
        context = copy_context()
        threading.Thread(target=context.run, args=(self._run, work), name="websearch-hedge", daemon=True).start()

    def _run(self, work: Callable[[Leg], Any]) -> None:
        _leg.set(self)
        try:
            self.done.set_result(work(self))
        except BaseException as error:  # noqa: BLE001 - raised again, or returned, by the waiting thread
            self.done.set_exception(error)

    def check(self) -> None:
        """
        Go on only if somebody waits for this work.

        Raises:
            Abandoned: Nobody does.

        """
        if self._is_abandoned:
            raise Abandoned

    def abandon(self) -> None:
        """Let the work end as soon as possible; it is not waited for."""
        with self._lock:
            self._is_abandoned = True
            for interrupt in self._interrupts:
                interrupt()

    @contextmanager
    def interruptible(self, interrupt: Callable[[], object]) -> Iterator[None]:
        """Say in this block what to call from another thread to end its waiting."""
        with self._lock:
            self.check()
            self._interrupts.append(interrupt)
        try:
            yield
        finally:
            with self._lock:
                self._interrupts.remove(interrupt)


_leg: ContextVar[Leg | None] = ContextVar("websearch_leg", default=None)


def current_leg() -> Leg | None:
    """Return the work that this thread does for a hedge, or None."""
    return _leg.get()


def hedge(first: Callable[[Leg], Any], find_second: Callable[[], Callable[[Leg], Any] | None], after: float) -> Pair:
    """
    Do *first*, and what *find_second* returns if that has not ended after some seconds; wait for the first answer.

    Returns:
        How each ended: its answer, its `WebSearchError`, or None if it never began or was ended.

    """
    legs = [Leg(first)]
    try:
        wait([legs[0].done], _shorten(after))
        if not legs[0].done.done() and (second := find_second()):
            legs.append(Leg(second))
        pending = {leg.done for leg in legs}
        while pending:
            done, pending = wait(pending, _shorten(), return_when=FIRST_COMPLETED)
            if not done or any(one.exception() is None for one in done):
                break
        ends = [_end_of(leg.done) if leg.done.done() else None for leg in legs]
    finally:
        for leg in legs:
            leg.abandon()
    return ends[0], ends[1] if len(ends) > 1 else None


async def ahedge(
    first: Callable[[], Coroutine[Any, Any, Any]],
    find_second: Callable[[], Callable[[], Coroutine[Any, Any, Any]] | None],
    after: float,
) -> Pair:
    """Do the same as `hedge` on the running event loop; the loser has ended when this returns."""
    tasks = [asyncio.create_task(first())]
    try:
        await asyncio.wait(tasks, timeout=_shorten(after))
        if not tasks[0].done() and (second := find_second()):
            tasks.append(asyncio.create_task(second()))
        pending = set(tasks)
        while pending:
            done, pending = await asyncio.wait(pending, timeout=_shorten(), return_when=asyncio.FIRST_COMPLETED)
            if not done or any(not one.cancelled() and one.exception() is None for one in done):
                break
        ends = [_end_of(task) if task.done() else None for task in tasks]
    finally:
        await _cancel([task for task in tasks if not task.done()])
    return ends[0], ends[1] if len(ends) > 1 else None


def _shorten(seconds: float | None = None) -> float | None:
    left = timeout_left()
    if left is None:
        return seconds
    return left + _GRACE if seconds is None else min(seconds, left + _GRACE)


def _end_of(done: Future[Any] | asyncio.Task[Any]) -> Any:
    error = done.exception()
    if error is None:
        return done.result()
    if isinstance(error, WebSearchError):
        return error
    raise error


async def _cancel(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # it ended first; nobody needs its error
