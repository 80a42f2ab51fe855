"""Measure what the worst pages cost: peak memory above idle, and CPU time, each page in
its own process.

``python -m benchmarks.reading.memory`` reads all of `worst_pages.PAGES` through
`WebSearch.read`, blocking and async, and writes ``benchmarks/results/memory.md``. This
process loads only the standard library, because the peak of a new process starts at the
memory of its parent.
"""

from __future__ import annotations
import asyncio
import json
import platform
import resource
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Literal, NamedTuple, cast
from urllib.parse import quote

from benchmarks.reading.worst_pages import PAGES, PDF, served
from benchmarks.report import store
from websearch_core.settings import Settings

# MiB above idle: three quarters of what a page may add to a process that reads it apart
MAX_MEMORY = 192.0
# of CPU time: a third of the time that reading a page has by default
MAX_SECONDS = 10.0
RUNS = 3  # of pages; a PDF, which takes the same each time, is read once
REPORT = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "memory.md"

Colour = Literal["read", "aread"]
COLOURS: tuple[Colour, ...] = ("read", "aread")


class Cost(NamedTuple):
    """What one page cost: MiB above idle, seconds of CPU time, and the outcome."""

    memory: float
    seconds: float
    outcome: str


def main() -> None:
    """Measure, write the report, and fail if a page costs too much."""
    rows = []
    too_much = []
    with served() as url:
        for name, page in PAGES.items():
            runs = range(1 if page.content_type == PDF else RUNS)
            costs = {
                colour: [measure(f"{url}/{quote(name)}", colour) for _ in runs]
                for colour in COLOURS
            }
            memory = [max(each).memory for each in costs.values()]
            seconds = max(one.seconds for each in costs.values() for one in each)
            rows.append(
                f"| {page.what} | {memory[0]:.0f} | {memory[1]:.0f} | {seconds:.1f} | "
                f"{costs['read'][0].outcome} |"
            )
            print(rows[-1], flush=True)
            if max(memory) > MAX_MEMORY or seconds > MAX_SECONDS:
                too_much.append(name)
    store(REPORT, _report(rows))
    if too_much:
        sys.exit(f"too much: {', '.join(too_much)}")


def measure(url: str, colour: Colour) -> Cost:
    """Read *url* in a new process, and return the cost."""
    command = [sys.executable, "-m", "benchmarks.reading.memory", url, colour]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=600)
    return Cost(*json.loads(done.stdout))


def cost(url: str, colour: Colour) -> Cost:
    """Read *url* in this process, after an ordinary page that loads every module."""
    import pypdf  # noqa: F401 - loads more where Pillow or cryptography is installed

    from websearch_core import Page, WebSearch, WebSearchError

    # The memory of another process would not count.
    here = {"direct": {"isolate": False}}
    web = WebSearch(
        "duckduckgo",
        reader="direct",
        internal=["127.0.0.0/8"],
        timeout=60,
        settings=Settings.load(providers=here),
    )

    def read(address: str) -> Page:
        return (
            asyncio.run(web.aread(address)) if colour == "aread" else web.read(address)
        )

    read(url.rpartition("/")[0] + "/ordinary")
    idle, begin = _peak(), time.process_time()
    try:
        page = read(url)
        outcome = (
            f"{page.original_length:,} "
            f"characters{', the beginning' if page.notes and page.truncated else ''}"
        )
    except WebSearchError as error:
        outcome = f"`{type(error).__name__}`"
    return Cost(_peak() - idle, time.process_time() - begin, outcome)


def _peak() -> float:
    """Return the peak memory of this process, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def _report(rows: list[str]) -> str:
    return f"""# What the worst pages cost

Written by `python -m benchmarks.reading.memory`; do not edit. Each page below is read through `WebSearch.read`
and `WebSearch.aread` by the reader `direct`, with its default limit of 10 MiB and `isolate=False`, in a new
process that has loaded pypdf and read an ordinary page. Memory is the peak of the process (`ru_maxrss`) above its peak
after the ordinary page; time is its CPU time. The numbers are the worst of {RUNS} runs, for PDF of one. The server is
another process.

By default, a page is read apart: in a process that it may add 256 MiB to, and ten bytes for each byte of the page, and
that has the time of the call, 30 s. A page that needs more is lost, with an error. So no page within the limits on
elements and characters may come near: the goal is at most {MAX_MEMORY:.0f} MiB and {MAX_SECONDS:.0f} s.

Python {platform.python_version()} on {platform.system()}, selectolax {version("selectolax")}, httpx {version("httpx")}.

| page | MiB, blocking | MiB, async | seconds of CPU | outcome |
|---|--:|--:|--:|---|
{chr(10).join(rows)}
"""


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(cost(sys.argv[1], cast("Colour", sys.argv[2]))))
    else:
        main()
