"""A chain asks the next provider too when one is late: the first answer counts, and the
loser leaves nothing behind.
"""

from __future__ import annotations
import asyncio
import copy
import gc
import math
import socket
import threading
import time
from contextlib import contextmanager

import pytest

from tests.waiting import await_until, ended_by, wait_until
from websearch_core import WebSearch
from websearch_core.errors import (
    AllProvidersFailed,
    BadResponse,
    BudgetExceeded,
    ConfigurationError,
    TimedOut,
    Unavailable,
)
from websearch_core.events import Exchange, Failover, HedgeStarted
from websearch_core.flow import Call, Hedge, Request, Sleep, _branches, arun, run
from websearch_core.flow._branches import Branch
from websearch_core.layers import Breaker, Budget, Fallback, Retry, Throttle
from websearch_core.layers._bucket import Bucket, Hedging
from websearch_core.models import Page, SearchQuery, SearchResponse, SearchResult
from websearch_core.testing import play

KELP = SearchQuery.of("kelp")
HIT = SearchResult(title="Kelp", url="https://a.example/")
LATE, SOON = 0.05, 0.01
URL = "https://a.example/"

both = pytest.mark.parametrize("concurrent", [False, True], ids=["blocking", "async"])


class Service:
    """
    Answers or fails after some seconds, and knows how its calls ended.

    Args:
        until: Answers when this holds, too, and no earlier.

    """

    sends = True

    def __init__(
        self, name, seconds=0.0, *, fails=None, results=(HIT,), until=lambda: True
    ):
        self.name, self.seconds, self.fails, self.results, self.until = (
            name,
            seconds,
            fails,
            results,
            until,
        )
        self.begun, self.ends = 0, []

    def _wait(self):
        self.begun += 1
        try:
            for _ in range(max(1, int(self.seconds / SOON))):
                yield Sleep(min(self.seconds, SOON))
                if self.sends:
                    yield Request(url="https://nobody.example/")
            while not self.until():
                yield Sleep(SOON)
            if self.fails:
                self.ends.append("failed")
                raise self.fails
        except GeneratorExit:
            self.ends.append("closed")
            raise
        self.ends.append("answered")

    def search(self, query):
        yield from self._wait()
        return SearchResponse(
            query=query.text, provider=self.name, results=self.results
        )

    def read(self, url):
        yield from self._wait()
        return Page(url=url, provider=self.name)


def drive(flow, concurrent):
    async def asend(request):
        return None

    return (
        asyncio.run(arun(flow, asend))
        if concurrent
        else run(flow, lambda request: None)
    )


def brief(answer):
    return [(one.provider, one.status) for one in answer.outcomes]


@both
@pytest.mark.parametrize("what", ["search", "read"])
def test_the_next_is_asked_when_one_is_late_and_the_loser_is_cancelled(
    concurrent, what
):
    slow, quick = Service("slow", 60), Service("quick")
    chain = Fallback(hedge=LATE)(slow, quick)
    answer = drive(
        chain.search(KELP) if what == "search" else chain.read(URL), concurrent
    )

    assert answer.provider == "quick"
    assert brief(answer) == [("slow", "cancelled"), ("quick", "ok")]
    assert answer.notes == ("slow had not answered after 0.1 s; answered by quick",)
    wait_until(lambda: slow.ends == ["closed"])


@both
def test_one_that_is_prompt_is_asked_alone(concurrent):
    prompt, other = Service("prompt"), Service("other")
    answer = drive(Fallback(hedge=60)(prompt, other).search(KELP), concurrent)

    assert (answer.provider, answer.notes, brief(answer)) == (
        "prompt",
        (),
        [("prompt", "ok")],
    )
    assert other.ends == []


@both
def test_the_first_may_still_win(concurrent):
    second = Service("second", 60)
    first = Service("first", until=lambda: second.begun)
    answer = drive(Fallback(hedge=SOON)(first, second).search(KELP), concurrent)

    assert (answer.provider, answer.notes) == ("first", ())
    assert brief(answer) == [("first", "ok"), ("second", "cancelled")]
    wait_until(lambda: second.ends == ["closed"])


@both
def test_one_that_fails_before_it_is_late_is_followed_by_the_next_as_ever(concurrent):
    heard = []
    web = WebSearch(
        [Local("down", fails=Unavailable("x")), Local("up")],
        combine=Fallback(hedge=60),
        retry=Retry(attempts=1),
        on_event=heard.append,
    )
    answer = asyncio.run(web.asearch("kelp")) if concurrent else web.search("kelp")

    assert brief(answer) == [("down", "failed"), ("up", "ok")]
    assert [
        type(event) for event in heard if isinstance(event, Failover | HedgeStarted)
    ] == [Failover]


@both
def test_if_the_hedge_fails_the_first_is_waited_for(concurrent):
    second = Service("second", fails=Unavailable("x"))
    first = Service("first", LATE, until=lambda: second.ends)
    answer = drive(Fallback(hedge=SOON)(first, second).search(KELP), concurrent)

    assert answer.provider == "first"
    assert brief(answer) == [("first", "ok"), ("second", "failed")]


@both
def test_if_both_fail_the_third_is_asked(concurrent):
    one, two, three = (
        Service("one", LATE, fails=Unavailable("x")),
        Service("two", fails=TimedOut("y")),
        Service("three"),
    )
    answer = drive(Fallback(hedge=SOON)(one, two, three).search(KELP), concurrent)

    assert brief(answer) == [("one", "failed"), ("two", "timeout"), ("three", "ok")]


@both
def test_if_all_fail_the_error_has_each(concurrent):
    one, two = (
        Service("one", LATE, fails=Unavailable("x")),
        Service("two", fails=TimedOut("y")),
    )
    with pytest.raises(AllProvidersFailed, match="one: x; two: y"):
        drive(Fallback(hedge=SOON)(one, two).search(KELP), concurrent)


@both
def test_a_budget_that_forbids_the_hedge_does_not_end_the_search(concurrent):
    first, second = (
        Service("first", 0.1),
        Service("second", fails=BudgetExceeded("used up")),
    )
    assert (
        drive(Fallback(hedge=SOON)(first, second).search(KELP), concurrent).provider
        == "first"
    )

    first.fails = Unavailable("x")
    with pytest.raises(BudgetExceeded):
        drive(Fallback(hedge=SOON)(first, second).search(KELP), concurrent)


@both
def test_a_bug_of_the_hedge_does_not_end_the_search(concurrent, monkeypatch):
    branches = []

    class RecordedBranch(Branch):
        def __init__(self, work):
            super().__init__(work)
            branches.append(self)

    # a thread is done some time after its provider has failed
    monkeypatch.setattr(_branches, "Branch", RecordedBranch)
    second = Service("second", fails=ZeroDivisionError("bug"))
    first = Service(
        "first",
        LATE,
        until=lambda: second.ends and all(one.done.done() for one in branches[1:2]),
    )
    answer = drive(Fallback(hedge=SOON)(first, second).search(KELP), concurrent)

    assert brief(answer) == [("first", "ok"), ("second", "parse")]
    both_broken = Fallback(hedge=SOON)(
        Service("a", LATE, fails=KeyError("bug")), second
    )
    with pytest.raises(AllProvidersFailed) as caught:
        drive(both_broken.search(KELP), concurrent)
    assert [
        error for error in caught.value.exceptions if not isinstance(error, BadResponse)
    ] == []


@both
def test_nothing_found_is_no_answer_if_on_empty_says_so(concurrent):
    one, two = Service("one", LATE, results=()), Service("two", 0.1)
    answer = drive(
        Fallback(hedge=SOON, on_empty=True)(one, two).search(KELP), concurrent
    )
    assert brief(answer) == [("one", "empty"), ("two", "ok")]

    nothing = drive(
        Fallback(hedge=SOON, on_empty=True)(one, Service("none", results=())).search(
            KELP
        ),
        concurrent,
    )
    assert brief(nothing) == [("one", "empty"), ("none", "empty")]


@both
def test_at_most_one_call_in_twenty_and_one_more_is_hedged(concurrent):
    slow, quick = Service("slow", 2 * SOON), Service("quick")
    chain = Fallback(hedge=SOON / 4)(slow, quick)

    for _ in range(45):
        drive(chain.search(KELP), concurrent)

    assert 2 <= len(quick.ends) <= 1 + 45 * 0.05


@both
def test_a_hook_hears_of_it_and_the_log_has_a_line(concurrent, caplog):
    caplog.set_level("INFO")
    heard = []
    web = WebSearch(
        [Local("slow", 60), Local("quick")],
        combine=Fallback(hedge=LATE),
        on_event=heard.append,
    )
    response = asyncio.run(web.asearch("kelp")) if concurrent else web.search("kelp")

    assert response.provider == "quick"
    (hedged,) = [event for event in heard if isinstance(event, HedgeStarted)]
    assert hedged.as_json() == {
        "provider": "slow",
        "next_provider": "quick",
        "seconds": LATE,
    }
    assert "slow has not answered after 0.05 s: quick is asked too" in caplog.text


class Local(Service):
    """The same, without requests."""

    sends = False


# Cancelled, not failed


@both
def test_a_loser_is_no_failure_for_its_breaker_and_its_place_in_the_queue_is_free(
    concurrent,
):
    slow, quick = Service("slow", 60), Service("quick")
    first = Breaker(failures=1, min_timeout=0)(
        Throttle(concurrent=1, requests_per_second=1000)(slow)
    )
    chain = Fallback(hedge=LATE, hedge_share=1)(first, quick)
    for _ in range(2):
        assert drive(chain.search(KELP), concurrent).provider == "quick"
    wait_until(lambda: len(slow.ends) == 2)

    assert slow.ends == ["closed", "closed"]
    slow.seconds = 0
    assert drive(Fallback()(first, quick).search(KELP), concurrent).provider == "slow"


async def test_a_cancelled_call_cancels_both():
    one, two = Service("one", 60), Service("two", 60)

    async def asend(request):
        return None

    task = asyncio.create_task(arun(Fallback(hedge=SOON)(one, two).search(KELP), asend))
    await await_until(lambda: two.begun)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert one.ends == two.ends == ["closed"]
    assert len(asyncio.all_tasks()) == 1


@both
def test_the_time_of_the_call_holds_for_both(concurrent):
    web = WebSearch(
        [Local("one", 60), Local("two", 60)],
        combine=Fallback(hedge=SOON),
        retry=Retry(attempts=1),
        timeout=0.3,
    )
    with ended_by(0.3), pytest.raises((AllProvidersFailed, TimedOut)):
        asyncio.run(web.asearch("kelp")) if concurrent else web.search("kelp")


def test_each_call_that_was_sent_is_charged():
    budget = Budget(limit="2 calls").start()
    chain = Fallback(hedge=LATE)(budget(Service("slow", 60)), budget(Service("quick")))

    assert drive(chain.search(KELP), False).provider == "quick"
    with pytest.raises(BudgetExceeded):
        drive(chain.search(KELP), False)


@pytest.mark.enable_socket
@both
def test_the_connection_of_the_loser_is_closed(concurrent, server, http):
    """Its server sees the end of the connection long before it would have answered."""
    asked, ended = threading.Event(), threading.Event()

    def answer(connection):
        asked.wait(60)  # else the slow one may be given up before it has a connection
        connection.sendall(http(b"quick"))

    server.answers["/quick"] = answer

    class Remote:
        def __init__(self, name, url):
            self.name, self.url = name, url

        def search(self, query):
            response = yield Request(url=self.url)
            return SearchResponse(
                query=query.text, provider=self.name, answer=response.content.decode()
            )

    with hanging_server(asked, ended) as slow:
        heard = []
        web = WebSearch(
            [Remote("slow", slow), Remote("quick", f"{server.url}/quick")],
            combine=Fallback(hedge=LATE),
            retry=Retry(attempts=1),
            on_event=heard.append,
        )
        response = (
            asyncio.run(web.asearch("kelp")) if concurrent else web.search("kelp")
        )
        assert response.provider == "quick"
        assert ended.wait(60)
    wait_until(
        lambda: len([event for event in heard if isinstance(event, Exchange)]) == 2
    )
    web.close()
    gc.collect()


@contextmanager
def hanging_server(asked, ended):
    """Listen, read a request, never answer, and say when the client has asked and when
    it has gone.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def work():
            connection, _ = listener.accept()
            with connection:
                while connection.recv(65536):
                    asked.set()
            ended.set()

        threading.Thread(target=work, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"


@pytest.mark.enable_socket
@both
def test_each_of_many_pages_is_hedged_and_the_connections_of_the_losers_are_closed(
    concurrent, server, http
):
    urls = [f"https://a.example/{name}" for name in "abc"]
    asked, ended = threading.Semaphore(0), threading.Semaphore(0)

    def hang(connection):
        asked.release()
        while connection.recv(65536):
            pass
        ended.release()

    def answer(connection):
        connection.sendall(http(b"quick"))

    server.answers |= {f"/slow/{url[-1]}": hang for url in urls} | {
        f"/quick/{url[-1]}": answer for url in urls
    }

    class Remote:
        def __init__(self, name):
            self.name = name

        def read(self, url):
            response = yield Request(url=f"{server.url}/{self.name}/{url[-1]}")
            return Page(
                url=url,
                content=f"{response.content.decode()} {url[-1]}",
                provider=self.name,
            )

    heard = []
    web = WebSearch(
        reader=[Remote("slow"), Remote("quick")],
        timeout=60,  # long, so that a busy machine cannot fail it
        combine=Fallback(hedge=LATE, hedge_share=1.0),
        retry=Retry(attempts=1),
        throttle=math.inf,  # without it, the first that hangs would hold up the others
        on_event=heard.append,
    )
    pages = asyncio.run(web.aread_many(urls)) if concurrent else web.read_many(urls)

    assert [(page.provider, page.content) for page in pages] == [
        ("quick", f"quick {url[-1]}") for url in urls
    ]
    assert len([event for event in heard if isinstance(event, HedgeStarted)]) == len(
        urls
    )
    for _ in urls:
        assert asked.acquire(timeout=60)
        assert ended.acquire(timeout=60)
    web.close()


# The percentile, and values


def test_a_percentile_is_taken_of_the_last_answers():
    hedging = Hedging("p95", 0.05)
    assert hedging.begin("a") is None
    for n in range(1, 101):
        hedging.add_time("a", n / 100)

    assert hedging.begin("a") == 0.96
    assert hedging.begin("b") is None


def test_a_copy_of_a_chain_knows_no_times():
    chain = Fallback(hedge="p95")(Local("slow"), Local("quick"))
    for n in range(1, 101):
        chain._hedging.add_time("slow", n)
    assert copy.deepcopy(chain)._hedging.begin("slow") is None


def test_a_chain_learns_how_long_its_providers_take():
    slow, quick = Local("slow"), Local("quick")
    chain = Fallback(hedge="p90")(slow, quick)
    for _ in range(20):
        drive(chain.search(KELP), False)
    slow.seconds = 60

    assert drive(chain.search(KELP), False).provider == "quick"


def test_answers_that_were_kept_say_nothing_about_the_time_of_a_service():
    class Free(Local):
        def search(self, query):
            response = yield from super().search(query)
            return response.model_copy(update={"cost": 0.0})

    chain = Fallback(hedge="p95")(Free("a"), Local("b"))
    for _ in range(30):
        drive(chain.search(KELP), False)

    assert chain._hedging.begin("a") is None


@pytest.mark.parametrize(
    "wrong",
    [{"hedge": 0}, {"hedge": -1}, {"hedge": "p100"}, {"hedge": "p49"}, {"hedge": "95"}, {"hedge": True},
     {"hedge": float("nan")}, {"hedge": "fast"}, {"hedge_share": -1}, {"hedge_share": "x"}],
)  # fmt: skip
def test_wrong_values_are_refused(wrong):
    with pytest.raises(ConfigurationError, match="hedge"):
        Fallback(**wrong)


def test_a_bucket_holds_at_most_ten():
    bucket = Bucket(1, start=0)
    for _ in range(50):
        bucket.add_call()

    assert sum(bucket.take() for _ in range(50)) == 10


def test_a_played_chain_is_never_late():
    assert (
        play(Fallback(hedge=LATE)(Local("a"), Local("b")).search(KELP)).result.provider
        == "a"
    )


@pytest.mark.parametrize(
    "layer", [Budget(limit="100 calls"), Throttle(requests_per_second=1000)]
)
def test_layers_around_a_hedge_see_the_requests_of_both(layer):
    seen = []
    around = layer(Fallback(hedge=LATE)(Service("slow", 60), Service("quick")))

    def send(request):
        seen.append(request)

    assert run(around.search(KELP), send).provider == "quick"
    assert seen


@both
def test_a_flow_may_hedge_by_itself(concurrent):
    def slow():
        yield Call(time.sleep, 1)
        return "slow"

    def quick():
        return "quick"
        yield

    def flow():
        return (yield Hedge(slow(), quick, SOON))

    assert drive(flow(), concurrent) == (None, "quick")
