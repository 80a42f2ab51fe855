"""The promises that hold for searching and reading alike: about garbage, threads of control, pickles, documentation."""

from __future__ import annotations
import asyncio
import copy
import json
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ..errors import WebSearchError
from ..flow import Flow, Request, Response, arun, run
from ..flow._redaction import redact_response
from ._play import SECRET

_MAX_REQUESTS = 25  # of one call: more, and it would go on forever
_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1e400, 10**400, "", "x", "\x00\ud800\u202e", "javascript:alert(1)", "http://[", "https://a.example@b",
    "//host", [], [None], [[]], ["x"], {}, {"": None}, {"url": 3, "title": []},
)  # fmt: skip
MISSING = object()
_MAX_PLACES = 400
_CUTS = 64  # places at which a text that is not JSON is cut


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

    def end(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except WebSearchError as error:  # the one response is not the answer to every request
            return repr(error)

    blocking = end(lambda: run(start(), _answer(some)))
    assert blocking == end(lambda: asyncio.run(arun(start(), send))), "a blocking call and an async one differ"


def check_copies(provider: Any) -> None:
    """Check that a provider can be pickled, and that its key is not part of the pickle."""
    pickled = pickle.dumps(provider)
    assert SECRET.encode() not in pickled, "the key is in the pickle: declare it as a `Key`"
    loaded = pickle.loads(pickled)  # noqa: S301 - made two lines above
    assert loaded.name == provider.name
    assert copy.deepcopy(provider).name == provider.name


def check_documentation(provider: Any) -> None:
    """Check that a provider links the documentation of its service, if it has one."""
    if not hasattr(provider, "base_url"):
        return
    cls = type(provider)
    texts = (sys.modules[cls.__module__].__doc__, cls.__doc__)
    is_linked = any(re.search(r"https?://\S+", text or "") for text in texts)
    about = getattr(provider, "about", None)
    assert is_linked or (about and about.api_urls), "neither `about` nor a docstring links the API's documentation"


def _answer(response: Response) -> Callable[[Request], Response]:
    left = [_MAX_REQUESTS]

    def send(request: Request) -> Response:
        left[0] -= 1
        assert left[0], f"more than {_MAX_REQUESTS} requests for one call"
        return redact_response(response, request)

    return send


def corrupt(response: Response) -> Iterator[tuple[str, Response]]:
    """Yield copies of *response*, each with one value that is missing or wrong, and in front of it what is wrong.

    A body that is not JSON is cut at many places, and has each of its parts left out.
    """
    try:
        body = response.json()
    except ValueError:
        yield from _cut(response)
        return
    for path in list(_places(body))[:_MAX_PLACES]:
        where = "/".join(map(str, path)) or "the whole body"
        yield f"{where} is missing", replace(response, content=_dump(with_value(body, path, MISSING)))
        for value in _VALUES:
            yield f"{where} is {str(value)[:20]!r}", replace(response, content=_dump(with_value(body, path, value)))


def _cut(response: Response) -> Iterator[tuple[str, Response]]:
    body, step = response.content, max(len(response.content) // _CUTS, 1)
    for at in range(0, len(body), step):
        yield f"it is cut after {at} bytes", replace(response, content=body[:at])
        yield f"bytes {at} to {at + step} are missing", replace(response, content=body[:at] + body[at + step :])
        yield f"byte {at} is wrong", replace(response, content=body[:at] + b"\xff" + body[at + 1 :])


def _places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _places(inner, (*path, name))
    elif isinstance(value, list):
        for n, inner in enumerate(value[:2]):  # the others are like them
            yield from _places(inner, (*path, n))


def with_value(body: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """Return a copy of *body* with *value* at *path*, or without what is there if it is `MISSING`."""
    if not path:
        return {} if value is MISSING else value
    changed = copy.deepcopy(body)
    place = changed
    for part in path[:-1]:
        place = place[part]
    if value is MISSING:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return changed


def _dump(body: Any) -> bytes:
    return json.dumps(body).encode()
