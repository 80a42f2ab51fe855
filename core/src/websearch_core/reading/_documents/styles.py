"""Read what the styles of a Word file say: which hide text, and which number it."""

from __future__ import annotations
from collections.abc import Iterable
from typing import Any, NamedTuple

_NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_MAX_BASES = 20  # of a style, each of which may be based on another
_OFF = frozenset({"0", "false", "off"})


class _Style(NamedTuple):
    base: str
    vanish: bool | None  # None if its base decides
    list_number: str
    level: str


class Styles:
    """The styles of a document, by their names in the file."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self._styles: dict[str, _Style] = {}
        self.default = ""  # of paragraphs that name none
        for root in roots:
            for element in root.iterfind(named("style")):
                style = element.get(named("styleId"), "")
                self._styles.setdefault(style, _read_style(element))
                is_default = element.get(named("default"), "0") not in _OFF
                if is_default and element.get(named("type")) == "paragraph":
                    self.default = style

    def hides(self, style: str) -> bool:
        """Return whether text in a style is hidden, unless something else shows it."""
        for entry in self._list_bases(style):
            if entry.vanish is not None:
                return entry.vanish
        return False

    def find_list(self, style: str) -> tuple[str, str]:
        """Return the list that paragraphs in a style belong to, and their level."""
        number = ""
        level = ""
        for entry in self._list_bases(style):
            number = number or entry.list_number
            level = level or entry.level
        return number, level

    def _list_bases(self, style: str) -> list[_Style]:
        entries: list[_Style] = []
        while style in self._styles and len(entries) < _MAX_BASES:
            entries.append(self._styles[style])
            style = entries[-1].base
        return entries


def _read_style(element: Any) -> _Style:
    properties = element.find(f"{named('pPr')}/{named('numPr')}")
    return _Style(
        value_of(element, "basedOn"),
        find_vanish(element.find(named("rPr"))),
        value_of(properties, "numId"),
        value_of(properties, "ilvl"),
    )


def find_vanish(properties: Any) -> bool | None:
    """Return whether properties of text hide it, None if they do not say."""
    if properties is None:
        return None
    vanish = properties.find(named("vanish"))
    if vanish is None:
        return None
    return vanish.get(named("val"), "1") not in _OFF


def named(name: str) -> str:
    """Return the whole name of an element or attribute of Word."""
    return f"{{{_NAMESPACE}}}{name}"


def value_of(element: Any, name: str) -> str:
    """Return the value of a child of an element, empty if it has none."""
    if element is None:
        return ""
    child = element.find(named(name))
    if child is None:
        return ""
    return str(child.get(named("val"), ""))
