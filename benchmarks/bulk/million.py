"""Go on with a list of a million generated lines, with a reader that has its page
ready: what the list itself costs.

    python -m benchmarks.bulk.million LINES READ

All but READ of the lines have their row from an interrupted run, which has to be
remembered: without it, less is held. Prints JSON: the most memory and its growth over
the last nine tenths of what was read, in MiB; and the processor seconds of a line that
was read, and of one that was there.
"""

from __future__ import annotations
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from websearch_core import Page, WebSearch
from websearch_core._cli.rows import Rows, write_rows
from websearch_core.flow import Flow, Sleep

_HOSTS = 20_000


class Canned:
    """A reader that has each page already."""

    name = "canned"

    def read(self, url: str, /) -> Flow[Page]:
        """Return the page."""
        yield Sleep(0)
        return Page(
            url=url, title="Kelp", content="Kelp grows in cold seas, and needs light."
        )


def find_memory() -> float:
    """Return the memory of this process, in MiB."""
    return (
        int(Path("/proc/self/statm").read_text("ascii").split()[1])
        * os.sysconf("SC_PAGE_SIZE")
        / 2**20
    )


def name_url(number: int) -> str:
    """Return a URL of the list."""
    return f"https://host{number % _HOSTS}.example/{number}"


def write_there(path: Path, rows: int) -> None:
    """Write the rows of an interrupted run."""
    with Rows(str(path)) as output:
        row = output.add(
            "",
            Page(
                url="https://sea.example/",
                title="Kelp",
                content="Kelp grows in cold seas.",
            ),
        )
    line = json.dumps(row).partition(",")[2]
    with path.open("w", encoding="utf-8") as file:
        file.writelines(
            f'{{"url": "{name_url(number)}",{line}\n' for number in range(rows)
        )


def main(lines: int, read: int) -> None:
    """Read the list, in this process."""
    early = 0.0
    with tempfile.TemporaryDirectory() as name, WebSearch(reader=Canned()) as web:
        urls, output = Path(name, "urls.txt"), Path(name, "pages.jsonl")
        with urls.open("w", encoding="utf-8") as file:
            file.writelines(f"{name_url(number)}\n" for number in range(lines))
        write_there(output, lines - read)

        async def ask(items: Any) -> AsyncGenerator[tuple[Any, Any]]:
            nonlocal early
            given = 0
            async for row in web.aiter_read(items):
                yield row
                given += 1
                early = find_memory() if given == read // 10 else early

        began = time.process_time()
        rows = Rows(str(output))
        there = time.process_time() - began
        write_rows(ask, str(urls), rows)
        used, growth = time.process_time() - began - there, find_memory() - early
        written = sum(1 for _ in output.open("rb"))
    print(json.dumps({
        "lines": lines, "read": read, "rows": written, "growth": growth,
        "seconds": used / read,
        "seconds_there": there / max(1, lines - read),
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }))  # fmt: skip


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
