"""A rate limiter of LangChain, as chat models take one."""

from __future__ import annotations
import time

import pytest
from langchain_core.rate_limiters import InMemoryRateLimiter

from langchain_websearch import (
    WebPageLoader,
    WebSearchRetriever,
    WebSearchTool,
    WebSearchToolkit,
)
from websearch_core.testing import FakeWeb

URL = "https://sea.example/kelp"


class Counted(InMemoryRateLimiter):
    def __init__(self):
        super().__init__(
            requests_per_second=1000, check_every_n_seconds=0.001, max_bucket_size=1000
        )
        self.asked = []

    def acquire(self, *, blocking=True):
        self.asked.append("acquire")
        return super().acquire(blocking=blocking)

    async def aacquire(self, *, blocking=True):
        self.asked.append("aacquire")
        return await super().aacquire(blocking=blocking)


@pytest.fixture
def web():
    return FakeWeb(
        results=[{"title": "Kelp", "url": URL}], pages={URL: "# Kelp\n\nAn alga."}
    )


@pytest.fixture
def limiter():
    return Counted()


def test_tools_wait_for_it(web, limiter):
    search, read = WebSearchToolkit(provider=web, rate_limiter=limiter).get_tools()
    search.invoke({"query": "kelp"})
    read.invoke({"url": URL})

    assert limiter.asked == ["acquire", "acquire"]


async def test_they_await_it_on_an_event_loop(web, limiter):
    search, _ = WebSearchToolkit(provider=web, rate_limiter=limiter).get_tools()
    await search.ainvoke({"query": "kelp"})

    assert limiter.asked == ["aacquire"]


def test_a_tool_alone_a_retriever_and_a_loader_take_it_too(web, limiter):
    WebSearchTool(provider=web, rate_limiter=limiter).invoke({"query": "kelp"})
    assert len(limiter.asked) == 1
    WebSearchRetriever(provider=web, rate_limiter=limiter).invoke("kelp")
    assert len(limiter.asked) == 2
    WebPageLoader([URL], provider=web, rate_limiter=limiter).load()
    assert len(limiter.asked) == 3


def test_searches_are_no_faster_than_it_allows(web):
    limiter = InMemoryRateLimiter(
        requests_per_second=20, check_every_n_seconds=0.005, max_bucket_size=1
    )
    tool = WebSearchTool(provider=web, rate_limiter=limiter)
    began = time.monotonic()
    for number in range(4):
        tool.invoke({"query": f"kelp {number}"})

    assert time.monotonic() - began >= 0.15
