"""Work that is under way, so that a call for the same joins it instead of starting it
again.

Those who wait for the same work are either blocking callers, in any thread, or tasks of
one event loop. They are never mixed: a loop that waited for another loop, or for a
thread that waits for it, could wait for ever.

Each caller waits until its own deadline, and the work goes on while anybody waits. On
an event loop it runs in a task of its own, which is cancelled when nobody is left. A
blocking call cannot be cancelled, so there the first caller does the work itself, which
needs no other thread; if its time is up before that of the others, a thread goes on for
them.
"""

from __future__ import annotations
import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Hashable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from itertools import count
from math import inf
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from .._runtime.bugs import copy_error
from .._runtime.deadline import time_left, timeout_left
from .._runtime.forks import Restartable
from .._runtime.interrupts import wait_for_one
from .._runtime.scope import Deadline, current_call, scope
from ..errors import TimedOut, Unavailable
from ._branches import passing_interrupts

# seconds; work that ends at the same deadline says more precisely what was late
_GRACE = 0.1
_WORTHWHILE = 0.25  # of the time that was not enough, to begin again
# how often a caller joins others whose work ends with an error about them; then it asks
# alone
_JOINS = 2
_NOTHING = object()


class SharedAnswer(NamedTuple):
    """The answer of shared work.

    Args:
        value: The answer.
        is_first: True for one of those who get it: it is charged to that one.
        is_own: True for the caller that began the work.
    """

    value: Any
    is_first: bool
    is_own: bool = True


class _AnotherCallerError(Exception):
    """What ended the work is about the caller that began it."""


class Flights(Restartable):
    """What is under way, by its key."""

    def start_over(self) -> None:
        """Forget what is under way: in a forked process, nobody does the work of the
        parent.
        """
        self._lock = threading.Lock()
        self._blocking: dict[Hashable, _Flight] = {}
        self._loops: WeakKeyDictionary[
            asyncio.AbstractEventLoop, dict[Hashable, _Flight]
        ] = WeakKeyDictionary()

    def share(self, key: Hashable, work: Callable[[], Any]) -> SharedAnswer:
        """Return what *work* returns: called by this caller, or by another thread that
        wants the same now.

        What it raises is raised for all, unless the error concerns the caller that
        began: the others begin again. A caller whose deadline comes first gets
        `TimedOut`.
        """
        for _ in range(_JOINS):
            # by a hook: it would wait for itself
            if self._blocking.get(key) in current_call().leading:
                break
            with suppress(_AnotherCallerError):
                return self._join(key, work)
        return SharedAnswer(work(), is_first=True, is_own=True)

    def _join(self, key: Hashable, work: Callable[[], Any]) -> SharedAnswer:
        new = _Flight()
        new.done = Future()
        flight = new
        answer: Any = _NOTHING
        try:
            with self._lock:
                flight = self._blocking.setdefault(key, new)
                flight.join(new)
            if flight is not new:
                return self._follow(flight)
            # whatever it calls is part of this
            with scope(leading=(*current_call().leading, new)):
                answer = work()
            self._land(key, new, answer)
        except BaseException as error:
            with self._lock:
                flight.waiting.discard(new)
                leads = self._blocking.get(key) is new
            if answer is not _NOTHING:
                self._land(key, new, answer)  # only giving it was interrupted
            elif leads:
                self._hand_on(key, new, work, error)
            raise
        return new.charge(answer, is_own=True)

    @passing_interrupts()
    def _follow(self, flight: _Flight) -> SharedAnswer:
        branch = current_call().branch
        ends: list[Future[Any]] = [flight.done]
        if branch:
            ends.append(branch.end)
        wait_for_one(ends, timeout_left())
        if branch is not None:
            branch.check()
        if not flight.done.done():
            raise _make_late_error()
        error = flight.done.exception()
        if error is not None:
            raise _copy_error(error)
        return flight.charge(flight.done.result())

    def _hand_on(
        self,
        key: Hashable,
        flight: _Flight,
        work: Callable[[], Any],
        error: BaseException,
    ) -> None:
        """Let a thread go on for those who still wait when the first caller leaves; if
        there are none, end it.
        """
        if not self._is_wanted_still(key, flight, error):
            flight.done.set_exception(error)
            return
        try:
            threading.Thread(
                target=copy_context().run,
                args=(self._go_on, key, flight, work),
                daemon=True,
            ).start()
        except RuntimeError:
            # else nobody would do it, and all who want the same later would wait, too
            with self._lock:
                del self._blocking[key]
            flight.done.set_exception(Unavailable("this system has no thread for it"))

    def _go_on(self, key: Hashable, flight: _Flight, work: Callable[[], Any]) -> None:
        """Do the work for those who still wait when the first caller leaves."""
        answer = None
        leading = (*current_call().leading, flight)
        # the branch may be cut off
        with scope(deadline=flight.deadline, leading=leading, branch=None):
            while True:
                flight.begin()
                try:
                    answer = work()
                except BaseException as error:  # noqa: BLE001 - for those who wait
                    if not self._is_wanted_still(key, flight, error):
                        return flight.done.set_exception(error)
                else:
                    return self._land(key, flight, answer)

    def _land(self, key: Hashable, flight: _Flight, answer: Any) -> None:
        with self._lock:
            if self._blocking.get(key) is flight:
                del self._blocking[key]
        if not flight.done.done():
            flight.done.set_result(answer)

    def _is_wanted_still(
        self, key: Hashable, flight: _Flight, error: BaseException
    ) -> bool:
        """Return whether to begin again, for those who have more time; else, nobody
        joins any more.
        """
        with self._lock:
            is_wanted = any(caller.is_waiting for caller in flight.waiting)
            if is_wanted and flight.has_got_time(error):
                return True
            del self._blocking[key]
            return False

    async def ashare(
        self, key: Hashable, work: Callable[[], Coroutine[Any, Any, Any]]
    ) -> SharedAnswer:
        """Do the same as `share` among the tasks of the running event loop."""
        for _ in range(_JOINS):
            if self._get_flights_here().get(key) in current_call().leading:
                break
            with suppress(_AnotherCallerError):
                return await self._ajoin(key, work)
        return SharedAnswer(await work(), is_first=True, is_own=True)

    async def _ajoin(
        self, key: Hashable, work: Callable[[], Coroutine[Any, Any, Any]]
    ) -> SharedAnswer:
        flights = self._get_flights_here()
        flight = flights.get(key)
        is_own = flight is None
        if flight is None:
            flight = _Flight()
            flights[key] = flight
            land = partial(_land, flights, key, flight)
            flight.task = asyncio.create_task(_fly(flight, work, land))
            flight.task.add_done_callback(land)  # if it was cancelled before it began
        task = flight.task
        caller = asyncio.get_running_loop().create_future()
        flight.join(caller)
        try:
            await flight.wait(caller)
        finally:
            flight.waiting.discard(caller)
            if not flight.waiting and not task.done():
                # nobody joins it, although it has not ended yet
                _land(flights, key, flight)
                task.cancel()
                await asyncio.wait((task,))
        if not task.done() or task.cancelled():
            raise _make_late_error()
        error = task.exception()
        if error is None:
            return flight.charge(task.result(), is_own=is_own)
        if is_own:
            raise error
        raise _copy_error(error)

    def _get_flights_here(self) -> dict[Hashable, _Flight]:
        with self._lock:
            return self._loops.setdefault(asyncio.get_running_loop(), {})


class _Flight:
    """Work that is under way: in ``task`` on an event loop, else ``done`` has the
    outcome.
    """

    task: asyncio.Task[Any]
    done: Future[Any]

    def __init__(self) -> None:
        self._delay = current_call().delay
        self.begin()
        self.deadline = Deadline(current_call().deadline.at)
        self._branch = current_call().branch
        # each caller, as an interrupt could make a number wrong; futures, on a loop
        self.waiting: set[Any] = set()
        self._charges = count()  # counts in one step, whatever other threads do

    @property
    def is_waiting(self) -> bool:
        """Whether the caller who came with this one still wants an answer."""
        return self._branch is None or not self._branch.is_cut

    def begin(self) -> None:
        """Note when the work begins, and how much time those who wait now have."""
        self._began = time.monotonic()
        self._began_with = current_call().end

    def join(self, caller: object) -> None:
        self.waiting.add(caller)
        call = current_call()
        at = call.deadline.at if call.delay is self._delay else call.end - self._waited
        self.deadline.at = max(self.deadline.at, at)

    def charge(self, answer: Any, *, is_own: bool = False) -> SharedAnswer:
        return SharedAnswer(answer, next(self._charges) == 0, is_own)

    async def wait(self, caller: asyncio.Future[None]) -> None:
        """Wait until `_land`, or the time of *caller* is up, as `asyncio.wait` does in
        twice the time.
        """
        loop = caller.get_loop()
        patience = self._find_patience()
        timer: asyncio.TimerHandle | None = None

        def look() -> None:
            nonlocal timer
            if time_left():  # it has waited for its turn meanwhile
                timer = loop.call_later(self._find_patience(), look)
            else:
                _wake(caller)

        if patience < inf:
            timer = loop.call_later(patience, look)
        try:
            await caller
        finally:
            if timer is not None:
                timer.cancel()

    def _find_patience(self) -> float:
        """Return how long this caller waits."""
        if current_call().deadline.at == self.deadline.at:
            return time_left() + _GRACE
        return time_left()

    def has_got_time(self, error: BaseException) -> bool:
        """Return whether the work ended only because those who were there when it began
        had no more time.

        The others must have a good part of it: a little more, as that of callers who
        came together, would only send a request that cannot be answered in time either.
        """
        if not isinstance(error, TimedOut):
            # such as a KeyboardInterrupt, which is for one caller alone
            return not isinstance(error, Exception)
        now = time.monotonic()
        left = self.deadline.at + self._waited - now
        return self._began_with <= now and left >= _WORTHWHILE * (now - self._began)

    @property
    def _waited(self) -> float:
        """How long the caller that began has waited for its turn."""
        return self._delay.seconds if self._delay else 0.0


async def _fly(
    flight: _Flight,
    work: Callable[[], Coroutine[Any, Any, Any]],
    land: Callable[[], None],
) -> Any:
    try:
        with scope(deadline=flight.deadline, leading=(*current_call().leading, flight)):
            while True:
                flight.begin()
                try:
                    return await work()
                except TimedOut as error:
                    if not flight.has_got_time(error):
                        raise
    finally:
        land()  # a turn of the event loop before the task calls back


def _land(
    flights: dict[Hashable, _Flight], key: Hashable, flight: _Flight, task: Any = None
) -> None:
    """Let nobody join *flight* any more, and those who wait go on. May be called again,
    with its *task* once that has ended: if it failed when nobody waited, that is not
    worth a log entry.
    """
    if flights.get(key) is flight:
        del flights[key]
    for caller in flight.waiting:
        _wake(caller)
    if task is not None and not task.cancelled():
        task.exception()


def _wake(caller: asyncio.Future[None]) -> None:
    if not caller.done():
        caller.set_result(None)


def _make_late_error() -> TimedOut:
    return TimedOut("no answer within the time allowed")


def _copy_error(error: BaseException) -> BaseException:
    """Return a copy for each caller, since raising one error many times would make its
    traceback grow.
    """
    if getattr(error, "concerns_caller", False):
        return _AnotherCallerError()
    return copy_error(error)
