"""Several questions at once: one list, each with its own time, at the pace of the
service.
"""

from __future__ import annotations
import asyncio
import time
from collections import Counter
from math import inf

import pytest

from tests.core.layers.simulation import Simulation
from websearch_core import Page, SearchResponse, Timeout, WebSearch
from websearch_core._runtime.deadline import time_limit
from websearch_core.errors import (
    InvalidOption,
    RateLimited,
    TimedOut,
    Unavailable,
    UnsupportedOption,
)
from websearch_core.flow import Call, Request
from websearch_core.layers import Throttle
from websearch_core.models import SearchQuery
from websearch_core.provider import Limits, check_options, parse_results
from websearch_core.testing import FakeWeb, reply


class Service:
    """Answers each question with one request."""

    name = "beacon"
    options = frozenset({"time_range"})

    def __init__(self, **limits):
        self.asked, self.limits = [], Limits(**limits)

    def search(self, query):
        check_options(query, self)
        yield Request(url="https://beacon.example/search", params={"q": query.text})
        self.asked.append(query.text)
        if query.text == "down":
            raise Unavailable("down", provider=self.name)
        items = [{"url": f"https://{query.text}.example", "title": query.text}]
        return SearchResponse(
            query=query.text,
            results=parse_results(items, self.name),
            provider=self.name,
            cost=0.5,
        )

    def read(self, url):
        yield Request(url="https://beacon.example/read", target=url)
        return Page(url=url, content="Tide tables.", provider=self.name)


def texts(answers):
    return [
        answer.query if isinstance(answer, SearchResponse) else type(answer)
        for answer in answers
    ]


@pytest.fixture
def clock(monkeypatch):
    """Make a `Simulation` whose clock is that of all calls: no pause takes any time."""

    def make(seconds=0.0):
        simulation = Simulation(
            seconds, lambda effect: effect() if isinstance(effect, Call) else reply()
        )
        for place in (
            "time",
            "websearch_core.layers._pace",
            "websearch_core.client._stream",
        ):
            monkeypatch.setattr(f"{place}.monotonic", simulation.monotonic)
        return simulation

    return make


def do_list(begin, items, seconds=inf):
    """What a list does in so many seconds, as one flow: a simulation has no threads."""
    stream = yield from begin
    stream.add_all(items)
    with time_limit(seconds):
        return (yield from stream.finish())


def search_list(web, queries, seconds=inf):
    return do_list(
        web._calls.stream_searches({}, None, 0, 1500, 32, in_order=True),
        queries,
        seconds,
    )


@pytest.fixture
def quick(monkeypatch):
    """Answer each request at once."""

    async def asend(self, request):
        return reply()

    monkeypatch.setattr(
        "websearch_core._net.sender.Sender.send", lambda self, request: reply()
    )
    monkeypatch.setattr("websearch_core._net.sender.Sender.asend", asend)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("concurrent", [False, True], ids=["blocking", "async"])
def test_answers_are_in_order_each_with_its_error_and_what_is_listed_twice_is_asked_once(
    concurrent,
):
    service = Service()
    web = WebSearch(service, retry=1)
    asked = [
        "kelp",
        "down",
        SearchQuery.of("tides", limit=2),
        "kelp",
        "",
        7,
        SearchQuery.of("down"),
    ]
    answers = (
        asyncio.run(web.asearch_many(asked)) if concurrent else web.search_many(asked)
    )

    assert texts(answers) == [
        "kelp",
        Unavailable,
        "tides",
        "kelp",
        InvalidOption,
        InvalidOption,
        Unavailable,
    ]
    assert Counter(service.asked) == {"kelp": 1, "down": 1, "tides": 1}
    assert [answers[at].cost for at in (0, 3)] == [0.5, 0.0]  # only one was paid for
    assert answers[1] is answers[6]


@pytest.mark.usefixtures("quick")
def test_options_are_those_of_every_query_that_is_text():
    service = Service()
    web = WebSearch(service, search_options={"limit": 7})
    one, other, both = web.search_many(
        ["a", "b", SearchQuery.of("c")], time_range="week"
    )

    assert texts([one, other]) == ["a", "b"]
    assert isinstance(both, InvalidOption)
    assert "not both" in str(both)


@pytest.mark.usefixtures("quick")
def test_pages_of_the_results_are_read_too():
    service = Service()
    (answer,) = WebSearch(service, reader=service).search_many(["kelp"], read_top=1)

    assert answer.results[0].content == "Tide tables."


@pytest.mark.usefixtures("quick")
def test_what_is_wrong_with_the_options_is_raised():
    web = WebSearch(Service())
    with pytest.raises(InvalidOption, match="limit"):
        web.search_many(["a"], limit=0)
    with pytest.raises(InvalidOption, match="to search for one, use search"):
        web.search_many("a")
    with pytest.raises(InvalidOption, match="not int"):
        web.search_many(7)
    with pytest.raises(InvalidOption, match="concurrency"):
        web.search_many(["a"], concurrency=0)
    (answer,) = web.search_many(["a"], country="DE")

    assert isinstance(answer, UnsupportedOption)
    assert web.search_many([]) == []


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("throttle", "count", "seconds"),
    [
        pytest.param(5, 300, 60, id="five a second"),
        pytest.param(0.25, 40, 160, id="one in four seconds, each with 15 of its own"),
        pytest.param(Throttle(concurrent=1), 40, 40, id="one at a time"),
    ],
)
def test_all_of_a_long_list_are_answered_at_the_pace_of_the_service(
    clock, throttle, count, seconds
):
    web = WebSearch(Service(), throttle=throttle, retry=1)
    queries = [SearchQuery.of(f"q{n}") for n in range(count)]
    simulation = clock(seconds=1)
    began = simulation.now
    simulation.start("list", search_list(web, queries))
    answers = simulation.run().results["list"]

    assert texts(answers) == [query.text for query in queries]
    assert simulation.now - began <= seconds + 5


@pytest.mark.usefixtures("quick")
def test_the_time_of_a_single_call_includes_its_wait(clock):
    web = WebSearch(Service(), throttle=0.25, retry=1)
    simulation = clock()
    for n in range(8):
        simulation.start(n, web._calls.search(SearchQuery.of(f"q{n}"), 0, 1500))
    answers = simulation.run().results

    assert sorted(
        n for n, answer in answers.items() if isinstance(answer, RateLimited)
    ) == [4, 5, 6, 7]


@pytest.mark.usefixtures("quick")
def test_the_limit_of_the_list_holds_and_what_was_answered_by_then_is_kept(clock):
    web = WebSearch(Service(), throttle=1, retry=1)
    simulation = clock()
    began = simulation.now
    simulation.start(
        "list", search_list(web, [SearchQuery.of(f"q{n}") for n in range(40)], 10.5)
    )
    answers = simulation.run().results["list"]
    failed = [answer for answer in answers if not isinstance(answer, SearchResponse)]

    assert simulation.now - began <= 10.6
    assert len(failed) == 40 - 11
    assert {type(answer) for answer in failed} <= {RateLimited, TimedOut}


@pytest.mark.usefixtures("quick")
def test_the_time_of_each_page_begins_when_it_is_sent(clock):
    service = Service()
    web = WebSearch(service, reader=service, throttle=0.25, retry=1, timeout=6)
    urls = [f"https://page.example/{n}" for n in range(12)]
    simulation = clock()
    begin = web._calls.stream_reads({}, 32, in_order=True, give_up_after=3)
    simulation.start("list", do_list(begin, urls, 100))
    answers = simulation.run().results["list"]

    assert [type(answer) for answer in answers] == [Page] * 12


@pytest.mark.usefixtures("quick")
def test_real_threads_and_tasks_wait_in_the_time_of_the_list():
    """With a real clock: they wait together, the last for longer than a call may
    take.
    """
    for concurrent in (False, True):
        web = WebSearch(Service(), throttle=20, timeout=0.2, retry=1)
        queries = [f"q{n}" for n in range(16)]
        began = time.monotonic()
        answers = (
            asyncio.run(web.asearch_many(queries, timeout=60))
            if concurrent
            else web.search_many(queries, timeout=60)
        )

        assert texts(answers) == queries
        assert time.monotonic() - began >= 15 / 20


@pytest.mark.parametrize("timeout", [0, -1, True, "5", Timeout(search=5)])
@pytest.mark.parametrize("call", ["search_many", "read_many"])
def test_a_time_for_all_that_is_no_number_above_zero_is_refused(call, timeout):
    with pytest.raises(
        InvalidOption, match="timeout: must be a number of seconds above 0"
    ):
        getattr(WebSearch(FakeWeb()), call)(["https://sea.example/"], timeout=timeout)
