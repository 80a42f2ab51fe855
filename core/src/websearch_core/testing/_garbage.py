"""Answers that no service should send, made from one that it does send: each has something wrong in one place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

from ..flow import Response

_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1e400, 10**400, "", "x", "\x00\ud800\u202e", "javascript:alert(1)", "http://[", "https://a.example@b",
    "//host", [], [None], [[]], ["x"], {}, {"": None}, {"url": 3, "title": []},
)  # fmt: skip
_MISSING = object()
_MAX_PLACES = 400
_CUTS = 64  # places at which a text that is not JSON is cut


def corrupt(response: Response) -> Iterator[tuple[str, Response]]:
    """
    Yield copies of *response*, each with one value that is missing or wrong.

    A body that is not JSON is cut at many places, and has each of its parts left out.

    Yields:
        What is wrong, and the response.

    """
    try:
        body = response.json()
    except ValueError:
        yield from _cut(response)
        return
    for path in list(_places(body))[:_MAX_PLACES]:
        where = "/".join(map(str, path)) or "the whole body"
        yield f"{where} is missing", replace(response, content=_dump(_with(body, path, _MISSING)))
        for value in _VALUES:
            yield f"{where} is {str(value)[:20]!r}", replace(response, content=_dump(_with(body, path, value)))


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


def _with(body: Any, path: tuple[str | int, ...], value: Any) -> Any:
    if not path:
        return {} if value is _MISSING else value
    changed = deepcopy(body)
    place = changed
    for part in path[:-1]:
        place = place[part]
    if value is _MISSING:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return changed


def _dump(body: Any) -> bytes:
    return json.dumps(body).encode()
