"""The shape of a service's answer: which fields it has, and the types of their values.
The values do not matter.
"""

from __future__ import annotations
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

Shape = Mapping[str, frozenset[str]]

_TYPES = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "text",
    type(None): "null",
}
_TAG = re.compile(r"<([A-Za-z][\w:-]*)([^<>]*)>")
_CLASS = re.compile(r"""\bclass\s*=\s*["']([^"']*)["']""")


def shape_of(body: str) -> Shape:
    """Return the shape of a body: the paths of JSON (``results[].title``), or the
    elements of HTML and XML (``a.title``).

    Each has the types of the values found there; an element has the type ``element``.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    try:
        value = json.loads(body)
    except ValueError:
        for name, attributes in _TAG.findall(body):
            classes = (_CLASS.search(attributes) or ["", ""])[1].split()
            for each in [f"{name}.{one}" for one in classes] or [name]:
                found[each].add("element")
    else:
        for path, kind in _fields(value, ""):
            found[path].add(kind)
    return {path: frozenset(kinds) for path, kinds in found.items()}


class Differences(NamedTuple):
    """How two shapes differ; *changed* has the fields of another type."""

    changed: list[str]
    missing: list[str]
    new: list[str]


def compare(old: Shape, new: Shape) -> Differences:
    """Compare two shapes, each difference in words."""
    types = {
        path: (new[path] - old[path] - {"null"}, old[path])
        for path in sorted(old.keys() & new.keys())
    }
    return Differences(
        [
            f"{path} is {_join(now)}, not {_join(before)}"
            for path, (now, before) in types.items()
            if now
        ],
        [f"{path} is missing" for path in sorted(old.keys() - new.keys())],
        [
            f"{path} is new ({_join(new[path])})"
            for path in sorted(new.keys() - old.keys())
        ],
    )


def _fields(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        yield path, "object"
        for name, inner in value.items():
            yield from _fields(inner, f"{path}.{name}".removeprefix("."))
    elif isinstance(value, list):
        yield path, "list"
        for inner in value:
            yield from _fields(inner, f"{path}[]")
    else:
        yield path, _TYPES[type(value)]


def _join(kinds: frozenset[str]) -> str:
    return " or ".join(sorted(kinds))


def shape_of_exchanges(exchanges: list[dict[str, Any]]) -> Shape:
    """Return the shape of all answers of a call, with their statuses and the headers
    that we read.
    """
    fields: defaultdict[str, set[str]] = defaultdict(set)
    for exchange in exchanges:
        response = exchange["response"]
        fields["status"].add(str(response["status"]["code"]))
        for name in response["headers"]:
            if not name.lower().startswith("content-"):
                fields[f"header {name.lower()}"].add("text")
        body = response["body"]["string"]
        if isinstance(body, bytes):
            body = body.decode("utf-8", "replace")
        for path, kinds in shape_of(body).items():
            fields[path] |= kinds
    return {path: frozenset(kinds) for path, kinds in fields.items()}
