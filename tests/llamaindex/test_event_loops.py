"""One tool, many event loops and threads: every call is exactly one request."""

from __future__ import annotations
import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from llamaindex_websearch import WebSearchRetriever, WebSearchToolSpec
from tests.server import Server, http
from websearch_core import WebSearch

pytestmark = pytest.mark.enable_socket


HIT = {"title": "Kelp", "url": "https://sea.example/kelp", "content": "Brown."}


@pytest.fixture
def searxng() -> Iterator[Server]:
    with Server([http({"results": [HIT]})]) as server:
        yield server


@pytest.fixture
def web(searxng: Server) -> Iterator[WebSearch]:
    with WebSearch(
        "searxng",
        base_url=searxng.url,
        retry=1,
        timeout=60,
    ) as web:
        yield web


def test_one_loop_after_the_other(web: WebSearch, searxng: Server) -> None:
    search, _ = WebSearchToolSpec(web=web).to_tool_list()
    for _ in range(4):
        assert "sea.example" in asyncio.run(search.acall(query="kelp", limit=1)).content
    assert len(searxng.requests) == 4


def test_two_loops_at_once(web: WebSearch, searxng: Server) -> None:
    search, _ = WebSearchToolSpec(web=web).to_tool_list()
    together = threading.Barrier(2)

    async def four() -> list[str]:
        together.wait(timeout=60)
        calls = (search.acall(query=f"kelp {n}", limit=1) for n in range(4))
        return [output.content for output in await asyncio.gather(*calls)]

    with ThreadPoolExecutor(2) as threads:
        found = [
            text
            for texts in threads.map(lambda _: asyncio.run(four()), range(2))
            for text in texts
        ]
    assert len(found) == 8
    assert [text for text in found if "sea.example" not in text] == []
    assert len(searxng.requests) == 8


def test_five_calls_share_a_connection(web: WebSearch, searxng: Server) -> None:
    search, _ = WebSearchToolSpec(web=web).to_tool_list()
    for _ in range(5):
        search.call(query="kelp", limit=1)
    assert (len(searxng.requests), searxng.connections) == (5, 1)


def test_the_retriever_works_like_the_tools(web: WebSearch, searxng: Server) -> None:
    retriever = WebSearchRetriever(web=web, k=1)
    for _ in range(2):
        assert asyncio.run(retriever.aretrieve("kelp"))[0].text == "Brown."
    assert retriever.retrieve("kelp")[0].text == "Brown."
    assert len(searxng.requests) == 3
