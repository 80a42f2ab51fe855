"""A service that keeps failing is left alone for a while, and nobody else is blamed."""

from __future__ import annotations
import asyncio
import copy
import logging
import pickle
import threading

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    precondition,
    rule,
)

from websearch_core import WebSearch
from websearch_core.errors import (
    AuthenticationError,
    BadResponse,
    ConfigurationError,
    RateLimited,
    ServiceError,
    TimedOut,
    Unavailable,
    UnsupportedOption,
)
from websearch_core.events import BreakerClosed, BreakerOpened, listen
from websearch_core.flow import Request, Sleep, run
from websearch_core.layers import Breaker, Retry
from websearch_core.layers import _breaker as circuit_module
from websearch_core.layers._breaker import Circuit, Pass
from websearch_core.layers._layer import parts
from websearch_core.models import Page, SearchQuery, SearchResponse
from websearch_core.provider import page_error
from websearch_core.providers.direct import Direct
from websearch_core.testing import play, reply

KELP = SearchQuery.of("kelp")
FAILURES, REST, LONGEST = 3, 10.0, 40.0


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("websearch_core.layers._breaker.monotonic", clock)
    monkeypatch.setattr("websearch_core.layers._breaker.monotonic", clock)
    return clock


class Service:
    """A service; errors thrown into its flow come out again."""

    def __init__(self, name="beacon"):
        self.name = name

    def search(self, query):
        yield Request(url="https://beacon.example/")
        return SearchResponse(query=query.text, provider=self.name)

    def read(self, url):
        yield Request(url="https://beacon.example/read")
        return Page(url=url, provider=self.name)


def ask(layer, answer, *, read=False):
    """Return the number of requests that were sent, and the error."""
    flow = layer.read("https://a.example/") if read else layer.search(KELP)
    try:
        return len(play(flow, answer).requests), None
    except (ServiceError, UnsupportedOption) as error:
        return int(error is answer), error
    finally:
        flow.close()


def fail(layer, times, **how):
    for _ in range(times):
        ask(layer, Unavailable("down"), **how)


# What it does


@pytest.mark.parametrize("read", [False, True], ids=["search", "read"])
def test_after_several_failures_in_a_row_calls_are_refused_at_once(clock, read):
    layer = Breaker()(Service())
    fail(layer, 5, read=read)
    sent, error = ask(layer, reply(), read=read)

    assert sent == 0
    assert isinstance(error, Unavailable)
    assert "beacon failed several times in a row and is not asked for another" in str(
        error
    )
    assert 8 <= error.retry_after <= 10
    assert error.provider == "beacon"


def test_searches_and_pages_count_together(clock):
    layer = Breaker()(Service())
    fail(layer, 3)
    fail(layer, 2, read=True)

    assert ask(layer, reply())[0] == 0


def test_a_success_in_between_begins_the_count_again(clock):
    layer = Breaker()(Service())
    fail(layer, 4)
    ask(layer, reply())
    fail(layer, 4)

    assert ask(layer, reply())[0] == 1


def test_after_the_rest_a_call_that_succeeds_ends_it(clock):
    layer = Breaker()(Service())
    fail(layer, 5)
    clock.now += 10

    assert ask(layer, reply()) == (1, None)
    fail(layer, 4)
    assert ask(layer, reply()) == (1, None)


def test_after_the_rest_a_call_that_fails_doubles_it_up_to_the_longest(clock):
    layer, rests = Breaker(reset_timeout=10, max_reset_timeout=35)(Service()), []
    fail(layer, 5)
    for _ in range(5):
        rests.append(ask(layer, reply())[1].retry_after)
        clock.now += rests[-1]
        ask(layer, Unavailable("still down"))

    for rest, most in zip(rests, [10, 20, 35, 35, 35], strict=True):
        assert 0.8 * most <= rest <= most


def test_the_service_may_ask_for_a_longer_rest_but_not_for_a_day(clock):
    for asked, most in ((60, 60), (86_400, 300)):
        layer = Breaker()(Service())
        fail(layer, 4)
        ask(layer, Unavailable("busy", status=503, retry_after=asked))
        assert ask(layer, reply())[1].retry_after == pytest.approx(most)


@pytest.mark.parametrize(
    "error",
    [
        AuthenticationError("wrong key"),
        BadResponse("not JSON"),
        UnsupportedOption("cannot"),
        RateLimited("held back by a throttle", retry_after=3),
        TimedOut("the caller was in a hurry"),
        page_error(Service(), status=503),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_is_not_the_fault_of_the_service_does_not_count(clock, error):
    layer = Breaker()(Service())
    fail(layer, 4)
    for _ in range(20):
        assert ask(layer, error) == (1, error)
    fail(layer, 1)

    assert ask(layer, reply())[0] == 0, "nor does it end the row"


@pytest.mark.parametrize(
    "error", [RateLimited("too fast", status=429), Unavailable("busy", status=503)]
)
def test_what_the_service_answers_counts(clock, error):
    layer = Breaker()(Service())
    for _ in range(5):
        ask(layer, error)

    assert ask(layer, reply())[0] == 0


@pytest.mark.parametrize(("seconds", "counts"), [(2.9, False), (3.1, True)])
def test_a_time_out_counts_only_if_the_caller_was_patient(clock, seconds, counts):
    class Slow(Service):
        def search(self, query):
            clock.now += seconds
            raise TimedOut("no answer")
            yield

    layer = Breaker(reset_timeout=100)(Slow())
    errors = [ask(layer, reply())[1] for _ in range(6)]

    assert isinstance(errors[-1], Unavailable if counts else TimedOut)


def test_a_call_that_is_cancelled_does_not_count_and_gives_the_probe_back(clock):
    layer = Breaker()(Service())
    for _ in range(20):
        flow = layer.search(KELP)
        next(flow)
        flow.close()
    fail(layer, 5)
    clock.now += 10
    probe = layer.search(KELP)
    next(probe)
    assert ask(layer, reply())[0] == 0
    probe.close()

    assert ask(layer, reply()) == (1, None)


def test_a_bug_gives_the_probe_back(clock):
    layer = Breaker()(Service())
    fail(layer, 5)
    clock.now += 10
    flow = layer.search(KELP)
    next(flow)
    with pytest.raises(KeyError):
        flow.throw(KeyError("bug"))

    assert ask(layer, reply()) == (1, None)


def test_a_call_with_all_its_retries_is_one_failure(clock):
    layer = Breaker()(Retry(attempts=3, extra_share=None)(Service()))
    for _ in range(4):
        with pytest.raises(Unavailable):
            play(layer.search(KELP), *[Unavailable("down")] * 3)

    assert ask(layer, reply())[0] == 1


def test_pages_that_are_read_from_here_never_open_it(clock):
    layer = Breaker(failures=1)(Direct())
    for _ in range(3):
        assert ask(layer, Unavailable("the site is down"), read=True)[0] == 1


def test_hooks_hear_of_it(clock):
    layer, heard = Breaker()(Service()), []
    with listen(heard.append):
        fail(layer, 5)
        clock.now += 10
        ask(layer, reply())
    opened, closed = heard

    assert isinstance(opened, BreakerOpened)
    assert 8 <= opened.seconds <= 10
    assert opened.error.code == "unavailable"
    assert closed == BreakerClosed(provider="beacon")
    assert opened.as_json()["error"] == "unavailable"


def test_the_log_has_a_line_for_each_change(caplog):
    from websearch_core.events._log import log_event

    with caplog.at_level(logging.INFO, "websearch_core"):
        log_event(
            BreakerOpened(provider="beacon", seconds=10, error=Unavailable("down"))
        )
        log_event(BreakerClosed(provider="beacon"))

    assert caplog.messages == [
        "beacon is not asked for 10.0 s: unavailable, several times",
        "beacon works again",
    ]


# In a WebSearch


def breakers(web):
    return [
        part.layer
        for part in parts(web.provider)
        if isinstance(getattr(part, "layer", None), Breaker)
    ]


def test_each_provider_of_several_has_one_and_a_single_provider_has_none():
    assert breakers(WebSearch(Service())) == []
    assert len(breakers(WebSearch([Service("a"), Service("b")]))) == 2
    assert len(breakers(WebSearch(Service(), layers=[Breaker()]))) == 1
    assert [
        one.failures
        for one in breakers(
            WebSearch([Service("a"), Service("b")], layers=[Breaker(failures=9)])
        )
    ] == [9, 9]
    assert breakers(WebSearch([Service("a"), Service("b")], layers=None)) == []


class Down(Service):
    def __init__(self, name="down"):
        super().__init__(name)
        self.calls = 0

    def search(self, query):
        self.calls += 1
        raise Unavailable("down", provider=self.name)
        yield


class Up(Service):
    def search(self, query):
        yield Sleep(0)
        return SearchResponse(query=query.text, provider=self.name)


@pytest.mark.parametrize("concurrent", [False, True], ids=["blocking", "async"])
def test_a_chain_stops_asking_a_provider_that_is_down(concurrent):
    down = Down()
    web = WebSearch([down, Up("up")], retry=Retry(attempts=1))
    for _ in range(20):
        response = (
            asyncio.run(web.asearch("kelp")) if concurrent else web.search("kelp")
        )

    assert down.calls == 5
    assert response.provider == "up"
    assert response.notes == ("down failed (unavailable); answered by up",)


def test_of_many_threads_one_probes():
    circuit = Circuit(1, 0.0, 0.0)
    circuit.leave(circuit.enter(), worked=False)
    passes, barrier = [], threading.Barrier(20)

    def enter():
        barrier.wait()
        passes.append(circuit.enter())

    threads = [threading.Thread(target=enter) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(isinstance(one, Pass) for one in passes) == 1


def test_copies_and_pickles_are_closed(clock):
    layer = Breaker()(Service())
    fail(layer, 5)

    for copied in (
        copy.deepcopy(layer),
        pickle.loads(pickle.dumps(layer)),
        layer.layer(Service()),
    ):
        assert ask(copied, reply())[0] == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"failures": 0},
        {"failures": 1.5},
        {"reset_timeout": -1},
        {"max_reset_timeout": "x"},
    ],
)
def test_wrong_values_are_refused(wrong):
    with pytest.raises(ConfigurationError, match="Breaker: "):
        Breaker(**wrong)


# Any order of events


class Calls(RuleBasedStateMachine):
    """Calls begin and end in any order, and time passes."""

    passes = Bundle("passes")

    def __init__(self):
        super().__init__()
        self.clock = Clock()
        self.real = circuit_module.monotonic
        circuit_module.monotonic = self.clock
        self.circuit = Circuit(FAILURES, REST, LONGEST)
        self.row = self.era = 0
        self.is_open = False
        self.opened_at = 0.0
        self.probes = 0  # under way

    def teardown(self):
        circuit_module.monotonic = self.real

    @rule(target=passes)
    def begin(self):
        one = self.circuit.enter()
        if not isinstance(one, Pass):
            assert self.is_open, "only an open circuit refuses"
            assert 0 <= one <= LONGEST
            assert one > 0 or self.probes == 1
            return None
        assert one.is_probe == self.is_open
        if one.is_probe:
            assert self.probes == 0, "one probe at a time"
            assert self.clock.now >= self.opened_at + 0.8 * REST, (
                "not before the rest is over"
            )
            self.probes += 1
        return one

    @rule(
        one=consumes(passes),
        worked=st.sampled_from([True, False, None]),
        after=st.none() | st.floats(0, 1e6),
    )
    def end(self, one, worked, after):
        if one is None:
            return
        change = self.circuit.leave(one, worked=worked, retry_after=after)
        self.probes -= one.is_probe
        counts = one.era == self.era and worked is not None
        self.row = self.row if not counts else 0 if worked else self.row + 1
        if worked is None:
            assert change is None, "what shows nothing changes nothing"
        if change == "opened":
            assert worked is False
            assert one.is_probe or self.row == FAILURES
            self.is_open, self.opened_at, self.row, self.era = (
                True,
                self.clock.now,
                0,
                self.era + 1,
            )
        elif change == "closed":
            assert worked
            assert one.is_probe
            self.is_open, self.era = False, self.era + 1
        else:
            assert not one.is_probe or worked is None, "a probe decides"
            assert self.row < FAILURES

    @rule(seconds=st.floats(0, 2 * LONGEST))
    def pass_time(self, seconds):
        self.clock.now += seconds

    @precondition(lambda self: self.probes == 0)
    @rule(target=passes)
    def after_the_longest_rest_a_call_gets_through(self):
        self.clock.now += LONGEST + 1
        one = self.circuit.enter()
        assert isinstance(one, Pass)
        self.probes += one.is_probe
        return one

    @invariant()
    def a_rest_is_never_longer_than_the_longest(self):
        assert self.circuit.time_left() <= LONGEST
        assert self.is_open or self.circuit.time_left() == 0


TestCalls = Calls.TestCase
TestCalls.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)


# Batches


class Desk(Service):
    """Reads pages in batches, each of which ends as the test says."""

    def __init__(self, *ends):
        super().__init__("desk")
        self.ends, self.asked = ends, 0

    def read_many(self, urls):
        self.asked += 1
        yield Request(url="https://desk.example/")
        return [
            end or Page(url=url, provider=self.name)
            for url, end in zip(urls, self.ends, strict=True)
        ]


URLS = ["https://a.example/", "https://b.example/"]
DOWN = Unavailable("down")


def read_batches(layer, times):
    return [run(layer.read_many(URLS), lambda _: reply({})) for _ in range(times)]


def test_batches_of_which_no_page_could_be_read_open_it(clock):
    desk = Desk(DOWN, Unavailable("down, too"))
    with pytest.raises(Unavailable, match="not asked"):
        read_batches(Breaker(failures=5)(desk), 6)
    assert desk.asked == 5


@pytest.mark.parametrize(
    "ends", [(DOWN, None), (DOWN, BadResponse("no")), (None, None)]
)
def test_batches_of_which_the_service_answered_for_some_pages_do_not_open_it(
    clock, ends
):
    desk = Desk(*ends)
    read_batches(Breaker(failures=2)(desk), 4)
    assert desk.asked == 4


def test_a_batch_of_which_no_page_could_be_read_is_tried_again_and_keeps_the_error_of_each():
    desk = Desk(DOWN, Unavailable("down, too"))
    (pages,) = read_batches(Retry(attempts=3, wait_initial=0)(desk), 1)

    assert desk.asked == 3
    assert [page.message for page in pages] == ["down", "down, too"]


def test_a_batch_with_a_page_is_not_tried_again():
    desk = Desk(DOWN, None)
    read_batches(Retry(attempts=3, wait_initial=0)(desk), 1)
    assert desk.asked == 1
