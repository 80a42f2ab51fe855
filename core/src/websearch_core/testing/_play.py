"""Run a flow with prepared answers."""

from __future__ import annotations
import json
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ..errors import WebSearchError
from ..flow import Call, Effect, Flow, Hedge, Request, Response, Share, SharedAnswer, Sleep
from ..flow._intercept import intercept
from ..flow._redaction import redact_response

_T = TypeVar("_T")

SECRET = "SECRET-of-a-test"  # noqa: S105 - the key of providers under test, which must never show


@dataclass(frozen=True)
class Outcome(Generic[_T]):
    """The result of a flow, and the effects that it yielded."""

    result: _T
    effects: tuple[Effect, ...] = field(default=())

    @property
    def requests(self) -> list[Request]:
        """The requests, in order."""
        return [effect for effect in self.effects if isinstance(effect, Request)]

    @property
    def pauses(self) -> list[float]:
        """The pauses, in seconds, in order."""
        return [effect.seconds for effect in self.effects if isinstance(effect, Sleep)]


def play(flow: Flow[_T], *answers: object) -> Outcome[_T]:
    """Run *flow* to its end with prepared *answers*. A `Call` is executed if no answers are left.

    Raises:
        AssertionError: The flow needs more answers, or ended before all were used.
    """
    flow = _run_shared(flow)
    waiting = list(answers)
    effects: list[Effect] = []
    try:
        effect = next(flow)
        while True:
            effects.append(effect)
            if isinstance(effect, Sleep):
                effect = next(flow)
                continue
            if isinstance(effect, Call) and not waiting:
                answer = effect()
            else:
                assert waiting, f"no answer is left for {effect!r}"
                answer = waiting.pop(0)
            if isinstance(effect, Request) and isinstance(answer, Response):
                answer = redact_response(answer, effect)
            effect = flow.throw(answer) if isinstance(answer, BaseException) else flow.send(answer)
    except StopIteration as stop:
        assert not waiting, f"the flow ended with {len(waiting)} of the answers unused"
        return Outcome(stop.value, tuple(effects))
    finally:
        flow.close()


def _run_shared(flow: Flow[_T]) -> Flow[_T]:
    """Run what *flow* shares or hedges as a part of it: nobody else is there, and nothing is late."""

    def answer(effect: Share | Hedge) -> Flow[Any]:
        if isinstance(effect, Share):
            return SharedAnswer((yield from _run_shared(effect.make())), is_first=True)
        try:
            return (yield from _run_shared(effect.first)), None
        except WebSearchError as failure:
            return failure, None

    return intercept(flow, answer, (Share, Hedge))


def reply(body: object = b"", status: int = 200, **headers: str) -> Response:
    """Make a `Response` with *body* as text, bytes, or else JSON. The header ``retry_after`` becomes Retry-After."""
    if isinstance(body, str):
        body = body.encode()
    kind = "text/html" if isinstance(body, bytes) else "application/json"
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    names = {name.replace("_", "-").lower(): value for name, value in headers.items()}
    return Response(status=status, headers={"content-type": kind, **names}, content=content)
