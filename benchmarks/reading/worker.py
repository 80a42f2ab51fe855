"""Measure what the process that parses pages costs, and print the table of
``docs/bulk.md``.

    python -m benchmarks.reading.worker

Each number is the least of several fresh processes, which take turns: one reads pages
with ``isolate=True``, the other with ``False``. It needs Linux, and the corpus WCXB.
"""

from __future__ import annotations
import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.bulk.server import FOLDERS
from benchmarks.calls.server import Server
from benchmarks.program import Program
from benchmarks.report import Table, milliseconds
from websearch_core import WebSearch
from websearch_core.providers import Direct

_ROOT = Path(__file__).resolve().parents[2]
_ROUNDS = 3
_PAGES = 50  # usual ones
_SMALL_PAGES = 200
_WARM_UP = 5  # pages
_BEAT = 0.001  # seconds
_QUERY = "how much does it cost"
_TICK = os.sysconf("SC_CLK_TCK")  # of the processor times of other processes


class _Cost(NamedTuple):
    """What a page costs: seconds of this process and of others, the longest pause of an
    event loop in seconds, and bytes of this process and of others after all pages.
    """

    here: float
    there: float
    pause: float
    memory_here: float
    memory_there: float


def main() -> None:
    """Print the table, or, with arguments, the costs of one kind of page."""
    if len(sys.argv) > 1:
        url, mode, kind = sys.argv[1:]
        print(json.dumps(_measure(url, mode == "on", kind)))
        return
    costs: dict[tuple[str, str], _Cost] = {}
    with Server() as small, Program("benchmarks.bulk.server") as usual:
        urls = {"small": f"{small.url}/html", "usual": usual.url, "query": usual.url}
        for _ in range(_ROUNDS):
            for kind, url in urls.items():
                for mode in ("on", "off"):
                    cost = _run(url, mode, kind)
                    least = costs.get((kind, mode), cost)
                    costs[kind, mode] = _Cost(*map(min, cost, least))
    print(_make_table(costs))
    print(f"\nUsual pages are {_PAGES} of {' and '.join(FOLDERS)}.")


def _run(url: str, mode: str, kind: str) -> _Cost:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.reading.worker", url, mode, kind],
        check=True,
        capture_output=True,
        cwd=_ROOT,
    )
    return _Cost(*json.loads(done.stdout))


def _measure(url: str, isolate: bool, kind: str) -> _Cost:
    """Read pages, one at a time."""
    web = WebSearch(
        "tavily",
        api_key="none",
        reader=Direct(isolate=isolate),
        internal=["127.0.0.0/8"],
        throttle=False,
    )
    options: Any = {"query": _QUERY} if kind == "query" else {}
    count = _SMALL_PAGES if kind == "small" else _PAGES
    for number in range(_WARM_UP):
        web.read(f"{url}/{number}", **options)
    workers = _find_children()
    here = time.process_time()
    there = sum(map(_count_seconds, workers))
    for number in range(_WARM_UP, _WARM_UP + count):
        web.read(f"{url}/{number}", **options)
    here = time.process_time() - here
    there = sum(map(_count_seconds, workers)) - there
    memory = [_count_bytes(pid) for pid in (os.getpid(), *workers)]
    pause = asyncio.run(_find_pause(web, url, options))
    return _Cost(here / count, there / count, pause, memory[0], sum(memory[1:]))


async def _find_pause(web: WebSearch, url: str, options: Any) -> float:
    """Return the longest time by which an event loop is late while pages are read."""

    async def read() -> None:
        for number in range(_WARM_UP, _WARM_UP + _PAGES):
            await web.aread(f"{url}/{number}", **options)

    reading = asyncio.ensure_future(read())
    longest = 0.0
    while not reading.done():
        begun = time.perf_counter()
        await asyncio.sleep(_BEAT)
        longest = max(longest, time.perf_counter() - begun - _BEAT)
    await reading
    return longest


def _find_children() -> list[int]:
    """Return the processes that the threads of this one started."""
    pids: list[int] = []
    for thread in Path("/proc/self/task").iterdir():
        pids.extend(map(int, (thread / "children").read_text("ascii").split()))
    return pids


def _count_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def _count_bytes(pid: int) -> int:
    """Return the memory of a process; what it shares counts in proportion."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    raise LookupError("Pss")


def _make_table(costs: dict[tuple[str, str], _Cost]) -> Table:
    names = {
        "small": "a page of 2 kB",
        "usual": "a usual page",
        "query": "the same with a `query`",
    }
    rows: list[list[str]] = []
    for kind, name in names.items():
        on = costs[kind, "on"]
        times = (on.here, on.there, on.here + on.there, costs[kind, "off"].here)
        rows.append([name, *map(milliseconds, times)])
    on, off = costs["usual", "on"], costs["usual", "off"]
    pauses = milliseconds(on.pause), "", "", milliseconds(off.pause)
    rows.append(["longest pause of the event loop", *pauses])
    together = on.memory_here + on.memory_there
    sizes = (on.memory_here, on.memory_there, together, off.memory_here)
    memory = [f"{size / 1e6:.0f} MB" for size in sizes]
    rows.append([f"memory after {_PAGES} pages", *memory])
    return Table(("", "caller, on", "worker, on", "together", "all here, off"), rows)


if __name__ == "__main__":
    main()
