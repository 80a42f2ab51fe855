"""Retries do not multiply an outage, and the error says what was tried."""

from __future__ import annotations
import copy
import pickle
import traceback

import pytest

from websearch_core import WebSearch
from websearch_core.errors import (
    AuthenticationError,
    ConfigurationError,
    RateLimited,
    ServiceError,
    Unavailable,
)
from websearch_core.flow import Request
from websearch_core.layers import Breaker, Retry
from websearch_core.models import Page, SearchQuery, SearchResponse
from websearch_core.providers.direct import Direct
from websearch_core.testing import play, reply

KELP = SearchQuery.of("kelp")


class Service:
    """A service that fails until the test lets it work, and counts its requests."""

    def __init__(self, name="beacon"):
        self.name, self.requests, self.works = name, 0, False

    def search(self, query):
        self._count()
        yield Request(url="https://beacon.example/")
        return SearchResponse(query=query.text, provider=self.name)

    def read(self, url):
        self._count()
        yield Request(url="https://beacon.example/read")
        return Page(url=url, provider=self.name)

    def _count(self):
        self.requests += 1
        if not self.works:
            raise Unavailable("down")


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 1000.0

        def __call__(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr("websearch_core.layers._bucket.monotonic", clock)
    return clock


def call(layer, times=1, *, read=False):
    for _ in range(times):
        try:
            play(
                layer.read("https://a.example/") if read else layer.search(KELP),
                *[reply()] * 9,
            )
        except ServiceError as error:
            last = error
    return last


@pytest.mark.parametrize("read", [False, True], ids=["search", "read"])
def test_a_storm_of_calls_at_a_total_outage_sends_less_than_a_quarter_more_requests(
    clock, read
):
    service = Service()
    layer = Retry()(service)
    for _ in range(3000):
        call(layer, read=read)
        clock.now += 1 / 50  # fifty calls a second

    assert 3000 * 1.1 < service.requests < 3000 * 1.25


def test_without_a_budget_a_storm_triples(clock):
    service = Service()
    call(Retry(extra_share=None)(service), 300)

    assert service.requests == 900


def test_a_program_that_calls_seldom_may_always_retry(clock):
    service = Service()
    layer = Retry()(service)
    for _ in range(100):
        call(layer)
        clock.now += 30

    assert service.requests == 300


def test_the_budget_is_saved_up_again_when_the_service_works(clock):
    service = Service()
    layer = Retry()(service)
    call(layer, 100)
    service.works = True
    for _ in range(50):
        play(layer.search(KELP), reply())
    service.works, service.requests = False, 0
    call(layer, 5)

    assert service.requests == 15


def test_searches_and_pages_of_a_provider_share_its_budget_and_other_providers_have_their_own(
    clock,
):
    one, other = Service(), Service("lantern")
    web = WebSearch(
        [one, other],
        reader=[one],
        retry=Retry(wait_initial=0),
        layers=[Breaker(failures=99)],
    )
    for _ in range(20):
        with pytest.raises(ServiceError):
            web.search("kelp")
    searched = one.requests
    with pytest.raises(ServiceError):
        web.read("https://a.example/")

    # 10 saved up, and a fifth of the calls but the first few
    assert searched == other.requests == 20 + 10 + 3
    assert one.requests == searched + 1


def test_copies_and_pickles_start_with_a_full_budget(clock):
    layer = Retry()(Service())
    call(layer, 100)
    for copied in (
        copy.deepcopy(layer),
        pickle.loads(pickle.dumps(layer)),
        layer.layer(Service()),
    ):
        copied.inner.requests = 0
        call(copied)
        assert copied.inner.requests == 3


def test_the_sites_of_pages_that_are_read_from_here_have_no_common_budget(clock):
    layer = Retry()(Direct())
    counts = []
    for _ in range(20):
        try:
            play(
                layer.read("https://dead.example/"),
                Unavailable("down"),
                Unavailable("down"),
                Unavailable("down"),
            )
        except Unavailable as error:
            counts.append(len(error.attempts))

    assert counts == [3] * 20


def test_the_error_lists_the_attempts():
    with pytest.raises(Unavailable) as caught:
        play(
            Retry()(_Two()).search(KELP),
            Unavailable("down"),
            RateLimited("too fast", retry_after=1),
            Unavailable("still down"),
        )
    assert [attempt.code for attempt in caught.value.attempts] == [
        "unavailable",
        "rate_limited",
        "unavailable",
    ]
    began = [attempt.began for attempt in caught.value.attempts]
    assert began[0] == 0
    assert began == sorted(began)
    assert [
        attempt.seconds for attempt in caught.value.attempts if attempt.seconds < 0
    ] == []


class _Two:
    name = "beacon"

    def search(self, query):
        yield Request(url="https://beacon.example/")
        return SearchResponse(query=query.text, provider=self.name)


async def test_the_error_lists_the_attempts_of_an_async_search_too():
    service = Service()
    with pytest.raises(Unavailable) as caught:
        await WebSearch(service, retry=Retry(wait_initial=0)).asearch("kelp")

    assert len(caught.value.attempts) == service.requests == 3


def test_a_lasting_failure_is_the_only_attempt():
    with pytest.raises(AuthenticationError) as caught:
        play(Retry()(_Two()).search(KELP), AuthenticationError("wrong key"))

    assert [attempt.code for attempt in caught.value.attempts] == [
        "authentication_failed"
    ]


def test_attempts_survive_pickling(clock):
    error = call(Retry()(Service()))

    assert pickle.loads(pickle.dumps(error)).attempts == error.attempts


def test_a_traceback_says_that_the_budget_is_used_up(clock):
    error = call(Retry()(Service()), 100)

    assert "Not tried again: beacon has failed often" in "".join(
        traceback.format_exception(error)
    )


@pytest.mark.parametrize("share", [-1, "much", True, float("nan")])
def test_the_share_is_a_number(share):
    with pytest.raises(
        ConfigurationError, match="extra_share: must be a number of at least 0"
    ):
        Retry(extra_share=share)


def test_a_budget_of_zero_allows_only_what_was_saved_up(clock):
    service = Service()
    layer = Retry(extra_share=0)(service)
    call(layer, 50)
    clock.now += 1000
    call(layer, 50)

    assert service.requests == 110
