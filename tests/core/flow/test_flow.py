"""The two drivers, and `play`, the third one."""

from __future__ import annotations
import asyncio
import threading
import time
from typing import Any

import pytest

from tests.waiting import await_until, ended_by
from websearch_core._runtime.deadline import time_left, time_limit
from websearch_core.errors import BadResponse, RateLimited, TimedOut, Unavailable
from websearch_core.flow import Call, Flow, Gather, Request, Response, Sleep, arun, run
from websearch_core.testing import SECRET, play, reply

COLOURS = ["blocking", "async"]


def drive(colour: str, flow: Flow[Any], send: Any = None) -> Any:
    """Run *flow* in one colour; *send* is an ordinary function of a request."""
    if colour == "blocking":
        return run(flow, send)

    async def asend(request: Request) -> Response:
        return send(request)

    return asyncio.run(arun(flow, asend))


both = pytest.mark.parametrize("colour", COLOURS)


@both
def test_a_flow_gets_the_answer_to_each_request_and_its_return_value_comes_out(colour):
    def flow() -> Flow[list[int]]:
        first = yield Request(url="https://a.example/1")
        second = yield Request(url="https://a.example/2")
        return [first.status, second.status]

    statuses = {"https://a.example/1": 200, "https://a.example/2": 404}

    assert drive(
        colour, flow(), lambda request: Response(status=statuses[request.url])
    ) == [200, 404]


@both
def test_what_fails_while_sending_is_raised_inside_the_flow_which_may_go_on(colour):
    def flow() -> Flow[str]:
        try:
            yield Request(url="https://a.example")
        except Unavailable as error:
            yield Sleep(0)
            return f"caught: {error}"
        return "not caught"

    def send(request: Request) -> Response:
        raise Unavailable("down")

    assert drive(colour, flow(), send) == "caught: down"


@both
def test_an_error_that_nobody_catches_comes_out_and_the_flow_is_closed(colour):
    closed = []

    def flow() -> Flow[None]:
        try:
            yield Request(url="https://a.example")
        finally:
            closed.append(True)

    def send(request: Request) -> Response:
        raise RateLimited("slow down", retry_after=3)

    with pytest.raises(RateLimited) as caught:
        drive(colour, flow(), send)
    assert (caught.value.retry_after, closed) == (3, [True])


@both
def test_a_call_runs_a_function_and_its_exception_comes_back_into_the_flow(colour):
    def divide(a: int, b: int) -> float:
        return a / b

    def flow() -> Flow[list[Any]]:
        answers = [(yield Call(divide, 6, b=3))]
        try:
            yield Call(divide, 1, 0)
        except ZeroDivisionError:
            answers.append("by zero")
        return answers

    assert drive(colour, flow()) == [2, "by zero"]


def test_a_blocking_call_runs_off_the_event_loop():
    def flow() -> Flow[Any]:
        return (yield Call(threading.current_thread))

    assert drive("async", flow()) is not threading.main_thread()
    assert drive("blocking", flow()) is threading.main_thread()


@both
def test_a_call_awaits_an_asynchronous_function(colour):
    async def add(a: int, b: int) -> int:
        await asyncio.sleep(0)
        return a + b

    def flow() -> Flow[Any]:
        return (yield Call(add, 1, 2))

    assert drive(colour, flow()) == 3


@both
def test_an_asynchronous_call_ends_with_the_time(colour):
    async def forever() -> None:
        await asyncio.sleep(60)

    def flow() -> Flow[Any]:
        return (yield Call(forever))

    with time_limit(0.05), pytest.raises(TimedOut):
        drive(colour, flow())


@both
def test_gathered_flows_run_concurrently_and_answer_in_order_with_results_or_errors(
    colour,
):
    meeting = threading.Barrier(3, timeout=60)

    def one(n: int) -> Flow[int]:
        yield Call(meeting.wait)  # passes only if all three are under way
        if n == 1:
            raise Unavailable("one is down")
        return n

    def flow() -> Flow[Any]:
        return (yield Gather([one(0), one(1), one(2)], limit=3))

    first, second, third = drive(colour, flow())

    assert (first, third) == (0, 2)
    assert isinstance(second, Unavailable)


@both
def test_no_more_flows_than_the_limit_run_at_once(colour):
    running, most, lock = 0, 0, threading.Lock()

    def work() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1

    def one() -> Flow[None]:
        yield Call(work)

    def flow() -> Flow[Any]:
        return (yield Gather([one() for _ in range(8)], limit=2))

    drive(colour, flow())

    assert most <= 2


@both
def test_a_bug_in_a_gathered_flow_fails_that_flow_alone_and_is_logged(colour, caplog):
    def broken() -> Flow[None]:
        yield Sleep(0)
        raise KeyError(SECRET)

    def sound() -> Flow[str]:
        yield Sleep(0)
        return "sound"

    def flow() -> Flow[Any]:
        return (yield Gather([sound(), broken(), sound()]))

    first, second, third = drive(colour, flow())

    assert (first, third) == ("sound", "sound")
    assert type(second) is BadResponse
    assert isinstance(second.__cause__, KeyError)
    assert "in broken" in caplog.text
    assert "builtins.KeyError" in caplog.text
    assert SECRET not in caplog.text + str(second)


@both
@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit], ids=str)
def test_what_ends_the_program_ends_a_batch_too(colour, end):
    def interrupted() -> Flow[None]:
        yield Sleep(0)
        raise end

    def flow() -> Flow[Any]:
        return (yield Gather([interrupted()]))

    with pytest.raises((end, BaseExceptionGroup)) as caught:
        drive(colour, flow())
    assert not isinstance(caught.value, Exception)


@both
def test_a_pause_that_outlasts_the_deadline_is_not_begun(colour):
    def flow() -> Flow[None]:
        yield Sleep(60)

    with ended_by(1), time_limit(1), pytest.raises(TimedOut, match="60.0 s"):
        drive(colour, flow())


@both
def test_the_deadline_holds_in_what_a_flow_starts(colour):
    def one() -> Flow[float]:
        return (yield Call(time_left))

    def flow() -> Flow[Any]:
        return (yield Gather([one(), one()]))

    with time_limit(5):
        lefts = drive(colour, flow())
    assert [left for left in lefts if not 0 < left <= 5] == []


async def test_blocking_work_leaves_the_threads_of_the_application_alone():
    ends = threading.Event()

    def flow() -> Flow[bool]:
        return (yield Call(ends.wait, 60))

    tasks = [asyncio.create_task(arun(flow(), no_network)) for _ in range(64)]
    await asyncio.sleep(0)

    assert await asyncio.wait_for(asyncio.to_thread(lambda: "done"), 50) == "done"
    ends.set()
    assert all(await asyncio.gather(*tasks))


async def test_blocking_work_whose_turn_never_came_is_not_done_after_all():
    ends, begun = threading.Event(), []

    def work() -> None:
        begun.append(1)
        ends.wait(60)

    def flow() -> Flow[None]:
        yield Call(work)

    tasks = [asyncio.create_task(arun(flow(), no_network)) for _ in range(100)]
    await asyncio.sleep(0.1)
    for task in tasks:
        task.cancel()
    assert {
        type(end) for end in await asyncio.gather(*tasks, return_exceptions=True)
    } == {asyncio.CancelledError}
    ends.set()

    await arun(flow(), no_network)
    assert len(begun) < 100


async def no_network(request: Request) -> Response:
    raise AssertionError(request)


def test_limits_nest_and_the_nearest_counts():
    with time_limit(60):
        with time_limit(1):
            assert time_left() <= 1
        with time_limit(600):
            assert time_left() <= 60
    assert time_left() == float("inf")


async def test_cancelling_leaves_nothing_running():
    begun, ended = [], []

    async def slow(request: Request) -> Response:
        begun.append(request.url)
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(request.url)
        raise AssertionError("not reached")

    def one(n: int) -> Flow[Any]:
        try:
            return (yield Request(url=f"https://a.example/{n}"))
        finally:
            ended.append(n)

    def flow() -> Flow[Any]:
        return (yield Gather([one(1), one(2)]))

    task = asyncio.create_task(arun(flow(), slow))
    await await_until(lambda: len(begun) == 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(map(str, ended)) == [
        "1",
        "2",
        "https://a.example/1",
        "https://a.example/2",
    ]


def test_play_is_the_server_and_pauses_take_no_time():
    def flow() -> Flow[Any]:
        response = yield Request(url="https://a.example")
        yield Sleep(3600)
        try:
            yield Request(url="https://b.example")
        except Unavailable:
            return response.json()

    outcome = play(flow(), reply({"a": 1}), Unavailable("down"))

    assert outcome.result == {"a": 1}
    assert outcome.pauses == [3600]
    assert [request.url for request in outcome.requests] == [
        "https://a.example",
        "https://b.example",
    ]


def test_play_complains_of_answers_too_few_and_too_many():
    def flow() -> Flow[Any]:
        return (yield Request(url="https://a.example"))

    with pytest.raises(AssertionError, match="no answer is left"):
        play(flow())
    with pytest.raises(AssertionError, match="1 of the answers unused"):
        play(flow(), reply(), reply())


def test_a_request_shows_no_headers_since_keys_travel_there():
    assert "SECRET" not in repr(
        Request(url="https://a.example", headers={"Authorization": "Bearer SECRET"})
    )


def test_half_of_a_surrogate_pair_is_replaced_anywhere_in_a_json_body():
    body = (
        rb'{"half \ud800": ["\udfff", {"snippet": "whole \ud83d\ude00"}], "count": 3}'
    )

    expected = {"half \ufffd": ["\ufffd", {"snippet": "whole \U0001f600"}], "count": 3}
    assert Response(status=200, content=body).json() == expected


def test_blocking_work_is_not_waited_for_beyond_the_deadline():
    def flow() -> Flow[Any]:
        return (yield Call(released.wait, 60))

    released = threading.Event()
    with ended_by(0.1), time_limit(0.1), pytest.raises(TimedOut):
        drive("blocking", flow())
    released.set()


@both
def test_an_unknown_effect_is_reported(colour):
    def flow() -> Flow[Any]:
        return (yield "hello")  # type: ignore[misc]

    with pytest.raises(TypeError, match="not for a value of type str"):
        drive(colour, flow())


def test_a_call_shows_what_it_calls():
    assert repr(Call(str.upper, "kelp")) == "Call(str.upper)"


def test_a_timeout_of_something_else_is_not_mistaken_for_the_deadline():
    async def times_out() -> None:
        raise TimeoutError("the disk is slow")

    def flow() -> Flow[None]:
        yield Call(times_out)

    for colour in COLOURS:
        with (
            time_limit(30),
            pytest.raises(TimeoutError, match="the disk is slow") as caught,
        ):
            drive(colour, flow())
        assert not isinstance(caught.value, TimedOut)
