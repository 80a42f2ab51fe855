"""Two pieces of work; the second begins only if the first is late. The first answer counts, and ends the other.

On an event loop, the loser is cancelled. In blocking calls each is a `Branch`, and the loser is cut off.
"""

from __future__ import annotations
import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, TypeAlias

from .._runtime.deadline import time_left, timeout_left
from ..errors import WebSearchError
from ._branches import Branch, cut_all, passing_interrupts

Pair: TypeAlias = tuple[Any, Any]
_GRACE = 0.1  # seconds; work that ends at the deadline says more precisely what was late


@passing_interrupts()
def hedge(first: Callable[[], Any], find_second: Callable[[], Callable[[], Any] | None], after: float) -> Pair:
    """Do *first*, and what *find_second* returns if that has not ended after some seconds; wait for the first answer.

    Return how each ended: its answer, its `WebSearchError`, or None if it never began or was ended.
    """
    branches = [Branch(first)]
    try:
        branches[0].start()
        wait([branches[0].done], _shorten(after))
        if not branches[0].done.done() and (second := find_second()):
            branches.append(Branch(second))
            branches[1].start()
        pending = {branch.done for branch in branches}
        while pending:
            done, pending = wait(pending, _shorten(), return_when=FIRST_COMPLETED)
            if not (done or time_left()) or any(one.exception() is None for one in done):
                break
        ends = [_end_of(branch.done) if branch.done.done() else None for branch in branches]
        cut_all(branches)
    except BaseException:  # also Ctrl-C during that
        cut_all(branches)
        raise
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
            if not (done or time_left()) or any(not one.cancelled() and one.exception() is None for one in done):
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
