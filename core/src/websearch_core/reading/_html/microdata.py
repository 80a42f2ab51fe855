"""Microdata (https://html.spec.whatwg.org/multipage/microdata.html) as the things that JSON-LD would have."""

from __future__ import annotations
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .jsonld import Thing

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_MAX_NODES = 2_000
_MAX_LEVELS = 100  # between a property and its thing
_MAX_TEXT = 200_000  # characters of all properties: each may contain the others
_VALUES = {"a": "href", "link": "href", "data": "value", "meter": "value", "time": "datetime", "img": "src"}


def parse_microdata(nodes: Iterable[LexborNode]) -> list[Thing]:
    """Return the outermost things whose properties *nodes* are, in the order of the page."""
    things: dict[int, Thing] = {}
    outermost: dict[int, Thing] = {}
    room = _MAX_TEXT
    for _, node in zip(range(_MAX_NODES), nodes, strict=False):
        attributes = node.attributes
        scope = node.parent
        for _ in range(_MAX_LEVELS):
            if scope is None or (scope.is_element_node and "itemscope" in scope.attributes):
                break
            scope = scope.parent
        if scope is None or "itemscope" not in scope.attributes:
            continue
        if scope.mem_id not in things:
            outermost[scope.mem_id] = things[scope.mem_id] = _start(scope)
        value: object = attributes.get("content") or attributes.get(_VALUES.get(node.tag or "", "content"))
        if "itemscope" in attributes:
            value = things.setdefault(node.mem_id, _start(node))
        elif not value and room > 0:
            text = node.text()
            room -= len(text)
            value = " ".join(text[:_MAX_TEXT].split())
        for name in (attributes.get("itemprop") or "").split():
            things[scope.mem_id].setdefault(name, []).append(value)
    return list(outermost.values())


def _start(node: LexborNode) -> Thing:
    return {"@type": (node.attributes.get("itemtype") or "").split()}
