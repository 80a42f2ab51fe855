"""Flatten the parsed page to its visible elements and blocks of text.

This is the only walk over the parser's nodes; all later steps use its result. So its
bounds hold for all.
"""

from __future__ import annotations
import re
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from ..._text.consent import asks_consent, is_box_id, names_box
from ..._text.dates import parse_date
from ..._text.invisible import GLYPHS, is_clean, strip_invisible
from .._element import BLOCKS, Attributes
from .._markdown.fences import names_gutter
from .controls import blank_toggles, find_controls
from .css.doubt import OUTERMOST, Around, is_lost, read_around
from .css.look import PLAIN, Look, judge_inline_style
from .formula import FORMULAS, Formulas
from .furniture import (
    blank_edits,
    join_lines,
    join_marks,
    part_words,
)
from .hidden import (
    MAX_SKIP_LENGTH,
    MAY_HIDE,
    MAY_OPEN,
    TOGGLES,
    WHOLE,
    Openers,
    find_targets,
    hiding,
    is_for_calendars,
    may_be_unseen,
    skips,
    stays_hidden,
)
from .icons import ICONS, find_lone_icon, says_state, sign_of, write_icons
from .nodes import (
    element_beside,
    element_near,
    first_element,
    says_something,
    text_of,
)
from .templates import SIGNS, remove_templates
from .text_blocks import IN_LINK, NO_ATTRIBUTES, TELLING_TAGS, TextBlocks

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_ELEMENTS = 100_000
MAX_CHARACTERS = 2_000_000

_SILENT = frozenset(
    "script style template iframe object embed svg canvas audio video map select "
    "datalist textarea noembed "
    "noframes link meta head title annotation annotation-xml progress meter -".split()
)
_IN_CODE = 1 << len(TELLING_TAGS)
_BITS = TELLING_TAGS | {"pre": _IN_CODE}
# attributes of few elements: one look at most spares two
_TELLING_ATTRIBUTES = MAY_HIDE | MAY_OPEN | TOGGLES
# elements that say something even without attributes
_TELLING = frozenset({*_BITS, "dialog"})
_ALL_BITS = (1 << len(_BITS)) - 1
# Times the bits of `Look`: being in an element whose text is counted as hidden in this
# way. The text of those inside is a part of it, and is not counted again.
_DOUBTED = _ALL_BITS + 1  # being in an element that its style may hide
_COUNTED = 2 * _DOUBTED
# times the bits of `Look`: text that is hidden, unless an element inside makes it
# visible again
_MUTED = _COUNTED * 2 * WHOLE
_PARTS = BLOCKS | {"button", "label"}  # their text forms blocks of its own
_CONTROLS = "[aria-controls],[data-target],[data-bs-target]"
_MAX_CONTROLS = 200
_MAX_CONSENT_LENGTH = 1_000  # characters, to find out what a box is about
_FLOWING = frozenset({"div", "p", "section"})  # a style can make them parts of a line
_MAX_LEVELS_IN_CELL = 3
_MAX_LABEL_LENGTH = 100  # characters of what a drawing shows, or of a choice
_MIN_CHOICES = 2
_MAX_CHOICES = 20
_MAX_CHOICES_LENGTH = 200  # characters
_STYLING = frozenset({"style", "bgcolor", "color"})
_DISPLAYED: dict[str, str | None] = {"display": "block"}
_CELLS = frozenset({"td", "th", "dd"})
_CODES = frozenset({"code", "pre"})
_MAX_DIGITS = 9
_DIGITS = re.compile(r"[0-9]{1,9}")
_LINE = re.compile(r"(?:^|[\s-])line(?=\s|$)")  # as a class: line, cm-line, code-line
_PARTING = _PARTS | {"br"}
_END = "\0"  # of a block: the parser's text never has this character
_PLAIN = bytes(range(0x20, 0x7F)) + b"\t\n" + _END.encode()
_CHUNK_SIZE = 2**16  # characters
_MAX_MARKS = 1_000  # characters
_TEXT = 2  # the parser's tag number of text nodes
# the parser gives the elements of the standard lower numbers than names that a page
# makes up
_KNOWN_TAGS = 200
_NAMES: dict[int, str] = {}
# characters: a page with less visible text may be written for readers without scripts
_MIN_LENGTH = 200
# Characters: hidden text this long, and longer than all visible text, is taken for what
# scripts will show.
_MIN_SHOWN_LATER = 1_000
_EPOCH_LENGTHS = (10, 13)  # digits of seconds and milliseconds, since 2001
_TIMED = re.compile(
    r"(?<![a-z])(?:date|(?:date)?time(?:ago|stamp)?|livestamp|epoch)(?![a-z])",
    re.IGNORECASE,
)


def find_blocks(
    body: LexborNode | None,
    *,
    opens: bool = True,
    rendered: bool = False,
    streamed: bool = False,
) -> TextBlocks:
    """Walk over the parsed page, and keep what a reader can see.

    Hidden text is skipped, except what an earlier control opens (tabs, accordions),
    streamed parts of a page, and hidden parts that are longer than everything visible,
    since scripts will show them. ``<noscript>`` is skipped too, unless it has the text
    of an article, or the page has little other text.

    HTML without scripts, and so without controls, *opens* nothing. What scripts left
    hidden in a page that a browser *rendered* stays hidden. A *streamed* page has the
    script by which React moves parts to their places.
    """
    page = _Markup(opens=opens, rendered=rendered, streamed=streamed)
    walk = _Walk(body, page)
    shown_later: frozenset[int] = frozenset()
    if opens and not rendered:
        shown_later = walk.shown_by_scripts()
    if shown_later:
        walk = _Walk(body, page, shown_later)
    if walk.characters >= _MIN_LENGTH or body is None:
        return walk.finish()
    if body.css_first("noscript"):
        without = _Walk(body, page, shown_later, noscript=True)
        if without.characters > max(_MIN_LENGTH, 2 * walk.characters):
            without.outline.scriptless = True
            walk = without
    return walk.finish()


class _Markup(NamedTuple):
    opens: bool
    rendered: bool
    streamed: bool


class _Hidden(NamedTuple):
    node: LexborNode
    name: str
    attributes: Attributes
    look: Look
    length: int  # characters of text


class _Walk:
    """One walk over the page; very few pages need a second."""

    def __init__(
        self,
        body: LexborNode | None,
        page: _Markup,
        opened: frozenset[int] = frozenset(),
        *,
        noscript: bool = False,
    ) -> None:
        self.outline = TextBlocks()
        self._page = page
        self._opens = page.opens
        self._body = body
        # the ids of what controls open anywhere, once that is asked for
        self._later: set[str] | None = None
        self._hidden: list[_Hidden] = []
        self._surroundings: dict[int, Around] = {}
        self._joints: list[str] = []  # the text between each run and the one before it
        silent = _SILENT if noscript else _SILENT | {"noscript"}
        if body is not None:
            self._walk(body.first_child, opened, silent)
        self.characters = sum(map(len, map(str.strip, self.outline.run_texts)))

    # Measured: runs for each node of a page, and so reads an attribute or a text only
    # where it must, and keeps all in local variables. Its state, at "b" of
    # ``<ul><li>a<li class=x>b</ul>``:
    #
    #   following  the next node, here none
    #   waiting    for each level above, to go on there: the next node, and three
    #   here       number of the element around: the second ``li``
    #   part       number of the innermost one whose text is a block: the same
    #   inside     bits of ``around``, `_DOUBTED`, `_COUNTED`, `_MUTED` that hold here
    #   block      number of the block that text is added to; -1: text begins a new one
    #   joint      what parts the next text from the one before: "", " " or `_END`
    #   room       characters that may still be read
    def _walk(  # noqa: C901, PLR0912 - see above
        self,
        following: LexborNode | None,
        opened: frozenset[int],
        silent: frozenset[str],
    ) -> None:
        o = self.outline
        joints = self._joints
        opens = self._opens
        openers = Openers(streamed=self._page.streamed)
        described = o.described
        telling = o.telling
        names = o.names
        parents = o.parents
        marks = o.marks
        around = o.around
        stream = o.stream
        linked = o.block_linked
        run_texts = o.run_texts
        run_elements = o.run_elements
        run_blocks = o.run_blocks
        all_attributes = o.attributes
        # the element, the one in `_PARTS` around it, and the bits of `around` and
        # `_MUTED`
        here = 0
        part = 0
        inside = 0
        # for each level above: the next node, and these
        waiting: list[tuple[LexborNode | None, int, int, int]] = []
        # by class, the attributes of elements with no other attribute
        alike = {"": NO_ATTRIBUTES}
        plain: set[str] = set()  # classes of elements that people see
        block = -1
        joint = ""
        room = MAX_CHARACTERS
        formulas = Formulas()
        doubted = 0
        spoken: dict[int, str] = {}  # pictures that are the text of an item
        while True:  # noqa: PLR1702 - see above
            if following is None:
                if not waiting:
                    break
                if here == part:
                    block = -1
                following, here, part, inside = waiting.pop()
                continue
            node = following
            following = following.next
            number = node.tag_id
            text: str | None
            if spoken and node.mem_id in spoken:
                text = spoken.pop(node.mem_id)
                place = here
            elif number == _TEXT:
                # then white space means nothing, and need not be read
                idle = block < 0 and not inside & _IN_CODE
                # the last in an element rarely is
                skip = idle and following is not None and node.is_empty_text_node
                text = None if skip else node.text_lexbor()
                if not text or inside >= _MUTED or (idle and text.isspace()):
                    continue
                place = here
            else:
                name = _NAMES.get(number) or _name(node)
                if name in silent and not (
                    name == "noscript" and self._has_article(node, here)
                ):
                    if name == "template":
                        openers.pass_by(len(names), name, node.attributes)
                    if name == "select" and inside < _MUTED:
                        choices = _read_choices(node)
                        if choices:
                            o.choices.setdefault(len(linked) - 1, []).append(choices)
                    if name == "svg" and inside < _MUTED and not inside & IN_LINK:
                        self._add_icon(_read_label(node), here, inside)
                    continue
                attributes = node.attributes
                mark = ""
                has_more = False
                is_telling = False
                muted = inside
                leads_inside = False
                # else there is nothing to judge it by
                if attributes or name in _TELLING or inside >= _MUTED:
                    mark = attributes.get("class") or ""
                    # than a class, the only attribute of most elements
                    has_more = len(attributes) > (mark != "")
                    is_telling = has_more and not _TELLING_ATTRIBUTES.isdisjoint(
                        attributes
                    )
                    if mark and mark not in plain:
                        if not may_be_unseen(mark):
                            plain.add(mark)
                        elif self._is_unseen(node, mark, here, openers):
                            continue
                    if name == "a" and (attributes.get("href") or "")[:1] == "#":
                        leads_inside = True
                        if skips(text_of(node, MAX_SKIP_LENGTH)):
                            continue
                    if (
                        (is_telling and not MAY_HIDE.isdisjoint(attributes))
                        or name == "dialog"
                        or inside >= _MUTED
                    ):
                        inherited = self._around(here)
                        look = judge_inline_style(
                            attributes.get("style") or "", inherited.variables
                        )
                        hides = hiding(name, attributes, look)
                        if (
                            hides
                            and node.mem_id not in opened
                            and not (
                                opens
                                and (
                                    openers.open(name, attributes, look, here, parents)
                                    or self._opens_later(name, attributes, look)
                                )
                            )
                        ):
                            if (
                                hides * _COUNTED & ~inside
                                and (unread := node.text_lexbor())
                                and not unread.isspace()
                            ):
                                length = sum(map(len, unread.split()))
                                self._hidden.append(
                                    _Hidden(node, name, attributes, look, length)
                                )
                            if hides >= WHOLE:
                                if (
                                    name in ICONS
                                    and inside < _MUTED
                                    and not inside & IN_LINK
                                ):
                                    self._add_icon(sign_of(node), here, inside)
                                continue
                            muted |= hides * (_COUNTED | _MUTED)
                        if look.inlines and name in _FLOWING:
                            name = "span"
                        muted &= ~(look.resets * _MUTED)
                        if look.doubtful or is_lost(inherited, attributes):
                            muted |= _DOUBTED
                    if not has_more:
                        # shared, since allocating memory takes time
                        attributes = alike.setdefault(mark, attributes)
                    else:
                        if identity := attributes.get("id"):
                            if is_box_id(identity) and _asks_consent(node):
                                continue
                            mark = f"{mark} {identity}"
                        if role := attributes.get("role"):
                            mark = f"{mark} {role}"
                else:
                    attributes = NO_ATTRIBUTES
                if name == "table" and _has_lines_of_code(node):
                    name = "pre"
                elif name == "div" and ("code" in mark or "cm-" in mark):
                    name = "pre" if _is_of_lines(node) else name
                place = len(names)
                if place > MAX_ELEMENTS:
                    o.cut = True
                    break
                # code is a single block
                is_part = name in _PARTS and not inside & _IN_CODE
                if is_part:
                    block = -1
                elif name in _PARTING:
                    joint = " "
                tex = None
                # a class of each program for formulas has these letters
                if name in FORMULAS and (name != "span" or "at" in mark):
                    tex = formulas.read(node, name, attributes)
                if tex:
                    name = "math"
                    attributes = _DISPLAYED if tex.display else NO_ATTRIBUTES
                within = muted
                if name in _BITS and (
                    name != "a" or "href" in attributes or not _is_place(attributes)
                ):
                    within |= _BITS[name]
                if within >= _MUTED and (tex or node.first_child is None):
                    continue
                stream.append(place)
                if has_more:
                    described.append(place)
                if is_telling:
                    telling.append(place)
                names.append(name)
                parents.append(here)
                marks.append(mark[:_MAX_MARKS])
                around.append(within & _ALL_BITS)
                all_attributes.append(attributes)
                if not tex:
                    child = node.first_child
                    if child is None:
                        continue
                    if name == "li" and not within & IN_LINK:
                        spoken.update(find_lone_icon(child))
                    if leads_inside or (
                        is_telling and not MAY_OPEN.isdisjoint(attributes)
                    ):
                        openers.pass_by(place, name, attributes)
                    waiting.append((following, here, part, inside))
                    following = child
                    here = place
                    inside = within
                    if is_part:
                        part = place
                    continue
                text = tex.source
                o.invisible += tex.invisible
            if block < 0:
                block = len(linked)
                joint = _END
                o.block_elements.append(part)
                linked.append(0)
            joints.append(joint)
            joint = ""
            stream.append(~len(run_texts))
            length = len(text)
            run_texts.append(text if length <= room else text[:room])
            run_elements.append(place)
            if openers.waiting:
                openers.see(text, place, parents)
            run_blocks.append(block)
            if inside & _DOUBTED:
                doubted += 1
            if inside & IN_LINK:
                linked[block] += length
            room -= length
            if room < 0:
                o.cut = True
                break
        o.unasked = openers.unasked
        o.doubted = 0 if self._page.rendered else doubted

    def _add_icon(self, label: str, here: int, inside: int) -> None:
        """Add an element for an icon with a label."""
        if not label:
            return
        o = self.outline
        o.stream.append(len(o.names))
        o.described.append(len(o.names))
        o.names.append("svg")
        o.parents.append(here)
        o.marks.append("")
        o.around.append(inside & _ALL_BITS)
        o.attributes.append({"aria-label": label})

    def _opens_later(self, name: str, attributes: Attributes, look: Look) -> bool:
        """Return whether a control with a text that comes later opens an element."""
        identity = attributes.get("id")
        if not identity or stays_hidden(name, attributes, look):
            return False
        if self._later is None:
            self._later = set()
            controls = self._body.css(_CONTROLS) if self._body else []
            for node in controls[:_MAX_CONTROLS]:
                if says_something(node) and not _is_in_hidden(node):
                    self._later.update(find_targets(_name(node), node.attributes))
        return identity in self._later

    def _around(self, element: int) -> Around:
        """Return what the styles of an element and of those around it say, each read
        once.
        """
        if self._page.rendered:  # then each has what holds for it
            return OUTERMOST
        surroundings = self._surroundings
        unread: list[int] = []
        while element > 0 and element not in surroundings:
            unread.append(element)
            element = self.outline.parents[element]
        around = surroundings.get(element, OUTERMOST)
        for inner in reversed(unread):
            attributes = self.outline.attributes[inner]
            if not _STYLING.isdisjoint(attributes):
                around = read_around(around, attributes)
            surroundings[inner] = around
        return around

    def _is_unseen(
        self, node: LexborNode, mark: str, here: int, openers: Openers
    ) -> bool:
        """Return whether nobody sees an element with such classes, and nobody misses
        it.

        Text for screen readers is missed where it stands for a sign that everybody
        sees: alone in the cell of a table, or beside a text that screen readers skip,
        as in ``<ins aria-hidden=true>$9</ins>``, or in an element beside that; or where
        it says yes or no to an item.
        """
        if is_for_calendars(mark):
            return True
        if names_box(mark):
            return _asks_consent(node)
        o = self.outline
        if self._page.rendered:
            return False
        if openers.open("", node.attributes, PLAIN, 0, o.parents):
            return False
        for after in (False, True):
            if _is_sign(element_near(node, after=after)):
                return False
        return o.is_linked(here) or not self._is_missed(node, here)

    def _is_missed(self, node: LexborNode, here: int) -> bool:
        """Return whether a text for screen readers, which may stand for a sign, is in a
        cell, beside an icon in an item, or says yes or no to one.
        """
        o = self.outline
        parent = max(o.parents[here], 0)
        around = [here, parent, max(o.parents[parent], 0)]
        names = {o.names[element] for element in around}
        if not names.isdisjoint(_CELLS):
            return True
        is_beside_icon = _is_icon(element_beside(node, after=False))
        if is_beside_icon and o.names[here] == "li":
            return True
        if not is_beside_icon and "li" not in names:
            return False
        return says_state(text_of(node, _MAX_LABEL_LENGTH).strip())

    def _has_article(self, noscript: LexborNode, here: int) -> bool:
        """Return whether a ``<noscript>`` has the text that a script writes or takes
        from a template.
        """
        if not self._opens or self._page.rendered:
            return False
        if len(text_of(noscript, _MIN_LENGTH)) < _MIN_LENGTH:
            return False
        o = self.outline
        while here > 0:
            if "articleBody" in (o.attributes[here].get("itemprop") or ""):
                return True
            here = o.parents[here]
        before = element_beside(noscript, after=False)
        if before is None or _name(before) != "script":
            return False
        return "template" in (before.attributes.get("type") or "")

    def shown_by_scripts(self) -> frozenset[int]:
        """Return the hidden elements with more text than is visible, because scripts
        will show them.

        Transparent ones count together: animations fade in one after the other.
        """
        limit = max(_MIN_SHOWN_LATER, self.characters)
        put_away = [
            hidden
            for hidden in self._hidden
            if not stays_hidden(hidden.name, hidden.attributes, hidden.look)
        ]
        # a quick check: the length includes the source of scripts
        if sum(hidden.length for hidden in put_away) <= limit:
            return frozenset()
        lengths = {
            hidden.node.mem_id: _Walk(hidden.node, self._page).characters
            for hidden in put_away
        }
        if sum(lengths.values()) <= limit:
            return frozenset()
        large = [place for place, length in lengths.items() if length > limit]
        if large:
            return frozenset(large)
        faint = frozenset(
            hidden.node.mem_id for hidden in put_away if _is_faint(hidden)
        )
        length = sum(map(lengths.__getitem__, faint))
        if length > limit:
            return faint
        return frozenset()

    def finish(self) -> TextBlocks:
        """Complete the texts of the blocks, without invisible characters."""
        o = self.outline
        _write_days(o)
        o.controls = find_controls(o)
        blank_toggles(o)
        write_icons(o)
        blank_edits(o)
        join_marks(o)
        part_words(o)
        join_lines(o)
        text = self._join()
        odd = [*_odd(text)]
        if not all(map(is_clean, odd)):
            cleaned = [strip_invisible(text) for text in o.run_texts]
            o.run_texts = [text for text, _ in cleaned]
            o.invisible += sum(count for _, count in cleaned)
            text = self._join()
            odd = [*_odd(text)]
        if any(map(GLYPHS.search, odd)):
            o.run_texts = [GLYPHS.sub("", text) for text in o.run_texts]
            text = self._join()
        is_source = self._opens and not self._page.rendered
        if is_source and any(map(text.__contains__, SIGNS)):
            o.unfilled = remove_templates(o)
            text = self._join()
        blocks = text.split(_END)[1:]
        del text  # it may be large
        o.block_texts = [" ".join(text.split()) for text in blocks]
        o.hidden = len(self._hidden)
        o.hidden_length = sum(hidden.length for hidden in self._hidden)
        return o

    def _join(self) -> str:
        return "".join(
            chain.from_iterable(zip(self._joints, self.outline.run_texts, strict=True))
        )


def _is_faint(hidden: _Hidden) -> bool:
    return "opacity" in (hidden.attributes.get("style") or "")


def _write_days(outline: TextBlocks) -> None:
    """Write seconds or milliseconds since 1970, of which scripts make dates, as the
    day, where a mark says time.
    """
    for run, text in enumerate(outline.run_texts):
        if len(text) not in _EPOCH_LENGTHS or not text.isdecimal():
            continue
        day = parse_date(text)
        if day is None:
            continue
        element = outline.run_elements[run]
        for place in (element, max(outline.parents[element], 0)):
            marks = (
                outline.names[place],
                outline.marks[place],
                *outline.attributes[place],
            )
            if _TIMED.search(" ".join(marks)):
                outline.run_texts[run] = day.date().isoformat()


def _is_sign(node: LexborNode | None) -> bool:
    """Return whether screen readers skip an element that has a text."""
    if node is None or node.attributes.get("aria-hidden") != "true":
        return False
    return says_something(node)


def _is_icon(node: LexborNode | None) -> bool:
    """Return whether an element only shows a sign, which a text says for screen
    readers.
    """
    return node is not None and _name(node) in ICONS and not says_something(node)


def _read_label(drawing: LexborNode) -> str:
    """Return what a drawing says that it shows, or the sign that its classes name."""
    if _is_hidden(drawing):
        return sign_of(drawing)
    label = drawing.attributes.get("aria-label")
    if not label:
        title = drawing.css_first("title")
        label = text_of(title, _MAX_LABEL_LENGTH).strip() if title else ""
    return label or sign_of(drawing)


def _read_choices(control: LexborNode) -> str:
    """Return what can be chosen, in a line; nothing if it is a long list, such as all
    countries.
    """
    options = control.css("option")
    is_list = _MIN_CHOICES <= len(options) <= _MAX_CHOICES
    if not is_list or _is_hidden(control):
        return ""
    texts: list[str] = []
    for option in options:
        text = " ".join(text_of(option, _MAX_LABEL_LENGTH).split())
        if text and not _is_hidden(option):
            texts.append(text)
    return " | ".join(texts)[:_MAX_CHOICES_LENGTH]


def _has_lines_of_code(table: LexborNode) -> bool:
    """Return whether a table shows a file line by line: its first cell numbers a line,
    and no cell is a head, or has a block of code of its own.
    """
    cell: LexborNode | None = table
    for _ in range(_MAX_LEVELS_IN_CELL):  # a body, a row, a cell
        if cell is not None and _name(cell) != "td":
            cell = first_element(cell)
    if cell is None or _name(cell) != "td":
        return False
    attributes = cell.attributes
    marks = attributes.get("class") or ""
    if "data-line-number" in attributes or names_gutter(marks):
        return table.css_first("pre,table table,th") is None
    row = cell.parent
    below = element_beside(row, after=True) if row else None
    lines = [_number_of_line(line) for line in (row, below) if line]
    return lines == [1, 2] and table.css_first("table table,th") is None


def _number_of_line(row: LexborNode) -> int:
    """Return the number of a line of code: a row of its number and the code; or 0."""
    first = first_element(row)
    if first is None:
        return 0
    code = element_beside(first, after=True)
    inner = first_element(code) if code else None
    if inner is None or element_beside(inner, after=True) is not None:
        return 0
    if _name(inner) not in _CODES:
        return 0
    for number in (text_of(first, _MAX_DIGITS).strip(), *first.attributes.values()):
        if _DIGITS.fullmatch(number or ""):
            return int(number or "")
    return 0


def _is_of_lines(block: LexborNode) -> bool:
    """Return whether a block, such as that of an editor, has an element for each line
    of its code, and says so.
    """
    first = first_element(block)
    if first is None:
        return False
    lines = (first, element_near(first, after=True))
    classes = [line.attributes.get("class") or "" for line in lines if line]
    return len([*filter(_LINE.search, classes)]) == len(lines)


def _is_place(attributes: Attributes) -> bool:
    """Return whether an anchor without a target is a place to go to: it has only a
    name.
    """
    return "name" in attributes or attributes.keys() == {"id"}


def _asks_consent(node: LexborNode) -> bool:
    """Return whether a box of a framework for consent begins with a text about that,
    and has no part of the page.
    """
    if node.css_first("main,article,h1") is not None:
        return False
    return asks_consent(text_of(node, _MAX_CONSENT_LENGTH)[:_MAX_CONSENT_LENGTH])


def _is_hidden(node: LexborNode) -> bool:
    """Return whether an element is hidden by its own attributes."""
    attributes = node.attributes
    look = judge_inline_style(attributes.get("style") or "")
    return hiding(_name(node), attributes, look) > 0


def _is_in_hidden(node: LexborNode) -> bool:
    """Return whether nobody sees an element when the page opens."""
    around: LexborNode | None = node
    while around is not None and around.is_element_node:
        if _is_hidden(around):
            return True
        around = around.parent
    return False


def _odd(text: str) -> Iterator[str]:
    """Yield the text in chunks without plain characters, which are most of it and would
    take long to search.
    """
    for begin in range(0, len(text), _CHUNK_SIZE):
        yield (
            text[begin : begin + _CHUNK_SIZE].encode().translate(None, _PLAIN).decode()
        )


def _name(node: LexborNode) -> str:
    number = node.tag_id
    name = _NAMES.get(number)
    if name is None:
        # Only elements have a name: asking another kind of node for it may crash.
        name = node.tag if node.is_element_node else None
        name = name or "-"
        if number < _KNOWN_TAGS:
            _NAMES[number] = name
    return name
