"""
The page as a flat outline of what a reader can see: the one walk over the parser's nodes that the other steps share.

What is bounded here (elements, characters) is bounded for every step after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from ..._text.invisible import GLYPHS, is_clean, strip_invisible
from .._element import BLOCKS
from .css.look import PLAIN, Look, look_of
from .formula import FORMULAS, read_formula
from .hidden import MAY_HIDE, MAY_OPEN, WHOLE, Openers, hiding, stays_hidden

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from .css.sheets import Sheets

MAX_ELEMENTS = 50_000
MAX_CHARACTERS = 1_000_000

_SILENT = frozenset(
    "script style template iframe object embed svg canvas audio video map select datalist textarea noembed "
    "noframes link meta head title annotation annotation-xml progress meter -".split()
)
# What it tells to be inside one of these; a bit for each.
TELLING_TAGS = {name: 1 << place for place, name in enumerate("a article main nav header footer aside".split())}
_IN_LINK, _IN_CODE = TELLING_TAGS["a"], 1 << len(TELLING_TAGS)
_BITS = TELLING_TAGS | {"pre": _IN_CODE}
_TOLD = (1 << len(_BITS)) - 1
_MUTED = _TOLD + 1  # times the bits of `look`: text that cannot be seen, unless an element inside says otherwise
_PARTS = BLOCKS | {"button", "label"}  # what is read by itself
_NO_ATTRIBUTES: dict[str, str | None] = {}
_DISPLAYED: dict[str, str | None] = {"display": "block"}
_PARTING = _PARTS | {"br"}
_END = "\0"  # of a block: the parser has no such character
_PLAIN = bytes(range(0x20, 0x7F)) + b"\t\n" + _END.encode()
_PIECE = 2**16  # characters
_MAX_MARKS = 1_000  # characters
_TEXT = 2  # what the parser has as the tag of a text
_KNOWN_TAGS = 200  # the parser numbers the elements of the standard; beyond are those that a page makes up
_NAMES: dict[int, str] = {}
_MIN_HIDDEN = 200  # characters: less is no page
_MIN_SHOWN_LATER = (
    1_000  # characters: what is hidden and so long, and longer than all that can be seen, scripts will show
)


class TextBlocks:
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


def find_blocks(body: LexborNode | None, *, sheets: Sheets | None = None, opens: bool = True) -> TextBlocks:
    """
    Walk over the parsed page, and keep what a reader can see.

    What is hidden is left out, but for what a control before it opens (tabs, accordions), the parts of a page that is
    sent in pieces, and what is longer than all that can be seen: scripts show that. What is only for readers without
    scripts is left out too, unless it is all that the page has to say.

    Args:
        body: What to walk over.
        sheets: The style sheets in the page, which hide some of it.
        opens: False for what has no scripts, and so no controls: what is hidden there stays hidden.

    """
    seen = _Walk(body, frozenset(), sheets, opens=opens, noscript=False)
    if opens and sheets and seen.waits_for_scripts():
        sheets = sheets.without_closed()
        seen = _Walk(body, frozenset(), sheets, opens=opens, noscript=False)
    opened = seen.shown_by_scripts() if opens else frozenset()
    if opened:
        seen = _Walk(body, opened, sheets, opens=opens, noscript=False)
    if seen.characters < _MIN_HIDDEN and body is not None and body.css_first("noscript"):
        without = _Walk(body, opened, sheets, opens=opens, noscript=True)
        if without.characters > max(_MIN_HIDDEN, 2 * seen.characters):
            without.outline.scriptless = True
            seen = without
    return seen.finish()


class _Hidden(NamedTuple):
    node: LexborNode
    name: str
    attributes: Mapping[str, str | None]
    look: Look
    length: int  # characters of text
    by_sheets: bool


class _Walk:
    """One walk over the page; nearly all pages need no other."""

    def __init__(
        self, body: LexborNode | None, opened: frozenset[int], sheets: Sheets | None, *, opens: bool, noscript: bool
    ) -> None:
        self.outline = TextBlocks()
        self._sheets = sheets
        self._opens = opens
        self._hidden: list[_Hidden] = []
        self._joints: list[str] = []  # what is between each run and the one before it
        if body is not None:
            self._walk(body.first_child, opened, _SILENT if noscript else _SILENT | {"noscript"})
        self.characters = sum(map(len, map(str.strip, self.outline.run_texts)))

    def _walk(self, node: LexborNode | None, opened: frozenset[int], silent: frozenset[str]) -> None:  # noqa: PLR0915
        # One loop with everything at hand: it turns some thousand times for a page, and little else does.
        o, joints, openers = self.outline, self._joints, Openers()
        names, parents, marks, around, stream, linked = o.names, o.parents, o.marks, o.around, o.stream, o.block_linked
        run_texts, run_elements, run_blocks, all_attributes = o.run_texts, o.run_elements, o.run_blocks, o.attributes
        here = part = inside = 0  # the element, the one around it that is read by itself, and the bits of `around`
        waiting: list[tuple[LexborNode | None, int, int, int]] = []  # on the levels above: what follows, and the same
        alike = {"": _NO_ATTRIBUTES}  # the attributes of elements that have a class alone, by that
        block, joint, room = -1, "", MAX_CHARACTERS
        concern = self._sheets.concern if self._sheets else None
        while True:
            if node is None:
                if not waiting:
                    break
                if here == part:
                    block = -1
                node, here, part, inside = waiting.pop()
                continue
            following, number = node.next, node.tag_id
            if number == _TEXT:
                idle = block < 0 and not inside & _IN_CODE  # then a blank says nothing, and mostly need not be read
                text = None if idle and node.is_empty_text_node else node.text_content
                if not text or inside >= _MUTED or (idle and text.isspace()):
                    node = following
                    continue
                place = here
            else:
                name = _NAMES.get(number) or _name(node)
                if name in silent:
                    if name == "template":
                        openers.pass_by(name, node.attributes)
                    node = following
                    continue
                attributes = node.attributes
                mark = attributes.get("class") or ""
                has_more = len(attributes) > (mark != "")  # than a class, which is all that most have
                muted = inside
                if (
                    (has_more and not MAY_HIDE.isdisjoint(attributes))
                    or name == "dialog"
                    or (concern is not None and concern(name, attributes))
                    or inside >= _MUTED
                ):
                    look = self._look(name, attributes, here)
                    hides = hiding(name, attributes, look)
                    if (
                        hides
                        and not (self._opens and openers.open(name, attributes, look))
                        and node.mem_id not in opened
                    ):
                        if (unread := node.text_lexbor()) and not unread.isspace() and hides * _MUTED & ~inside:
                            by_sheets = concern is not None and hides != hiding(name, attributes, _inline(attributes))
                            self._hidden.append(_Hidden(node, name, attributes, look, len(unread), by_sheets))
                        if hides >= WHOLE:
                            node = following
                            continue
                        muted |= hides * _MUTED
                    muted &= ~(look.resets * _MUTED)
                if not has_more:
                    attributes = alike.setdefault(mark, attributes)  # one for all: memory takes time too
                else:
                    if identity := attributes.get("id"):
                        mark = f"{mark} {identity}"
                    if role := attributes.get("role"):
                        mark = f"{mark} {role}"
                place = len(names)
                if place > MAX_ELEMENTS:
                    o.cut = True
                    break
                is_part = name in _PARTS and not inside & _IN_CODE  # code is read in one go
                if is_part:
                    block = -1
                elif name in _PARTING:
                    joint = " "
                tex = read_formula(node, name, attributes) if name in FORMULAS else None
                if tex:
                    name, attributes = "math", _DISPLAYED if tex.display else _NO_ATTRIBUTES
                within = muted | _BITS[name] if name in _BITS else muted
                if within >= _MUTED and (tex or node.first_child is None):
                    node = following
                    continue
                stream.append(place)
                names.append(name)
                parents.append(here)
                marks.append(mark if len(mark) <= _MAX_MARKS else mark[:_MAX_MARKS])
                around.append(within & _TOLD)
                all_attributes.append(attributes)
                if not tex:
                    child = node.first_child
                    if child is None:
                        node = following
                        continue
                    if has_more and not MAY_OPEN.isdisjoint(attributes):
                        openers.pass_by(name, attributes)
                    waiting.append((following, here, part, inside))
                    node, here, inside = child, place, within
                    if is_part:
                        part = place
                    continue
                text = tex.source
                o.invisible += tex.invisible
            if block < 0:
                block, joint = len(linked), _END
                o.block_elements.append(part)
                linked.append(0)
            joints.append(joint)
            joint = ""
            stream.append(~len(run_texts))
            run_texts.append(text if len(text) <= room else text[:room])
            run_elements.append(place)
            run_blocks.append(block)
            if inside & _IN_LINK:
                linked[block] += len(text)
            room -= len(text)
            if room < 0:
                o.cut = True
                break
            node = following

    def _look(self, name: str, attributes: Mapping[str, str | None], here: int) -> Look:
        """Return what the styles say about an element in the one with the number *here*."""
        if self._sheets and self._sheets.concern(name, attributes):
            seen = self._sheets.look(name, attributes, self._around(here))
            if seen is not None:
                return seen
        return _inline(attributes)

    def _around(self, here: int) -> Iterator[tuple[str, Mapping[str, str | None]]]:
        o = self.outline
        while here > 0:
            yield o.names[here], o.attributes[here]
            here = o.parents[here]

    def waits_for_scripts(self) -> bool:
        """Return whether style sheets put away more than all that can be seen: a page does so until it is ready."""
        hidden = (one for one in self._hidden if one.by_sheets)
        put_away = (one for one in hidden if not stays_hidden(one.name, one.attributes, one.look))
        return sum(one.length for one in put_away) > max(_MIN_SHOWN_LATER, self.characters)

    def shown_by_scripts(self) -> frozenset[int]:
        """Return what is hidden and yet nearly all of the page: a reader will see it when its scripts have run."""
        most = max(_MIN_SHOWN_LATER, self.characters)
        return frozenset(
            node.mem_id
            for node, name, attributes, look, length, _ in self._hidden
            if length > most  # with its scripts
            and not stays_hidden(name, attributes, look)
            and _Walk(node, frozenset(), self._sheets, opens=True, noscript=False).characters > most
        )

    def finish(self) -> TextBlocks:
        """Write the blocks out, without the characters that nobody sees."""
        o = self.outline
        whole = self._joined()
        if not all(map(is_clean, _odd(whole))):
            cleaned = [strip_invisible(text) for text in o.run_texts]
            o.run_texts = [text for text, _ in cleaned]
            o.invisible += sum(count for _, count in cleaned)
            whole = self._joined()
        if any(map(GLYPHS.search, _odd(whole))):
            o.run_texts = [GLYPHS.sub("", text) for text in o.run_texts]
            whole = self._joined()
        blocks = whole.split(_END)[1:]
        del whole  # which may be large
        o.block_texts = [" ".join(text.split()) for text in blocks]
        o.hidden = len(self._hidden)
        return o

    def _joined(self) -> str:
        return "".join(chain.from_iterable(zip(self._joints, self.outline.run_texts, strict=True)))


def _inline(attributes: Mapping[str, str | None]) -> Look:
    style = attributes.get("style")
    return look_of(style) if style else PLAIN


def _odd(text: str) -> Iterator[str]:
    """All but the plain characters, which take long to look at one by one, and are nearly all that there is."""
    for begin in range(0, len(text), _PIECE):
        yield text[begin : begin + _PIECE].encode().translate(None, _PLAIN).decode()


def _name(node: LexborNode) -> str:
    number = node.tag_id
    name = _NAMES.get(number)
    if name is None:
        # No other kind of node has a name: asking it for one may crash.
        name = (node.tag if node.is_element_node else None) or "-"
        if number < _KNOWN_TAGS:
            _NAMES[number] = name
    return name
