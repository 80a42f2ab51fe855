"""Requests keep to the limits of a service: threads, event loops, searches, pages and
retries together.
"""

from __future__ import annotations
import asyncio
import copy
import math
import pickle
import threading
import time

import pytest

from tests.waiting import await_until
from websearch_core import WebSearch
from websearch_core._runtime.deadline import time_limit
from websearch_core._runtime.scope import Patience, scope
from websearch_core.errors import ConfigurationError, RateLimited, Unavailable
from websearch_core.events import Wait, listen
from websearch_core.flow import Call, Gather, Request, Sleep
from websearch_core.layers import Fallback, Retry, SingleFlight, Throttle
from websearch_core.layers._layer import parts
from websearch_core.layers._pace import Ticket
from websearch_core.layers._throttle import _identify
from websearch_core.models import Page, SearchQuery, SearchResponse
from websearch_core.provider import Limits, from_function
from websearch_core.providers.arxiv import ArXiv
from websearch_core.providers.duckduckgo import DuckDuckGo
from websearch_core.providers.searxng import SearXNG
from websearch_core.testing import FakeWeb, play, reply

KELP = SearchQuery.of("kelp")


class Service:
    """A service whose searches and pages take one request each."""

    def __init__(self, name="beacon", **limits):
        self.name, self.limits = name, Limits(**limits)

    def search(self, query):
        response = yield Request(
            url=f"https://{self.name}.example/{query.topic}", params={"q": query.text}
        )
        if response.status == 503:
            raise Unavailable("busy")
        return SearchResponse(query=query.text, provider=self.name)

    def read(self, url):
        yield Request(url=f"https://{self.name}.example/read", target=url)
        return Page(url=url, provider=self.name)


def times(simulation):
    return [at for at, _ in simulation.sent]


def test_requests_begin_one_interval_apart_in_the_order_of_the_calls(simulate):
    layer, simulation = Throttle()(Service(requests_per_second=0.5)), simulate()
    for number in range(5):
        simulation.start(number, layer.search(KELP), after=number / 100)
    simulation.run()

    assert [name for _, name in simulation.sent] == [0, 1, 2, 3, 4]
    gaps = [
        later - earlier
        for earlier, later in zip(
            times(simulation), times(simulation)[1:], strict=False
        )
    ]
    assert [gap for gap in gaps if not 2 <= gap < 2.05] == []


def test_the_first_request_does_not_wait_and_neither_does_one_after_a_long_time(
    simulate,
):
    layer, simulation = Throttle()(Service(requests_per_second=1)), simulate()
    simulation.start("a", layer.search(KELP))
    simulation.start("b", layer.search(KELP), after=60)
    simulation.run()

    assert times(simulation) == [0, 60]


def test_only_so_many_requests_are_under_way_at_a_time_and_they_go_in_order(simulate):
    layer, simulation = Throttle()(Service(concurrent=2)), simulate(seconds=1)
    for number in range(7):
        simulation.start(number, layer.search(KELP))
    simulation.run()

    assert simulation.most_at_once == 2
    assert [name for _, name in simulation.sent] == list(range(7))
    assert times(simulation)[-1] < 3.1  # no place stays empty


def test_searches_pages_and_retries_wait_in_the_same_queue(simulate):
    answers = iter([reply(status=503), reply(), reply()])
    simulation = simulate(answer=lambda _: next(answers))
    throttle = Throttle()(Service(requests_per_second=1))
    simulation.start("search", Retry(wait_initial=0)(throttle).search(KELP))
    simulation.start("read", throttle.read("https://a.example/"), after=0.1)
    simulation.run()

    assert [name for _, name in simulation.sent] == ["search", "search", "read"] or [
        name for _, name in simulation.sent
    ] == ["search", "read", "search"]
    assert times(simulation)[1] >= 1
    assert times(simulation)[2] >= 2
    assert (
        simulation.results["search"].provider
        == simulation.results["read"].provider
        == "beacon"
    )


@pytest.mark.parametrize("leaver", range(1, 5))
def test_whoever_is_cancelled_gives_the_place_back(simulate, leaver):
    layer, simulation = Throttle()(Service(requests_per_second=1)), simulate()
    flows = [layer.search(KELP) for _ in range(5)]
    for number, flow in enumerate(flows):
        simulation.start(number, flow)
    simulation.cancel(flows[leaver], after=0.4)
    simulation.run()

    assert [name for _, name in simulation.sent] == [n for n in range(5) if n != leaver]
    assert times(simulation)[-1] < 3.3  # four requests, of which the first did not wait


def test_whoever_is_cancelled_while_the_service_answers_gives_the_place_back(simulate):
    layer, simulation = Throttle()(Service(concurrent=1)), simulate(seconds=1)
    first = layer.search(KELP)
    simulation.start("first", first)
    simulation.cancel(first, after=0.2)
    simulation.start("second", layer.search(KELP), after=0.3)
    simulation.run()

    assert simulation.sent == [(0, "first"), (0.3, "second")]


def test_a_wait_that_does_not_fit_the_time_left_is_an_error_at_once_and_nothing_is_sent(
    simulate,
):
    layer = Throttle()(Service(requests_per_second=0.1))
    simulate()
    play(layer.search(KELP), reply())
    with (
        time_limit(5),
        pytest.raises(
            RateLimited, match="not sent: the service's limits ask for a wait of 10.0 s"
        ) as no,
    ):
        play(layer.search(KELP))

    assert no.value.retry_after == pytest.approx(10)
    assert no.value.provider == "beacon"


def test_a_call_that_failed_so_does_not_hold_up_the_next(simulate):
    layer, simulation = Throttle()(Service(requests_per_second=1)), simulate()
    play(layer.search(KELP), reply())
    with time_limit(0.1), pytest.raises(RateLimited):
        play(layer.search(KELP))
    simulation.start("next", layer.search(KELP))
    simulation.run()

    assert times(simulation) == [1]


@pytest.mark.parametrize(
    ("headers", "rest"),
    [
        (
            {
                "x-ratelimit-limit": "10",
                "x-ratelimit-remaining": "0",
                "x-ratelimit-reset": "7",
            },
            7,
        ),
        (
            {
                "x-ratelimit-limit": "1, 2000",
                "x-ratelimit-remaining": "0, 1500",
                "x-ratelimit-reset": "1, 900000",
            },
            1,
        ),
        ({"ratelimit": '"m";r=0;t=4', "ratelimit-policy": '"m";q=10;w=60'}, 4),
        ({"retry-after": "3"}, 3),
        ({"retry-after": "4000"}, 60),  # then a request finds out
        ({"x-ratelimit-remaining": "3", "x-ratelimit-reset": "7"}, 0),
        # no limit
        (
            {
                "x-ratelimit-limit": "0",
                "x-ratelimit-remaining": "0",
                "x-ratelimit-reset": "7",
            },
            0,
        ),
        # may be for sale
        ({"x-ratelimit-remaining-day": "0", "x-ratelimit-reset-day": "40000"}, 0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "900000"}, 0),
        ({"x-ratelimit-remaining": "none", "x-ratelimit-reset": "NaN"}, 0),
    ],
)
def test_a_limit_that_the_service_says_is_used_up_is_waited_for(
    simulate, headers, rest
):
    names = {name.replace("-", "_"): value for name, value in headers.items()}
    layer, simulation = Throttle()(Service()), simulate(answer=lambda _: reply(**names))
    simulation.start("first", layer.search(KELP))
    simulation.start("second", layer.search(KELP), after=0.001)
    simulation.run()

    assert times(simulation)[1] == pytest.approx(max(rest, 0.001))


def test_a_limit_of_one_endpoint_does_not_hold_up_another(simulate):
    def answer(request):
        return reply(retry_after="30") if request.url.endswith("/news") else reply()

    layer, simulation = (
        Throttle()(Service(requests_per_second=1)),
        simulate(answer=answer),
    )
    simulation.start("news", layer.search(SearchQuery.of("kelp", topic="news")))
    simulation.start(
        "more news", layer.search(SearchQuery.of("kelp", topic="news")), after=0.1
    )
    simulation.start("web", layer.search(KELP), after=0.2)
    simulation.run()

    assert simulation.sent == [(0, "news"), (1, "web"), (30, "more news")]


def test_what_a_failed_attempt_said_counts_for_every_call(simulate):
    answers = iter([reply(status=503, retry_after="2"), reply(), reply()])
    layer, simulation = Throttle()(Service()), simulate(answer=lambda _: next(answers))
    simulation.start("fails", layer.search(KELP))
    simulation.start("other", layer.search(KELP), after=0.5)
    simulation.run()

    assert isinstance(simulation.results["fails"], Unavailable)
    assert simulation.sent[1] == (2, "other")


def test_every_request_of_a_search_waits_and_those_of_a_gather_too(simulate):
    class Pages(Service):
        def search(self, query):
            yield Request(url="https://beacon.example/1")
            yield Request(url="https://beacon.example/2")
            yield Gather([self.page(3), self.page(4)])
            return SearchResponse(query=query.text)

        def page(self, number):
            return (yield Request(url=f"https://beacon.example/{number}"))

    layer, simulation = Throttle()(Pages(requests_per_second=1)), simulate()
    flow, sent = layer.search(KELP), []
    effect = next(flow)
    while not isinstance(effect, Gather):
        if isinstance(effect, Request):
            sent.append(simulation.now - 1000)
        else:
            simulation.now += effect.seconds
        effect = flow.send(reply() if isinstance(effect, Request) else None)
    for number, part in enumerate(effect.flows):
        simulation.start(number, part)
    simulation.run()

    assert sent == [0, 1]
    assert times(simulation) == [2, 3]


def test_a_service_that_is_called_through_a_library_is_throttled_too(simulate):
    provider = from_function("library", search=lambda query: [])
    layer, simulation = (
        Throttle(requests_per_second=1)(provider),
        simulate(answer=lambda _: []),
    )
    for number in range(3):
        simulation.start(number, layer.search(KELP))
    simulation.run()

    assert times(simulation) == [0, 1, 2]


def test_parsing_after_a_request_does_not_wait(simulate):
    class Parses(Service):
        def search(self, query):
            response = yield Request(url="https://beacon.example/")
            yield Call(str, response)
            return SearchResponse(query=query.text)

    layer, simulation = Throttle()(Parses(requests_per_second=1)), simulate()
    simulation.start("one", layer.search(KELP))
    simulation.run()

    assert times(simulation) == [0, 0]


def test_a_wait_is_announced_once(simulate):
    layer, simulation, heard = (
        Throttle()(Service(requests_per_second=0.1)),
        simulate(),
        [],
    )
    simulation.start("first", layer.search(KELP))
    simulation.start("second", layer.search(KELP))
    with listen(heard.append):
        simulation.run()

    assert heard == [Wait(provider="beacon", seconds=10, reason="throttle")]


@pytest.mark.parametrize(
    ("provider", "rest"),
    [
        (DuckDuckGo(), 1),
        (ArXiv(), 3),
        (DuckDuckGo(base_url="http://127.0.0.1:8080"), 0),  # not their server
        (Service(), 0),
    ],
)
def test_the_documented_limits_are_the_default(simulate, provider, rest):
    layer = Throttle()(provider)
    pace = layer._pace
    simulate()
    ticket, following = Ticket(""), Ticket("")
    pace.enter(ticket)
    assert pace.wait(ticket) == 0
    pace.leave(ticket)
    pace.enter(following)

    assert pace.wait(following) == pytest.approx(rest)


def test_numbers_of_ones_own_replace_the_documented_ones(simulate):
    layer, simulation = (
        Throttle(requests_per_second=4)(DuckDuckGo()),
        simulate(answer=lambda _: reply(b"")),
    )
    for number in range(3):
        simulation.start(number, layer.search(KELP))
    simulation.run()
    assert times(simulation) == [0, 0.25, 0.5]

    layer, simulation = (
        Throttle(requests_per_second=math.inf)(DuckDuckGo()),
        simulate(answer=lambda _: reply(b"")),
    )
    for number in range(3):
        simulation.start(number, layer.search(KELP))
    simulation.run()
    assert times(simulation) == [0, 0, 0]


def test_around_several_the_strictest_limit_counts(simulate):
    layer = Throttle()(
        Fallback()(
            Service("a", requests_per_second=2), Service("b", requests_per_second=1)
        )
    )
    simulation = simulate()
    for number in range(2):
        simulation.start(number, layer.search(KELP))
    simulation.run()

    assert times(simulation) == [0, 1]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"requests_per_second": 0}, "must be more than 0"),
        ({"requests_per_second": -1}, "must be a number"),
        ({"requests_per_second": math.nan}, "must be a number"),
        ({"requests_per_second": "1/s"}, "must be a number"),
        ({"concurrent": 0}, "must be a whole number of at least 1"),
        ({"concurrent": 1.5}, "must be a whole number"),
    ],
)
def test_wrong_numbers_are_refused(options, complaint):
    with pytest.raises(ConfigurationError, match=complaint):
        Throttle(**options)


def throttle_of(web):
    return next(
        (
            part
            for part in parts(web.provider)
            if isinstance(getattr(part, "layer", None), Throttle)
        ),
        None,
    )


def test_it_is_a_default_and_none_removes_it():
    assert throttle_of(WebSearch("duckduckgo")).inner.name == "duckduckgo"
    assert throttle_of(WebSearch("duckduckgo", layers=None)) is None
    assert (
        throttle_of(
            WebSearch("duckduckgo", throttle=Throttle(requests_per_second=9))
        ).layer.requests_per_second
        == 9
    )


def test_copies_and_pickles_have_an_empty_queue(simulate):
    layer = Throttle()(Service(requests_per_second=0.01))
    simulate()
    play(layer.search(KELP), reply())
    for copied in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert play(copied.search(KELP), reply()).pauses == []


class Clocked(Service):
    """A service that notes when it is called."""

    def __init__(self, **limits):
        super().__init__(**limits)
        self.times = []

    def search(self, query):
        yield Call(self.note)
        return SearchResponse(query=query.text)

    def note(self):
        self.times.append(time.monotonic())


def test_threads_and_event_loops_share_one_queue():
    service = Clocked(requests_per_second=50)
    web = WebSearch(service)

    async def several():
        await asyncio.gather(*(web.asearch(f"kelp {number}") for number in range(4)))

    workers = [
        threading.Thread(target=asyncio.run, args=(several(),)) for _ in range(2)
    ]
    workers += [
        threading.Thread(target=web.search, args=(f"kelp {number}",))
        for number in range(4)
    ]
    began = time.monotonic()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert len(service.times) == 12
    # eleven fiftieths, from the beginning: the first may note its time late
    assert max(service.times) - began > 0.21


async def test_a_cancelled_task_leaves_the_queue():
    service = Clocked(requests_per_second=0.001)
    web = WebSearch(service, timeout=10_000)
    await web.asearch("kelp")
    waiting = asyncio.create_task(web.asearch("kelp"))
    await await_until(lambda: throttle_of(web)._pace._turns.waiting)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert not throttle_of(web)._pace._turns.waiting
    assert len(service.times) == 1


def test_the_pause_of_a_provider_is_passed_on():
    class Waits(Service):
        def search(self, query):
            yield Sleep(2)
            return SearchResponse(query=query.text)

    assert play(Throttle()(Waits()).search(KELP)).pauses == [2]


def test_a_single_flight_inside_is_throttled_too():
    service = Clocked(requests_per_second=20)
    web = WebSearch(Throttle()(SingleFlight()(service)))
    began = time.monotonic()
    web.search("kelp")
    web.search("dulse")

    assert service.times[1] - began > 0.049


def test_a_provider_whose_annotations_only_type_checkers_understand_has_a_shared_queue_too():
    assert _identify([FakeWeb()]) == _identify([FakeWeb()]) != _identify([Service()])


def test_a_call_that_is_not_patient_does_not_wait_until_a_service_may_be_asked_again(
    simulate,
):
    layer, simulation = (
        Throttle()(Service()),
        simulate(answer=lambda _: reply(status=503, retry_after="30")),
    )
    simulation.start("first", layer.search(KELP))
    simulation.start("other", layer.search(KELP), after=0.5)
    with scope(patience=Patience(5)):
        simulation.run()

    assert simulation.sent == [(0, "first")]
    error = simulation.results["other"]
    assert isinstance(error, RateLimited)
    assert "the service asked to be left alone for another 30 s" in str(error)
    assert 29 < error.retry_after <= 30


class Strict(Service):
    """A service that takes so many requests in a second, says so or not, and documents
    nothing.
    """

    def __init__(self, per_second, *, says=True):
        super().__init__()
        self.per_second, self.says, self.seen, self.refused, self.clock = (
            per_second,
            says,
            [],
            0,
            None,
        )

    def answer(self, _):
        now = self.clock.now
        self.seen = [at for at in self.seen if at > now - 1]
        fits = len(self.seen) < self.per_second
        if fits:
            self.seen.append(now)
        left = self.per_second - len(self.seen)
        reset = (self.seen[0] + 1 - now) if self.seen else 1
        headers = {
            "X-RateLimit-Limit": f"{self.per_second}, 2000",
            "X-RateLimit-Policy": f"{self.per_second};w=1, 2000;w=2592000",
            "X-RateLimit-Remaining": f"{left}, 1500",
            "X-RateLimit-Reset": f"{math.ceil(reset)}, 389223",
        }
        self.refused += not fits
        return reply({}, status=200 if fits else 429, **(headers if self.says else {}))

    def search(self, query):
        response = yield Request(
            url=f"https://{self.name}.example/{query.topic}", params={"q": query.text}
        )
        if response.status == 429:
            raise RateLimited("too many", provider=self.name)
        return SearchResponse(query=query.text, provider=self.name)


@pytest.mark.parametrize("per_second", [1, 3, 20])
def test_a_burst_to_a_service_of_unknown_pace_is_not_refused(simulate, per_second):
    service = Strict(per_second)
    layer, simulation = (
        Throttle()(service),
        simulate(seconds=0.3, answer=service.answer),
    )
    service.clock = simulation
    for number in range(8):
        simulation.start(number, layer.search(KELP))
    simulation.run()

    assert {type(answer) for answer in simulation.results.values()} == {SearchResponse}
    assert service.refused == 0


def test_a_burst_to_a_service_that_says_nothing_is_refused_seldom(simulate):
    service = Strict(2, says=False)
    layer, simulation = (
        Retry(8, wait_initial=1)(Throttle()(service)),
        simulate(seconds=0.2, answer=service.answer),
    )
    service.clock = simulation
    for number in range(8):
        simulation.start(number, layer.search(KELP))
    simulation.run()

    assert {type(answer) for answer in simulation.results.values()} == {SearchResponse}
    # without a slow start, six at once, and more when they come back
    assert service.refused <= 3


def test_a_service_that_takes_them_gets_more_and_more_at_a_time(simulate):
    layer, simulation = Throttle()(Service()), simulate(seconds=0.5)
    for number in range(60):
        simulation.start(number, layer.search(KELP))
    simulation.run()

    assert len([at for at in times(simulation) if at < 0.5]) == 1
    assert simulation.most_at_once >= 16
    assert times(simulation)[-1] < 4


def test_a_late_answer_does_not_hold_up_the_others(simulate):
    layer, simulation = Throttle()(Service()), simulate(seconds=10)
    for number in range(4):
        simulation.start(number, layer.search(KELP))
    simulation.run()

    assert [round(at) for at in times(simulation)] == [0, 1, 2, 3]


def test_calls_one_after_the_other_do_not_make_a_burst_welcome(simulate):
    layer, simulation = Throttle()(Service()), simulate(seconds=0.5)
    for number in range(20):
        simulation.start(number, layer.search(KELP), after=number)
    for number in range(20, 28):
        simulation.start(number, layer.search(KELP), after=30)
    simulation.run()

    assert len([at for at in times(simulation) if 30 <= at < 30.5]) <= 2


@pytest.mark.parametrize(
    ("layer", "service"),
    [
        pytest.param(
            Throttle(),
            Service(requests_per_second=1000),
            id="the service documents its pace",
        ),
        pytest.param(Throttle(), Service(concurrent=8), id="and how many at a time"),
        pytest.param(
            Throttle(requests_per_second=math.inf),
            Service(),
            id="the developer knows it",
        ),
        pytest.param(
            Throttle(),
            SearXNG(base_url="http://localhost:8888"),
            id="a server of one's own",
        ),
    ],
)
def test_where_the_pace_is_known_all_begin_at_once(simulate, layer, service):
    simulation = simulate(seconds=0.5, answer=lambda _: reply({"results": []}))
    throttled = layer(service)
    for number in range(8):
        simulation.start(number, throttled.search(KELP))
    simulation.run()

    assert len([at for at in times(simulation) if at < 0.5]) == 8
