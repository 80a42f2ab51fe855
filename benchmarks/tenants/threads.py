"""Measure how long an event loop is blocked when it hands work to threads that have to
be started first.
"""

from __future__ import annotations
import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from statistics import median

from benchmarks.report import Goal, Section, Table, milliseconds
from benchmarks.tenants.server import Server
from websearch_core._runtime.threads import Threads

_JOBS = 32
_BUSY = (0, 4, 16)
_ROUNDS = 5

_Submit = Callable[[Callable[[], None]], Future[None]]


def measure(_server: Server) -> Section:
    """Compare the threads of the standard library with ours, in turns."""
    rows: list[tuple[str, ...]] = []
    spent: dict[tuple[int, str], list[float]] = {}
    for busy in _BUSY:
        with _computing(busy):
            for _ in range(_ROUNDS):
                for name, make in (("theirs", _make_executor), ("ours", _make_threads)):
                    spent.setdefault((busy, name), []).append(
                        asyncio.run(_hand_over(make()))
                    )
        rows.append(
            (
                str(busy),
                *(
                    milliseconds(median(spent[busy, name]))
                    for name in ("theirs", "ours")
                ),
            )
        )
    worst, ours = (median(spent[_BUSY[-1], name]) for name in ("theirs", "ours"))
    return Section(
        "Threads that start cold",
        f"An event loop hands {_JOBS} pieces of blocking work to a new pool of threads "
        f"at once, while other threads of "
        "the process compute in Python. The time is how long it takes the loop to do "
        "so, during which it does nothing "
        f"else; the median of {_ROUNDS} turns. `ThreadPoolExecutor` starts a thread "
        f"for each piece and waits until it "
        "runs, each time until every thread that computes has had its 5 ms. Ours are "
        "started by one another.",
        [Table(("threads that compute", "`ThreadPoolExecutor`", "ours"), rows)],
        [
            Goal(
                f"with {_BUSY[-1]} threads that compute, the loop is blocked for a "
                f"fifth of the time of "
                "`ThreadPoolExecutor`",
                f"{milliseconds(ours)} instead of {milliseconds(worst)}",
                ours * 5 <= worst,
            )
        ],
    )


async def _hand_over(submit: _Submit) -> float:
    start = time.perf_counter()
    waiting = [submit(_block) for _ in range(_JOBS)]
    spent = time.perf_counter() - start
    await asyncio.gather(*map(asyncio.wrap_future, waiting))
    return spent


def _block() -> None:
    time.sleep(0.05)


def _make_executor() -> _Submit:
    return ThreadPoolExecutor(_JOBS).submit


def _make_threads() -> _Submit:
    threads = Threads("websearch-measured", 4 * _JOBS)
    return lambda work: threads.submit("client", work)


@contextmanager
def _computing(count: int) -> Iterator[None]:
    """Let other threads compute in this block."""
    ends = threading.Event()

    def compute() -> None:
        while not ends.is_set():
            sum(range(10_000))

    threads = [threading.Thread(target=compute) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ends.set()
        for thread in threads:
            thread.join()
