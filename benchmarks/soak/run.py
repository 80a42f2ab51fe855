"""Make the calls of a soak from threads and event loops, and say what was not as it
should be.
"""

from __future__ import annotations
import asyncio
import tempfile
import threading
import time
import traceback
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.soak.calls import Plan, Planner, Sent, Webs, check_answer
from benchmarks.soak.server import Counts, Other, start
from benchmarks.soak.watch import Holdings, Memory, Use, find_memory, find_tasks
from websearch_core.errors import WebSearchError
from websearch_core.events import listen

# seconds that a call may end after its deadline, since this machine does other things,
# too
MARGIN = 3.0
_SERVICES = ("tavily", "brave", "duckduckgo", "page")
_RAMP = 2.0  # seconds until all threads and event loops make calls
_PER_LOOP = 250  # calls; then the event loop ends, and another begins
_WARM_UP = 100  # calls
_REPORTED = 20  # violations


@dataclass
class Result:
    """What a soak found.

    Args:
        calls: How many there were.
        seconds: How long all of them took.
        endings: How many ended in which way: ``ok``, ``cancelled``, or the code of an
            error.
        unfaulted: The same of those that met no fault, were not cancelled and had the
            longer time.
        latest: Seconds after its deadline that the last one ended.
        retries: Requests that were sent again.
        requests: Requests that the server got.
        misses: Calls that found nothing in the cache although the same had been
            answered.
        closed: How often connections were closed in the middle.
        memory: What was used.
        leaks: Connections, tasks, threads, processes and descriptors that were left.
        violations: What was not as it should be; the first ones.
    """

    calls: int
    seconds: float = 0.0
    endings: Counter[str] = field(default_factory=Counter)
    unfaulted: Counter[str] = field(default_factory=Counter)
    latest: float = 0.0
    retries: int = 0
    requests: int = 0
    misses: int = 0
    closed: int = 0
    memory: Use = field(default_factory=Use)
    leaks: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)

    def complain(self, what: str) -> None:
        """Note a violation."""
        if len(self.violations) < _REPORTED:
            self.violations.append(what)

    def leak(self, what: str) -> None:
        """Note something that was left."""
        self.leaks.append(what)
        self.complain(f"left: {what}")


class Soak:
    """The calls that are made.

    Args:
        calls: How many.
        base: The URL of the server.
        folder: Where files are.
        limits: Seconds that a hurried call may take, and those that any other may take.
    """

    def __init__(
        self, calls: int, base: str, folder: Path, limits: tuple[float, float]
    ) -> None:
        self.result = Result(calls)
        self.done = 0
        self._planner = Planner(limits)
        self._webs = Webs(base, folder, limits)
        self._numbers: Iterator[int] = iter(range(calls))
        self._lock = threading.Lock()
        # Made before the first call, so that keeping count takes no more memory later.
        self._allowed = {service: array("H", bytes(2 * calls)) for service in _SERVICES}

    def work(
        self, threads: int, loops: int, per_loop: int, ramp: float = _RAMP
    ) -> None:
        """Make all calls, with so many threads and event loops, and so many tasks on
        each.
        """
        works = [self._in_thread] * threads + [
            partial(self._on_loops, per_loop)
        ] * loops
        workers = [
            threading.Thread(target=self._guard, args=(work,), name=f"caller-{n}")
            for n, work in enumerate(works)
        ]
        began = time.monotonic()
        for worker in workers:
            worker.start()
            # as load comes: to start a thread takes a turn of all that run
            time.sleep(ramp / len(workers))
        for worker in workers:
            worker.join()
        self.result.seconds = time.monotonic() - began
        for web in self._webs.all.values():
            web.close()
        # with the file of the cache, which is closed when nobody can use it any more
        self._webs.all.clear()

    def _guard(self, work: Callable[[], None]) -> None:
        """Do *work*; that it ends with an error, instead of a call, is a violation,
        too.
        """
        try:
            work()
        except Exception:  # noqa: BLE001 - reported
            self.result.complain(
                f"{threading.current_thread().name} ended: "
                f"{traceback.format_exc()[-1500:]}"
            )

    def _take(self) -> Plan | None:
        with self._lock:
            number = next(self._numbers, None)
        return None if number is None else self._planner.plan(number)

    def _in_thread(self) -> None:
        while plan := self._take():
            web, record = self._webs.find(plan), Record(plan)
            if plan.closes:
                web.close()
            for method, argument in self._webs.steps(plan):
                with record.step(), listen(record.sent.hear):
                    record.ended(getattr(web, method)(argument))
            self._settle(record)

    def _on_loops(self, at_once: int) -> None:
        while asyncio.run(self._use_loop(at_once)):
            pass

    async def _use_loop(self, at_once: int) -> bool:
        """Make some calls; return whether there may be more."""
        left = [_PER_LOOP]
        await asyncio.gather(*(self._use_task(left) for _ in range(at_once)))
        for task in find_tasks():
            self.result.leak(f"the task {task}")
        return left[0] <= 0

    async def _use_task(self, left: list[int]) -> None:
        while left[0] > 0 and (plan := self._take()):
            left[0] -= 1
            record = Record(plan)
            if plan.closes:
                await self._webs.find(plan).aclose()
            await self.give_up(asyncio.create_task(self._acall(record)), record)
            self._settle(record)

    async def give_up(self, task: asyncio.Task[Any], record: Record) -> None:
        """Wait for *task*, and cancel it when its plan says that the caller gives up."""
        if record.plan.give_up is None:
            await task
            return
        await asyncio.wait([task], timeout=record.plan.give_up)
        began = time.monotonic()
        task.cancel()
        await asyncio.wait([task])
        if task.cancelled():
            record.endings.append("cancelled")
            record.late = max(record.late, time.monotonic() - began)
        else:
            task.result()

    async def _acall(self, record: Record) -> None:
        web = self._webs.find(record.plan)
        for method, argument in self._webs.steps(record.plan):
            with record.step(), listen(record.sent.hear):
                if record.plan.kind == "together":
                    several = [getattr(web, f"a{method}")(argument) for _ in range(3)]
                    for ending in await asyncio.gather(
                        *several, return_exceptions=True
                    ):
                        record.ended(ending)
                else:
                    record.ended(await getattr(web, f"a{method}")(argument))

    def _settle(self, record: Record) -> None:
        plan, result = record.plan, self.result
        with self._lock:
            self.done += 1
            for service in _SERVICES:
                self._allowed[service][plan.number] = record.sent.allowed(
                    service, record.misses
                )
            result.endings.update(record.endings)
            if (
                plan.fault == "ok"
                and plan.give_up is None
                and plan.limit == self._planner.limits[1]
            ):
                result.unfaulted.update(record.endings)
            result.retries += record.sent.retries
            result.misses += record.misses
            result.closed += plan.closes
            result.latest = max(result.latest, record.late)
            for problem in record.problems:
                result.complain(
                    f"call {plan.number}, {plan.kind}, fault {plan.fault}: {problem}"
                )
            if record.late > MARGIN:
                result.complain(
                    f"call {plan.number}, {plan.kind}: it ended {record.late:.1f} s "
                    f"after its deadline"
                )

    def check_requests(self, counts: Counts) -> None:
        """Compare the requests that the server got with those that calls may send."""
        self.result.requests = sum(
            sum(seen.values()) for seen in counts.requests.values()
        )
        if counts.unknown:
            self.result.complain(f"{counts.unknown} requests of no call")
        for service, seen in counts.requests.items():
            for number, requests in seen.items():
                if requests > (allowed := self._allowed[service][number]):
                    plan = self._planner.plan(number)
                    self.result.complain(
                        f"call {number}, {plan.kind}, fault {plan.fault}: "
                        f"{requests} requests to {service} instead of {allowed}"
                    )


class Record:
    """What one call did."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.sent = Sent(pages=4 if plan.kind == "read_many" else 1)
        self.endings: list[str] = []
        self.problems: list[str] = []
        self.late = 0.0

    def ended(self, ending: object) -> None:
        """Note how a part of the call ended: with an answer, or with an error."""
        match ending:
            case WebSearchError():
                self.endings.append(ending.code)
            case BaseException():
                self.problems.append(
                    "".join(traceback.format_exception(ending))[-1500:]
                )
            case _:
                self.endings.append("ok")
                if problem := check_answer(self.plan, ending):
                    self.problems.append(problem)

    @property
    def misses(self) -> int:
        """How often something was asked again: after an error, or because it was not in
        the cache.
        """
        return 1 if self.plan.kind.startswith("cached") and not self.sent.hits else 0

    def step(self) -> _Step:
        """Return a context for a part of the call, which it notes."""
        return _Step(self)


class _Step:
    """Part of a call: it has to end in time, with an answer or one of our errors."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def __enter__(self) -> None:
        self._began = time.monotonic()

    def __exit__(
        self, kind: object, error: BaseException | None, trace: object
    ) -> bool:
        record = self._record
        record.late = max(
            record.late, time.monotonic() - self._began - record.plan.limit
        )
        if error is None or isinstance(error, asyncio.CancelledError):
            return False
        record.ended(error)
        return True


def soak(
    calls: int,
    *,
    threads: int = 20,
    loops: int = 2,
    per_loop: int = 40,
    limits: tuple[float, float] = (0.4, 4.0),
    report: Callable[[str], None] = lambda _: None,
) -> Result:
    """Make *calls* calls, and return what was found.

    Args:
        calls: How many.
        threads: How many threads make them.
        loops: How many event loops.
        per_loop: How many tasks on each event loop.
        limits: Seconds that a hurried call may take, and those that any other may take.
        report: Called with a line of progress, every few seconds.
    """
    warm_up(limits)
    with start() as server, tempfile.TemporaryDirectory() as folder:
        before = Holdings()
        one = Soak(calls, server.url, Path(folder), limits)
        with Memory(calls, lambda: one.done) as memory, _reporting(one, report):
            one.work(threads, loops, per_loop)
        one.check_requests(server.count())
        result = one.result
        for leak in before.find_leaks():
            result.leak(leak)
        if connections := _count_open(server):
            result.leak(f"{connections} connections of the server")
    result.memory = memory.summarize()
    return result


def _count_open(server: Other) -> int:
    """Return how many connections the server still has after some time: it notices an
    end only when it sends.
    """
    end = time.monotonic() + 10
    while (connections := server.count().connections) and time.monotonic() < end:
        time.sleep(0.1)
    return connections


def warm_up(limits: tuple[float, float]) -> None:
    """Make a few calls, so that what every program imports and keeps is not taken for a
    leak.
    """
    with start() as server, tempfile.TemporaryDirectory() as folder:
        Soak(_WARM_UP, server.url, Path(folder), limits).work(
            threads=1, loops=1, per_loop=40, ramp=0
        )


@contextmanager
def _reporting(one: Soak, report: Callable[[str], None]) -> Iterator[None]:
    """Say every few seconds how far it is."""
    ends = threading.Event()

    def repeat() -> None:
        while not ends.wait(5):
            report(
                f"{one.done:,} of {one.result.calls:,} calls, {find_memory():.0f} MiB"
            )

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()
