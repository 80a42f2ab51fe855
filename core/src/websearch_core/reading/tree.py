"""
The page as a light tree of what a reader can see: the one walk over the parser's nodes that the other steps share.

What is bounded here (elements, characters, depth) is bounded for every step after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..clean import clean, in_pieces
from .hidden import is_hidden

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MOST_ELEMENTS = 50_000
MOST_CHARACTERS = 1_000_000
DEEP = 80  # levels, from which on elements that mean nothing to Markdown dissolve into their parents
DEEPEST = 100  # levels, from which on all do
_MOST_INDENTS = 12  # lists and quotations inside one another: each line is indented by each

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
BLOCKS = HEADINGS | frozenset(
    "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer "
    "form header hgroup hr legend li main menu nav ol p pre search section summary table tbody td tfoot th thead tr "
    "ul caption".split()
)
_WRAPPERS = frozenset("div span section article main font center b i u em strong small form fieldset figure".split())
_INDENTS = frozenset({"ul", "ol", "blockquote", "dl", "menu", "dir"})
_SILENT = frozenset(
    "script style template iframe object embed svg canvas audio video map select datalist textarea input "
    "link meta head title annotation annotation-xml progress meter".split()
)
# What the other steps ask for; the rest would only take room.
_ATTRIBUTES = frozenset("alt class colspan href id itemprop role start".split())
_LONGEST_ATTRIBUTE = 8_000  # characters
_NO_ATTRIBUTES: dict[str, str] = {}
_BLANKS = re.compile("[ \t\n\r\f\xa0]{2,}|[\t\n\r\f\xa0]")
# Icon fonts put their glyphs here, where they say nothing; and `markdown` its marks, which no page may forge.
_PRIVATE = re.compile("[\ue000-\uf8ff]")


class Element:
    """An element with its visible text, and how much of that there is."""

    __slots__ = ("attributes", "children", "depth", "indents", "letters", "linked", "name", "parent")

    def __init__(self, name: str, attributes: Mapping[str, str], parent: Element | None) -> None:
        self.name = name
        self.attributes = attributes
        self.parent = parent
        self.children: list[Element | str] = []
        self.depth: int = parent.depth + 1 if parent else 0
        self.indents: int = (parent.indents if parent else 0) + (name in _INDENTS)
        self.letters = 0
        self.linked = 0

    def __repr__(self) -> str:
        return f"<{self.name} with {len(self.children)} children>"

    def get(self, attribute: str) -> str:
        """Return the attribute's value; an empty string if there is none."""
        return self.attributes.get(attribute, "")

    def elements(self) -> Iterator[Element]:
        """Walk over this element and all inside it, in the order of the page."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += [child for child in reversed(element.children) if isinstance(child, Element)]

    def text(self) -> str:
        """Return the bare text, blocks on lines of their own."""
        pieces: list[str] = []
        waiting: list[Element | str] = [self]
        while waiting:
            node = waiting.pop()
            if isinstance(node, str):
                pieces.append(node)
            else:
                edge = ["\n"] if node.name in BLOCKS or node.name == "br" else []
                waiting += [*edge, *reversed(node.children), *edge]
        return re.sub(r" ?\n[ \n]*", "\n", "".join(pieces)).strip()

    def within(self, names: frozenset[str]) -> bool:
        """Return whether this element, or one around it, has one of *names*."""
        element: Element | None = self
        while element is not None:
            if element.name in names:
                return True
            element = element.parent
        return False

    def remove(self, unwanted: set[Element]) -> None:
        """Take *unwanted* elements out of the tree."""
        for element in list(self.elements()):
            if any(child in unwanted for child in element.children if isinstance(child, Element)):
                element.children = [c for c in element.children if isinstance(c, str) or c not in unwanted]

    def measure(self) -> None:
        """Count the letters, and those inside links, of every element."""
        for element in reversed(list(self.elements())):
            element.letters = element.linked = 0
            for child in element.children:
                if isinstance(child, str):
                    element.letters += len(child) - child.count(" ")
                else:
                    element.letters += child.letters
                    element.linked += child.letters if child.name == "a" else child.linked


@dataclass
class Seen:
    """
    What a reader can see of a page.

    Args:
        body: The tree.
        hidden: How many passages of text were left out since they are hidden.
        invisible: How many invisible characters were removed.
        cut: True if the page is larger than is read.
        flattened: True if elements were nested too deeply to keep all of them.

    """

    body: Element
    hidden: int = 0
    invisible: int = 0
    cut: bool = False
    flattened: bool = False


def visible(body: LexborNode | None) -> Seen:
    """Walk over the parsed page once, and keep what a reader can see."""
    root = Element("body", {}, None)
    seen = Seen(root)
    elements = characters = 0
    path: list[tuple[LexborNode | None, Element, bool]] = []
    parent, verbatim = root, False
    node = body.first_child if body else None
    while node is not None or path:
        if node is None:
            node, parent, verbatim = path.pop()
            continue
        following = node.next
        name = (node.tag or "-") if node.is_element_node else "-"  # no other kind of node has one: asking it may crash
        if node.is_text_node:
            whole = node.text_content or ""
            seen.cut = len(whole) > MOST_CHARACTERS
            text, removed = clean(whole[:MOST_CHARACTERS])
            seen.invisible += removed
            text = in_pieces(_PRIVATE, "", text)
            text = text if verbatim else in_pieces(_BLANKS, " ", text)
            characters += len(text)
            if characters > MOST_CHARACTERS:
                text = text[: MOST_CHARACTERS - characters]
                seen.cut = True
            if text:
                parent.children.append(text)
        elif name[0] not in "-!" and name not in _SILENT:
            attributes = node.attributes
            elements += 1
            if is_hidden(attributes) or (name == "dialog" and "open" not in attributes):
                seen.hidden += bool(node.text().strip())
            else:
                path.append((following, parent, verbatim))
                if _dissolves(name, parent):
                    seen.flattened = True
                    parent.children.append(" ")
                else:
                    element = Element(name, _needed(attributes), parent)
                    parent.children.append(element)
                    parent, verbatim = element, verbatim or name == "pre"
                node = node.first_child
                if elements <= MOST_ELEMENTS and not seen.cut:
                    continue
        if elements > MOST_ELEMENTS or seen.cut:
            seen.cut = True
            break
        node = following
    return seen


def _needed(attributes: Mapping[str, str | None]) -> Mapping[str, str]:
    kept = {name: value[:_LONGEST_ATTRIBUTE] for name, value in attributes.items() if value and name in _ATTRIBUTES}
    return kept or _NO_ATTRIBUTES


def _dissolves(name: str, parent: Element) -> bool:
    if parent.depth >= DEEP and (parent.depth >= DEEPEST or name in _WRAPPERS):
        return True
    return parent.indents >= _MOST_INDENTS and name in _INDENTS
