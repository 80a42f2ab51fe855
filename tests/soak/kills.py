"""Kill processes at random moments while they write to the index, the cache and the
usage file.

    python -m tests.soak.kills 100

Each round forks two processes that write to one file and acknowledge every write on a
pipe, and kills each within a few milliseconds after one of its first writes, often
while the file is new. Then everything acknowledged has to be there, the file has to be
whole, and the next process has to be able to write. Prints the findings as JSON.
"""

from __future__ import annotations
import json
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Protocol

from websearch_core.index import Index
from websearch_core.layers._amounts import MILLION, Amount
from websearch_core.layers._caching.sqlite import SQLiteBackend
from websearch_core.layers._usage import UsageFile
from websearch_core.models import Page, SearchQuery

_SEED = 9
_MOST = 8  # writes that are waited for
_LONGEST = 0.005  # seconds after them
_AT_ONCE = 2  # processes
_PER_FILE = 5  # rounds; then a new file
_DAY = date(2026, 11, 22)


class Writing(Protocol):
    """A file that is written to."""

    def write(self, number: int) -> None:
        """Write what has this number."""
        ...

    def find_losses(self, acknowledged: list[int], kills: int) -> list[str]:
        """Return what is missing, or should not be there."""
        ...


class IndexWriting:
    """Adds pages, and replaces every second one by the next."""

    def __init__(self, path: Path) -> None:
        self._index = Index(path)

    def write(self, number: int) -> None:
        """Add a page."""
        self._index.add(self._make(number))

    @staticmethod
    def _make(number: int) -> Page:
        url = f"https://sea.example/{number // 2}"
        return Page(
            url=url,
            final_url=url,
            title="Kelp",
            content=f"word{number} " + "brown algae " * 50,
        )

    def find_losses(self, acknowledged: list[int], kills: int) -> list[str]:
        """Every page has its last content, and is found by it; at most the writes under
        way were not acknowledged.
        """
        last = {number // 2: number for number in acknowledged}
        losses = []
        for number in last.values():
            page, later = self._make(number), self._make(number + 1)
            content = self._index.page(page.url).content
            may_be = {page.content} | ({later.content} if number % 2 == 0 else set())
            if content not in may_be:
                losses.append(f"page {number} has lost its content")
            found = self._index.search(SearchQuery(text=content.split()[0])).hits
            if [hit.page.url for hit in found] != [page.url]:
                losses.append(f"page {number} is not found by its words")
        if len(self._index.urls()) > len(last) + kills:
            losses.append("there are pages that nobody added")
        return losses


class CacheWriting:
    """Keeps entries."""

    def __init__(self, path: Path) -> None:
        self._backend = SQLiteBackend(path, 2**30)

    def write(self, number: int) -> None:
        """Keep an entry."""
        self._backend.set(str(number), b"x" * (number % 7000), 3600)

    def find_losses(self, acknowledged: list[int], kills: int) -> list[str]:
        """Every entry is there."""
        return [
            f"{n} is missing"
            for n in acknowledged
            if self._backend.get(str(n)) != b"x" * (n % 7000)
        ]


class UsageWriting:
    """Counts calls."""

    def __init__(self, path: Path) -> None:
        self._file = UsageFile(path)

    def write(self, number: int) -> None:
        """Count a call."""
        self._file.add(_DAY, f"tenant {number % 3}", "sea", Amount(MILLION))

    def find_losses(self, acknowledged: list[int], kills: int) -> list[str]:
        """Every call is counted, and at most those under way besides."""
        counted = sum(row.amount.calls for row in self._file.read()) // MILLION
        least = len(acknowledged)
        return (
            []
            if least <= counted <= least + kills
            else [f"{counted} calls instead of {least}"]
        )


WRITINGS: dict[str, Callable[[Path], Writing]] = {
    "index": IndexWriting, "cache": CacheWriting, "usage file": UsageWriting,
}  # fmt: skip


@dataclass
class Findings:
    """What was found.

    Args:
        kills: How many processes were killed.
        writes: How many writes they had acknowledged.
        problems: What was lost or broken.
    """

    kills: int = 0
    writes: int = 0
    problems: list[str] = field(default_factory=list)


def kill(make: Callable[[Path], Writing], rounds: int) -> Findings:
    """Kill two writing processes in each round. To be called in a process without
    threads, since it forks.
    """
    findings, dice = Findings(), random.Random(_SEED)
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, rounds, _PER_FILE):
            path = Path(folder) / f"{first}.db"
            acknowledged: list[int] = []
            here = make(path)  # what this process has open when it forks
            for kills in range(
                _AT_ONCE, _AT_ONCE * (min(_PER_FILE, rounds - first) + 1), _AT_ONCE
            ):
                processes = [
                    _Process(make, path, (kills + n) * 100_000) for n in range(_AT_ONCE)
                ]
                written = [
                    number for process in processes for number in process.end(dice)
                ]
                findings.kills += len(processes)
                findings.writes += len(written)
                acknowledged += written
                findings.problems += _check(here, path, acknowledged, kills)
    return findings


class _Process:
    """A process that writes, and acknowledges what it wrote."""

    def __init__(self, make: Callable[[Path], Writing], path: Path, first: int) -> None:
        reading, writing = os.pipe()
        self._id = os.fork()
        if self._id == 0:
            try:
                os.write(writing, b"ready\n")
                file = make(path)
                for number in range(first, first + 99_999):
                    file.write(number)
                    os.write(writing, f"{number}\n".encode())
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)  # only after an error
        os.close(writing)
        self._pipe = os.fdopen(reading, "rb")

    def end(self, dice: random.Random) -> list[int]:
        """Kill it soon after one of its first writes; return which it acknowledged."""
        with self._pipe as pipe:
            lines = [pipe.readline() for _ in range(1 + dice.randrange(_MOST))]
            time.sleep(dice.uniform(0, _LONGEST))
            os.kill(self._id, signal.SIGKILL)
            lines += pipe.readlines()
        _, status = os.waitpid(self._id, 0)
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, (
            "the process failed before it was killed"
        )
        return [int(line) for line in lines[1:]]


def _check(here: Writing, path: Path, acknowledged: list[int], kills: int) -> list[str]:
    if not acknowledged:
        return []
    # before any other process can repair the file
    problems = here.find_losses(acknowledged, kills)
    with closing(sqlite3.connect(path)) as db:
        if (found := db.execute("PRAGMA integrity_check").fetchall()) != [("ok",)]:
            problems.append(f"not whole: {found[0][0]}")
    return problems


def main() -> None:
    """Kill processes that write to each of the files."""
    rounds = int(sys.argv[1])
    print(
        json.dumps(
            {name: asdict(kill(make, rounds)) for name, make in WRITINGS.items()}
        )
    )


if __name__ == "__main__":
    main()
