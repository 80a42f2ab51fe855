"""What a page can cost its caller, with the process that parses it: whatever the bytes.

Each page once took gigabytes, minutes, or a thread that never ended. The bounds of the
parser may fail for the next one; that of the process must not.
"""

from __future__ import annotations
import asyncio
import gzip
import json
import resource
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.server import Server, http
from websearch_core import WebSearch
from websearch_core.errors import WebSearchError
from websearch_core.reading._isolation import pool

pytestmark = [
    pytest.mark.enable_socket,
    pytest.mark.skipif(
        not Path("/proc/self/statm").exists(), reason="this system reports no memory"
    ),
]

_TIMEOUT = 4.0  # seconds of a read
_LATE = 0.5  # seconds after its deadline in which everything ends
_CPU = 0.5  # seconds of processor time of the caller
_MEMORY = 50 * 2**20  # bytes that the caller grows by
_PAUSE = 0.2  # seconds of processor time between two turns of the loop
_ATTEMPTS = 3


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
    "references": _SEEN + data(_RECIPE),
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


@pytest.fixture
def server():
    running = Server()
    yield running
    running.close()


def resident() -> int:
    pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    return int(pages) * resource.getpagesize()


class Harm:
    """What a page costs this process: processor time and memory, the longest of these
    without a turn of the loop, and how late the call ends.
    """

    def __init__(self) -> None:
        self.cpu = self.late = self.pause = 0.0
        self.memory = 0

    @property
    def is_bounded(self) -> bool:
        return (
            self.cpu <= _CPU
            and self.memory <= _MEMORY
            and self.pause <= _PAUSE
            and self.late <= _LATE
        )

    def __repr__(self) -> str:
        return (
            f"{self.cpu:.2f} s, {self.memory / 2**20:.0f} MiB, a pause of "
            f"{self.pause:.2f} s, {self.late:.2f} s late"
        )


async def read(url: str, options: dict[str, object]) -> Harm:
    harm = Harm()
    async with WebSearch(
        "duckduckgo", internal=["127.0.0.0/8"], timeout=60
    ) as web:  # what is imported and started once is not what a page costs
        await web.aread(url.replace("/dulse", "/first"), query="algae")
    async with WebSearch(
        "duckduckgo", internal=["127.0.0.0/8"], timeout=_TIMEOUT
    ) as web:
        before, used = resident(), time.process_time()

        async def watch() -> None:
            last = time.process_time()
            while True:
                await asyncio.sleep(0.005)
                now = time.process_time()
                harm.pause = max(harm.pause, now - last)
                harm.memory = max(harm.memory, resident() - before)
                last = now

        watching = asyncio.create_task(watch())
        began = time.monotonic()
        with suppress(WebSearchError):
            await web.aread(url, **options)
        harm.late = time.monotonic() - began - _TIMEOUT
        await asyncio.sleep(_LATE)
        # what goes on now would go on for ever
        ended = time.process_time()
        await asyncio.sleep(1)
        watching.cancel()
        harm.cpu = max(ended - used, 10 * (time.process_time() - ended))
    return harm


@pytest.mark.parametrize(
    ("page", "part"),
    [
        *((page, "a window") for page in PAGES),
        *(
            (page, part)
            for page in ("marks", "text")
            for part in OPTIONS
            if part != "a window"
        ),
    ],
)
def test_a_page_costs_its_caller_little_whatever_it_is(server, page, part):
    headers = ("Content-Type: text/html; charset=utf-8", "Content-Encoding: gzip")
    server.answers["/dulse"] = http(
        gzip.compress(PAGES[page].encode()), "200 OK", *headers
    )
    server.answers["/first"] = http(
        gzip.compress(_SEEN.encode() + b"<p>Red algae."), "200 OK", *headers
    )
    attempts: list[Harm] = []
    while len(attempts) < _ATTEMPTS and not any(one.is_bounded for one in attempts):
        attempts.append(asyncio.run(read(f"{server.url}/dulse", OPTIONS[part])))
    assert any(one.is_bounded for one in attempts), attempts
    pool._pool.end()
    assert not [one for one in threading.enumerate() if one.name == "websearch-start"]
