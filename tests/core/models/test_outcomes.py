"""Answers say how asking each provider ended; a chain may move on when one finds
nothing.
"""

from __future__ import annotations
import asyncio

import pytest

from websearch_core import WebSearch
from websearch_core import errors as e
from websearch_core.errors import AllProvidersFailed, ConfigurationError, Unavailable
from websearch_core.events import Failover, ProviderSkipped, listen
from websearch_core.flow import Request
from websearch_core.layers import Cache, Fallback, Fuse, Retry
from websearch_core.models import (
    Outcome,
    Page,
    SearchQuery,
    SearchResponse,
    SearchResult,
)
from websearch_core.render import page_as_json, search_as_json
from websearch_core.testing import play, reply

KELP = SearchQuery.of("kelp")
HIT = SearchResult(title="Kelp", url="https://a.example/")


class Service:
    def __init__(self, name, *results, fails=None):
        self.name, self.results, self.fails = name, results, fails

    def search(self, query):
        if self.fails:
            raise self.fails
        yield Request(url=f"https://{self.name}.example/")
        return SearchResponse(
            query=query.text, provider=self.name, results=self.results
        )

    def read(self, url):
        if self.fails:
            raise self.fails
        yield Request(url=f"https://{self.name}.example/")
        return Page(url=url, provider=self.name)


class Batch(Service):
    def read_many(self, urls):
        yield Request(url=f"https://{self.name}.example/")
        return [
            Unavailable("no") if "dead" in url else Page(url=url, provider=self.name)
            for url in urls
        ]


def brief(answer):
    return [(one.provider, one.status, one.code) for one in answer.outcomes]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (e.Blocked("x"), "blocked"),
        (e.RateLimited("x"), "rate_limited"),
        (e.QuotaExhausted("x"), "quota"),
        (e.AuthenticationError("x"), "auth"),
        (e.BadResponse("x"), "parse"),
        (e.TimedOut("x"), "timeout"),
        (e.UnsupportedOption("x"), "skipped"),
        (e.Unavailable("x"), "failed"),
        (e.PageNotFound("x"), "failed"),
    ],
    ids=lambda value: getattr(value, "code", value),
)
def test_each_way_to_fail_has_a_status(error, status):
    chain = Fallback()(Service("a", fails=error), Service("b", HIT))
    expected = [("a", status, error.code), ("b", "ok", None)]

    assert brief(play(chain.search(KELP), reply()).result) == expected
    assert brief(play(chain.read("https://a.example/"), reply()).result) == expected


@pytest.mark.parametrize("concurrent", [False, True], ids=["blocking", "async"])
def test_outcomes_are_in_the_response_and_in_its_json(concurrent):
    down = Service("down", fails=Unavailable("down"))

    class Here(Service):
        def search(self, query):
            return SearchResponse(
                query=query.text, provider=self.name, results=self.results
            )
            yield

    web = WebSearch([down, Here("up", HIT)], retry=Retry(attempts=1))
    response = asyncio.run(web.asearch("kelp")) if concurrent else web.search("kelp")

    assert brief(response) == [("down", "failed", "unavailable"), ("up", "ok", None)]
    assert [one.seconds for one in response.outcomes if one.seconds < 0] == []
    assert [one["status"] for one in search_as_json(response)["outcomes"]] == [
        "failed",
        "ok",
    ]
    assert SearchResponse.model_validate(response.model_dump()) == response


def test_the_time_of_each_is_measured(monkeypatch):
    now = iter([0.0, 1.5, 2.0, 2.25])
    monkeypatch.setattr("websearch_core.layers._trail.monotonic", lambda: next(now))
    chain = Fallback()(Service("a", fails=Unavailable("x")), Service("b", HIT))

    assert [
        one.seconds for one in play(chain.search(KELP), reply()).result.outcomes
    ] == [1.5, 0.25]


class Local(Service):
    """Answers without a request; some pages cannot be read."""

    def search(self, query):
        if self.fails:
            raise self.fails
        return SearchResponse(
            query=query.text, provider=self.name, results=self.results
        )
        yield

    def read(self, url):
        if self.fails:
            raise self.fails
        return Page(url=url, final_url=url, content="Kelp.", provider=self.name)
        yield


class LocalBatch(Local):
    def read_many(self, urls):
        return [
            Unavailable("no") if "dead" in url else Page(url=url, provider=self.name)
            for url in urls
        ]
        yield


def call(web, concurrent, method, *arguments):
    answer = getattr(web, f"a{method}" if concurrent else method)(*arguments)
    return asyncio.run(answer) if concurrent else answer


both = pytest.mark.parametrize("concurrent", [False, True], ids=["blocking", "async"])


@both
def test_a_single_provider_has_an_outcome(concurrent):
    web = WebSearch(Local("one", HIT))

    assert brief(call(web, concurrent, "search", "kelp")) == [("one", "ok", None)]
    assert brief(call(web, concurrent, "read", "https://a.example/")) == [
        ("one", "ok", None)
    ]
    assert brief(call(WebSearch(Local("none")), concurrent, "search", "kelp")) == [
        ("none", "empty", None)
    ]


@both
def test_pages_of_one_batch_have_outcomes(concurrent):
    web = WebSearch(LocalBatch("batch", HIT))
    dead, alive = call(
        web, concurrent, "read_many", ["https://x.example/dead", "https://x.example/"]
    )

    assert isinstance(dead, Unavailable)
    assert brief(alive) == [("batch", "ok", None)]


@both
def test_every_member_of_a_fusion_has_an_outcome_and_a_hook_hears_who_is_left_out(
    concurrent,
):
    heard = []
    down, picky = (
        Local("down", fails=e.RateLimited("slow")),
        Local("picky", fails=e.UnsupportedOption("no", options=("topic",))),
    )
    members = [Local("up", HIT), down, Local("none"), picky]
    web = WebSearch(
        members, combine="fuse", retry=Retry(attempts=1), on_event=heard.append
    )
    response = call(web, concurrent, "search", "kelp")

    assert brief(response) == [
        ("up", "ok", None),
        ("down", "rate_limited", "rate_limited"),
        ("none", "empty", None),
        ("picky", "skipped", "unsupported_option"),
    ]
    assert response.notes == (
        "down failed (rate_limited): left out",
        "picky does not support topic: left out",
    )
    left_out = [
        event.as_json() for event in heard if isinstance(event, ProviderSkipped)
    ]
    assert sorted(left_out, key=lambda data: data["provider"]) == [
        {"provider": "down", "error": "rate_limited"},
        {"provider": "picky", "error": "unsupported_option"},
    ]


def test_a_chain_inside_another_layer_tells_its_own_outcomes():
    chain = Fallback()(Local("down", fails=Unavailable("x")), Local("up", HIT))
    response = WebSearch(Fuse()(chain, Local("other")), layers=None).search("kelp")

    assert brief(response) == [
        ("down", "failed", "unavailable"),
        ("up", "ok", None),
        ("other", "empty", None),
    ]


def test_an_answer_from_the_cache_says_nothing_of_those_who_were_asked_before(tmp_path):
    chain = Fallback()(Local("down", fails=Unavailable("x")), Local("up", HIT))
    web = WebSearch(chain, cache=Cache(location=tmp_path / "a.db"))

    assert [one[1] for one in brief(web.search("kelp"))] == ["failed", "ok"]
    assert brief(web.search("kelp")) == [("down|up", "ok", None)]


def test_a_stale_answer_says_how_the_service_failed(tmp_path):
    sea = Local("sea", HIT)
    web = WebSearch(
        sea, cache=Cache(location=tmp_path / "a.db", max_age=0), retry=Retry(attempts=1)
    )
    web.search("kelp")
    sea.fails = Unavailable("down")
    stale = web.search("kelp")

    assert stale.results
    assert brief(stale) == [("sea", "failed", "unavailable")]


def test_an_empty_answer_is_an_answer_by_default():
    answer = play(
        Fallback()(Service("a"), Service("b", HIT)).search(KELP), reply()
    ).result

    assert answer.provider == "a"
    assert brief(answer) == [("a", "empty", None)]
    assert answer.notes == ()


def test_on_empty_asks_the_next():
    heard = []
    with listen(heard.append):
        answer = play(
            Fallback(on_empty=True)(Service("a"), Service("b", HIT)).search(KELP),
            reply(),
            reply(),
        ).result

    assert brief(answer) == [("a", "empty", None), ("b", "ok", None)]
    assert answer.notes == ("a found nothing; answered by b",)
    assert heard == [Failover(provider="a", next_provider="b")]
    assert heard[0].as_json() == {"provider": "a", "next_provider": "b", "error": None}


def test_if_none_finds_anything_the_first_empty_answer_counts_even_if_others_fail():
    chain = Fallback(on_empty=True)(
        Service("a", fails=Unavailable("x")), Service("b"), Service("c")
    )
    answer = play(chain.search(KELP), reply(), reply()).result

    assert answer.provider == "b"
    assert brief(answer) == [
        ("a", "failed", "unavailable"),
        ("b", "empty", None),
        ("c", "empty", None),
    ]
    assert answer.notes == ("a failed (unavailable); b found nothing; c found nothing",)


def test_if_all_fail_on_empty_changes_nothing():
    chain = Fallback(on_empty=True)(
        Service("a", fails=Unavailable("x")), Service("b", fails=Unavailable("y"))
    )
    with pytest.raises(AllProvidersFailed, match="a: x; b: y"):
        play(chain.search(KELP))


def test_pages_of_a_batch_have_their_own_outcomes():
    chain = Fallback()(Batch("a"), Batch("b"))
    dead, alive = play(
        chain.read_many(["https://x.example/dead", "https://x.example/"]),
        reply(),
        reply(),
    ).result

    assert isinstance(dead, AllProvidersFailed)
    assert brief(alive) == [("a", "ok", None)]
    assert page_as_json(alive)["outcomes"][0]["provider"] == "a"


def test_a_page_of_a_batch_that_the_next_reader_reads_says_so():
    chain = Fallback()(Batch("a"), Service("b"))
    flow = chain.read_many(["https://x.example/dead"])
    pages = play(
        flow, reply(), [Page(url="https://x.example/dead", provider="b")]
    ).result

    assert brief(pages[0]) == [("a", "failed", "unavailable"), ("b", "ok", None)]
    assert pages[0].notes == ("a failed (unavailable); answered by b",)


def test_on_empty_is_true_or_false():
    with pytest.raises(ConfigurationError, match="on_empty: must be True or False"):
        Fallback(on_empty="yes")


def test_outcomes_are_values():
    one = Outcome(provider="a", status="ok", seconds=1)

    assert one == Outcome(provider="a", status="ok", seconds=1.0)
    assert len({one, Outcome(provider="a", status="ok", seconds=1.0)}) == 1
