"""What a page can cost its caller, with the process that parses it: whatever the bytes.

Each page once took gigabytes, minutes, or a thread that never ended. The bounds of the
parser may fail for the next one; that of the process must not.
"""

from __future__ import annotations
import asyncio
import gzip
import json
import resource
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.server import Server, http
from tests.whole import WHOLE
from websearch_core import WebSearch
from websearch_core.errors import BadResponse, TimedOut
from websearch_core.reading._isolation import pool

pytestmark = [
    pytest.mark.enable_socket,
    pytest.mark.skipif(
        not Path("/proc/self/statm").exists(), reason="this system reports no memory"
    ),
]

_TIMEOUT = 10.0  # seconds of a read: most pages are read, and their answers taken
_WARM_UP = 60.0  # seconds, for a process that starts on a busy machine
_CPU = 0.5  # seconds of processor time of the caller
_PAUSE = 0.2  # seconds of processor time between two turns of the loop
_REST = 0.1  # seconds of processor time in a second after the call
_MEMORY = 50 * 2**20  # bytes that the caller grows by
_ATTEMPTS = 2


def data(value: object) -> str:
    return f"<script type=application/ld+json>{json.dumps(value)}</script>"


def refer(name: str, times: int) -> list[dict[str, str]]:
    return [{"@id": name}] * times


_SEEN = "<title>Dulse</title><h1>Dulse</h1>"
_RECIPE = {
    "@graph": [
        {"@type": "Recipe", "name": "Dulse", "recipeInstructions": refer("a", 90)},
        {"@id": "a", "itemListElement": refer("b", 90), "x": 1, "y": 2},
        {"@id": "b", "text": "red " * 100_000, "x": 1, "y": 2},
    ]
}
_VARIABLES = "".join(f"--v{n}:{f'var(--v{n + 1})' * 9};" for n in range(18))
_OFFER = data({"@type": "Product", "name": "Dulse", "offers": {"price": "4"}})
_SIGNS = " ".join(map(chr, [*range(0x300, 0x36F), *range(0x4E00, 0x9000)])) * 3
PAGES = {
    # without the text, only a browser could read it
    "references": f"{_SEEN}<p>{'Red dulse grows on rocks. ' * 20}{data(_RECIPE)}",
    "variables": f"{_SEEN}<p style='{_VARIABLES}--v18:var(--w,);opacity:var(--v0)'>a",
    "amounts": f"{_SEEN}{_OFFER}<p>{'€7 ' * 250_000}",
    "visibility": _SEEN
    + "<i style=visibility:hidden><i style=visibility:visible>" * 250
    + "a<br>" * 150_000,
    "marks": f"{_SEEN}<p>{_SIGNS}",
    "brackets": f"{_SEEN}<p>{'[' * 900_000}",
    "links": f"{_SEEN}{'<a href=b>a</a> ' * 600_000}",
    "text": f"{_SEEN}<p>{'red dulse 🌊 ' * 700_000}",
}
OPTIONS = {
    "a window": {},
    "a query": {"query": "red dulse"},
    "a phrase": {"find": "dulse"},
    "an outline": {"outline": True},
}


CASES = [(page, part) for page in PAGES for part in OPTIONS]
if not WHOLE:
    CASES = [one for one in CASES if one[0] == "text" or one[1] == "a window"]


@pytest.fixture
def server():
    with Server() as running:
        yield running
    pool._pool.end()


def resident() -> int:
    pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    return int(pages) * resource.getpagesize()


class Harm:
    """What a page costs this process until the call ends, and in a second after it.

    Processor time is that of all threads, so that one which holds the interpreter counts
    as a pause of the event loop. It does not grow when other programs run.
    """

    def __init__(self) -> None:
        self.cpu = self.pause = self.rest = 0.0
        self.memory = 0
        self._resident = resident()

    @property
    def is_bounded(self) -> bool:
        return (
            self.cpu <= _CPU
            and self.pause <= _PAUSE
            and self.rest <= _REST
            and self.memory <= _MEMORY
        )

    def __repr__(self) -> str:
        return (
            f"{self.cpu:.2f} s, {self.memory / 2**20:.0f} MiB, a pause of "
            f"{self.pause:.2f} s, {self.rest:.2f} s afterwards"
        )

    async def watch(self) -> None:
        last = time.process_time()
        while True:
            await asyncio.sleep(0.02)
            now = time.process_time()
            self.pause = max(self.pause, now - last)
            self.memory = max(self.memory, resident() - self._resident)
            last = now


async def warm_up(server: Server) -> None:
    """Import and start once what is not what a page costs: a process, too."""
    async with WebSearch(
        "duckduckgo", internal=["127.0.0.0/8"], timeout=_WARM_UP
    ) as web:
        page = await web.aread(f"{server.url}/first", query="algae")
    assert "Red algae" in page.content


async def read(server: Server, options: dict[str, Any]) -> Harm:
    await warm_up(server)
    async with WebSearch(
        "duckduckgo", internal=["127.0.0.0/8"], timeout=_TIMEOUT
    ) as web:
        harm = Harm()
        watching = asyncio.create_task(harm.watch())
        began = time.process_time()
        # what the process could not do costs that page, and nothing else does
        with suppress(TimedOut, BadResponse):
            await web.aread(f"{server.url}/dulse", **options)
        ended = time.process_time()
        harm.cpu = ended - began
        watching.cancel()
        await asyncio.sleep(1)  # what goes on now would go on for ever
        harm.rest = time.process_time() - ended
    return harm


@pytest.mark.parametrize(("page", "part"), CASES)
def test_a_page_costs_its_caller_little_whatever_it_is(server, page, part):
    sources = {"/dulse": PAGES[page], "/first": f"{_SEEN}<p>Red algae."}
    for path, source in sources.items():
        server.answers[path] = http(
            gzip.compress(source.encode()),
            "200 OK",
            "Content-Type: text/html; charset=utf-8",
            "Content-Encoding: gzip",
        )
    attempts: list[Harm] = []
    while len(attempts) < _ATTEMPTS and not any(one.is_bounded for one in attempts):
        attempts.append(asyncio.run(read(server, OPTIONS[part])))
    assert "/dulse" in server.paths
    assert any(one.is_bounded for one in attempts), attempts
