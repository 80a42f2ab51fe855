"""The promises that hold for searching and reading alike: about garbage, threads of control, pickles, documentation."""

from __future__ import annotations

import asyncio
import copy
import pickle
import re
import sys
from collections.abc import Callable
from typing import Any

from ..errors import WebSearchError
from ..flow import Flow, Request, Response, arun, run
from ..flow._redaction import redact_response
from ._garbage import corrupt
from ._play import SECRET

_MAX_REQUESTS = 25  # of one call: more, and it would go on forever


def drive(flow: Flow[Any], response: Response) -> Any:
    """Run *flow* with *response* as the answer to each of its requests."""
    return run(flow, _answer(response))


def check_garbage(start: Callable[[], Flow[Any]], some: Response, check: Callable[[Any], None]) -> None:
    """Check that only a valid answer or one of our errors comes out, whatever is wrong with the response."""
    for wrong, response in corrupt(some):
        try:
            outcome = drive(start(), response)
        except WebSearchError:
            continue
        except Exception as bug:
            raise AssertionError(f"if {wrong}, it fails with {type(bug).__name__}: {bug}") from bug
        try:
            check(outcome)
        except AssertionError as broken:
            raise AssertionError(f"if {wrong}: {broken}") from broken


def check_modes(start: Callable[[], Flow[Any]], some: Response) -> None:
    """Check that blocking and async calls give the same."""
    answer = _answer(some)

    async def send(request: Request) -> Response:
        return answer(request)

    blocking, concurrent = run(start(), _answer(some)), asyncio.run(arun(start(), send))
    assert blocking == concurrent, "a blocking call and an async one differ"


def check_copies(provider: Any) -> None:
    """Check that a provider can be pickled, and that its key is not part of the pickle."""
    pickled = pickle.dumps(provider)
    assert SECRET.encode() not in pickled, "the key is in the pickle: declare it as a `Key`"
    loaded = pickle.loads(pickled)  # noqa: S301 - made two lines above
    assert loaded.name == provider.name
    assert copy.deepcopy(provider).name == provider.name


def check_documentation(provider: Any) -> None:
    """Check that the module or class of a provider links the documentation of its service, if it has one."""
    if not hasattr(provider, "base_url"):
        return
    cls = type(provider)
    texts = (sys.modules[cls.__module__].__doc__, cls.__doc__)
    assert any(re.search(r"https?://\S+", text or "") for text in texts), "no docstring links the API's documentation"


def _answer(response: Response) -> Callable[[Request], Response]:
    left = [_MAX_REQUESTS]

    def send(request: Request) -> Response:
        left[0] -= 1
        assert left[0], f"more than {_MAX_REQUESTS} requests for one call"
        return redact_response(response, request)

    return send
