"""Read pages in other processes: several at a time, so that a crash of the parser costs
one page.

PDF, Office files, feeds and other XML are always read there, unless the caller says
otherwise: their parsers are not ours, and while one of them loops in C code, no thread
of the process runs. Only the end of the process ends it.

One pool serves the whole application: all threads, event loops and readers. Each
process is a new interpreter that runs only `child`, so the application's main module is
not imported again and needs no ``__main__`` guard. Processes are started on demand, up
to the number of cores for the pages of one client, and twice as many for those of all.
They end after some idle time, and when their standard input closes, so that none
outlives the application.
"""

from __future__ import annotations
import atexit
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Unpack

from ..._runtime.deadline import time_left
from ..._runtime.forks import Restartable
from ..._runtime.interrupts import releasing
from ..._runtime.scope import current_client
from ..._runtime.turns import Slots
from ...errors import ConfigurationError, TimedOut
from ...models import Page
from .._formats import ReadingOptions, convert
from .._sniff import media_type
from .._types import needs_own_process
from .child import MAX_SECONDS
from .worker import Worker

_log = logging.getLogger(__name__)

# bytes: a page this large would block the other threads, and an event loop, for too
# long
LARGE_SIZE = 2**20
_START_COST = 0.3  # seconds of processor time to start a process
# seconds until the next attempt, after a process could not be started
_RETRY_AFTER = 60.0
_MAX_IDLE = 30.0  # seconds without a page, after which a process is ended
_MAX_PROCESSES = 8  # by default: as many pages as `WebSearch.read_many` reads at a time


def read_isolated(
    data: bytes,
    url: str,
    content_type: str | None = None,
    *,
    isolate: bool | None = None,
    processes: int | None = None,
    **options: Unpack[ReadingOptions],
) -> Page:
    """Read a page here or in another process, with the arguments and errors of
    `websearch_core.reading.read_bytes`.

    Unless *isolate* insists on another process, the page is read in this one, with a
    warning in the log, if none can be started. *processes* are for the pages of one
    client; those of all clients together may take twice as many.
    """
    if not (seconds := min(time_left(), MAX_SECONDS)):
        raise TimedOut("there is no time left to read the page")

    def read() -> Page:
        insist = (
            bool(isolate)
            or len(data) >= LARGE_SIZE
            or needs_own_process(media_type(data, content_type), url)
        )
        worker: Worker | None = None
        release = releasing(lambda: _pool.give_back(worker))
        try:
            try:
                worker = _pool.take(insist=insist)
            except ChildProcessError as error:
                if isolate:
                    raise ConfigurationError(
                        f"isolate: no process can be started here: {error}"
                    ) from error
            if worker is not None:
                return worker.read(data, url=url, content_type=content_type, **options)
        finally:
            release.close()
        with _pool.reading_here():
            return convert(data, url, content_type, **options)

    most = processes or count_cores()
    _pool.slots.grow(2 * most)
    return _pool.slots.hold(current_client(), read, seconds, most=most)


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
        self._pages_here = 0  # pages being read in this process
        self._seconds_here = 0.0  # spent on pages that were read here beside others
        self._problem = ""
        self._retry_at = 0.0
        self._cleaner: threading.Timer | None = None

    def take(self, *, insist: bool) -> Worker | None:
        """Reserve a process until it is given back, for a page that has a slot.

        If *insist*, start one if necessary, and wait for it, or raise an error.
        Otherwise return None if none is free.
        """
        ends = time.monotonic() + min(time_left(), MAX_SECONDS)
        worker: Worker | None = None
        try:
            with self._lock:
                self._waiting += 1
                try:
                    while not (worker := self._take_idle()):
                        if not insist:
                            return None
                        starting = sum(not worker.is_ready for worker in self._workers)
                        if (
                            len(self._workers) < self.slots.held
                            and starting < self._waiting
                        ):
                            self._start()
                        if not self._workers:
                            raise ChildProcessError(self._problem)
                        if not self._changed.wait(ends - time.monotonic()):
                            raise TimedOut(
                                "the page was not read within the time allowed"
                            )
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

    @contextmanager
    def reading_here(self) -> Iterator[None]:
        """Count a page that is read in this process, and start processes once they pay
        off.

        Once pages read side by side have taken as long as starting a process does, one
        process is started for each page being read. Whenever the pages end, less than
        twice the necessary time was spent.
        """
        with self._lock:
            self._pages_here += 1
            alone = self._pages_here == 1 and len(self._free) == len(self._workers)
        started = time.thread_time()
        try:
            yield
        finally:
            spent = time.thread_time() - started
            with self._lock:
                if not alone or self._pages_here > 1 or self.slots.waiting:
                    self._seconds_here += spent
                    if self._seconds_here >= _START_COST:
                        self._seconds_here = 0.0
                        for _ in range(
                            min(self._pages_here, self.slots.held - len(self._workers))
                        ):
                            self._start()
                self._pages_here -= 1

    def end(self) -> None:
        """End all processes, including those that are reading."""
        with self._lock:
            free, busy = self._free, self._workers - set(self._free)
            self._workers, self._free = set(), []
            if self._cleaner:
                self._cleaner.cancel()
                self._cleaner = None
            self._seconds_here = self._retry_at = 0.0
            self._changed.notify_all()
        # the thread that waits for its answer notices and cleans up
        for worker in busy:
            worker.process.kill()
            worker.process.wait()
        for worker in free:
            worker.end()

    # The methods below are called with the lock held, except `_welcome` and `_clean`,
    # which take it.

    def _start(self) -> None:
        if time.monotonic() < self._retry_at:
            return
        try:
            worker = Worker()
        except OSError as error:
            self._stop_trying(str(error))
            return
        self._workers.add(worker)
        threading.Thread(
            target=self._welcome, args=(worker,), name="websearch-start", daemon=True
        ).start()

    def _welcome(self, worker: Worker) -> None:
        worker.get_ready()
        with self._lock:
            if worker in self._workers:
                if not worker.is_ready:
                    self._stop_trying(
                        f"a new one ended with status {worker.process.returncode}"
                    )
                self._put_back(worker)
                return
        worker.end()

    def _stop_trying(self, problem: str) -> None:
        _log.warning(
            "no process can be started; documents are parsed in this one, and no "
            "deadline ends it: %s",
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
