"""Pages that are fetched from here: each host has a queue, and a rest of its own."""

from __future__ import annotations
import asyncio
import copy
import math
import pickle
import threading
import time
from collections import Counter
from functools import partial
from itertools import pairwise
from types import SimpleNamespace

import pytest

from tests.core.layers.simulation import Simulation
from tests.waiting import longer_until
from websearch_core import Timeout, WebSearch
from websearch_core._runtime.deadline import time_limit
from websearch_core._text.urls import find_host
from websearch_core.client._stream import Lanes
from websearch_core.errors import (
    BadResponse,
    ConfigurationError,
    PageNotFound,
    RateLimited,
    TimedOut,
    WebSearchError,
)
from websearch_core.flow import Call, Gather, Request, Sleep, arun, run
from websearch_core.layers import Cache, Retry, Throttle
from websearch_core.layers import _throttle as hosts_module
from websearch_core.models import Page
from websearch_core.provider import error_for
from websearch_core.testing import reply


class Reader:
    """A reader that fetches pages itself, and follows redirects."""

    name, opens_pages = "skiff", True

    def read(self, url):
        response = yield Request(url=url, guarded=True)
        while response.status == 301:
            response = yield Request(url=response.headers["location"], guarded=True)
        if response.status >= 400:
            raise error_for(response, self, verb="read")
        return Page(url=url, provider=self.name)


class Browser:
    """A reader that leaves fetching to a program."""

    name, opens_pages = "brig", True

    def read(self, url):
        yield Call(str, url)
        return Page(url=url, provider=self.name)


def start(simulation, layer, count, host="sea.example", after=0.0):
    for number in range(count):
        name = f"{host}/{number}"
        simulation.start(name, layer.read(f"https://{name}"), after=after)


def times(simulation, host="sea.example"):
    return [at for at, name in simulation.sent if name.startswith(f"{host}/")]


@pytest.mark.parametrize("reader", [Reader(), Browser()])
def test_four_pages_of_a_host_are_fetched_at_a_time(simulate, reader):
    layer, simulation = Throttle()(reader), simulate(seconds=1)
    start(simulation, layer, 9)
    simulation.run()

    assert simulation.most_at_once == 4
    assert Counter(map(round, times(simulation))) == {0: 4, 1: 4, 2: 1}


def test_a_page_and_its_redirects_do_not_wait(simulate):
    hops = iter(
        [
            *(reply(status=301, location=f"https://sea.example/{n}") for n in range(5)),
            reply(),
        ]
    )
    layer, simulation = Throttle()(Reader()), simulate(answer=lambda _: next(hops))
    start(simulation, layer, 1)
    simulation.run()

    assert times(simulation) == [0] * 6


def test_a_batch_is_spaced_after_the_first_ten(simulate):
    layer, simulation = Throttle()(Reader()), simulate()
    start(simulation, layer, 30)
    simulation.run()

    assert times(simulation)[9] < 0.1
    assert [
        later - earlier
        for earlier, later in pairwise(times(simulation)[9:])
        if later - earlier < 0.15
    ] == []
    assert times(simulation)[-1] == pytest.approx(4, abs=0.1)


def test_hosts_do_not_wait_for_each_other(simulate):
    layer, simulation = Throttle()(Reader()), simulate(seconds=1)
    start(simulation, layer, 40)
    start(simulation, layer, 2, host="lake.example", after=0.5)
    simulation.run()

    assert times(simulation, "lake.example") == [0.5, 0.5]


def test_readers_of_one_web_search_share_the_queues(simulate):
    throttle, simulation = Throttle().start(), simulate(seconds=1)
    start(simulation, throttle(Reader()), 3)
    start(simulation, throttle(Browser()), 3)
    simulation.run()

    assert simulation.most_at_once == 4


@pytest.mark.parametrize("status", [429, 503])
def test_after_retry_after_a_host_gets_no_requests_and_others_do(simulate, status):
    answers = {"https://sea.example/0": reply(status=status, retry_after="5")}
    layer = Throttle()(Reader())
    simulation = simulate(answer=lambda request: answers.pop(request.url, reply()))
    start(simulation, layer, 1)
    start(simulation, layer, 2, after=0.1)
    start(simulation, layer, 1, host="lake.example", after=0.2)
    simulation.run()

    assert times(simulation) == [0, 5, 5]
    assert times(simulation, "lake.example") == [0.2]


@pytest.mark.parametrize("status", [200, 301, 404, 500])
def test_other_answers_say_nothing_about_the_rate_whatever_their_headers(
    simulate, status
):
    wait = {"retry_after": "5", "x_ratelimit_remaining": "0", "x_ratelimit_reset": "5"}
    answers = iter(
        [reply(status=status, location="https://sea.example/x", **wait), *[reply()] * 3]
    )
    layer, simulation = Throttle()(Reader()), simulate(answer=lambda _: next(answers))
    start(simulation, layer, 1)
    start(simulation, layer, 1, after=0.1)
    simulation.run()

    assert max(times(simulation)) == 0.1


def test_a_long_rest_is_not_waited_for_and_ends_within_a_minute(simulate):
    answers = iter([reply(status=429, retry_after="99999"), reply()])
    layer, simulation = Throttle()(Reader()), simulate(answer=lambda _: next(answers))
    start(simulation, layer, 1)
    start(simulation, layer, 2, after=0.1)
    simulation.start("later", layer.read("https://sea.example/later"), after=61)
    simulation.run()

    refused = simulation.results["sea.example/1"]
    assert isinstance(refused, RateLimited)
    assert (
        str(refused)
        == "skiff request not sent: the page's host asked to be left alone for another 60 s"
    )
    assert refused.retry_after == pytest.approx(59.9)
    assert [name for _, name in simulation.sent] == ["sea.example/0", "later"]


def test_a_retry_waits_as_long_as_the_host_says(simulate, monkeypatch):
    simulation = simulate(answer=lambda _: next(answers))
    answers = iter([reply(status=503, retry_after="3"), reply()])
    simulation.start("page", Retry()(Throttle()(Reader())).read("https://sea.example/"))
    simulation.run()

    assert [at for at, _ in simulation.sent] == [0, 3]


def test_hosts_that_only_allow_can_open_have_no_limits_unless_you_set_some(simulate):
    for host in (
        "127.0.0.1:8080",
        "10.1.2.3",
        "localhost:3000",
        "[::1]:80",
        "wiki.localhost",
    ):
        simulation = simulate(seconds=1)
        start(simulation, Throttle()(Reader()), 40, host=host)
        assert simulation.run().most_at_once == 40, host
        start(simulation, Throttle(host_concurrent=2)(Reader()), 5, host=host)
        simulation.most_at_once = 0
        assert simulation.run().most_at_once == 2, host


def test_numbers_of_ones_own_replace_the_defaults(simulate):
    layer, simulation = (
        Throttle(host_requests_per_second=1, host_concurrent=1)(Reader()),
        simulate(seconds=0.1),
    )
    start(simulation, layer, 15)
    simulation.run()

    assert simulation.most_at_once == 1
    assert times(simulation)[-1] == pytest.approx(5, abs=0.05)
    unlimited = simulate(seconds=1)
    start(
        unlimited,
        Throttle(host_requests_per_second=math.inf, host_concurrent=100)(Reader()),
        100,
    )
    assert unlimited.run().most_at_once == 100


def test_a_crawl_delay_spaces_requests_and_sends_one_at_a_time(simulate):
    class Polite(Reader):
        def read(self, url):
            yield Request(url=url, guarded=True, crawl_delay=2.0)
            return Page(url=url)

    layer, simulation = Throttle()(Polite()), simulate(seconds=0.5)
    start(simulation, layer, 4)
    simulation.run()

    assert times(simulation) == pytest.approx([0, 2, 4, 6], abs=0.03)
    assert simulation.most_at_once == 1


def test_the_limits_of_a_service_do_not_hold_for_pages(simulate):
    layer, simulation = (
        Throttle(requests_per_second=0.01, concurrent=1)(Reader()),
        simulate(seconds=1),
    )
    start(simulation, layer, 4)
    simulation.run()

    assert times(simulation) == [0] * 4


@pytest.mark.parametrize(
    "options",
    [
        {"host_requests_per_second": 0},
        {"host_requests_per_second": "5"},
        {"host_concurrent": 0},
    ],
)
def test_wrong_numbers_are_refused(options):
    with pytest.raises(ConfigurationError, match="Throttle: host_"):
        Throttle(**options)


def test_hosts_that_nobody_asks_for_are_forgotten(simulate, monkeypatch):
    monkeypatch.setattr(hosts_module, "_MANY", 10)
    layer, simulation = Throttle()(Reader()), simulate()
    for number in range(100):
        start(simulation, layer, 1, host=f"{number}.example", after=float(number))
    simulation.run()

    assert len(layer._hosts._paces) <= 20


def test_copies_and_pickles_have_empty_queues(simulate):
    layer = Throttle(host_requests_per_second=0.01, host_concurrent=1)(Reader())
    start(simulate(), layer, 10)
    for copied in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        simulation = simulate()
        start(simulation, copied, 1)
        assert times(simulation.run()) == [0]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Sea.example/kelp", "sea.example"),
        ("http://sea.example:80/", "sea.example"),
        ("https://sea.example:8443/", "sea.example:8443"),
        ("http://[::1]:8080/", "::1:8080"),
        ("mailto:kelp@sea.example", ""),
        ("http://[", ""),
    ],
)
def test_a_host_is_a_name_with_its_port_unless_that_is_the_usual_one(url, host):
    assert find_host(url) == host


# Several pages


def gather_by_host(starts, hosts, limit, host_limit):
    """Run flows as a list does: in turn for each host, with their answers in order."""

    def do(numbers):
        return [(yield from starts[numbers[0]]())]

    lanes = Lanes(do, limit, host_limit)
    for number, host in enumerate(hosts):
        lanes.put(number, host)
    yield Gather([*iter(lanes.hire, None)], limit)
    answers = dict(lanes.done)
    return [answers[number] for number in range(len(starts))]


def test_a_slow_host_does_not_hold_up_the_pages_of_others():
    others_began = asyncio.Event()
    begun = []

    async def wait_for_others():
        await asyncio.wait_for(others_began.wait(), 60)

    def flow(number, host):
        begun.append(host)
        if begun.count("fast") == 20:
            others_began.set()
        yield Call(wait_for_others) if host == "slow" else Sleep(0.001)
        return number

    hosts = ["slow"] * 20 + ["fast"] * 20
    starts = [partial(flow, number, host) for number, host in enumerate(hosts)]

    assert asyncio.run(arun(gather_by_host(starts, hosts, 8, 4), None)) == list(
        range(40)
    )


def test_answers_are_in_order_and_an_error_stays_with_its_page():
    def flow(number, host):
        yield Sleep(0)
        if host == "broken":
            raise KeyError(number)
        if host == "gone":
            raise PageNotFound("gone")
        return number

    hosts = ["gone", "a", "broken", "a", "b"]
    starts = [partial(flow, number, host) for number, host in enumerate(hosts)]
    answers = asyncio.run(arun(gather_by_host(starts, hosts, 8, 4), None))

    assert [type(one) for one in answers] == [PageNotFound, int, BadResponse, int, int]
    assert gather_nothing() == []


def gather_nothing():
    return run(gather_by_host([], [], 8, 4), None)


def test_pages_of_one_host_go_in_order_and_no_more_than_a_few_at_a_time():
    under_way, most, order = Counter(), Counter(), []
    lock = threading.Lock()

    def flow(number, host):
        with lock:
            order.append(number)
            under_way[host] += 1
            most[host] = max(most[host], under_way[host])
        yield Sleep(0.002)
        with lock:
            under_way[host] -= 1

    hosts = [f"{number % 3}" for number in range(60)]
    run(
        gather_by_host(
            [partial(flow, n, host) for n, host in enumerate(hosts)], hosts, 8, 4
        ),
        None,
    )

    assert sorted(order) == list(range(60))
    assert max(most.values()) <= 4


def held_back(seconds, times=1):
    """Return a flow that a throttle holds back so many times, and a list of when it
    began.
    """
    begun = []

    def flow():
        begun.append(time.monotonic())
        yield Sleep(0)
        if len(begun) <= times:
            raise RateLimited("not sent", retry_after=seconds)
        return "read"

    return flow, begun


def test_a_page_that_was_held_back_is_read_later_and_takes_no_place_until_then(
    monkeypatch,
):
    simulation = Simulation()
    for place in ("time", "websearch_core.client._stream"):
        monkeypatch.setattr(f"{place}.monotonic", simulation.monotonic)
    held, begun = held_back(1)
    order = []

    def slow():
        order.append("held back")
        return (yield from held())

    def quick(number):
        yield Sleep(0.001)
        order.append(number)
        return number

    hosts = ["slow"] * 4 + [f"{number}" for number in range(8)]
    starts = [
        slow,
        partial(quick, 1),
        partial(quick, 2),
        partial(quick, 3),
        *(partial(quick, n) for n in range(10, 18)),
    ]
    simulation.start("list", gather_by_host(starts, hosts, 1, 1))
    simulation.run()

    assert simulation.results["list"] == ["read", 1, 2, 3, *range(10, 18)]
    assert begun[1] - begun[0] >= 1
    # the other hosts did not wait
    assert order == ["held back", *range(10, 18), "held back", 1, 2, 3]


def test_a_page_that_was_held_back_for_longer_than_there_is_time_is_an_error_at_once():
    slow, begun = held_back(10)
    with time_limit(1):
        (answer,) = run(gather_by_host([slow], ["slow"], 8, 4), None)

    assert isinstance(answer, RateLimited)
    assert len(begun) == 1


def test_a_page_that_is_held_back_again_and_again_ends_with_the_time():
    slow, begun = held_back(0.1, times=1000)
    for seconds in longer_until(lambda: len(begun) >= 4, 0.5):
        begun.clear()
        with time_limit(seconds):
            answers = run(gather_by_host([slow, slow], ["slow"] * 2, 8, 4), None)

        # The last attempt may begin just before the end.
        assert [
            answer
            for answer in answers
            if not isinstance(answer, RateLimited | TimedOut)
        ] == []
        assert len(begun) <= 2 * (seconds / 0.1 + 2)


def test_a_batch_is_read_although_a_page_alone_has_no_time_for_the_delay_of_its_site():
    class Polite(Reader):
        def read(self, url):
            yield Request(url=url, guarded=True, crawl_delay=0.2)
            return Page(url=url)

    web, sent = WebSearch("duckduckgo", reader=Polite(), timeout=Timeout(read=1)), []

    def send(request):
        sent.append(time.monotonic())
        return reply()

    urls = [f"https://sea.example/{number}" for number in range(8)]
    began = time.monotonic()
    web._send = send
    pages = web.read_many(urls, timeout=10)

    assert [type(page) for page in pages] == [Page] * 8
    assert all(at - began >= 0.199 * n for n, at in enumerate(sent))


def test_read_many_takes_turns_among_hosts_only_for_pages_that_are_fetched_from_here():
    order, other = [], threading.Event()

    def reader(opens):
        def read(url):
            order.append(find_host(url))
            yield Call(
                other.set
                if find_host(url) == "b.example"
                else partial(other.wait, 20 if opens else 0)
            )
            return Page(url=url, content="Kelp")

        return SimpleNamespace(name="skiff", opens_pages=opens, read=read)

    urls = [f"https://{host}.example/{number}" for host in "ab" for number in range(12)]
    for opens in (True, False):
        order.clear()
        other.clear()
        pages = WebSearch("duckduckgo", reader=reader(opens)).read_many(
            urls, concurrency=4
        )
        assert [page.url for page in pages] == urls
        assert (order.index("b.example") == 1) is opens


def test_a_cached_page_of_a_resting_host_is_given(simulate, tmp_path):
    answers = iter([reply(), reply(status=429, retry_after="50")])
    layer = Cache(location=tmp_path / "pages.db")(Throttle()(Reader()))
    simulation = simulate(
        answer=lambda request: (
            next(answers) if isinstance(request, Request) else request()
        )
    )
    start(simulation, layer, 2)
    simulation.run()
    simulation.start("again", layer.read("https://sea.example/0"))
    simulation.run()

    assert isinstance(simulation.results["again"], Page)
    assert isinstance(simulation.results["sea.example/1"], WebSearchError)
