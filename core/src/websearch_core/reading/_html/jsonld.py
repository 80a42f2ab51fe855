"""JSON-LD and microdata: the data of a page for machines, as things with properties, as
untrusted as the rest of it.

Sites write JSON-LD carelessly: a list instead of one thing, a name instead of a thing,
a thing defined elsewhere and referenced by its ``@id``. So read properties only through
`JsonLd.values`, `types` and `text`. Microdata
(https://html.spec.whatwg.org/multipage/microdata.html) becomes the things that JSON-LD
would have.
"""

from __future__ import annotations
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from ..._text.markup import strip_markup
from .._links import absolute, without_fragment
from .effort import Effort

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

Thing = dict[str, Any]

_MAX_SCRIPTS = 20
_MAX_SCRIPT_SIZE = 500_000  # characters
_MAX_SOURCE = 2_000_000  # characters of all scripts
_MAX_OBJECTS = 2_000
_MAX_VALUES = 100  # of one property
MAX_LENGTH = 100_000  # characters of one value
_MAX_ALIKE = 2  # things of one kind: a page with more is about none of them

# Types of schema.org. A page can be about "works", which come before the "pages" that
# show them, never about a thing of another type (a publisher, a breadcrumb, a picture,
# a comment, an offer). The other groups are for its kind and data.
_GROUPS: dict[str, list[str]] = json.loads(
    files(__package__ or "").joinpath("schema_types.json").read_text("utf-8")
)
TYPES = {name: frozenset(group) for name, group in _GROUPS.items()}
# Sites write them in any case.
_TYPE_NAMES = {name.lower(): name for name in frozenset().union(*TYPES.values())}
_OFFER_PROPERTIES = {
    name.lower(): name
    for name in (
        "price",
        "lowPrice",
        "highPrice",
        "priceCurrency",
        "priceSpecification",
        "priceType",
        "availability",
        "offers",
    )
}
# From the days when scripts had to be hidden from parsers, and the comments that hide
# the wrapping in turn.
_WRAPPING = re.compile(r"(?:/\*|//)?\s*(?:<|\\u003c)!(?:\[CDATA\[|--)(?:\s*\*/)?\s*")
_MAIN_KEYS = frozenset({"mainEntity", "mainEntityOfPage"})
_JSON = json.JSONDecoder(strict=False)
_REFERENCE: Thing = {"@id": ""}  # to a thing that is defined elsewhere
# Of microdata.
_MAX_NODES = 2_000
_MAX_LEVELS = 100  # between a property and its thing
_MAX_TEXT = 200_000  # characters of all properties: each may contain the others
_VALUES = {
    "a": "href",
    "link": "href",
    "data": "value",
    "meter": "value",
    "time": "datetime",
    "img": "src",
}


@dataclass(frozen=True)
class JsonLd:
    """The JSON-LD of a page."""

    # Things at the top level, in a graph, or as the main entity of a page, in the order
    # of the page.
    things: tuple[Thing, ...] = ()
    # things that others may reference, by ``@id``
    named: dict[str, Thing] = field(default_factory=dict)

    # what may still be read of them, in all steps
    effort: Effort = field(default_factory=Effort, repr=False, compare=False)

    def values(self, thing: Thing, *keys: str) -> list[Any]:
        """Return the values of the first of *keys* that *thing* has, with references
        resolved; maybe none.
        """
        value: Any = next((thing[key] for key in keys if thing.get(key)), [])
        values = [value]
        if isinstance(value, list):
            values = value[:_MAX_VALUES]
        if not self.effort.spend(len(values) + 1):
            return []
        return [self._resolve(item) for item in values]

    def inner(self, thing: Thing, *keys: str) -> list[Thing]:
        """Return those of these values that are things."""
        return [item for item in self.values(thing, *keys) if isinstance(item, dict)]

    def text(self, thing: Thing, *keys: str) -> str:
        """Return the first text or name under *keys*, or an empty string."""
        for key in keys:
            for value in self.values(thing, key):
                written = self.read(value)
                if written:
                    return written
        return ""

    def read(self, value: Any) -> str:
        """Return a value as text, or the name of a thing; maybe an empty string."""
        return strip_markup(self.take(value))

    def take(self, value: Any) -> str:
        """Return a value as it is written, or the name of a thing, cut to a length, for
        somebody who reads it; nothing if the page has cost too much.
        """
        written = _written(value)[:MAX_LENGTH]
        if not self.effort.spend(characters=len(written)):
            return ""
        return written

    def main(self, url: str) -> Thing:
        """Return the thing that the page at *url* is about; an empty one if there is
        none, or too many of one kind.
        """
        works = TYPES["works"]
        if any("FAQPage" in types(thing) for thing in self.things):
            works -= {"Question"}  # each is a part of it
        for kinds in (works, TYPES["pages"]):
            alike = [thing for thing in self.things if kinds & types(thing)]
            here = next((thing for thing in alike if is_at(thing, url)), None)
            if here is not None:
                return here
            if alike:
                if len(alike) > _MAX_ALIKE:
                    return {}
                return alike[0]
        return {}

    def _resolve(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        reference = value.get("@id")
        if not isinstance(reference, str):
            return value
        thing = self.named.get(reference, value)
        if len(thing) > len(value):
            return thing
        return value


def parse_jsonld(scripts: Iterable[LexborNode]) -> JsonLd:
    """Parse the JSON-LD in *scripts*. Invalid JSON is ignored."""
    things: list[Thing] = []
    named: dict[str, Thing] = {}
    objects = chain.from_iterable(map(_objects_of, _documents(scripts)))
    for is_outermost, thing in islice(objects, _MAX_OBJECTS):
        reference = thing.get("@id")
        if isinstance(reference, str):
            former = named.get(reference, _REFERENCE)
            if len(thing) > len(former):
                named[reference] = thing
        if is_outermost and "@type" in thing:
            things.append(thing)
    return JsonLd(tuple(things), named)


def types(thing: Thing) -> set[str]:
    """Return the types of a thing, without their vocabulary."""
    value = thing.get("@type")
    kinds = [value]
    if isinstance(value, list):
        kinds = value
    names = [
        kind[max(map(kind.rfind, "/#:")) + 1 :]
        for kind in kinds[:_MAX_VALUES]
        if isinstance(kind, str)
    ]
    return {_TYPE_NAMES.get(name.lower(), name) for name in names}


def _written(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("@value") or value.get("name") or _full_name(value)
        if isinstance(value, list) and value:
            value = value[0]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value}"
    if not isinstance(value, str):
        return ""
    return value


def _full_name(thing: Thing) -> str:
    """Return the given and family name of a person."""
    names = [thing.get("givenName"), thing.get("familyName")]
    return " ".join(name for name in names if isinstance(name, str))


def _documents(scripts: Iterable[LexborNode]) -> Iterator[Any]:
    """Yield the JSON in *scripts*."""
    room = _MAX_SOURCE
    for script in islice(scripts, _MAX_SCRIPTS):
        source = script.text()
        if len(source) > min(room, _MAX_SCRIPT_SIZE):
            continue
        room -= len(source)
        try:
            yield _decode(source)
        except (ValueError, RecursionError):
            continue


def _decode(source: str) -> Any:
    """Return the value in a script, without what once hid it from parsers."""
    source = source.strip()
    wrapping = _WRAPPING.match(source)
    if wrapping is None:
        return _JSON.decode(source)
    value, _ = _JSON.raw_decode(source, wrapping.end())
    return value


def _objects_of(document: Any) -> Iterator[tuple[bool, Thing]]:
    """Yield every object of the JSON-LD, outer before inner, with True if it is an
    outermost one.
    """
    waiting = [(True, document)]
    for is_outermost, thing in waiting:  # grows during the loop
        if isinstance(thing, list):
            for value in thing:
                if isinstance(value, dict | list):
                    waiting.append((is_outermost, value))
        elif isinstance(thing, dict):
            _name_properties(thing)
            yield is_outermost, thing
            for key, value in thing.items():
                if isinstance(value, dict | list):
                    waiting.append((is_outermost and _is_outer(key, value), value))


def _name_properties(thing: Thing) -> None:
    """Write the properties of an offer as the vocabulary does: ``lowprice``."""
    for key in list(thing):
        name = _OFFER_PROPERTIES.get(key.lower(), key)
        if name != key:
            thing.setdefault(name, thing.pop(key))


def _is_outer(key: str, value: Any) -> bool:
    """Return whether a value of an outermost object is an outermost one, too."""
    if key == "@graph":
        return True
    return key in _MAIN_KEYS and isinstance(value, dict)


def is_event(thing: Thing) -> bool:
    """Return whether a thing is an event: its type is ``Event``, or one of these."""
    return any(kind.endswith("Event") or kind == "Festival" for kind in types(thing))


def is_at(thing: Thing, url: str) -> bool:
    """Return whether a thing gives *url* as its page."""
    here = without_fragment(url).rstrip("/")
    for key in ("url", "@id", "mainEntityOfPage"):
        place = thing.get(key)
        if isinstance(place, dict):
            place = place.get("@id")
        if not isinstance(place, str):
            continue
        target = absolute(place, url) or ""
        if without_fragment(target).rstrip("/") == here:
            return True
    return False


def parse_microdata(nodes: Iterable[LexborNode]) -> list[Thing]:
    """Return the outermost things whose properties *nodes* are, in the order of the
    page.
    """
    things: dict[int, Thing] = {}
    outermost: dict[int, Thing] = {}
    scopes: dict[int, LexborNode | None] = {}
    room = _MAX_TEXT
    for _, node in zip(range(_MAX_NODES), nodes, strict=False):
        attributes = node.attributes
        scope = _find_scope(node, scopes)
        if scope is None:
            continue
        if scope.mem_id not in things:
            thing = _start(scope)
            things[scope.mem_id] = thing
            outermost[scope.mem_id] = thing
        value: object = attributes.get("content") or attributes.get(
            _VALUES.get(node.tag or "", "content")
        )
        if "itemscope" in attributes:
            value = things.setdefault(node.mem_id, _start(node))
        elif not value and room > 0:
            text = node.text()
            room -= len(text)
            value = " ".join(text[:_MAX_TEXT].split())
        if not value:
            continue
        for written in (attributes.get("itemprop") or "").split():
            name = _OFFER_PROPERTIES.get(written.lower(), written)
            things[scope.mem_id].setdefault(name, []).append(value)
    return list(outermost.values())


def _find_scope(
    node: LexborNode, scopes: dict[int, LexborNode | None]
) -> LexborNode | None:
    """Return the element of the thing that an element has a property of; *scopes* has
    those of the children of elements for which that was asked.
    """
    parent = node.parent
    if parent is None:
        return None
    if parent.mem_id not in scopes:
        scopes[parent.mem_id] = _climb(parent)
    return scopes[parent.mem_id]


def _climb(element: LexborNode) -> LexborNode | None:
    """Return the nearest element around a property that is a thing."""
    scope: LexborNode | None = element
    for _ in range(_MAX_LEVELS):
        if scope is None:
            return None
        if scope.is_element_node and "itemscope" in scope.attributes:
            return scope
        scope = scope.parent
    return None


def _start(node: LexborNode) -> Thing:
    return {"@type": (node.attributes.get("itemtype") or "").split()}
