"""Identical calls at the same time: threads, event loops, deadlines, cancellation,
errors.
"""

from __future__ import annotations
import asyncio
import copy
import gc
import math
import os
import pickle
import random
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar

import pytest

from tests.waiting import await_until, longer_until, wait_until
from websearch_core import Timeout, WebSearch
from websearch_core._runtime.deadline import time_left, time_limit
from websearch_core._runtime.scope import Deadline, scope
from websearch_core.errors import BadRequest, RateLimited, TimedOut, Unavailable
from websearch_core.events import CallShared
from websearch_core.flow import Call, Gather, Request, Share, arun, run
from websearch_core.flow._flights import Flights
from websearch_core.layers import Rank, Retry, SingleFlight
from websearch_core.models import Page, SearchQuery, SearchResponse
from websearch_core.provider import Key, from_function, provider
from websearch_core.providers.direct import Direct
from websearch_core.testing import SECRET, FakeWeb, play, reply

URL = "https://sea.example/kelp"


def fake(**options):
    return FakeWeb(
        results=[{"title": "Kelp", "url": URL}],
        pages={URL: "# Kelp\n\nAn alga."},
        **options,
    )


def no_send(request):
    raise AssertionError(f"nothing should be sent: {request}")


def count_waiting(what, *, reading=False):
    """Return how many threads wait for what a `WebSearch`, or some `Flights`, has under
    way.
    """
    flights = (
        what
        if isinstance(what, Flights)
        else (what.reader if reading else what.provider.inner)._flights
    )
    return sum(len(flight.waiting) for flight in list(flights._blocking.values()))


# One request


async def test_a_thousand_identical_searches_on_a_loop_send_one_request():
    service = fake(delay=0.05)
    web = WebSearch(service)
    answers = await asyncio.gather(*(web.asearch("kelp") for _ in range(1000)))

    assert service.queries == ["kelp"]
    assert {answer.results[0].url for answer in answers} == {URL}


def test_a_thousand_identical_searches_in_threads_send_one_request():
    asked, everybody_waits = [], threading.Event()

    def search(query):
        asked.append(query.text)
        everybody_waits.wait()
        return [{"title": "Kelp", "url": URL}]

    # no slow start
    web = WebSearch(from_function("patient", search=search), timeout=60, throttle=False)
    with ThreadPoolExecutor(1000) as threads:
        calls = [threads.submit(web.search, "kelp") for _ in range(1000)]
        wait_until(lambda: count_waiting(web) == 1000)
        everybody_waits.set()
        answers = [call.result() for call in calls]

    assert asked == ["kelp"]
    assert {answer.results[0].url for answer in answers} == {URL}


async def test_pages_are_shared_too_and_each_caller_gets_its_own_part():
    service = fake(delay=0.05)
    web = WebSearch(service)
    whole, start = await asyncio.gather(web.aread(URL), web.aread(URL, max_length=6))

    assert service.urls == [URL]
    assert whole.content.startswith("# Kelp")
    assert start.content_length <= 6


@pytest.mark.parametrize("is_batch", [False, True])
async def test_two_spellings_of_a_page_are_read_once_and_each_caller_gets_its_own(
    is_batch,
):
    asked = []

    class Reader:
        name = "slow"

        def read(self, url):
            asked.append(url)
            yield Call(time.sleep, 0.05)
            return Page(url=url, content="text")

        if is_batch:

            def read_many(self, urls):
                return [(yield from self.read(urls[0]))]

    layer = SingleFlight()(Reader())
    urls = [
        "https://sea.example/Kelp_(alga)",
        "https://SEA.example/Kelp_%28alga%29#top",
    ]
    flows = [layer.read_many([url]) if is_batch else layer.read(url) for url in urls]
    answers = await asyncio.gather(*(arun(flow, no_send) for flow in flows))
    pages = [page for (page,) in answers] if is_batch else answers

    assert asked == urls[:1]
    assert [page.url for page in pages] == urls


async def test_batches_are_shared():
    asked = []

    class Reader:
        name = "batches"

        def read_many(self, urls):
            asked.append(urls)
            yield Call(time.sleep, 0.05)
            return [Page(url=url, content="text", cost=0.5) for url in urls]

        def read(self, url):
            raise AssertionError("not one by one")
            yield

    web = WebSearch(fake(), reader=Reader())
    first, second = await asyncio.gather(web.aread_many([URL]), web.aread_many([URL]))

    assert asked == [[URL]]
    assert sorted([first[0].cost, second[0].cost]) == [0.0, 0.5]


async def test_calls_one_after_another_send_a_request_each():
    service = fake()
    web = WebSearch(service)
    await web.asearch("kelp")
    await web.asearch("kelp")
    web.search("kelp")

    assert service.queries == ["kelp", "kelp", "kelp"]


@pytest.mark.parametrize(
    "other", [{"limit": 3}, {"topic": "news"}, {"extra": {"a": 1}}, {"page": 2}]
)
async def test_calls_with_other_options_are_not_the_same(other):
    service = fake(delay=0.05)
    web = WebSearch(service)
    await asyncio.gather(web.asearch("kelp"), web.asearch("kelp", **other))

    assert len(service.queries) == 2


async def test_spellings_of_a_query_are_the_same_and_each_answer_has_the_callers_own():
    service = fake(delay=0.05)
    web = WebSearch(service)
    domains = [["a.example", "sea.example"], ["sea.example", "a.example"]]
    one, other = await asyncio.gather(
        web.asearch("kelp  forest", allowed_domains=domains[0]),
        web.asearch("kelp forest", allowed_domains=domains[1]),
    )

    assert len(service.queries) == 1
    assert (one.query, other.query) == ("kelp  forest", "kelp forest")


async def test_a_query_that_is_not_json_is_not_shared():
    service = fake(delay=0.05)
    web = WebSearch(service)
    await asyncio.gather(
        *(web.asearch("kelp", extra={"a": object()}) for _ in range(2))
    )

    assert len(service.queries) == 2


async def test_two_web_searches_share_nothing():
    service, layer = fake(delay=0.05), SingleFlight()
    one, other = WebSearch(service, layers=[layer]), WebSearch(service, layers=[layer])
    await asyncio.gather(one.asearch("kelp"), other.asearch("kelp"))

    assert len(service.queries) == 2


async def test_callers_with_different_keys_do_not_share():
    tenant = ContextVar("tenant")
    keys = []

    @provider
    class Keyed:
        name = "keyed"
        api_key: Key

        def search(self, query):
            key = self.api_key.get_secret_value()
            keys.append(key)
            yield Call(time.sleep, 0.05)
            return SearchResponse(query=query.text, answer=f"for {key}")

    web = WebSearch(Keyed(api_key=tenant.get))

    async def ask(who):
        tenant.set(who)
        return (await web.asearch("kelp")).answer

    assert await asyncio.gather(*map(ask, ["ann", "bob", "ann"])) == [
        "for ann",
        "for bob",
        "for ann",
    ]
    assert sorted(keys) == ["ann", "bob"]


def test_the_key_of_a_flight_holds_no_secret():
    @provider
    class Keyed:
        name = "keyed"
        api_key: Key

        def search(self, query):
            yield Request(url="https://api.example")
            return SearchResponse(query=query.text)

    effect = next(SingleFlight()(Keyed(api_key=SECRET)).search(SearchQuery.of("kelp")))

    assert isinstance(effect, Share)
    assert SECRET not in repr(effect)
    assert "kelp" not in effect.key


async def test_only_one_of_the_answers_costs_anything_and_hooks_hear_of_the_others():
    service = FakeWeb(
        results=SearchResponse(query="", cost=0.01, usage={"credits": 1}), delay=0.05
    )
    events = []
    web = WebSearch(service, on_event=events.append)
    answers = await asyncio.gather(*(web.asearch("kelp") for _ in range(5)))

    assert sum(answer.cost for answer in answers) == 0.01
    assert sum(answer.usage.get("credits", 0) for answer in answers) == 1
    assert [event.provider for event in events if isinstance(event, CallShared)] == [
        "fake"
    ] * 4


# Errors


async def test_an_error_is_raised_for_all_who_wait_and_is_not_kept():
    service = FakeWeb(
        errors={"kelp": [RateLimited("too fast", retry_after=99), None]}, delay=0.05
    )
    web = WebSearch(service)
    errors = await asyncio.gather(
        *(web.asearch("kelp") for _ in range(5)), return_exceptions=True
    )

    assert [type(error) for error in errors] == [RateLimited] * 5
    assert len(set(map(id, errors))) == 5  # a traceback grows with each raise
    assert {error.retry_after for error in errors} == {99}
    assert service.queries == ["kelp"]
    await web.asearch("kelp")


def test_an_error_is_raised_in_all_threads():
    asked, all_wait = [], threading.Event()

    def search(query):
        asked.append(query.text)
        all_wait.wait(60)
        raise BadRequest("no")

    # no slow start
    web = WebSearch(from_function("patient", search=search), timeout=60, throttle=False)

    def ask():
        try:
            web.search("kelp")
        except BadRequest as error:
            return error

    with ThreadPoolExecutor(10) as threads:
        calls = [threads.submit(ask) for _ in range(10)]
        wait_until(lambda: count_waiting(web) == 10)
        all_wait.set()
        errors = [call.result() for call in calls]

    assert {error.message for error in errors} == {"no"}
    assert len(set(map(id, errors))) == 10
    assert asked == ["kelp"]


def test_an_error_that_cannot_be_copied_is_raised_as_it_is():
    class Odd(Exception):
        def __init__(self, *, needed):
            self.needed = needed

        def __reduce__(self):
            raise TypeError("no copies")

    flights = Flights()

    def work():
        wait_until(lambda: count_waiting(flights) == 2)
        raise Odd(needed=1)

    with ThreadPoolExecutor(2) as threads:
        first, second = (threads.submit(flights.share, "k", work) for _ in range(2))
        assert first.exception() is second.exception()


# Cancelling and deadlines


class Slow:
    """Takes a while, or until ``done`` is set, and remembers what it began and what it
    ended.
    """

    name = "slow"

    def __init__(self, seconds=0.3):
        self.seconds, self.begun, self.ended, self.cancelled = seconds, 0, 0, 0
        self.done = asyncio.Event()

    def search(self, query):
        self.begun += 1
        try:
            yield Call(self._work)
        except GeneratorExit:
            self.cancelled += 1
            raise
        self.ended += 1
        return SearchResponse(query=query.text)

    async def _work(self):
        with suppress(TimeoutError):
            await asyncio.wait_for(self.done.wait(), self.seconds)


async def test_cancelling_the_first_caller_does_not_disturb_the_others():
    service = Slow()
    web = WebSearch(service)
    first, second = (asyncio.create_task(web.asearch("kelp")) for _ in range(2))
    await await_until(lambda: service.begun)
    first.cancel()

    assert (await second).query == "kelp"
    assert (service.begun, service.ended) == (1, 1)
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_with_nobody_left_the_work_is_cancelled_and_ends_before_the_caller():
    service = Slow(30)
    web = WebSearch(service)
    tasks = [asyncio.create_task(web.asearch("kelp")) for _ in range(3)]
    await await_until(lambda: service.begun)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)

    assert service.cancelled == 1
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_one_who_comes_when_all_have_left_begins_again():
    service = Slow()
    web = WebSearch(service)
    first = asyncio.create_task(web.asearch("kelp"))
    await await_until(lambda: service.begun)
    first.cancel()
    await asyncio.wait([first])
    await web.asearch("kelp")

    assert (service.begun, service.ended) == (2, 1)


async def test_a_caller_whose_time_is_up_leaves_alone():
    service = Slow(60)
    web = WebSearch(service, timeout=60)

    async def hurried():
        with time_limit(0.1):
            await web.asearch("kelp")

    patient = asyncio.create_task(web.asearch("kelp"))
    await await_until(lambda: service.begun)
    with pytest.raises(TimedOut):
        await hurried()
    assert not patient.done()
    service.done.set()
    assert (await patient).query == "kelp"
    assert service.begun == 1


async def test_a_caller_whose_time_becomes_unlimited_meanwhile_keeps_no_event_loop_busy(
    monkeypatch,
):
    deadline = Deadline(time.monotonic() + 0.05)
    done = asyncio.Event()
    looks = []
    loop = asyncio.get_running_loop()
    call_later = loop.call_later

    def count(delay, function, *arguments, **options):
        if function.__qualname__.startswith("_Flight.wait"):
            looks.append(delay)
        return call_later(delay, function, *arguments, **options)

    monkeypatch.setattr(loop, "call_later", count)
    with scope(deadline=deadline):
        asked = asyncio.create_task(Flights().ashare("kelp", done.wait))
    await await_until(lambda: looks)
    deadline.at = math.inf  # as one does who joins the work that this call is part of
    await asyncio.sleep(0.3)
    done.set()

    assert (await asked).value is True
    assert len(looks) <= 2


async def test_one_with_more_time_goes_on_when_the_time_of_the_first_is_up():
    service = Slow(60)
    web = WebSearch(service, retry=1, timeout=60)

    async def ask(seconds):
        with time_limit(seconds):
            return await web.asearch("kelp")

    first = asyncio.create_task(ask(0.15))
    await await_until(lambda: service.begun or first.done())
    second = asyncio.create_task(ask(50))
    with pytest.raises(TimedOut):
        await first
    service.done.set()

    assert (await second).query == "kelp"
    assert service.begun <= 2


def test_threads_with_more_time_go_on_when_the_time_of_the_first_is_up():
    begun, done = [], threading.Event()

    def search(query):
        begun.append(query)
        done.wait(60)
        return []

    web = WebSearch(from_function("sleepy", search=search), retry=1, timeout=60)

    def ask(seconds):
        try:
            with time_limit(seconds):
                return web.search("kelp")
        except TimedOut as error:
            return error

    with ThreadPoolExecutor(5) as threads:
        for seconds in longer_until(lambda: begun, 0.2):
            first = threads.submit(ask, seconds)
            wait_until(lambda first=first: begun or first.done())
        others = [threads.submit(ask, 50) for _ in range(3)]
        wait_until(lambda: count_waiting(web) >= 3)
        hurried = threads.submit(ask, 0.2)
        assert isinstance(first.result(), TimedOut)
        assert isinstance(hurried.result(), TimedOut)
        wait_until(lambda: len(begun) == 2)
        done.set()
        assert {type(other.result()) for other in others} == {SearchResponse}
    assert len(begun) == 2


def test_a_service_that_hangs_is_not_asked_once_for_each_waiting_thread():
    begun, together = [], threading.Event()

    def work():
        begun.append(1)
        while time_left():
            if count_waiting(flights) == 20:
                together.set()
            time.sleep(min(time_left(), 0.01))
        raise TimedOut("late")

    flights = Flights()

    def ask(seconds):
        with time_limit(seconds):
            try:
                return flights.share("k", work)
            except TimedOut as error:
                return error

    for seconds in longer_until(together.is_set, 0.2):
        begun.clear()
        with ThreadPoolExecutor(20) as threads:
            assert {
                type(answer)
                for answer in threads.map(ask, [seconds + n / 100 for n in range(20)])
            } == {TimedOut}
    assert len(begun) <= 2


async def test_a_service_that_hangs_is_asked_once_for_callers_who_came_together():
    service = Slow(5)
    web = WebSearch(service, retry=1)

    async def ask(seconds):
        with time_limit(seconds), pytest.raises(TimedOut):
            await web.asearch("kelp")

    await asyncio.gather(ask(0.3), ask(0.31), ask(0.32))
    assert service.begun == 1


def test_one_who_comes_late_is_not_late_because_the_first_is():
    begun = []

    def work():
        begun.append(1)
        if len(begun) == 1:
            time.sleep(time_left())
            raise TimedOut("late")
        return "kelp"

    flights = Flights()

    def ask(seconds):
        with time_limit(seconds):
            return flights.share("k", work)

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(ask, 0.4)
        wait_until(lambda: begun)
        assert threads.submit(ask, 50).result().value == "kelp"
        with pytest.raises(TimedOut):
            first.result()


def test_an_interrupt_is_for_one_caller_alone():
    begun, flights = [], Flights()

    def work():
        begun.append(1)
        if len(begun) == 1:
            wait_until(lambda: count_waiting(flights) == 2)
            raise KeyboardInterrupt
        return "done"

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(flights.share, "k", work)
        wait_until(lambda: begun)
        second = threads.submit(flights.share, "k", work)
        assert second.result().value == "done"
        assert isinstance(first.exception(), KeyboardInterrupt)
    assert not flights._blocking


@pytest.mark.skipif(
    sys.platform == "win32", reason="signals are sent differently there"
)
@pytest.mark.parametrize("size", [1, 3])
def test_who_waits_for_a_page_gets_it_although_the_one_who_reads_it_presses_ctrl_c(
    size,
):
    asked, release = [], threading.Event()
    urls = [f"{URL}/{number}" for number in range(size)]

    def read(url):
        asked.append(url)
        release.wait(60)
        return Page(url=url, content="# Kelp")

    def press():
        wait_until(lambda: count_waiting(web, reading=True) == size + 1)
        os.kill(os.getpid(), signal.SIGINT)

    def join():
        wait_until(lambda: len(asked) == size)
        return web.read(urls[0])

    web = WebSearch(fake(), reader=from_function("patient", read=read), timeout=60)
    with ThreadPoolExecutor(2) as threads:
        threads.submit(press)
        other = threads.submit(join)
        with pytest.raises(KeyboardInterrupt):
            web.read_many(urls)
        release.set()
        assert other.result(60).content == "# Kelp"


def test_with_no_thread_to_go_on_those_who_wait_get_an_error_at_once(monkeypatch):
    flights, begun = Flights(), threading.Event()

    def fail(thread):
        raise RuntimeError("can't start new thread")

    def work():
        begun.set()
        wait_until(lambda: count_waiting(flights) == 2)
        monkeypatch.setattr(threading.Thread, "start", fail)
        raise KeyboardInterrupt

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(flights.share, "k", work)
        begun.wait(20)
        second = threads.submit(flights.share, "k", work)
        assert isinstance(second.exception(20), Unavailable)
        assert isinstance(first.exception(20), KeyboardInterrupt)
    assert flights.share("k", lambda: "done").value == "done"


def test_work_that_fails_after_it_went_on_fails_for_those_who_wait():
    flights, begun = Flights(), []

    def work():
        begun.append(1)
        time.sleep(0.2)
        raise TimedOut("late") if len(begun) == 1 else Unavailable("down")

    def ask(seconds):
        with time_limit(seconds):
            return flights.share("k", work)

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(ask, 0.1)
        time.sleep(0.05)
        second = threads.submit(ask, 5)
        assert isinstance(first.exception(), TimedOut)
        assert isinstance(second.exception(), Unavailable)


async def test_the_error_of_a_single_caller_names_its_provider():
    service = FakeWeb(delay=5, name="snail")
    with pytest.raises(TimedOut):
        await WebSearch(service, timeout=0.1).asearch("kelp")


async def test_work_that_somebody_else_cancels_is_late_for_those_who_wait():
    service = Slow(60)
    web = WebSearch(service)
    call = asyncio.create_task(web.asearch("kelp"))
    await await_until(lambda: service.begun)
    for task in asyncio.all_tasks() - {asyncio.current_task(), call}:
        task.cancel()
    with pytest.raises(TimedOut):
        await call


async def test_work_that_somebody_else_cancels_before_it_begins_is_late_at_once():
    service = Slow(5)
    web = WebSearch(service)
    call = asyncio.create_task(web.asearch("kelp"))
    while not (work := asyncio.all_tasks() - {asyncio.current_task(), call}):
        await asyncio.sleep(0)
    for task in work:
        task.cancel()
    with pytest.raises(TimedOut):
        await asyncio.wait_for(call, 5)
    assert service.begun == 0


async def test_a_failure_that_nobody_waited_for_is_not_logged(caplog):
    class Stubborn(Slow):
        async def _work(self):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                raise Unavailable("down") from None

    service = Stubborn()
    web = WebSearch(service, retry=1)
    call = asyncio.create_task(web.asearch("kelp"))
    await await_until(lambda: service.begun)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert not [record for record in caplog.records if record.name == "asyncio"]


# Loops and threads


def test_loops_and_threads_do_not_wait_for_each_other():
    asked, all_wait = [], threading.Event()

    def search(query):
        asked.append(query.text)
        all_wait.wait(60)
        return [{"title": "Kelp", "url": URL}]

    # no slow start
    web = WebSearch(from_function("patient", search=search), timeout=60, throttle=False)

    def on_a_loop():
        async def both():
            return await asyncio.gather(web.asearch("kelp"), web.asearch("kelp"))

        return asyncio.run(both())

    with ThreadPoolExecutor(6) as threads:
        loops = [threads.submit(on_a_loop) for _ in range(3)]
        blocking = [threads.submit(web.search, "kelp") for _ in range(3)]
        wait_until(lambda: count_waiting(web) == 3 and len(asked) == 4)
        all_wait.set()
        assert len([answer for loop in loops for answer in loop.result()]) == 6
        assert [one for one in blocking if not one.result().results] == []
    assert len(asked) == 4  # one for each loop, and one for the threads


async def test_a_blocking_call_inside_a_loop_does_not_wait_for_the_loop():
    web = WebSearch(fake(delay=0.1))
    call = asyncio.create_task(web.asearch("kelp"))
    await asyncio.sleep(0.02)

    assert web.search("kelp").results  # bad manners, but no deadlock
    assert (await call).results


async def test_the_flights_of_a_loop_that_is_gone_are_forgotten():
    flights = Flights()

    async def one():
        async def work():
            return 1

        return await flights.ashare("k", work)

    def elsewhere():
        return asyncio.run(one())

    assert (await asyncio.to_thread(elsewhere)).value == 1
    assert (await one()).value == 1
    gc.collect()
    assert len(flights._loops) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_wait_for_its_parent():
    flights, inside, go = Flights(), threading.Event(), threading.Event()

    def work():
        inside.set()
        go.wait()
        return 1

    thread = threading.Thread(target=flights.share, args=("k", work))
    thread.start()
    inside.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(120)
        os._exit(flights.share("k", lambda: 2).value)
    _, status = os.waitpid(child, 0)
    go.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 2


# As a layer


def test_it_is_a_default_layer_that_can_be_left_out():
    web = WebSearch(fake())
    kinds = []
    part = web.provider
    while part is not None:
        kinds.append(type(getattr(part, "layer", part)))
        part = getattr(part, "inner", None)

    assert kinds[:3][1:] == [SingleFlight, Retry]
    assert SingleFlight not in map(type, [WebSearch(fake(), layers=None).provider])
    assert SingleFlight.rank == Rank.SINGLE_FLIGHT


def test_copies_and_pickles_begin_with_nothing_under_way():
    layer = SingleFlight()(Direct())
    for again in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert again.layer == layer.layer
        assert again._flights is not layer._flights


def test_a_flow_that_shares_can_be_played():
    class Asks:
        name = "asks"

        def search(self, query):
            answer = yield Request(url="https://a.example")
            return SearchResponse(query=query.text, answer=answer.content.decode())

        def read(self, url):
            yield Request(url=url)
            return Page(url=url)

    layer = SingleFlight()(Retry()(Asks()))
    assert (
        play(
            layer.search(SearchQuery.of("kelp")), Unavailable("down"), reply("yes")
        ).result.answer
        == "yes"
    )
    with pytest.raises(BadRequest):
        play(layer.read(URL), BadRequest("no"))


def test_a_plain_flow_may_share_too():
    flights = Flights()

    def inner():
        # a thread waits for the other one; on a loop, both have asked by now
        yield Call(wait_until, lambda: count_waiting(flights) != 1)
        return 1

    def twice():
        def one():
            return (yield Share(flights, "k", inner))

        return (yield Gather([one(), one()]))

    async def a_no_send(request):
        raise AssertionError

    for answers in (run(twice(), no_send), asyncio.run(arun(twice(), a_no_send))):
        assert sorted(answer[:2] for answer in answers) == [(1, False), (1, True)]


# Within itself


class Echo:
    """Asks for the same again while it answers, as a hook may."""

    name = "echo"
    options = frozenset()
    web = None

    def __init__(self):
        self.asked = 0

    def search(self, query):
        self.asked += 1
        if self.asked == 1:
            yield Call(
                self.web.asearch if self.is_async else self.web.search, query.text
            )
        return SearchResponse(query=query.text, provider=self.name)


@pytest.mark.parametrize("is_async", [False, True])
def test_work_that_wants_the_same_as_itself_does_not_wait_for_itself(is_async):
    echo = Echo()
    echo.is_async = is_async
    echo.web = web = WebSearch(echo, timeout=Timeout(search=60))
    found = asyncio.run(web.asearch("kelp")) if is_async else web.search("kelp")

    assert found.provider == "echo"
    assert echo.asked == 2


@pytest.mark.parametrize("seed", range(5))
async def test_of_many_callers_who_come_and_go_nobody_gets_what_was_not_sent_for_their_question(
    seed,
):
    rng, under_way, sent = random.Random(seed), set(), []

    class Sea:
        name, options = "sea", frozenset()

        def search(self, query):
            yield Call(self._ask, query.text)
            if rng.random() < 0.2:
                raise Unavailable("down")
            return SearchResponse(query=query.text, answer=query.text, cost=1.0)

        async def _ask(self, text):
            assert text not in under_way  # never twice at once
            under_way.add(text)
            sent.append(text)
            try:
                await asyncio.sleep(0.002)
            finally:
                under_way.discard(text)

    web = WebSearch(Sea(), retry=Retry(attempts=1))
    calls = []
    for _ in range(60):
        calls.append(asyncio.create_task(web.asearch(rng.choice(["kelp", "dulse"]))))
        if rng.random() < 0.3:
            rng.choice(calls).cancel()
        if rng.random() < 0.3:
            await asyncio.sleep(0.001)
    ends = await asyncio.gather(*calls, return_exceptions=True)

    assert not under_way
    answers = [end for end in ends if isinstance(end, SearchResponse)]
    assert [end.answer for end in answers if end.answer != end.query] == []
    assert sum(end.cost for end in answers) <= len(sent)
    assert [
        end
        for end in ends
        if not isinstance(end, (SearchResponse, Unavailable, asyncio.CancelledError))
    ] == []
