"""The processes that read pages: several at a time, so that a page that harms its
parser costs one page.

One pool serves the whole application: all threads, event loops and readers. Each
process is a new interpreter that runs only `child`, so the application's main module is
not imported again and needs no ``__main__`` guard. Processes are started on demand, up
to the number of cores for the pages of one client, and twice as many for those of all.
They end after some idle minutes, and when their standard input closes, so that none
outlives the application.
"""

from __future__ import annotations
import atexit
import logging
import os
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

from ..._runtime.deadline import time_left
from ..._runtime.forks import Restartable
from ..._runtime.interrupts import WAIT_STEP, releasing
from ..._runtime.scope import Parsing, current_client
from ..._runtime.threads import submit
from ..._runtime.turns import Slots
from ...errors import ConfigurationError, TimedOut
from .messages import MAX_SECONDS
from .worker import Worker

T = TypeVar("T")

_LATE = "a new one was not ready within the time allowed"
_log = logging.getLogger(__name__)

# seconds until the next attempt, after a process could not be started
_RETRY_AFTER = 60.0
# seconds without a page, after which a process is ended: starting one takes a third of
# a second, and keeping one about 46 MB
_MAX_IDLE = 300.0
_MAX_PROCESSES = 8  # by default: as many pages as `WebSearch.read_many` reads at a time
_CHECK_SECONDS = 20.0  # to start a process, for `find_problem`


def run(ask: Callable[[Worker], T], instead: Callable[[], T], parsing: Parsing) -> T:
    """Return what *ask* gets from a process that nobody else uses meanwhile.

    Args:
        ask: Asks the process, with the errors of `Worker.ask`.
        instead: Does as much of it as is safe in this process: where none can be
            started, unless ``isolate`` is ``require``.
        parsing: ``isolate`` is ``True`` or ``require``; ``processes`` are those for one
            client, and all clients together may have twice as many.

    Raises:
        TimedOut: There was no free process, or no answer, within the time allowed.
        ConfigurationError: No process can be started, and ``isolate`` is
            ``require``.
    """
    seconds = min(time_left(), MAX_SECONDS)
    if not seconds:
        raise TimedOut("there is no time left to read the page")

    def work() -> T:
        worker: Worker | None = None
        release = releasing(lambda: _pool.give_back(worker))
        try:
            worker = _pool.take()
            return ask(worker)
        except ChildProcessError as error:
            if parsing.isolate == "require":
                raise ConfigurationError(
                    f"isolate: no process can be started here: {error}"
                ) from error
        finally:
            release.close()
        return instead()

    limit = parsing.processes or count_cores()
    _pool.slots.grow(2 * limit)
    return _pool.slots.hold(current_client(), work, seconds, limit=limit)


@cache
def count_cores() -> int:
    """Return how many processes can work at a time, up to 8: by cores, affinity and the
    quota of a container.
    """
    count = (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1
    )
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text("ascii").split()
        count = min(count, -(-int(quota) // int(period)))
    except (OSError, ValueError):  # no such system, or "max"
        pass
    return max(1, min(count, _MAX_PROCESSES))


class _Pool(Restartable):
    def __init__(self) -> None:
        self.slots = Slots()
        self._workers: set[Worker] = set()
        super().__init__()
        atexit.register(self.end)

    def start_over(self) -> None:
        """Begin without processes: in a forked one, those that exist belong to the
        parent.
        """
        for worker in self._workers:
            worker.disown()
        # always entered itself, not as a `Condition`: see `_runtime.interrupts`
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._workers = set()
        self._free: list[Worker] = []
        self._waiting = 0
        self._problem = ""
        self._retry_at = 0.0
        self._cleaner: threading.Timer | None = None

    def prepare(self) -> None:
        """Start a process if there is none, in a thread: nobody waits for it yet."""
        if not self._workers:
            submit(self._start_first)

    def find_problem(self) -> str:
        """Start a process if there is none, and wait for it.

        Returns:
            Why none can be started; empty if one is ready, or was just now.
        """
        ends = time.monotonic() + _CHECK_SECONDS
        with self._lock:
            self._problem = ""
            self._retry_at = 0.0
            if not self._workers:
                self._start()
            while self._workers and not any(
                worker.is_ready for worker in self._workers
            ):
                if not self._wait_for_change(ends):
                    return _LATE
            if self._workers:
                return ""
            return self._problem or _LATE

    def take(self) -> Worker:
        """Reserve a process until it is given back, for a page that has a slot.

        Start one if necessary, and wait for it.

        Raises:
            ChildProcessError: None can be started.
            TimedOut: None is free within the time allowed.
        """
        ends = time.monotonic() + min(time_left(), MAX_SECONDS)
        worker: Worker | None = None
        try:
            with self._lock:
                self._waiting += 1
                try:
                    worker = self._take_idle()
                    while worker is None:
                        self._start_another()
                        if not self._workers:
                            raise ChildProcessError(self._problem)
                        if not self._wait_for_change(ends):
                            raise TimedOut(
                                "the page was not read within the time allowed"
                            )
                        worker = self._take_idle()
                    return worker
                finally:
                    self._waiting -= 1
        except BaseException:
            if worker is not None:  # Ctrl-C came before it was handed over
                self.give_back(worker)
            raise

    def give_back(self, worker: Worker | None) -> None:
        """Return a process from `take` to the pool, if it returned one. Idempotent."""
        if worker is None:
            return
        with self._lock:
            if worker in self._workers:
                if worker not in self._free:
                    self._put_back(worker)
                return
        worker.end()

    def end(self) -> None:
        """End all processes, including those that are reading."""
        with self._lock:
            free = self._free
            busy = self._workers.difference(free)
            self._workers = set()
            self._free = []
            if self._cleaner:
                self._cleaner.cancel()
                self._cleaner = None
            self._retry_at = 0.0
            self._changed.notify_all()
        # the thread that waits for its answer notices and cleans up
        for worker in busy:
            worker.process.kill()
            worker.process.wait()
        for worker in free:
            worker.end()

    # The methods below are called with the lock held, except those that take it:
    # `_start_first`, `_welcome` and `_clean`.

    def _wait_for_change(self, ends: float) -> bool:
        """Wait a moment for a change; return whether there was time left.

        Look again after each: a change that comes just as a moment ends wakes nobody.
        """
        left = ends - time.monotonic()
        self._changed.wait(min(left, WAIT_STEP))
        return left > 0

    def _start_first(self) -> None:
        with self._lock:
            if not self._workers:
                self._start()

    def _start_another(self) -> None:
        """Start a process if fewer are being started than pages wait for one."""
        starting = sum(not worker.is_ready for worker in self._workers)
        if len(self._workers) < self.slots.held and starting < self._waiting:
            self._start()

    def _start(self) -> None:
        if time.monotonic() < self._retry_at:
            return
        try:
            worker = Worker()
        except OSError as error:
            self._stop_trying(str(error))
            return
        self._workers.add(worker)
        welcome = threading.Thread(
            target=self._welcome, args=(worker,), name="websearch-start", daemon=True
        )
        try:
            welcome.start()
        except RuntimeError as error:  # where processes are scarce, so are threads
            self._workers.discard(worker)
            worker.end()
            self._stop_trying(str(error))

    def _welcome(self, worker: Worker) -> None:
        worker.get_ready()
        with self._lock:
            if worker in self._workers:
                # A late one says nothing about the next: whoever waits starts that.
                if not worker.is_ready and not worker.was_late:
                    self._stop_trying(
                        f"a new one ended with status {worker.process.returncode}"
                    )
                self._put_back(worker)
                return
        worker.end()

    def _stop_trying(self, problem: str) -> None:
        _log.warning(
            "no process can be started; pages are parsed in this one, only their "
            "beginnings, and no deadline ends it: %s",
            problem,
        )
        self._problem = problem
        self._retry_at = time.monotonic() + _RETRY_AFTER

    def _put_back(self, worker: Worker) -> None:
        if worker.is_alive():
            worker.resting_since = time.monotonic()
            self._free.append(worker)
            self._schedule_cleaning()
        else:
            worker.end()
            self._workers.discard(worker)
        self._changed.notify_all()

    def _take_idle(self) -> Worker | None:
        while self._free:
            # the one used last, so that those not needed become idle for long
            worker = self._free[-1]
            is_alive = worker.is_alive()
            del self._free[-1]
            if is_alive:
                return worker
            worker.end()
            self._workers.discard(worker)
        return None

    def _schedule_cleaning(self) -> None:
        if self._cleaner is None:
            self._cleaner = threading.Timer(_MAX_IDLE, self._clean)
            self._cleaner.daemon = True
            self._cleaner.start()

    def _clean(self) -> None:
        """End the processes that have been idle for too long, and schedule the next
        check.
        """
        with self._lock:
            idle = [
                worker
                for worker in self._free
                if time.monotonic() - worker.resting_since >= _MAX_IDLE
            ]
            self._free = [worker for worker in self._free if worker not in idle]
            self._workers -= set(idle)
            self._cleaner = None
            if self._workers:
                self._schedule_cleaning()
        for worker in idle:
            worker.end()


_pool = _Pool()
find_problem = _pool.find_problem
prepare = _pool.prepare
