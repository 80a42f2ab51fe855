"""What a hook hears, and what the log says."""

from __future__ import annotations
import asyncio
import contextlib
import json
import logging
import pickle
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import pytest

from tests.waiting import await_until
from websearch_core import WebSearch, WebSearchError, errors
from websearch_core.events import (
    Event,
    Exchange,
    Failover,
    ReadEnd,
    SearchEnd,
    SearchStart,
    Wait,
    emit,
    listen,
)
from websearch_core.flow import Request, Response, Sleep
from websearch_core.layers import Fallback, Layer, ProviderWrapper, Retry, charge_to
from websearch_core.models import Page, SearchResponse, SearchResult
from websearch_core.provider._http import error_for
from websearch_core.providers.tavily import Tavily
from websearch_core.testing import SECRET, reply

URL = "https://sea.example/kelp?session=hush#top"


class Sea:
    name = "sea"

    def search(self, query, /):
        if query.text == "storm":
            raise errors.RateLimited(
                "sea search failed", provider=self.name, retry_after=0.01
            )
        yield Request(
            url="https://api.example/search",
            params={"q": query.text},
            headers={"X-Api-Key": SECRET},
        )
        result = SearchResult(title="Kelp", url="https://sea.example/kelp")
        return SearchResponse(
            query=query.text,
            results=(result,),
            provider=self.name,
            cost=0.005,
            usage={"credits": 2.0},
        )

    def read(self, url, /):
        yield Sleep(0)
        return Page(
            url=url,
            final_url=url,
            content="A brown alga.",
            content_length=13,
            provider=self.name,
        )


class Lake(Sea):
    name = "lake"

    def search(self, query, /):
        return (yield from Sea.search(self, query.model_copy(update={"text": "calm"})))


@pytest.fixture(autouse=True)
def _answers(monkeypatch):
    monkeypatch.setattr(
        "websearch_core._net.sender.Sender.send", lambda self, request: reply({})
    )

    async def asend(self, request):
        return reply({})

    monkeypatch.setattr("websearch_core._net.sender.Sender.asend", asend)


@pytest.fixture(params=["blocking", "async"])
def search(request):
    """Search in both ways."""

    def call(web, *args, **options):
        if request.param == "async":
            return asyncio.run(web.asearch(*args, **options))
        return web.search(*args, **options)

    return call


def test_a_search_is_a_start_an_exchange_and_an_end_with_its_cost(search):
    heard = []
    response = search(
        WebSearch(Sea(), reader=Sea(), on_event=heard.append), "kelp", limit=3
    )

    start, exchange, end = heard
    assert (start.provider, start.query.text, start.query.limit) == ("sea", "kelp", 3)
    assert (exchange.method, exchange.url, exchange.status) == (
        "GET",
        "https://api.example/search",
        200,
    )
    assert end.response == response
    assert end.seconds == response.elapsed
    assert {
        "results": 1,
        "cost": 0.005,
        "usage": {"credits": 2.0},
    }.items() <= end.as_json().items()


def test_every_event_is_plain_data_without_keys(search):
    heard = []
    search(WebSearch(Sea(), reader=Sea(), on_event=heard.append), "kelp", read_top=1)
    with pytest.raises(errors.RateLimited):
        search(WebSearch(Sea(), on_event=heard.append), "storm")

    assert len({event.name for event in heard}) == 6
    text = json.dumps([{"name": event.name, **event.as_json()} for event in heard])
    assert SECRET not in text + repr(heard)
    assert '"error": "rate_limited"' in text


def test_a_retry_says_how_long_it_waits_and_why(search):
    heard = []
    with pytest.raises(errors.RateLimited):
        search(
            WebSearch(Sea(), retry=Retry(attempts=3), on_event=heard.append), "storm"
        )

    waits = [event for event in heard if isinstance(event, Wait)]
    assert [
        (wait.provider, wait.attempt, wait.seconds, wait.reason) for wait in waits
    ] == [
        ("sea", 1, 0.01, "retry"),
        ("sea", 2, 0.01, "retry"),
    ]
    assert isinstance(heard[-1].error, errors.RateLimited)


def test_a_fallback_says_what_it_moved_on_from(search):
    heard = []
    search(WebSearch([Sea(), Lake()], retry=1, on_event=heard.append), "storm")

    (failover,) = (event for event in heard if isinstance(event, Failover))
    assert (failover.provider, failover.next_provider, failover.error.code) == (
        "sea",
        "lake",
        "rate_limited",
    )
    assert heard[-1].provider == "lake"


def test_pages_that_are_read_together_are_all_heard(search):
    heard = []
    search(WebSearch(Sea(), reader=Sea(), on_event=heard.append), "kelp", read_top=1)

    assert [event.name for event in heard] == [
        "search_start",
        "exchange",
        "read_start",
        "read_end",
        "search_end",
    ]
    assert heard[3].page.content == "A brown alga."


def test_a_block_listens_to_all_calls_in_it_and_to_no_other(search):
    mine, ours = [], []
    web = WebSearch(Sea(), on_event=mine.append)
    with listen(ours.append), listen(ours.append):
        search(web, "kelp")
    search(web, "dulse")

    assert [event.query.text for event in ours if isinstance(event, SearchEnd)] == [
        "kelp",
        "kelp",
    ]
    assert [event.query.text for event in mine if isinstance(event, SearchEnd)] == [
        "kelp",
        "dulse",
    ]


def test_a_layer_announces_its_own_events(search):
    @dataclass(frozen=True, kw_only=True)
    class CacheHit(Event):
        name: ClassVar[str] = "cache_hit"
        provider: str

    class CacheProvider(ProviderWrapper):
        def search(self, query, /):
            emit(CacheHit(provider=self.name))
            return (yield from super().search(query))

    class Cache(Layer):
        rank = 60

        def start(self):
            return partial(CacheProvider, self)

    heard = []
    search(WebSearch(Sea(), layers=[Cache()], on_event=heard.append), "kelp")

    assert heard[1].as_json() == {"provider": "sea"}
    assert heard[1].name == "cache_hit"


def test_an_exception_of_a_hook_is_logged_once_and_breaks_nothing(search, caplog):
    heard = []

    def broken(event):
        heard.append(event)
        raise KeyError(SECRET)

    web = WebSearch(Sea(), on_event=broken)
    assert search(web, "kelp").results
    assert search(web, "kelp").results

    assert len(heard) == 6
    (record,) = (
        record for record in caplog.records if record.name == "websearch_core.bugs"
    )
    assert (
        "on_event for search_start failed: unexpected KeyError" in record.getMessage()
    )
    assert SECRET not in caplog.text


def test_the_end_of_a_cancelled_call_is_heard():
    heard = []

    class Slow(Sea):
        def search(self, query, /):
            yield Sleep(60)

    async def cancel():
        call = asyncio.create_task(
            WebSearch(Slow(), on_event=heard.append, timeout=90).asearch("kelp")
        )
        await await_until(lambda: heard)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(cancel())

    assert [event.name for event in heard] == ["search_start", "search_end"]
    assert heard[-1].as_json()["error"] == "cancelled"


def test_what_is_emitted_outside_a_call_is_heard_by_nobody():
    emit(Wait(provider="sea", seconds=1, reason="throttle"))


@pytest.mark.parametrize("hook", [7, "print", "async"])
def test_a_hook_that_cannot_be_called_is_refused(hook):
    async def listening(event):
        raise AssertionError

    with pytest.raises(
        errors.ConfigurationError,
        match="on_event: must be a function of an event, or a list of them, and not async",
    ):
        WebSearch(Sea(), on_event=listening if hook == "async" else hook)


def test_the_log_says_what_happened_without_queries_keys_and_queries_of_urls(
    search, caplog
):
    caplog.set_level(logging.INFO, "websearch_core")
    web = WebSearch([Sea(), Lake()], reader=Sea(), retry=Retry(attempts=2))
    search(web, "kelp")
    search(web, "storm")
    web.read(URL)
    with pytest.raises(errors.RateLimited):
        WebSearch(Sea(), retry=1).search("storm")

    lines = [record.getMessage() for record in caplog.records]
    assert [line.partition(" in ")[0].partition(" after 0.")[0] for line in lines] == [
        "sea search (4 characters): 1 result",
        "sea waits 0.01 s (retry after rate_limited)",
        "sea failed (rate_limited): lake is next",
        "lake search (5 characters): 1 result",
        "sea read (https://sea.example/kelp): 13 characters",
        "sea search (5 characters) failed",
    ]
    assert [record.levelno for record in caplog.records] == [
        *[logging.INFO] * (len(lines) - 1),
        logging.WARNING,
    ]
    assert [word for word in ("storm", "hush", SECRET) if word in caplog.text] == []


@pytest.mark.parametrize(
    ("error", "level", "line"),
    [
        (
            errors.Unavailable("down", status=503),
            logging.WARNING,
            "unavailable (503) [tenant acme, run r-1]",
        ),
        (errors.InvalidOption("no"), logging.INFO, "invalid_option [tenant"),
    ],
)
def test_a_search_that_a_service_failed_is_a_warning_with_its_status(
    caplog, error, level, line
):
    class Down:
        name = "down"

        def search(self, query, /):
            raise error
            yield

    caplog.set_level(logging.INFO, "websearch_core")
    with charge_to("acme", run="r-1"), pytest.raises(type(error)):
        WebSearch(Down(), retry=False).search("kelp")

    (record,) = caplog.records
    assert record.levelno == level
    assert line in record.getMessage()


def test_events_name_the_tenant_and_the_run_of_their_call(search):
    heard, others = [], []
    web = WebSearch(Sea(), on_event=[heard.append, others.append])
    with charge_to("acme", run="r-1"):
        search(web, "kelp")
    with charge_to(run=Sea()):
        search(web, "kelp")
    search(web, "kelp")

    assert others == heard
    assert [(event.tenant, event.run[:4]) for event in heard] == [
        *[("acme", "r-1")] * 3,
        *[("", "Sea ")] * 3,
        *[("", "")] * 3,
    ]
    assert heard[2].as_json()["tenant"] == "acme"
    assert "tenant" not in heard[-1].as_json()


def test_a_run_is_named_by_its_words_or_by_a_number_that_no_other_run_has(search):
    heard = []
    web = WebSearch(Sea(), on_event=heard.append)
    for run in [Sea(), Sea(), ("acme", None, "t-1")]:
        for _ in range(2):
            with charge_to(run=run):
                search(web, "kelp")
    names = list(dict.fromkeys(event.run for event in heard))
    numbers = [int(name.removeprefix("Sea ")) for name in names[:-1]]

    assert len(set(numbers)) == 2
    assert names[-1] == "acme/t-1"


def test_each_key_of_each_tenant_has_a_warning_an_hour(caplog):
    def fail(key, tenant):
        response = Response(status=401, url="https://api.tavily.com/search")
        tavily = Tavily(api_key=key)

        class Wrong:
            name = "tavily"

            def search(self, query, /):
                raise error_for(response, tavily)
                yield

        with charge_to(tenant), contextlib.suppress(errors.AuthenticationError):
            WebSearch(Wrong(), retry=False).search("kelp")

    for _ in range(2):
        for key, tenant in (("tvly-1", "a"), ("tvly-2", "a"), ("tvly-2", "b")):
            fail(key, tenant)

    lines = [record.getMessage() for record in caplog.records]
    warned = [line for line in lines if "401" in line and "after" not in line]
    assert [line.partition(" [")[2] for line in warned] == [
        "tenant a]",
        "tenant a]",
        "tenant b]",
    ]
    assert "tvly" not in caplog.text


def test_the_log_has_the_query_at_debug_level(search, caplog):
    caplog.set_level(logging.DEBUG, "websearch_core")
    search(WebSearch(Sea()), "kelp\nFORGED")

    lines = [record.getMessage() for record in caplog.records]
    assert lines[:2] == [
        "sea search: 'kelp\\nFORGED'",
        "GET https://api.example/search: 200, 2 bytes",
    ]
    assert SECRET not in caplog.text


@pytest.mark.parametrize(
    "url",
    [
        "https://user:hush@sea.example/\x1b[31m",
        "https://[hush",
        "https://sea.example/?hush",
    ],
)
def test_the_log_shows_no_more_of_a_url_than_where_it_is(caplog, url):
    caplog.set_level(logging.INFO, "websearch_core")
    with contextlib.suppress(WebSearchError):
        WebSearch(Sea(), reader="direct", retry=1).read(url)

    (line,) = [
        record.getMessage()
        for record in caplog.records
        if " read (" in record.getMessage()
    ]
    assert "hush" not in line
    assert line.isprintable()


def hear(event):
    assert isinstance(event, Event)


def test_hooks_and_loggers_survive_copies_and_pickles():
    web = WebSearch("brave", api_key=SECRET, on_event=hear)
    copied = pickle.loads(pickle.dumps(web))

    assert [listener.hook for listener in copied._listeners][1] is hear


def test_layers_that_are_made_by_hand_announce_too():
    heard = []
    chain = Fallback()(Retry(attempts=2, wait_initial=0)(Sea()), Lake())
    WebSearch(chain, on_event=heard.append).search("storm")

    assert [event.name for event in heard if isinstance(event, Wait | Failover)] == [
        "wait",
        "failover",
    ]


def test_only_known_parts_of_an_answer_are_in_the_plain_data():
    end = ReadEnd(
        provider="sea",
        url="u",
        seconds=1,
        page=Page(url="u", content="secret", content_length=6),
    )

    assert end.as_json() == {
        "provider": "sea", "url": "u", "seconds": 1, "length": 6, "cost": None, "usage": {}, "error": None,
    }  # fmt: skip
    assert Exchange(method="GET", url="u", seconds=1).as_json()["status"] is None
    assert SearchStart.name == "search_start"


def test_a_context_variable_that_a_hook_sets_is_set_after_a_call_whether_it_fails_or_not():
    seen = ContextVar("seen", default=0)
    web = WebSearch(
        Sea(),
        on_event=lambda event: seen.set(seen.get() + isinstance(event, SearchStart)),
        layers=None,
    )

    web.search("kelp")
    assert seen.get() == 1
    with pytest.raises(errors.RateLimited):
        web.search("storm")
    assert seen.get() == 2
