"""Make 20,000 mixed calls under faults, kill processes that write, and write
docs/measured/soak.md.

    python -m benchmarks.soak

Everything stays on this machine. Exits with 1 if something was not as it should be.
"""

from __future__ import annotations
import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.report import Table, store
from benchmarks.soak.run import MARGIN, Result, soak

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measured" / "soak.md"
_LIMITS = (0.4, 4.0)  # seconds
_MOST_GROWTH = 32.0  # MiB of what is in use, from the second tenth to the last
_INTRODUCTION = """<!-- Written by `make soak`. Do not edit. -->

# Soak

**{summary}**

{calls:,} calls, 100 at a time: 20 threads, and two event loops with 40 tasks each, which end after 250 calls and are
replaced. They search with Tavily, with DuckDuckGo, with a chain of Tavily and Brave and with both merged, read pages
one by one and four at once, repeat what is cached, and ask the same three times at once. All have the default layers
with a pause of 10 ms between attempts, and share ten `WebSearch` objects. Three calls in ten meet one of the
[faults](faults.md), except redirects, and those with which a service holds off all further calls. One in ten has
{short} s instead of {long} s, one in twenty on an event loop is cancelled, and before one in two hundred, `close()` or
`aclose()` closes the connections of all others. The threads and loops start within two seconds, after a warm-up of 100
calls.

The server is another process on this machine. Each call has a number, so that the server counts its requests; one
that is sent again has to have been announced as a `Wait` before a retry."""

_ENDINGS = """The last column is of the calls that met no fault, were not cancelled and had {long} s. What is not `ok`
there was caused by the others: they closed its connection, or its service had failed so often that the budget for
retries was used up."""

_MEMORY = """What counts is the memory in use: what is resident, less what glibc keeps although it was freed
(`mallinfo2`), as the median of samples every 0.1 s. What is resident says less: glibc gives little back as long as
something in use lies between what is free. It was at most {peak:.0f} MiB here, and {resident:.0f} MiB at the end, of
which {given_back:.0f} MiB remained when glibc was asked to give back what is free (`malloc_trim`). `MALLOC_ARENA_MAX=2`
keeps it from holding memory for each thread that once needed some."""

_KILLS = """Two processes that write to one file are killed at random moments, within 5 ms after one of their first
writes, five times for each file. Then everything that they acknowledged must be there, the file must be whole
(`PRAGMA integrity_check`), and the next process must be able to write. The process that checks still has the file open
when the next two are forked. `tests/soak/test_disks.py` covers full and read-only disks,
`tests/core/runtime/test_sqlite.py` forks in the middle of writing."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--calls", type=int, default=20_000, help="fewer do not change the page"
    )
    parser.add_argument(
        "--kills", type=int, default=200, help="pairs of processes killed for each file"
    )
    chosen = parser.parse_args(arguments)
    result = soak(chosen.calls, limits=_LIMITS, report=print)
    kills = _kill(chosen.kills)
    problems = find_problems(result, kills)
    for problem in problems:
        print(problem, file=sys.stderr)
    text = write_page(result, kills, problems)
    if chosen.calls >= parser.get_default("calls"):
        store(PAGE, text)
    print(text)
    return 1 if problems else 0


def _kill(rounds: int) -> Any:
    command = [sys.executable, "-m", "benchmarks.soak.kills", str(rounds)]
    return json.loads(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
    )


def find_problems(result: Result, kills: Mapping[str, Any]) -> list[str]:
    """Return what was not as it should be."""
    problems = list(result.violations)
    memory = result.memory
    if memory.late - memory.early > _MOST_GROWTH:
        problems.append(
            f"the memory in use grew from {memory.early:.0f} to {memory.late:.0f} MiB"
        )
    problems += [
        f"{name}: {problem}"
        for name, found in kills.items()
        for problem in found["problems"]
    ]
    return problems


def write_page(
    result: Result, kills: Mapping[str, Any], problems: Sequence[str]
) -> str:
    """Return the text of the page."""
    summary = (
        f"{len(problems)} violations: {'; '.join(problems[:3])}"
        if problems
        else "Nothing was lost."
    )
    short, long = _LIMITS
    memory = result.memory
    rows = [
        (
            "every call ends in an answer or one of our errors",
            f"{sum(result.endings.values()):,} parts of calls did",
        ),
        (
            (
                f"in time: at most {MARGIN:.0f} s after its deadline, on a machine that is "
                f"busy"
            ),
            f"{result.latest:.1f} s",
        ),
        (
            "no request is sent twice, unless a retry says so",
            f"{result.requests:,} requests, {result.retries:,} retries",
        ),
        (
            "what is cached is not asked for again",
            f"{result.misses:,} times there was no answer to keep",
        ),
        (
            "no connection, task, thread, process or descriptor is left",
            "; ".join(result.leaks[:3]) or "none",
        ),
        (
            (
                f"the memory in use grows by at most {_MOST_GROWTH:.0f} MiB from the "
                f"second tenth to the last"
            ),
            (
                f"{memory.early:.0f} MiB, then {memory.late:.0f} MiB; "
                f"{memory.slope * 1024:.0f} bytes for each call"
            ),
        ),
    ]
    endings = [
        (f"`{code}`", f"{count:,}", f"{result.unfaulted[code]:,}")
        for code, count in result.endings.most_common()
    ]
    killed = [
        (
            name,
            f"{found['kills']:,}",
            f"{found['writes']:,}",
            f"{len(found['problems'])}",
        )
        for name, found in kills.items()
    ]
    parts = (
        _INTRODUCTION.format(
            summary=summary, calls=result.calls, short=short, long=long
        ),
        str(Table(("what has to hold", "measured"), rows, numbers=False)),
        (
            f"It took {result.seconds:.0f} s, and connections were closed {result.closed} "
            f"times. {_describe_machine()}"
        ),
        "## How the calls ended",
        _ENDINGS.format(long=long),
        str(Table(("", "parts of calls", "without a fault"), endings)),
        "## Memory",
        _MEMORY.format(
            peak=memory.peak,
            resident=memory.resident,
            given_back=memory.given_back,
            early=memory.early,
            late=memory.late,
        ),
        "## Processes that are killed",
        _KILLS,
        str(
            Table(("file", "killed", "writes acknowledged", "lost or damaged"), killed)
        ),
    )
    return "\n\n".join(parts) + "\n"


def _describe_machine() -> str:
    python = f"{platform.python_implementation()} {platform.python_version()}"
    machine = f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores"
    return f"Measured on {datetime.now(UTC):%Y-%m-%d} with {python} on {machine}."


if __name__ == "__main__":
    sys.exit(main())
