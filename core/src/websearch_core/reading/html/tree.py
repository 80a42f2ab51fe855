"""What is kept of the page, as a light tree for the Markdown step. Its depth is bounded, so that a walk may recurse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

from ...clean import in_pieces

if TYPE_CHECKING:
    from .outline import Outline

DEEP = 80  # levels, from which on elements that mean nothing to Markdown dissolve into their parents
DEEPEST = 100  # levels, from which on all do
_MOST_INDENTS = 12  # lists and quotations inside one another: each line is indented by each

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
BLOCKS = HEADINGS | frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption "
    "figure footer form header hgroup hr legend li main menu nav ol p pre search section summary table tbody td "
    "tfoot th thead tr ul".split()
)
_WRAPPERS = frozenset("div span section article main font center b i u em strong small form fieldset figure".split())
_INDENTS = frozenset({"ul", "ol", "blockquote", "dl", "menu", "dir"})
_BREAKS = frozenset({"br", "hr", "wbr", "td", "th"})  # what says something without text, beside text that is kept
_BLANKS = re.compile("[ \t\n\r\f\xa0]{2,}|[\t\n\r\f\xa0]")


class Element:
    """An element of what is kept of the page."""

    __slots__ = ("attributes", "children", "depth", "indents", "name", "parent", "verbatim")

    def __init__(self, name: str, attributes: Mapping[str, str | None], parent: Element | None) -> None:
        self.name = name
        self.attributes = attributes
        self.parent = parent
        self.children: list[Element | str] = []
        self.depth: int = parent.depth + 1 if parent else 0
        self.indents: int = (parent.indents if parent else 0) + (name in _INDENTS)
        self.verbatim: bool = name == "pre" or (parent is not None and parent.verbatim)

    def __repr__(self) -> str:
        return f"<{self.name} with {len(self.children)} children>"

    def get(self, attribute: str) -> str:
        """Return the attribute's value; an empty string if there is none."""
        return self.attributes.get(attribute) or ""

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


class Grown(NamedTuple):
    """The tree, and whether elements were nested too deeply to keep all of them."""

    body: Element
    flattened: bool


def grow(outline: Outline, kept: Sequence[bool] | None = None, *, linked: bool = True) -> Grown:
    """
    Make the tree of what is kept.

    Args:
        outline: The page.
        kept: For each block, whether to keep it; all of them by default.
        linked: False to leave out the text of links.

    """
    names, parents, run_elements = outline.names, outline.parents, outline.run_elements
    stays = [block >= 0 and (kept is None or kept[block]) for block in outline.run_blocks]
    if not linked:
        stays = [stay and not outline.is_linked(run) for run, stay in enumerate(stays)]
    alive = bytearray(len(names))  # 1 for elements that have kept text in them
    alive[0] = 1
    for element in compress(run_elements, stays):
        alive[element] = 1
    for element in range(len(names) - 1, 0, -1):
        if alive[element]:
            alive[parents[element]] = 1
    coming = _coming(outline, stays)

    body = Element("body", {}, None)
    grown: dict[int, Element] = {0: body}  # by number; a dissolved element is the one around it
    flattened = False
    run, passed = -1, False  # the last run, and whether the last text was kept
    for number in outline.stream:
        if number < 0:
            run = ~number
            text = outline.run_texts[run]
            if stays[run]:
                parent = grown[run_elements[run]]
                parent.children.append(text if parent.verbatim else in_pieces(_BLANKS, " ", text))
            if not text.isspace():
                passed = stays[run]
            continue
        around = parents[number]
        name = names[number]
        if not alive[number]:
            if name == "img" and passed and coming[run + 1]:
                while not alive[around]:
                    around = parents[around]
            elif name not in _BREAKS or not alive[around]:
                continue
        parent = grown[around]
        if _dissolves(name, parent):
            flattened = True
            parent.children.append(" ")
            grown[number] = parent
        else:
            grown[number] = Element(name, outline.attributes[number], parent)
            parent.children.append(grown[number])
    return Grown(body, flattened)


def _coming(outline: Outline, stays: Sequence[bool]) -> bytearray:
    """For each run, and for the end, whether the next that is not blank is kept."""
    coming = bytearray(len(stays) + 1)
    for run in range(len(stays) - 1, -1, -1):
        coming[run] = coming[run + 1] if outline.run_texts[run].isspace() else stays[run]
    return coming


def _dissolves(name: str, parent: Element) -> bool:
    if parent.depth >= DEEP and (parent.depth >= DEEPEST or name in _WRAPPERS):
        return True
    return parent.indents >= _MOST_INDENTS and name in _INDENTS
