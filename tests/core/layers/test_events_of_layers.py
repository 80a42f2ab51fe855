"""Every layer and every pair of layers, in both orders, and what happens inside: a
bug, a cancellation, a time-out, nothing found, half an answer. Whatever the order, it
comes out as it should, and nothing that was not sent is charged.
"""

from __future__ import annotations
import asyncio

import pytest

from websearch_core._runtime.deadline import time_limit
from websearch_core.errors import TimedOut, Unavailable, WebSearchError
from websearch_core.flow import Request, arun, run
from websearch_core.layers import (
    Breaker,
    Budget,
    Cache,
    Fallback,
    Fuse,
    Relax,
    Rerank,
    Retry,
    SingleFlight,
    Throttle,
)
from websearch_core.models import SearchQuery, SearchResponse, SearchResult
from websearch_core.provider import FREE, Service
from websearch_core.testing import reply

KELP = SearchQuery.of("kelp")


class Sea:
    """A service; what happens in it is what the test says."""

    options, about = frozenset(), Service(prices=FREE)

    def __init__(self, name, event):
        self.name, self.event = name, event

    def search(self, query, /):
        yield Request(url="https://sea.example/")
        if self.event == "bug":
            raise KeyError("results")
        if self.event == "failure":
            raise Unavailable("down", provider=self.name)
        found = (
            SearchResult(title="Kelp", url="https://kelp.example/", provider=self.name),
        )
        response = SearchResponse(
            query=query.text,
            provider=self.name,
            results=() if self.event == "empty" else found,
        )
        return (
            response.with_notes("a part failed", partial=True)
            if self.event == "partial"
            else response
        )


def combine(layer):
    return lambda inner: layer(inner, Sea("other", "fine"))


LAYERS = {
    "Retry": Retry(attempts=2, wait_initial=0),
    "Breaker": Breaker(),
    "Cache": Cache(location=":memory:"),
    "SingleFlight": SingleFlight(),
    "Throttle": Throttle(),
    "Budget": Budget(limit="1000 calls"),
    "Relax": Relax(),
    "Rerank": Rerank(lambda query, texts: [0] * len(texts)),
    "Fallback": combine(Fallback()),
    "Fuse": combine(Fuse()),
}


def make(stack, event):
    provider = Sea("sea", event)
    for name in stack:  # from the inside outwards
        provider = LAYERS[name](provider)
    return provider


def end(call):
    try:
        return call()
    except Exception as error:
        return error


def charged(provider):
    """Return how many calls the budget in *provider* has counted; None if there is
    none.
    """
    while provider is not None and not hasattr(provider, "runs"):
        inner = getattr(provider, "inner", None)
        provider = inner[0] if isinstance(inner, tuple) else inner
    if provider is None:
        return None
    return (
        sum(
            amount.calls
            for used in provider.runs.used.by_name.values()
            for amount in used.values()
        )
        / 1_000_000
    )


def stacks_with(inside):
    """Return the layer alone, and inside each of the others."""
    return [(inside,), *((inside, outside) for outside in LAYERS if outside != inside)]


def check(stack, event, found):
    """Check what came out of *stack* after *event*."""
    is_combined = bool({"Fallback", "Fuse"} & set(stack))
    if event in {"bug", "failure"} and is_combined:
        assert found.results, (stack, event, "another provider answers")
        assert any("failed" in note for note in found.notes), (stack, event)
        assert "Fallback" in stack or found._is_partial, (stack, event)
    elif event in {"bug", "failure"}:
        assert isinstance(found, KeyError if event == "bug" else Unavailable), (
            stack,
            event,
        )
    elif event == "partial":
        assert found.results, stack
        assert found._is_partial, stack
        assert any("a part failed" in note for note in found.notes), stack
    else:
        assert bool(found.results) == (event == "fine" or "Fuse" in stack), (
            stack,
            event,
        )
        assert not found._is_partial, (stack, event)


@pytest.mark.parametrize("is_async", [False, True], ids=["blocking", "async"])
@pytest.mark.parametrize("inside", LAYERS)
def test_what_happens_inside_comes_out(inside, is_async):
    def send(request):
        return reply({})

    async def asend(request):
        return reply({})

    for stack in stacks_with(inside):
        for event in ("fine", "bug", "failure", "empty", "partial"):
            provider = make(stack, event)
            flow = provider.search(KELP)
            found = end(
                lambda flow=flow: (
                    asyncio.run(arun(flow, asend)) if is_async else run(flow, send)
                )
            )
            check(stack, event, found)
            if (calls := charged(provider)) is not None:
                assert calls >= 1, (stack, event)  # all of them have sent something


@pytest.mark.parametrize("inside", LAYERS)
def test_a_call_that_is_cancelled_or_late_leaves_every_layer_ready_for_the_next(inside):
    async def use(provider):
        began = asyncio.Event()

        async def hang(request):
            began.set()
            await asyncio.sleep(3600)

        async def answer(request):
            return reply({})

        call = asyncio.create_task(arun(provider.search(KELP), hang))
        await began.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

        async def be_late(request):
            raise TimedOut("no answer within the time allowed")

        with time_limit(60), pytest.raises(WebSearchError):
            await arun(provider.search(KELP), be_late)
        return await arun(provider.search(KELP), answer)

    for stack in stacks_with(inside):
        assert asyncio.run(use(make(stack, "fine"))).results, stack
