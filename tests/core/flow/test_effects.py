"""A layer sees what a flow asks for, also inside effects that hold other flows."""

from __future__ import annotations

import pytest

from websearch_core.errors import Unavailable
from websearch_core.flow import Call, Gather, Hedge, Request, Share, Sleep, run
from websearch_core.flow._flights import Flights
from websearch_core.flow._intercept import intercept
from websearch_core.testing import reply


def ask(number):
    response = yield Request(url=f"https://sea.example/{number}")
    yield Call(str)
    return response.status


def everything():
    first = yield from ask(1)
    yield Sleep(0)
    several = yield Gather([ask(2), ask(3)])
    shared = yield Share(Flights(), "key", lambda: ask(4))
    hedged = yield Hedge(ask(5), lambda: ask(6), 0.0)
    return first, several, shared.value, hedged


def test_every_request_and_call_is_seen_wherever_it_is():
    seen = []

    def perform(effect):
        seen.append(effect.url[-1] if isinstance(effect, Request) else "call")
        return (yield effect)

    answers = run(
        intercept(everything(), perform),
        lambda request: reply(status=200 + int(request.url[-1])),
    )

    assert answers[:3] == (201, [202, 203], 204)
    assert {205, 206} & set(answers[3])
    assert {"1", "2", "3", "4", "5"} <= set(seen)
    assert seen.count("call") >= 4


def test_an_answer_may_be_replaced_and_an_error_reaches_the_flow():
    def perform(effect):
        if isinstance(effect, Request) and effect.url.endswith("1"):
            raise Unavailable("not now")
        return reply(status=204)
        yield

    def flow():
        try:
            yield from ask(1)
        except Unavailable as error:
            return str(error), (yield from ask(2))

    assert run(intercept(flow(), perform), lambda _: pytest.fail("sent")) == (
        "not now",
        204,
    )


def test_a_flow_that_is_closed_closes_the_one_inside():
    closed = []

    def flow():
        try:
            yield Sleep(1)
        finally:
            closed.append(True)

    outer = intercept(flow(), lambda effect: (yield effect))
    next(outer)
    outer.close()

    assert closed == [True]
