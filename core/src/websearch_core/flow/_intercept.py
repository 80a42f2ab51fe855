"""Stand between a flow and its driver: answer some of its effects differently, and pass the others on."""

from __future__ import annotations
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from . import Call, Effect, Flow, Gather, Hedge, Request, Share

T = TypeVar("T")
Perform: TypeAlias = Callable[[Request | Call], Flow[Any]]


def intercept(flow: Flow[T], perform: Perform) -> Flow[T]:
    """Run *flow*, and answer each `Request` and `Call` with *perform*, also in a `Gather`, `Share` or `Hedge`.

    *perform* returns a flow that returns the answer; ``yield effect`` in it has the effect performed.
    """

    def pass_on(effect: Effect) -> Flow[Any]:
        match effect:
            case Request() | Call():
                return (yield from perform(effect))
            case Gather(flows, limit):
                return (yield Gather([intercept(one, perform) for one in flows], limit))
            case Share() | Hedge():
                return (yield effect.wrap(lambda one: intercept(one, perform)))
        return (yield effect)

    return answer_each(flow, pass_on)


def answer_each(flow: Flow[T], answer: Callable[[Effect], Flow[Any]]) -> Flow[T]:
    """Run *flow*, and answer each of its effects with what the flow returns that *answer* makes of it."""
    if not isinstance(flow, Generator):  # the driver says what is wrong with it
        return (yield from flow)
    try:
        effect = next(flow)
        while True:
            try:
                got = yield from answer(effect)
            except Exception as error:  # noqa: BLE001 - raised again, inside the flow
                effect = flow.throw(error)
            else:
                effect = flow.send(got)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    finally:
        flow.close()


def hold(effect: Request | Call, flow: Flow[T]) -> Flow[T]:
    """Run *flow*, which a layer waits for before it passes *effect* on, and note if it fails: then nothing is sent."""
    vars(effect)["held"] = True
    result = yield from flow
    del vars(effect)["held"]
    return result


def is_held(effect: Request | Call) -> bool:
    """Return whether *effect* was held back, and never sent."""
    return "held" in vars(effect)


class Auxiliary:
    """Marks an effect by which a layer prepares a call: it is not an attempt, and a budget does not count it."""


class AuxiliaryCall(Auxiliary, Call):
    """A `Call` of a layer, such as a look into Redis."""


@dataclass(frozen=True, kw_only=True)
class AuxiliaryRequest(Auxiliary, Request):
    """A `Request` of a layer, such as one for a robots.txt."""
