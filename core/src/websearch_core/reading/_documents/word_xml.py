"""Rewrite the parts of a Word file so that they say what Word shows.

mammoth reads neither what hides text nor how paragraphs are numbered, and drops some
containers with their text.
"""

from __future__ import annotations
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from .numbering import Item, Numbering
from .styles import Styles, find_vanish, named, value_of

NUMBER = "websearch-number-"  # begins the name of a bookmark before a plain number
_WORD = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_STRICT = b"http://purl.oclc.org/ooxml/wordprocessingml/main"
_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_FALLBACK = f"{_COMPATIBILITY}Fallback"
_CHOICE = f"{_COMPATIBILITY}Choice"
_ALTERNATIVE = f"{_COMPATIBILITY}AlternateContent"
_BOX = named("txbxContent")
_PARAGRAPH = named("p")
_PROPERTIES = named("pPr")
_RUN_PROPERTIES = named("rPr")
_RUN = named("r")
_MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_TEXTS = frozenset({named("t"), f"{{{_MATH}}}t"})
_CELL = named("tc")
_BODIES = frozenset(map(named, ("document", "footnotes", "endnotes")))
# Containers that mammoth drops with their text, unlike smart tags; and breaks, of
# which it keeps those without a type.
_CONTAINERS = frozenset(
    map(
        named,
        ("bdo", "customXml", "dir", "fldSimple", "moveTo", "ruby", "rubyBase"),
    )
)
_BREAKS = frozenset(map(named, ("br", "cr")))
_GRAPHICS = frozenset({_ALTERNATIVE, named("drawing")})
# What a hidden run keeps: fields end in a run of their own.
_FIELDS = frozenset(map(named, ("rPr", "fldChar", "instrText")))
_LIST = named("numPr")
_DELETED = f"{named('rPr')}/{named('del')}"
_MAX_LEVEL = 4  # the lowest that mammoth knows
_LISTS = {"bullet": "1", "decimal": "2"}  # the only lists that it gets


def show(parts: Mapping[str, bytes]) -> tuple[dict[str, bytes], int]:
    """Return the parts without hidden text, and with the numbers of paragraphs.

    And how many hidden passages were left out.
    """
    etree: Any = import_module("lxml.etree")
    roots = _parse(parts)
    styles = Styles(_list_roots(roots, "styles"))
    lists = [*_list_roots(roots, "numbering")]
    numbering = Numbering(lists, styles)
    for root in lists:
        _replace_lists(root)
    copies = dict(parts)
    hidden = 0
    for name, root in roots.items():
        if root.tag in _BODIES:
            numbering.restart()
            body = _Body(styles, numbering)
            body.show(root)
            hidden += body.hidden
        copies[name] = etree.tostring(root, encoding="unicode").encode()
    return copies, hidden


def _parse(parts: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the roots of the parts that describe text, the main ones first."""
    etree: Any = import_module("lxml.etree")
    parser = etree.XMLParser(recover=True, resolve_entities=False)
    roots: dict[str, Any] = {}
    for name, content in parts.items():
        source = content.replace(_STRICT, _WORD)
        if _WORD not in source or "/glossary/" in name:
            continue
        root = etree.fromstring(source, parser)
        if root is not None:
            roots[name] = root
    return roots


def _list_roots(roots: Mapping[str, Any], name: str) -> Iterator[Any]:
    for root in roots.values():
        if root.tag == named(name):
            yield root


def _replace_lists(root: Any) -> None:
    """Leave two lists, one of bullets and one of numbers: we count ourselves."""
    del root[:]
    for form, number in _LISTS.items():
        abstract = _add(root, "abstractNum", abstractNumId=number)
        for level in range(_MAX_LEVEL + 1):
            _add(_add(abstract, "lvl", ilvl=str(level)), "numFmt", val=form)
        _add(_add(root, "num", numId=number), "abstractNumId", val=number)


def _add(holder: Any, name: str, **attributes: str) -> Any:
    """Add a child to an element, and return it."""
    child = holder.makeelement(named(name))
    for key, value in attributes.items():
        child.set(named(key), value)
    holder.append(child)
    return child


class _Body:
    """Rewrites a part with text, in one walk."""

    def __init__(self, styles: Styles, numbering: Numbering) -> None:
        self.hidden = 0
        self._styles = styles
        self._numbering = numbering
        self._levels: list[int] = []  # of the items that the next one may be inside
        self._hides = False  # whether the last text was hidden
        # The paragraph that the next one continues: its end was deleted.
        self._begin: Any = None

    def show(self, element: Any, *, is_hidden: bool = False) -> bool:
        """Rewrite an element, and return whether it shows text.

        *is_hidden* says whether the style of its paragraph hides text.
        """
        name = element.tag
        if name == _PARAGRAPH:
            return self._show_paragraph(element)
        if name in _TEXTS:
            return bool(element.text)
        if name == _RUN:
            self._hide(element, is_hidden=is_hidden)
        elif name == _CELL:
            self._levels.clear()
        elif name in _GRAPHICS:
            _take_boxes(element)
        elif name in _CONTAINERS:
            element.tag = named("smartTag")
        elif name in _BREAKS:
            element.tag = named("br")
            element.attrib.clear()
        return self._show_children(element, is_hidden=is_hidden)

    def _show_children(self, element: Any, *, is_hidden: bool) -> bool:
        shows = [self.show(child, is_hidden=is_hidden) for child in [*element]]
        return any(shows)

    def _show_paragraph(self, paragraph: Any) -> bool:
        properties = _find_properties(paragraph)
        style = value_of(properties, "pStyle") or self._styles.default
        is_hidden = self._styles.hides(style)
        shows = self._show_children(paragraph, is_hidden=is_hidden)
        begin = paragraph
        if self._begin is not None:
            begin = self._begin
            self._begin = None
        if properties.find(_DELETED) is not None:
            self._begin = begin
            return shows
        item: Item | None = None
        if _is_there(properties, shows=shows, is_hidden=is_hidden):
            item = self._numbering.count(properties, style)
        for entry in properties.findall(_LIST):
            properties.remove(entry)
        if shows:
            self._write_item(item, properties, begin)
        return shows

    def _write_item(self, item: Item | None, properties: Any, begin: Any) -> None:
        """Make a paragraph an item, or write its number where it begins."""
        if item and item.text is None:
            self._add_to_list(item, properties, begin)
            return
        self._levels.clear()
        if item and item.text:
            run = begin.makeelement(_RUN)
            text = _add(run, "t")
            text.text = f"{item.text} "
            begin.insert(1, run)

    def _add_to_list(self, item: Item, properties: Any, begin: Any) -> None:
        while self._levels and self._levels[-1] >= item.level:
            self._levels.pop()
        level = min(len(self._levels), _MAX_LEVEL)
        self._levels.append(item.level)
        form = "bullet"
        if item.number is not None:
            form = "decimal"
            bookmark = begin.makeelement(named("bookmarkStart"))
            bookmark.set(named("name"), f"{NUMBER}{item.number}")
            begin.insert(1, bookmark)
        entry = _add(properties, "numPr")
        _add(entry, "ilvl", val=str(level))
        _add(entry, "numId", val=_LISTS[form])

    def _hide(self, run: Any, *, is_hidden: bool) -> None:
        """Leave out the text of a run if it is hidden."""
        properties = run.find(_RUN_PROPERTIES)
        vanishes = find_vanish(properties)
        if vanishes is None:  # two styles that hide text show it (17.7.3)
            style = value_of(properties, "rStyle")
            vanishes = is_hidden != self._styles.hides(style)
        texts = [child for child in run if child.tag not in _FIELDS]
        if not texts:
            return
        if vanishes:
            self.hidden += not self._hides
            for text in texts:
                run.remove(text)
        self._hides = vanishes


def _find_properties(paragraph: Any) -> Any:
    """Return the properties of a paragraph, which are its first child from now on."""
    properties = paragraph.find(_PROPERTIES)
    if properties is None:
        properties = paragraph.makeelement(_PROPERTIES)
    paragraph.insert(0, properties)
    return properties


def _is_there(properties: Any, *, shows: bool, is_hidden: bool) -> bool:
    """Return whether a paragraph is there to be counted."""
    mark = properties.find(_RUN_PROPERTIES)
    if mark is not None and mark.find(named("moveFrom")) is not None:
        return False
    vanishes = find_vanish(mark)
    if vanishes is None:
        vanishes = is_hidden
    return shows or not vanishes


def _take_boxes(graphic: Any) -> None:
    """Put the text boxes of a graphic where mammoth reads them."""
    boxes: list[Any] = []
    if graphic.find(f"{_FALLBACK}//{_BOX}") is None:
        boxes += graphic.iter(_BOX)
    if boxes:
        graphic.tag = named("pict")
        graphic[:] = boxes
    for choice in graphic.findall(_CHOICE):
        graphic.remove(choice)
