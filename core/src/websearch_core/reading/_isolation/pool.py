"""
Reading in other processes: for many pages at once, and so that what crashes the parser costs one page and not the host.

The processes serve this whole process: all threads, event loops and readers. Each is an interpreter of its own that
runs `worker` and nothing of the caller's, so the main module is not imported again, and needs no guard against that.
They are started when they are needed, one for each page that waits, as many as there are cores; they end when they
have been idle for a while, and when their standard input does, so that none outlives the process that started it.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from ..._deadline import time_left
from ...errors import ConfigurationError, TimedOut
from ...models import Page
from .. import Links, read_bytes
from .child import LONGEST
from .worker import Worker

LARGE = 2**20  # bytes, from which on a page would hold up the other threads, and an event loop among them
_START_UP = 0.3  # seconds of the processor that starting a process costs
_PAUSE = 60.0  # seconds until the next attempt, where none can be started
_IDLE = 30.0  # seconds without a page, after which a process has to go
_MAX_PROCESSES = 8  # unless told otherwise: as many pages as `WebSearch.read_many` reads at a time


def read_isolated(
    data: bytes,
    url: str,
    content_type: str | None = None,
    *,
    links: Links = "keep",
    style_sheets: bool = False,
    isolate: bool | None = None,
    processes: int | None = None,
) -> Page:
    """
    Do as `websearch_core.reading.read_bytes` does, here or in another process.

    Args:
        data: The bytes of the page.
        url: Where they came from.
        content_type: The value of the HTTP header, where there was one.
        links: What becomes of the links.
        style_sheets: Whether the style sheets in a page hide text.
        isolate: ``True``: in another process. ``False``: here. Left out: in another process if one is free, or the
            page is large, or once reading several at a time has cost what starting one does.
        processes: How many there may be; as many as cores, but at most 8, if left out.

    Raises:
        UnsupportedContent: The bytes are no text.
        BadResponse: The process crashed over this page, or had not enough memory for it.
        TimedOut: The page was not read within the time allowed.
        ConfigurationError: It has to be another process, and none can be started.

    """
    if isolate is False:
        return read_bytes(data, url, content_type, links=links, style_sheets=style_sheets)
    most = processes or count_cores()
    try:
        worker = _pool.take(most, insist=isolate or len(data) >= LARGE)
    except ChildProcessError as error:
        if isolate:
            raise ConfigurationError(f"isolate: no process can be started here: {error}") from error
        worker = None
    if worker is None:
        with _pool.reading_here(most):
            return read_bytes(data, url, content_type, links=links, style_sheets=style_sheets)
    try:
        return worker.read(data, url=url, content_type=content_type, links=links, style_sheets=style_sheets)
    finally:
        _pool.give_back(worker)


@cache
def count_cores() -> int:
    """Return how many processes can work at a time, 8 at most: by cores, affinity and the quota of a container."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text("ascii").split()
        count = min(count, -(-int(quota) // int(period)))
    except (OSError, ValueError):  # no such system, or "max"
        pass
    return max(1, min(count, _MAX_PROCESSES))


class _Pool:
    def __init__(self) -> None:
        self._workers: set[Worker] = set()
        self.forget()
        atexit.register(self.end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        """Begin without processes: after a fork, those there are are the parent's."""
        for worker in self._workers:
            worker.disown()
        self._changed = threading.Condition()
        self._workers = set()
        self._free: list[Worker] = []
        self._waiting = 0
        self._here = 0  # pages being read in this process
        self._spent = 0.0  # seconds that pages took here beside others
        self._problem = ""
        self._not_before = 0.0
        self._clearing: threading.Timer | None = None

    def take(self, most: int, *, insist: bool) -> Worker | None:
        """
        Return a process that does nothing else until it is given back.

        Args:
            most: How many there may be.
            insist: Start one if need be, and wait for it. Otherwise wait only if as many as may be are there, and
                return None if there are fewer and none is free.

        Raises:
            ChildProcessError: None can be started.
            TimedOut: None became free within the time allowed.

        """
        if not (seconds := min(time_left(), LONGEST)):
            raise TimedOut("there is no time left to read the page")
        ends = time.monotonic() + seconds
        with self._changed:
            self._waiting += 1
            try:
                while not (worker := self._rested(most)):
                    starting = sum(not worker.is_ready for worker in self._workers)
                    if not insist and len(self._workers) - starting < most:
                        return None
                    if len(self._workers) < most and starting < self._waiting:
                        self._start()
                    if not self._workers:
                        raise ChildProcessError(self._problem)
                    if not self._changed.wait(ends - time.monotonic()):
                        raise TimedOut("the page was not read within the time allowed")
                return worker
            finally:
                self._waiting -= 1

    def give_back(self, worker: Worker) -> None:
        """Let others have what `take` returned."""
        with self._changed:
            if worker in self._workers:
                self._rest(worker)
                return
        worker.end()

    @contextmanager
    def reading_here(self, most: int) -> Iterator[None]:
        """
        Read a page in this process, while that is cheaper.

        When pages that were read side by side have taken as long as it takes to start a process, one is started for
        each that is being read now: whenever the pages end, less than twice the time was spent that was necessary.
        """
        with self._changed:
            self._here += 1
            alone = self._here == 1 and len(self._free) == len(self._workers)
        begun = time.thread_time()
        try:
            yield
        finally:
            spent = time.thread_time() - begun
            with self._changed:
                if not alone or self._here > 1:
                    self._spent += spent
                    if self._spent >= _START_UP:
                        self._spent = 0.0
                        for _ in range(min(self._here, most - len(self._workers))):
                            self._start()
                self._here -= 1

    def end(self) -> None:
        """End all processes; those that are reading as well."""
        with self._changed:
            free, busy = self._free, self._workers - set(self._free)
            self._workers, self._free = set(), []
            if self._clearing:
                self._clearing.cancel()
                self._clearing = None
            self._spent = self._not_before = 0.0
            self._changed.notify_all()
        for worker in busy:  # whoever waits for its answer notices, and tidies up
            worker.process.kill()
            worker.process.wait()
        for worker in free:
            worker.end()

    # What follows is done with the lock held.

    def _start(self) -> None:
        if time.monotonic() < self._not_before:
            return
        try:
            worker = Worker()
        except OSError as error:
            self._stop_trying(str(error))
            return
        self._workers.add(worker)
        threading.Thread(target=self._welcome, args=(worker,), name="websearch-start", daemon=True).start()

    def _welcome(self, worker: Worker) -> None:
        worker.get_ready()
        with self._changed:
            if worker in self._workers:
                if not worker.is_ready:
                    self._stop_trying(f"a new one ended with status {worker.process.returncode}")
                self._rest(worker)
                return
        worker.end()

    def _stop_trying(self, problem: str) -> None:
        self._problem = problem
        self._not_before = time.monotonic() + _PAUSE

    def _rest(self, worker: Worker) -> None:
        if worker.is_alive():
            worker.resting_since = time.monotonic()
            self._free.append(worker)
            self._clear_later()
        else:
            worker.end()
            self._workers.discard(worker)
        self._changed.notify_all()

    def _rested(self, most: int) -> Worker | None:
        at_work = sum(worker.is_ready for worker in self._workers) - len(self._free)
        while self._free and at_work < most:
            worker = self._free.pop()  # the one that rested least, so that those not needed can go
            if worker.is_alive():
                return worker
            worker.end()
            self._workers.discard(worker)
        return None

    def _clear_later(self) -> None:
        if self._clearing is None:
            self._clearing = threading.Timer(_IDLE, self._clear)
            self._clearing.daemon = True
            self._clearing.start()

    def _clear(self) -> None:
        """End what has been idle for long, and look again later."""
        with self._changed:
            idle = [worker for worker in self._free if time.monotonic() - worker.resting_since >= _IDLE]
            self._free = [worker for worker in self._free if worker not in idle]
            self._workers -= set(idle)
            self._clearing = None
            if self._workers:
                self._clear_later()
        for worker in idle:
            worker.end()


_pool = _Pool()
