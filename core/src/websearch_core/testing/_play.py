"""Run a flow with prepared answers."""

from __future__ import annotations
import json
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ..errors import WebSearchError
from ..flow import (
    Call,
    Effect,
    Flow,
    Hedge,
    Request,
    Response,
    Share,
    SharedAnswer,
    Sleep,
)
from ..flow._redaction import redact_response

_T = TypeVar("_T")

# The key of providers under test, which must never show.
SECRET = "SECRET-of-a-test"  # noqa: S105


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
    """Run *flow* to its end with prepared *answers*. A `Call` is executed if no answers
    are left.

    Raises:
        AssertionError: The flow needs more answers, or ended before all were used.
    """
    waiting = list(answers)
    effects: list[Effect] = []
    result = _run(flow, waiting, effects)
    assert not waiting, f"the flow ended with {len(waiting)} of the answers unused"
    return Outcome(result, tuple(effects))


def _run(flow: Flow[_T], waiting: list[object], effects: list[Effect]) -> _T:
    """Run *flow*, and the flows that it shares or hedges as parts of it: nobody else is
    there, and nothing is late.
    """
    try:
        effect = next(flow)
        while True:
            answer = _find_answer(effect, waiting, effects)
            if isinstance(answer, BaseException):
                effect = flow.throw(answer)
            else:
                effect = flow.send(answer)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    finally:
        flow.close()


def _find_answer(
    effect: Effect, waiting: list[object], effects: list[Effect]
) -> object:
    """Return the answer to *effect*, or the exception to raise in the flow."""
    if isinstance(effect, Share):
        answer = _try(effect.make(), waiting, effects)
        if isinstance(answer, WebSearchError):
            return answer
        return SharedAnswer(answer, is_first=True)
    if isinstance(effect, Hedge):
        return _try(effect.first, waiting, effects), None
    effects.append(effect)
    if isinstance(effect, Sleep):
        return None
    if isinstance(effect, Call) and not waiting:
        return effect()
    assert waiting, f"no answer is left for {effect!r}"
    answer = waiting.pop(0)
    if isinstance(effect, Request) and isinstance(answer, Response):
        return redact_response(answer, effect)
    return answer


def _try(flow: Flow[Any], waiting: list[object], effects: list[Effect]) -> object:
    """Return the result of a part of a flow, or its error."""
    try:
        return _run(flow, waiting, effects)
    except WebSearchError as error:
        return error


def reply(body: object = b"", status: int = 200, **headers: str) -> Response:
    """Make a `Response` with *body* as text, bytes, or else JSON. The header
    ``retry_after`` becomes Retry-After.
    """
    if isinstance(body, str):
        body = body.encode()
    kind = "text/html" if isinstance(body, bytes) else "application/json"
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    names = {name.replace("_", "-").lower(): value for name, value in headers.items()}
    return Response(
        status=status, headers={"content-type": kind, **names}, content=content
    )
