"""Stand between a flow and its driver: answer some of its effects differently, and pass
the others on.
"""

from __future__ import annotations
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, TypeAlias, TypeVar

from . import Call, Flow, Gather, Hedge, Request, Share

T = TypeVar("T")
Perform: TypeAlias = Callable[[Request | Call], Flow[Any]]


def intercept(flow: Flow[T], perform: Perform) -> Flow[T]:
    """Run *flow*, and answer each request and call with *perform*, also in a `Gather`,
    `Share` or `Hedge`.

    *perform* returns a flow that returns the answer; ``yield effect`` in it has the
    effect performed.
    """
    if not isinstance(flow, Generator):  # the driver says what is wrong with it
        return (yield from flow)
    again = partial(intercept, perform=perform)
    try:
        effect = next(flow)
        while True:
            try:
                match effect:
                    case Request() | Call():
                        answer = yield from perform(effect)
                    case Gather(flows, limit):
                        answer = yield Gather([again(part) for part in flows], limit)
                    case Share() | Hedge():
                        answer = yield effect.wrap(again)
                    case _:
                        answer = yield effect
            except Exception as error:  # noqa: BLE001 - raised again, inside the flow
                effect = flow.throw(error)
            else:
                effect = flow.send(answer)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    finally:
        flow.close()


def hold(effect: Request | Call, flow: Flow[T]) -> Flow[T]:
    """Run *flow*, which a layer waits for before it passes *effect* on, and note if it
    fails: then nothing is sent.
    """
    vars(effect)["held"] = True
    result = yield from flow
    del vars(effect)["held"]
    return result


def is_held(effect: Request | Call) -> bool:
    """Return whether *effect* was held back, and never sent."""
    return "held" in vars(effect)


class Auxiliary:
    """Marks an effect by which a layer prepares a call: it is not an attempt, and a
    budget does not count it.
    """


class AuxiliaryCall(Auxiliary, Call):
    """A `Call` of a layer, such as a look into Redis."""


class AuxiliaryRequest(Auxiliary, Request):
    """A `Request` of a layer, such as one for a robots.txt."""
