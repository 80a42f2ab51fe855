"""Whether the event loop of a caller goes on while a hostile page is read."""

from __future__ import annotations
import asyncio
import gzip
import time

import pytest

from tests.server import Server, http
from tests.waiting import await_until
from websearch_core import WebSearch

pytestmark = pytest.mark.enable_socket

FEED = b"<rss version='2.0'><channel><title>Kelp</title><item><author>%s</author></item></channel></rss>"
ATTEMPTS = 3


@pytest.fixture
def server():
    running = Server()
    yield running
    running.close()


async def find_longest_gap(url):
    """Return the most processor time that this process takes between two turns of an
    event loop while it reads *url*; a busy machine does not add to it.
    """
    gaps = []

    async def tick():
        before = time.process_time()
        while True:
            await asyncio.sleep(0.01)
            now = time.process_time()
            gaps.append(now - before)
            before = now

    ticking = asyncio.create_task(tick())
    async with WebSearch("duckduckgo", internal=["127.0.0.0/8"], timeout=60) as web:
        page = await web.aread(url)
    ticked = len(gaps)
    # a page that is read between two ticks is judged by the next one
    await await_until(lambda: len(gaps) > ticked)
    ticking.cancel()
    assert page.title == "Kelp"
    return max(gaps)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<!doctype html><title>Kelp</title><body><p>" + b"[" * 100_000, "text/html"),
        (FEED % (b"1" * 60_000), "text/xml"),
    ],
    ids=["page", "feed"],
)
def test_a_hostile_page_does_not_hold_the_event_loop(server, body, kind):
    server.answers["/kelp"] = http(
        gzip.compress(body), "200 OK", f"Content-Type: {kind}", "Content-Encoding: gzip"
    )
    gaps = []
    while len(gaps) < ATTEMPTS and (not gaps or min(gaps) >= 3):
        gaps.append(asyncio.run(find_longest_gap(f"{server.url}/kelp")))

    assert min(gaps) < 3, f"{gaps} seconds"
