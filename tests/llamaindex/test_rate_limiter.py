"""A rate limiter of LlamaIndex, as models take one."""

from __future__ import annotations
import time

import pytest
from llama_index.core.rate_limiter import TokenBucketRateLimiter

from llamaindex_websearch import WebPageReader, WebSearchRetriever, WebSearchToolSpec
from websearch_core.testing import FakeWeb

URL = "https://sea.example/kelp"


class Counted(TokenBucketRateLimiter):
    asked: list[str]

    def acquire(self, num_tokens=0):
        self.asked.append("acquire")
        super().acquire(num_tokens)

    async def async_acquire(self, num_tokens=0):
        self.asked.append("async_acquire")
        await super().async_acquire(num_tokens)


@pytest.fixture
def web():
    return FakeWeb(
        results=[{"title": "Kelp", "url": URL}], pages={URL: "# Kelp\n\nAn alga."}
    )


@pytest.fixture
def limiter():
    return Counted(requests_per_minute=6000, asked=[])


def test_the_tools_of_a_spec_wait_for_it(web, limiter):
    spec = WebSearchToolSpec(provider=web, rate_limiter=limiter)
    search, read = spec.to_tool_list()
    search.call(query="kelp")
    read.call(url=URL)

    assert limiter.asked == ["acquire", "acquire"]


async def test_they_await_it_on_an_event_loop(web, limiter):
    search, _ = WebSearchToolSpec(provider=web, rate_limiter=limiter).to_tool_list()
    await search.acall(query="kelp")

    assert limiter.asked == ["async_acquire"]


def test_a_retriever_and_a_reader_take_it_too(web, limiter):
    WebSearchRetriever(provider=web, rate_limiter=limiter).retrieve("kelp")
    assert len(limiter.asked) == 1
    WebPageReader(provider=web, rate_limiter=limiter).load_data([URL])
    assert len(limiter.asked) == 2


def test_a_search_waits_until_the_bucket_has_a_token(web):
    began = time.monotonic()  # the bucket begins to fill when it is made
    limiter = TokenBucketRateLimiter(requests_per_minute=120)
    limiter._request_tokens = 0.0  # as after a burst
    WebSearchRetriever(provider=web, rate_limiter=limiter).retrieve("kelp")

    assert time.monotonic() - began > 0.3
