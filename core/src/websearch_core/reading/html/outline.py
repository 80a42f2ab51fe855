"""
The page as a flat outline of what a reader can see: the one walk over the parser's nodes that the other steps share.

What is bounded here (elements, characters) is bounded for every step after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ...clean import clean, is_clean
from ..markdown.formula import FORMULAS, formula
from .hidden import MAY_HIDE, MAY_OPEN, Openers, is_hidden, stays_hidden
from .tree import BLOCKS

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MOST_ELEMENTS = 50_000
MOST_CHARACTERS = 1_000_000

_SILENT = frozenset(
    "script style template iframe object embed svg canvas audio video map select datalist textarea noembed "
    "noframes link meta head title annotation annotation-xml progress meter".split()
)
# What it tells to be inside one of these; a bit for each.
TELLING = {name: 1 << place for place, name in enumerate("a article main nav header footer aside".split())}
_IN_LINK, _IN_CODE = TELLING["a"], 1 << len(TELLING)
_BITS = TELLING | {"pre": _IN_CODE}
_PARTS = BLOCKS | {"button", "label"}  # what is read by itself
_PARTING = _PARTS | {"br"}
_NO_ATTRIBUTES: dict[str, str | None] = {}
_DISPLAYED: dict[str, str | None] = {"display": "block"}
_GLYPHS = re.compile("[\ue000-\uf8ff]")  # of icon fonts, where they say nothing
_LONGEST_MARKS = 1_000  # characters
_KNOWN_TAGS = 200  # the parser numbers the elements of the standard; beyond are those that a page makes up
_NAMES: dict[int, str] = {}
_BARELY = 200  # characters: less is no page
_MUCH = 1_000  # characters: what is hidden and so long, and longer than all that can be seen, scripts will show


class Outline:
    """
    Elements by number, in the order of the page, so that each comes after what it is in; number 0 is the body.

    Runs of text are numbered too, and so are blocks: texts that are read in one go, from one or several runs.
    """

    __slots__ = (
        "around", "attributes", "block_elements", "block_linked", "block_texts", "cut", "hidden", "invisible", "marks",
        "names", "parents", "run_blocks", "run_elements", "run_texts", "scriptless", "stream",
    )  # fmt: skip

    def __init__(self) -> None:
        self.names = ["body"]
        self.parents = [-1]
        self.attributes: list[Mapping[str, str | None]] = [_NO_ATTRIBUTES]
        self.marks = [""]  # class, id and role
        self.around = [0]  # bits of TELLING elements that it is in, itself among them
        self.stream: list[int] = []  # elements as they open, and runs r as ~r
        self.run_texts: list[str] = []
        self.run_elements: list[int] = []
        self.run_blocks: list[int] = []
        self.block_elements: list[int] = []  # the block element that a block is in
        self.block_texts: list[str] = []
        self.block_linked: list[int] = []  # how many characters of it are in links
        self.hidden = 0  # passages of text that were left out
        self.invisible = 0  # characters that were removed
        self.scriptless = False  # True if this is what the page tells readers without scripts
        self.cut = False  # True if the page is larger than is read

    def is_linked(self, element: int) -> bool:
        """Return whether an element is a link or in one."""
        return self.around[element] & _IN_LINK > 0

    def links(self) -> Iterator[str]:
        """Where the links of the page lead, as the page writes it."""
        for name, attributes in zip(self.names, self.attributes, strict=True):
            if name == "a" and (href := attributes.get("href")):
                yield href


def outline(body: LexborNode | None, *, opens: bool = True) -> Outline:
    """
    Walk over the parsed page, and keep what a reader can see.

    What is hidden is left out, but for what a control before it opens (tabs, accordions), the parts of a page that is
    sent in pieces, and what is longer than all that can be seen: scripts show that. What is only for readers without
    scripts is left out too, unless it is all that the page has to say.

    Args:
        body: What to walk over.
        opens: False for what has no scripts, and so no controls: what is hidden there stays hidden.

    """
    seen = _Walk(body, frozenset(), opens=opens, noscript=False)
    opened = seen.shown_by_scripts() if opens else frozenset()
    if opened:
        seen = _Walk(body, opened, opens=opens, noscript=False)
    if seen.characters < _BARELY and body is not None and body.css_first("noscript"):
        without = _Walk(body, opened, opens=opens, noscript=True)
        if without.characters > max(_BARELY, 2 * seen.characters):
            without.outline.scriptless = True
            seen = without
    return seen.finish()


class _Walk:
    """One walk over the page; nearly all pages need no other."""

    def __init__(self, body: LexborNode | None, opened: frozenset[int], *, opens: bool, noscript: bool) -> None:
        self.outline = Outline()
        self._opens = opens
        self.characters = 0
        self._hidden: list[tuple[LexborNode, str, Mapping[str, str | None]]] = []
        self._pieces: list[list[str]] = []  # of each block
        if body is not None:
            self._walk(body.first_child, opened, _SILENT if noscript else _SILENT | {"noscript"})

    def _walk(self, node: LexborNode | None, opened: frozenset[int], silent: frozenset[str]) -> None:  # noqa: PLR0915
        # One loop with everything at hand: it turns some thousand times for a page, and little else does.
        o, pieces = self.outline, self._pieces
        names, parents, marks, around, stream, linked = o.names, o.parents, o.marks, o.around, o.stream, o.block_linked
        run_texts, run_elements, run_blocks = o.run_texts, o.run_elements, o.run_blocks
        all_attributes, openers = o.attributes, Openers()
        waiting: list[LexborNode | None] = []  # the next nodes on the levels above
        here, block, room = 0, -1, MOST_CHARACTERS
        while True:
            if node is None:
                if not waiting:
                    break
                if names[here] in _PARTS and not around[parents[here]] & _IN_CODE:
                    block = -1
                here = parents[here]
                node = waiting.pop()
                continue
            following = node.next
            if node.is_text_node:
                text, place, child = node.text_content, here, None
                if not text or (block < 0 and text.isspace() and not around[here] & _IN_CODE):
                    node = following
                    continue
            elif node.is_element_node:  # no other kind of node has a name: asking it for one may crash
                name = _NAMES.get(node.tag_id) or _name(node)
                if name in silent:
                    if name == "template":
                        openers.pass_by(name, node.attributes)
                    node = following
                    continue
                attributes = node.attributes
                if (name == "dialog" or not MAY_HIDE.isdisjoint(attributes)) and (
                    is_hidden(name, attributes)
                    and not (self._opens and openers.open(name, attributes))
                    and node.mem_id not in opened
                ):
                    self._hidden.append((node, name, attributes))
                    node = following
                    continue
                mark = ""
                if attributes:
                    mark = attributes.get("class") or ""
                    if identity := attributes.get("id"):
                        mark = f"{mark} {identity}"
                    if role := attributes.get("role"):
                        mark = f"{mark} {role}"
                text = None
                if name in FORMULAS and (tex := formula(node, name, attributes)):
                    name, text, child = "math", tex.source, None
                    attributes = _DISPLAYED if tex.display else _NO_ATTRIBUTES
                else:
                    child = node.first_child
                    if child is not None and not MAY_OPEN.isdisjoint(attributes):
                        openers.pass_by(name, attributes)
                place = len(names)
                if place > MOST_ELEMENTS:
                    o.cut = True
                    break
                stream.append(place)
                names.append(name)
                parents.append(here)
                marks.append(mark[:_LONGEST_MARKS])
                around.append(around[here] | _BITS.get(name, 0))
                all_attributes.append(attributes or _NO_ATTRIBUTES)
                if name in _PARTS and not around[here] & _IN_CODE:  # code is read in one go
                    block = -1
                elif block >= 0 and name in _PARTING:
                    pieces[block].append(" ")
            else:
                node = following
                continue
            if text:
                if block < 0:
                    element = here
                    while names[element] not in _PARTS or around[element] & around[parents[element]] & _IN_CODE:
                        element = parents[element]
                    block = len(pieces)
                    o.block_elements.append(element)
                    linked.append(0)
                    pieces.append([])
                stream.append(~len(run_texts))
                run_texts.append(text[:room])
                run_elements.append(place)
                run_blocks.append(block)
                pieces[block].append(text[:room])
                if around[place] & _IN_LINK:
                    linked[block] += len(text)
                room -= len(text)
                if room < 0:
                    o.cut = True
                    break
            if child is None:
                node = following
            else:
                waiting.append(following)
                here, node = place, child
        self.characters = sum(len(piece.strip()) for some in pieces for piece in some)

    def shown_by_scripts(self) -> frozenset[int]:
        """Return what is hidden and yet nearly all of the page: a reader will see it when its scripts have run."""
        most = max(_MUCH, self.characters)
        return frozenset(
            node.mem_id
            for node, name, attributes in self._hidden
            if len(node.text()) > most  # of its scripts too
            and not stays_hidden(name, attributes)
            and _Walk(node, frozenset(), opens=True, noscript=False).characters > most
        )

    def finish(self) -> Outline:
        """Write the blocks out, without the characters that nobody sees."""
        o = self.outline
        whole = "".join(o.run_texts)
        if not is_clean(whole):
            cleaned = [clean(text) for text in o.run_texts]
            o.run_texts = [text for text, _ in cleaned]
            o.invisible = sum(count for _, count in cleaned)
            self._pieces = [[clean(piece)[0] for piece in pieces] for pieces in self._pieces]
        if _GLYPHS.search(whole):
            o.run_texts = [_GLYPHS.sub("", text) for text in o.run_texts]
            self._pieces = [[_GLYPHS.sub("", piece) for piece in pieces] for pieces in self._pieces]
        o.block_texts = [" ".join("".join(pieces).split()) for pieces in self._pieces]
        o.hidden = sum(bool(node.text().strip()) for node, _, _ in self._hidden)
        return o


def _name(node: LexborNode) -> str:
    number = node.tag_id
    name = _NAMES.get(number)
    if name is None:
        name = node.tag or "-"
        if number < _KNOWN_TAGS:
            _NAMES[number] = name
    return name
