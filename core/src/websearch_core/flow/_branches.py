"""Branches of a blocking call: work in threads of its own that ends soon when nobody
waits for it any more.

Nothing can cancel a thread. A branch that is cut off sends nothing more and ends with
its next effect, and the connection that it waits for is shut down if we opened it. No
program waits for its thread, a daemon.

Two branches race in a hedge, where the second begins only if the first is late; on an
event loop, two tasks do.
"""

from __future__ import annotations
import asyncio
import threading
from collections import deque
from collections.abc import Callable, Collection, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, TypeAlias

from .._runtime.deadline import time_left, timeout_left
from .._runtime.interrupts import wait_for_one
from .._runtime.scope import current_call, scope
from ..errors import Unavailable, WebSearchError

Pair: TypeAlias = tuple[Any, Any]
# seconds; work that ends at the deadline says more precisely what was late
_GRACE = 0.1


class BranchExit(BaseException):
    """Nobody waits for this work any more. Not an `Exception`, so that no flow takes it
    for a failure.
    """


@contextmanager
def passing_interrupts() -> Iterator[None]:
    """Raise Ctrl-C in this block as what it is.

    Python's own locks, if it comes while they wait, raise a `RuntimeError`, which a
    flow would take for a failure.
    """
    try:
        yield
    except RuntimeError as error:
        cause = error.__context__
        while isinstance(cause, RuntimeError):
            cause = cause.__context__
        if cause is None or isinstance(cause, Exception):
            raise
        raise cause from None


class Branch:
    """Blocking work in a thread of its own, with the context variables of the caller.

    It begins with `start`, so that a caller interrupted there has it already, and can
    cut it off.
    """

    def __init__(self, work: Callable[[], Any]) -> None:
        self.done: Future[Any] = Future()
        self.end: Future[None] = Future()  # done once nobody waits for this branch
        self._work = work
        self._outer: Branch | None = current_call().branch
        self._interrupts: dict[object, Callable[[], object]] = {}
        self._lock = threading.Lock()

    @passing_interrupts()
    def start(self) -> None:
        """Begin; `RuntimeError` says that the system has no thread for it."""
        if self._outer is not None:
            self._outer.add_interrupt(self, self.cut)
        run = copy_context().run
        threading.Thread(
            target=run, args=(self._run,), name="websearch-branch", daemon=True
        ).start()

    def _run(self) -> None:
        try:
            with scope(branch=self):
                self.check()
                self.done.set_result(self._work())
        except BaseException as error:  # noqa: BLE001 - for the thread that waits
            self.done.set_exception(error)
        finally:
            if self._outer is not None:
                self._outer.remove_interrupt(self)

    @property
    def is_cut(self) -> bool:
        """Whether nobody waits for this branch, or for one that it is part of."""
        return self.end.done() or (self._outer is not None and self._outer.is_cut)

    def check(self) -> None:
        """Raise `BranchExit` if nobody waits for this branch."""
        if self.is_cut:
            raise BranchExit

    def cut(self) -> None:
        """Let the work end as soon as possible, with the branches inside it. It is not
        waited for.
        """
        self.forbid()
        with self._lock:
            for interrupt in self._interrupts.values():
                interrupt()

    def forbid(self) -> None:
        """Let the work begin nothing more."""
        with self._lock:
            if not self.end.done():
                self.end.set_result(None)

    @contextmanager
    def interruptible(self, interrupt: Callable[[], object]) -> Iterator[None]:
        """Say in this block what to call from another thread to end its waiting."""
        key = object()
        self.add_interrupt(key, interrupt)
        try:
            yield
        finally:
            self.remove_interrupt(key)

    def add_interrupt(self, key: object, interrupt: Callable[[], object]) -> None:
        """Have *interrupt* called when this branch is cut off, until it is removed by
        its *key*.
        """
        with self._lock:
            self.check()
            self._interrupts[key] = interrupt

    def remove_interrupt(self, key: object) -> None:
        """Forget what was added under *key*."""
        with self._lock:
            self._interrupts.pop(key, None)


def check_branch() -> None:
    """Raise `BranchExit` if this thread works for a branch that nobody waits for."""
    branch: Branch | None = current_call().branch
    if branch is not None:
        branch.check()


def cut_all(branches: Sequence[Branch]) -> None:
    """Cut off several branches. None of them does the work of another one meanwhile."""
    for branch in branches:
        branch.forbid()
    for branch in branches:
        branch.cut()


@passing_interrupts()
def wait_for(work: Callable[[], Any]) -> Any:
    """Return what *work* returns in a branch. If the caller is interrupted, the branch
    is cut off.
    """
    branch = Branch(work)
    try:
        branch.start()
        wait_for_one([branch.done])
        return branch.done.result()
    except BaseException:
        branch.cut()
        raise


@passing_interrupts()
def gather(works: Sequence[Callable[[], Any]], limit: int) -> list[Any]:
    """Do several pieces of work at a time, at most *limit*; return their answers in
    order.

    If the caller is interrupted, nothing more begins, and what has begun is cut off. No
    thread at all: `Unavailable`.
    """
    waiting = deque(enumerate(works))
    answers: dict[int, Any] = {}

    def work() -> None:
        while waiting:
            check_branch()
            try:
                number, following = waiting.popleft()
            except IndexError:  # another branch was quicker
                return
            answers[number] = copy_context().run(following)

    branches: list[Branch] = []
    try:
        for _ in range(min(limit, len(works))):
            branches.append(Branch(work))
            try:
                branches[-1].start()
            except RuntimeError as error:  # those that have begun do it all
                branches.pop()
                if not branches:
                    raise Unavailable("this system has no thread for it") from error
                break
        for branch in branches:
            wait_for_one([branch.done])
            branch.done.result()
    except BaseException:
        waiting.clear()  # first, so that none of them begins another
        cut_all(branches)
        raise
    return [answers[number] for number in range(len(works))]


@passing_interrupts()
def hedge(
    first: Callable[[], Any],
    find_second: Callable[[], Callable[[], Any] | None],
    after: float,
) -> Pair:
    """Do *first*, and what *find_second* returns if that has not ended after some
    seconds; wait for the first answer.

    Return how each ended: its answer, its `WebSearchError`, or None if it never began
    or was ended.
    """
    branches = [Branch(first)]
    try:
        branches[0].start()
        wait_for_one([branches[0].done], _shorten(after))
        second = None if branches[0].done.done() else find_second()
        if second:
            branches.append(Branch(second))
            branches[1].start()
        pending = {branch.done for branch in branches}
        while pending:
            wait_for_one(pending, _shorten())
            done = {future for future in pending if future.done()}
            pending -= done
            if not done and not time_left():
                break
            if any(future.exception() is None for future in done):
                break
        ends = [_end_of(branch.done) for branch in branches]
        cut_all(branches)
    except BaseException:  # also Ctrl-C during that
        cut_all(branches)
        raise
    if len(ends) == 1:
        return ends[0], None
    return ends[0], ends[1]


async def ahedge(
    first: Callable[[], Coroutine[Any, Any, Any]],
    find_second: Callable[[], Callable[[], Coroutine[Any, Any, Any]] | None],
    after: float,
) -> Pair:
    """Do the same as `hedge` on the running event loop; the loser has ended when this
    returns.
    """
    tasks = [asyncio.create_task(first())]
    try:
        await asyncio.wait(tasks, timeout=_shorten(after))
        second = None if tasks[0].done() else find_second()
        if second:
            tasks.append(asyncio.create_task(second()))
        pending = set(tasks)
        while pending:
            done, pending = await asyncio.wait(
                pending, timeout=_shorten(), return_when=asyncio.FIRST_COMPLETED
            )
            if not done and not time_left():
                break
            if any(_has_answer(task) for task in done):
                break
        ends = [_end_of(task) for task in tasks]
    finally:
        await cancel_all([task for task in tasks if not task.done()])
    if len(ends) == 1:
        return ends[0], None
    return ends[0], ends[1]


def _has_answer(task: asyncio.Task[Any]) -> bool:
    return not task.cancelled() and task.exception() is None


def _shorten(seconds: float | None = None) -> float | None:
    left = timeout_left()
    if left is None:
        return seconds
    if seconds is None:
        return left + _GRACE
    return min(seconds, left + _GRACE)


def _end_of(done: Future[Any] | asyncio.Task[Any]) -> Any:
    if not done.done():
        return None
    error = done.exception()
    if error is None:
        return done.result()
    if isinstance(error, WebSearchError):
        return error
    raise error


async def cancel_all(tasks: Collection[asyncio.Future[Any]]) -> None:
    """Cancel *tasks*, and wait until they have ended: none may outlive the call."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # it ended first; nobody needs its error
