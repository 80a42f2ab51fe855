"""Run a flow with prepared answers to its requests, and everything else as it is."""

from __future__ import annotations
from typing import Any

from websearch_core.flow import Flow, Request, Response, run


def drive(flow: Flow[Any], *answers: Response | Exception) -> tuple[Any, list[Request]]:
    """Run *flow*; return its result and its requests, each of which gets the next of
    *answers*, or raises it.

    Raises:
        AssertionError: There are more requests than answers, or fewer.
    """
    waiting, requests = list(answers), list[Request]()

    def send(request: Request) -> Response:
        assert waiting, f"nothing should be sent: {request}"
        requests.append(request)
        answer = waiting.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    try:
        return run(flow, send), requests
    finally:
        assert not waiting, f"{len(waiting)} answers are left"
