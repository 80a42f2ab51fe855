"""Threads for what would block an event loop: parsing, reading files, importing, a
vendor's SDK, looking up names.
"""

from __future__ import annotations
import asyncio
import threading
from _thread import start_new_thread
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from math import inf
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from ..errors import TimedOut, Unavailable
from .deadline import time_left
from .forks import Restartable
from .interrupts import wait_for_one
from .scope import current_client
from .turns import Turns

T = TypeVar("T")

# seconds that a thread without work is kept; shorter, and one at a time would start one
# each time
_KEPT = 60.0
_MOST_KEPT = 64  # of those that are started for any work at all


class Threads(Restartable):
    """Daemon threads that do the work of several clients, in turns.

    Starting a thread means waiting until it runs: for seconds, if there are many to
    start and others compute. An event loop must not wait for that. So a worker that
    takes a job first makes sure that an idle one remains, and the first worker is
    started by a thread that is started without waiting.

    At most *limit* work; half of them are for clients that have none. *each* limits a
    client, alone to a quarter.
    """

    def __init__(self, name: str, limit: int, each: float = inf) -> None:
        self._name = name
        self._limit = limit
        self._each = each
        super().__init__()

    def start_over(self) -> None:
        """Forget all work and all threads: in a forked process, those of the parent do
        not exist.
        """
        self._turns: Turns[_Job] = Turns(
            self._limit, each=self._each, reserve=self._limit // 2
        )
        # always entered itself, not as a `Condition`: see `interrupts`
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._working = 0
        # threads that wait for work, or are being started
        self._ready: set[object] = set()

    def submit(self, client: Hashable, work: Callable[[], T]) -> Future[T]:
        """Have blocking *work* done, with the context variables of the caller, and
        return its outcome: `Unavailable` if the system has no thread for it. Cancelling
        it takes back work that waits.
        """
        job = _Job(client, work)
        thread = object()
        job.add_done_callback(self._drop)
        try:
            with self._lock:
                self._turns.put(client, job)
                needs_thread = self._needs_thread()
                if needs_thread:
                    self._ready.add(thread)
                self._changed.notify()
            if needs_thread:
                start_new_thread(self._start, (thread,))
        except RuntimeError as error:
            self._give_up(thread, error)
        except BaseException:
            # Ctrl-C; if the thread was started nevertheless, it says so itself
            with self._lock:
                self._ready.discard(thread)
                # else the next one could go to a thread that has been woken already
                self._changed.notify_all()
            job.cancel()
            raise
        return job

    def count_waiting(self, client: Hashable) -> int:
        """Return how much work of a client waits."""
        with self._lock:
            return self._turns.count_waiting(client)

    def _drop(self, job: Future[Any]) -> None:
        if job.cancelled() and isinstance(job, _Job):
            with self._lock:
                self._turns.drop(job.client, job)

    def _start(self, thread: object) -> None:
        """Start a thread, which is counted as ready; without the lock, for which others
        would wait.
        """
        try:
            threading.Thread(
                target=self._work, args=(thread,), name=self._name, daemon=True
            ).start()
        except RuntimeError as error:
            self._give_up(thread, error)

    def _give_up(self, thread: object, error: RuntimeError) -> None:
        """Go on without a thread that the system cannot start; without any worker, fail
        the jobs that wait.
        """
        with self._lock:
            self._ready.discard(thread)
            if self._working or self._ready:
                return
            jobs = self._turns.clear()
        for job in jobs:
            job.fail(error)

    def _work(self, thread: object) -> None:
        turns = self._turns
        while True:
            job = self._take(thread)
            if job is None:
                return
            job.run()
            # the work forked: a child has nothing else to do
            if self._turns is not turns:
                return
            with self._lock:
                self._turns.give_back(job.client, job)
                self._working -= 1
                self._ready.add(thread)
            del job  # a thread that waits must not keep what it worked for

    def _take(self, thread: object) -> _Job | None:
        """Wait for the next work, and return it; None if there has been none for
        long.
        """
        following = object()
        with self._lock:
            self._ready.add(thread)
            turn = self._turns.take()
            while turn is None:
                is_late = not self._changed.wait(_KEPT) and not self._turns.can_take()
                # else, it is the one that has to be ready
                is_needless = len(self._ready) > 1 or not self._working
                if is_late and is_needless:
                    self._ready.discard(thread)
                    return None
                turn = self._turns.take()
            self._ready.discard(thread)
            self._working += 1
            needs_thread = self._needs_thread()
            if needs_thread:
                self._ready.add(following)
            if self._turns.can_take():
                self._changed.notify()
        if needs_thread:
            self._start(following)
        return turn[1]

    def _needs_thread(self) -> bool:
        return not self._ready and self._working < self._limit


class _Job(Future[Any]):
    """Work of a client, and its outcome."""

    def __init__(self, client: Hashable, work: Callable[[], Any]) -> None:
        super().__init__()
        self.client = client
        self._work: Callable[[], Any] = partial(copy_context().run, work)

    def run(self) -> None:
        """Do the work, unless nobody waits for it any more."""
        if not self.set_running_or_notify_cancel():
            return
        work = self._work
        del self._work  # those who keep the outcome need not keep this
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - raised again by those who wait
            self.set_exception(error)
            del self  # else the traceback of the error would keep the error
        else:
            self.set_result(result)

    def fail(self, cause: Exception) -> None:
        """End without doing the work: there is no thread for it."""
        if self.set_running_or_notify_cancel():
            error = Unavailable("this system has no thread for it")
            error.__cause__ = cause
            self.set_exception(error)


# most of them wait for a process that parses
_for_work = Threads("websearch-async", 128)


def submit(work: Callable[[], T]) -> Future[T]:
    """Run blocking *work* in a thread, with the context variables of the caller, and
    return its outcome.
    """
    return _for_work.submit(current_client(), work)


def start_thread(work: Callable[[], T]) -> Future[T]:
    """Begin blocking *work* at once, with the context variables of the caller. No other
    work waits for it.
    """
    done: Future[T] = Future()
    context = copy_context()

    def run() -> None:
        try:
            done.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 - for the one that waits
            done.set_exception(error)

    _spare.run(run)
    return done


def in_time(work: Callable[[], T]) -> T:
    """Run blocking *work*, and wait for it only until the deadline; then raise
    `TimedOut`.

    Nothing can interrupt it: past the deadline, it continues in a daemon thread.
    """
    left = time_left()
    return work() if left == inf else wait_for(start_thread(work), left)


def wait_for(
    outcome: Future[T],
    seconds: float | None,
    late: str = "no answer within the time allowed",
) -> T:
    """Wait for an outcome, and return or raise it; after so many seconds, raise
    `TimedOut` with the words *late*.
    """
    if not outcome.done() and not wait_for_one([outcome], seconds):
        raise TimedOut(late)
    return outcome.result()


class _Spare(Restartable):
    """A daemon thread for each piece of work. Some are kept for the next: starting one
    costs more than most work.
    """

    def start_over(self) -> None:
        """Forget the threads: in a forked process, those of the parent do not exist."""
        # each is for one thread
        self._waiting: list[SimpleQueue[Callable[[], None]]] = []

    def run(self, work: Callable[[], None]) -> None:
        try:
            self._waiting.pop().put(work)
        except IndexError:
            queue: SimpleQueue[Callable[[], None]] = SimpleQueue()
            queue.put(work)
            threading.Thread(
                target=self._serve, args=(queue,), name="websearch-work", daemon=True
            ).start()

    def _serve(self, queue: SimpleQueue[Callable[[], None]]) -> None:
        waiting = self._waiting
        while True:
            try:
                work = queue.get(timeout=_KEPT)
            except Empty:
                try:
                    waiting.remove(queue)
                except ValueError:  # it was just taken: work comes
                    continue
                return
            work()
            del work  # a thread that waits must not keep what it worked for
            # the work forked; or there are enough
            if self._waiting is not waiting or len(waiting) >= _MOST_KEPT:
                return
            waiting.append(queue)


_spare = _Spare()


async def in_thread(work: Callable[[], T]) -> T:
    """Run blocking *work* as `submit` does, and await its result."""
    return await asyncio.wrap_future(submit(work))
