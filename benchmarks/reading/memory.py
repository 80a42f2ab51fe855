"""
What the worst pages cost: peak memory above idle, and CPU time, each page in a process of its own.

``python -m benchmarks.reading.memory`` reads all of `worst_pages.PAGES` through `WebSearch.read`, blocking and async,
and writes ``docs/measured/memory.md``. Only the standard library is loaded here: a process counts the memory of its
parent, when it is started, as its own peak.
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

from benchmarks.reading.worst_pages import PAGES, served

MAX_MEMORY = 64.0  # MiB above idle
MAX_TIME = 5.0  # seconds of CPU
RUNS = 3
REPORT = Path(__file__).resolve().parents[2] / "docs" / "measured" / "memory.md"

Colour = Literal["read", "aread"]
COLOURS: tuple[Colour, ...] = ("read", "aread")


class Cost(NamedTuple):
    """What one page took: MiB above idle, seconds of CPU, and how it ended."""

    memory: float
    seconds: float
    outcome: str


def main() -> None:
    """Measure, write the report, and fail where a page costs too much."""
    rows = []
    too_much = []
    with served() as url:
        for name, page in PAGES.items():
            costs = {colour: [measured(f"{url}/{quote(name)}", colour) for _ in range(RUNS)] for colour in COLOURS}
            memory = [max(each).memory for each in costs.values()]
            seconds = max(one.seconds for each in costs.values() for one in each)
            rows.append(
                f"| {page.what} | {memory[0]:.0f} | {memory[1]:.0f} | {seconds:.1f} | {costs['read'][0].outcome} |"
            )
            print(rows[-1], flush=True)
            if max(memory) > MAX_MEMORY or seconds > MAX_TIME:
                too_much.append(name)
    REPORT.write_text(_report(rows), "utf-8")
    if too_much:
        sys.exit(f"too much: {', '.join(too_much)}")


def measured(url: str, colour: Colour) -> Cost:
    """Read *url* in a new process."""
    command = [sys.executable, "-m", "benchmarks.reading.memory", url, colour]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=120)
    return Cost(*json.loads(done.stdout))


def cost(url: str, colour: Colour) -> Cost:
    """Read *url* in this process, after an ordinary page, so that all that is ever loaded is loaded."""
    from websearch_core import Page, WebSearch, WebSearchError

    # The memory of another process would not be seen.
    here = {"direct": {"isolate": False, "style_sheets": True}}
    web = WebSearch("duckduckgo", allow=["127.0.0.0/8"], timeout=60, provider_options=here)

    def read(address: str) -> Page:
        return asyncio.run(web.aread(address)) if colour == "aread" else web.read(address)

    read(url.rpartition("/")[0] + "/ordinary")
    idle, begin = _peak(), time.process_time()
    try:
        page = read(url)
        outcome = f"{page.original_length:,} characters{', the beginning' if page.notes and page.truncated else ''}"
    except WebSearchError as error:
        outcome = f"`{type(error).__name__}`"
    return Cost(_peak() - idle, time.process_time() - begin, outcome)


def _peak() -> float:
    """The most memory that this process ever had, in MiB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 2**20 if sys.platform == "darwin" else most / 2**10


def _report(rows: list[str]) -> str:
    return f"""# What the worst pages cost

Written by `benchmarks/reading/memory.py`: each page below is read through `WebSearch.read` and `WebSearch.aread`, by
the `direct` reader with its default of 10 MiB, `style_sheets=True` and `isolate=False`, in a new process that has read
an ordinary page before.
Memory is the peak of the process (`ru_maxrss`) above its peak after the ordinary page; time is that of its CPU. The
worst of {RUNS} runs each. The server is another process. The goal is at most {MAX_MEMORY:.0f} MiB and
{MAX_TIME:.0f} s.

Python {platform.python_version()} on {platform.system()}, selectolax {version("selectolax")}, httpx {version("httpx")}.

| page | MiB, blocking | MiB, async | seconds of CPU | what is read |
|---|--:|--:|--:|---|
{chr(10).join(rows)}
"""


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(cost(sys.argv[1], cast("Colour", sys.argv[2]))))
    else:
        main()
