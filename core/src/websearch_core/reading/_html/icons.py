"""Say in words what a page says by an icon: "Not included: Towels", where it shows a
cross beside the word.

An icon counts if its label says yes or no, or if a list has crosses and ticks, as
classes of icons name them. Others are decoration; but an item that has nothing else is
what its icon shows.
"""

from __future__ import annotations
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from .._element import Attributes
from .nodes import says_something, text_of
from .phrases import PHRASES
from .text_blocks import NO_ATTRIBUTES, TextBlocks

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

ICONS = frozenset({"em", "i", "img", "span", "svg"})
_MARKED = ICONS | {"li"}
_CROSS = "✗"
_TICK = "✓"
_BOTH = frozenset({_CROSS, _TICK})
_DRAWN_CROSSES = "✗✘✖❌❎"
_DRAWN_TICKS = "✓✔☑✅"
_DRAWN = frozenset(_DRAWN_CROSSES + _DRAWN_TICKS)
_VARIANT = "\ufe0f"  # asks for the coloured form of a sign
_SIGNS = {
    **dict.fromkeys(
        "times xmark cross crossed remove ban no not cancel clear close x unavailable "
        "excluded unchecked false highlight".split(),
        _CROSS,
    ),
    **dict.fromkeys(
        "check checkmark tick ok yes done included available true".split(), _TICK
    ),
    **dict.fromkeys(_DRAWN_CROSSES, _CROSS),
    **dict.fromkeys(_DRAWN_TICKS, _TICK),
}
_SIGN_WORDS = frozenset(_SIGNS)
# Parts of the names of classes and glyphs that say how an icon looks, or whose it is.
_STYLES = frozenset(
    "fa fas far fal fab icon icons ico bi mdi ti glyphicon circle square mark large lg "
    "sm o off solid thin light bold alt svg img sign outline outlined fill filled 2 3 "
    "png gif webp".split()
)
_GLYPHS = re.compile(r"(?<!\S)material-(?:icons|symbols)(?:-\w+)?(?!\S)")
_GLYPH_HINTS = ("material-",)
_GLYPH = re.compile(r"[a-z][a-z0-9_]{0,40}")
_PART = re.compile(r"[^\W_]+")
_APART = {code: " " for code in range(128) if not chr(code).isalnum()}
_STATE = re.compile(rf"(?:{PHRASES['yes or no']})[.:]?", re.IGNORECASE)
# of an item
_MISSING = re.compile(
    r"(?:(?<![\w-])(?:is-)?|(?<=--))(?:not-?available|unavailable|not-?included|excluded)(?![\w-])"
)
_STRUCK = re.compile(
    r"(?<![\w:-])(?:line-through|strike-?through|(?:is-)?(?:crossed|struck)(?:-out)?)(?![\w-])"
)
_STRUCK_HINTS = ("through", "crossed", "struck")
_MISSING_HINTS = ("available", "included", "excluded")
_ITEMS = frozenset({"td", "th", "dd", "li"})
_ACTING = frozenset({"a", "button", "input", "label", "li"})
_MAX_WORDS = 3  # of an icon that is an item: more describe a picture
_LABELS = ("aria-label", "alt", "title")
_NAMING = frozenset({*_LABELS, "src"})
_MAX_LABEL_LENGTH = 100  # characters of what a picture shows
_FILE = re.compile(r"\.(?:avif|gif|jpe?g|png|svg|webp)\Z", re.IGNORECASE)
_MAX_NAME = 40  # characters of what says yes or no
_MAX_DRAWN = 10  # characters of a sign, and white space
_MAX_MARKS = 300  # characters of classes, or of an address
_MAX_ICONS = 8  # of a text: each is written into it
_MAX_LEVELS = 4  # from an icon to what has its text
_MAX_RUNS = 20  # pieces of white space beside an icon
_MAX_NODES = 30  # in an item that has only pictures


def name_icon(attributes: Attributes) -> str:
    """Return what the attributes of a picture say that it shows."""
    for attribute in _LABELS:
        name = " ".join((attributes.get(attribute) or "").split())
        if 0 < len(name) <= _MAX_LABEL_LENGTH and not _FILE.search(name):
            return name
    return ""


def find_lone_icon(child: LexborNode) -> dict[int, str]:
    """Return the name of the first picture of an item without text or links, by the
    number of its node; *child* is the first one of the item.
    """
    first: dict[int, str] = {}
    waiting: list[LexborNode | None] = [child]
    visited = 0
    while waiting:
        node = waiting.pop()
        if node is None:
            continue
        visited += 1
        is_text = node.is_text_node and not node.is_empty_text_node
        if is_text or visited > _MAX_NODES:
            return {}
        waiting.append(node.next)
        if not node.is_element_node:
            continue
        if node.tag in _ACTING:
            return {}
        attributes = node.attributes
        if attributes.get("aria-hidden") == "true":
            return {}
        waiting.append(node.first_child)
        name = name_icon(attributes)
        if len(name.split()) > _MAX_WORDS:
            return {}
        if name and not first:
            first[node.mem_id] = name
    return first


def sign_of(node: LexborNode) -> str:
    """Return the sign that the classes of an icon name, or its glyph; maybe an empty
    string.
    """
    marks = (node.attributes.get("class") or "")[:_MAX_MARKS]
    if "material-" in marks and _GLYPHS.search(marks):
        return _read_sign(text_of(node, _MAX_LABEL_LENGTH)[:_MAX_MARKS])
    use = node.css_first("use") if node.tag == "svg" else None
    if use is not None:
        address = use.attributes.get("href") or use.attributes.get("xlink:href") or ""
        marks = f"{marks} {address.rpartition('#')[2][:_MAX_MARKS]}"
    sign = _read_sign(marks)
    if sign and not says_something(node):
        return sign
    drawn = text_of(node, _MAX_DRAWN)[:_MAX_DRAWN].strip().rstrip(_VARIANT)
    if drawn not in _DRAWN:
        return ""
    return _SIGNS[drawn]


@lru_cache(maxsize=512)
def _read_sign(marks: str) -> str:
    """Return the sign that one of some words means, such as ``fa-times-circle``."""
    drawn = marks.strip().rstrip(_VARIANT)
    if drawn in _DRAWN:
        return _SIGNS[drawn]
    lower = marks.lower()
    if _SIGN_WORDS.isdisjoint(_PART.findall(lower)):
        return ""
    for word in lower.split():
        parts = set(_PART.findall(word)) - _STYLES
        signs = {_SIGNS.get(part, "") for part in parts}
        if len(signs) == 1 and "" not in signs:
            return signs.pop()
    return ""


def says_state(label: str) -> bool:
    """Return whether a label says yes or no."""
    return len(label) <= _MAX_NAME and _STATE.fullmatch(label) is not None


def find_struck(outline: TextBlocks) -> set[int]:
    """Return the elements that their style crosses out, or a class that says so."""
    struck = {*outline.marked(outline.find_marks(_STRUCK, _STRUCK_HINTS))}
    for element in outline.telling:
        if "line-through" in (outline.attributes[element].get("style") or ""):
            struck.add(element)
    return struck


class _Icon(NamedTuple):
    element: int
    label: str
    holder: int  # the smallest element around it that has text
    before: int  # the text before it in there, or -1
    after: int


def write_icons(outline: TextBlocks) -> None:
    """Write what icons say to the texts that they stand beside."""
    missing = _find_missing(outline)
    labels = _take_glyphs(outline) | _find_labels(outline) | missing
    if not _BOTH.issubset(labels.values()):  # then no list has both
        states = {
            element: label for element, label in labels.items() if label not in _BOTH
        }
        labels = states | missing
    if not labels:
        return
    places = _Places(outline)
    maybe = [places.find(element, labels[element]) for element in sorted(labels)]
    icons = [icon for icon in maybe if icon is not None]
    follows: dict[int, bool] = {}  # whether the icons of an element follow its texts
    times: Counter[int] = Counter()  # that something was written to a text
    for icon in _choose_sure(outline, icons, missing):
        is_after = follows.setdefault(icon.holder, icon.before >= 0)
        run = icon.before if is_after else icon.after
        if run < 0 or times[run] >= _MAX_ICONS:
            continue
        text = outline.run_texts[run]
        line = _tie(text.strip(), icon.label, times[run] > 0, is_after=is_after)
        outline.run_texts[run] = text.replace(text.strip(), line, 1)
        outline.attributes[icon.element] = NO_ATTRIBUTES
        times[run] += 1


def _choose_sure(
    outline: TextBlocks, icons: Sequence[_Icon], missing: Container[int]
) -> Iterator[_Icon]:
    """Yield the icons that say something: a sign does so in a list that has both."""
    signs: defaultdict[int, set[str]] = defaultdict(set)  # by list
    for icon in icons:
        signs[outline.parents[icon.holder]].add(icon.label)
    for icon in icons:
        is_sure = icon.label not in _BOTH or icon.element in missing
        if is_sure or signs[outline.parents[icon.holder]] >= _BOTH:
            yield icon


def _find_missing(outline: TextBlocks) -> dict[int, str]:
    """Return the items whose class says that they are missing, with its sign."""
    return {
        element: _CROSS
        for element in outline.marked(outline.find_marks(_MISSING, _MISSING_HINTS))
        if outline.names[element] == "li"
    }


def _tie(words: str, label: str, is_next: bool, *, is_after: bool) -> str:
    """Return *words* with the label of an icon, unless they have it."""
    if label.casefold() in words.casefold():
        return words
    joint = " " if label in _BOTH else ": "
    if not is_after:
        return f"{label}{joint}{words}"
    if is_next:
        return f"{words}, {label}"
    return f"{words}{joint}{label}"


def _find_labels(outline: TextBlocks) -> dict[int, str]:
    """Return the labels of the icons that say yes or no."""
    labels: dict[int, str] = {}
    for element in outline.described:
        if outline.names[element] not in ICONS:
            continue
        attributes = outline.attributes[element]
        if _NAMING.isdisjoint(attributes):
            continue
        label = name_icon(attributes)
        if label in _BOTH or says_state(label):
            labels[element] = label
            continue
        name = label or (attributes.get("src") or "").rpartition("/")[2]
        if len(name) <= _MAX_NAME:
            labels[element] = _read_sign(name)
    for element, sign in _find_signs(outline).items():
        if outline.names[element] == "li":
            labels[element] = sign
        elif element not in labels:
            labels[element] = sign
            outline.attributes[element] = {"aria-label": sign}
    return {element: label for element, label in labels.items() if label}


def _find_signs(outline: TextBlocks) -> dict[int, str]:
    """Return the signs that classes of icons and items name, if the page has both."""
    maybe = outline.named(*_MARKED)
    signs = _read_signs({outline.marks[element] for element in maybe})
    if not _BOTH.issubset(signs.values()):
        return {}
    named = {element: signs[outline.marks[element]] for element in maybe}
    return {element: sign for element, sign in named.items() if sign}


def _read_signs(marks: AbstractSet[str]) -> dict[str, str]:
    """Return the sign of each of some marks; none unless some may have both signs."""
    together = " ".join(mark[:_MAX_MARKS] for mark in marks).lower()
    if together.isascii():  # as `_PART` does, in a fifth of the time
        parts = together.translate(_APART).split()
    else:
        parts = _PART.findall(together)
    signs = {_SIGNS[word] for word in _SIGN_WORDS.intersection(parts)}
    if not _BOTH.issubset(signs):
        return {}
    return {mark: _read_sign(mark[:_MAX_MARKS]) for mark in marks}


def _take_glyphs(outline: TextBlocks) -> dict[int, str]:
    """Remove the names of glyphs, which a font draws as icons, and return what they
    mean.
    """
    glyphs = {*outline.marked(outline.find_marks(_GLYPHS, _GLYPH_HINTS))}
    labels: dict[int, str] = {}
    if not glyphs:
        return labels
    for run, element in enumerate(outline.run_elements):
        text = outline.run_texts[run].strip()
        if element in glyphs and _GLYPH.fullmatch(text):
            outline.run_texts[run] = " "
            labels[element] = _read_sign(text)
    return {element: label for element, label in labels.items() if label}


class _Places:
    """Where icons stand in the text of a page."""

    def __init__(self, outline: TextBlocks) -> None:
        self._outline = outline
        self._buttons = outline.inside("button")
        self._begins = [0] * len(outline.names)  # texts before each element
        runs = 0
        for number in outline.stream:
            if number < 0:
                runs = ~number + 1
            else:
                self._begins[number] = runs

    def find(self, element: int, label: str) -> _Icon | None:
        """Return the place of an icon; None if it has a text of its own, is in a
        button, or stands beside nothing.
        """
        outline = self._outline
        run = self._next(element, element)
        if outline.names[element] == "li" and run >= 0:
            return _Icon(element, label, element, -1, run)
        if self._buttons[element] or run >= 0:
            return None
        for holder in outline.above(outline.parents[element], _MAX_LEVELS):
            before = self._last(element, holder)
            after = self._next(element, holder)
            if before >= 0 or after >= 0:
                return _Icon(element, label, holder, before, after)
            if outline.names[holder] in _ITEMS:
                return None
        return None

    def _next(self, element: int, holder: int) -> int:
        """Return the first text of *holder* from an element on, or -1."""
        begin = self._begins[element]
        return self._search(range(begin, begin + _MAX_RUNS), holder)

    def _last(self, element: int, holder: int) -> int:
        """Return the last text of *holder* before an element, or -1."""
        begin = self._begins[element]
        return self._search(range(begin - 1, begin - 1 - _MAX_RUNS, -1), holder)

    def _search(self, runs: range, holder: int) -> int:
        outline = self._outline
        for run in runs:
            if not 0 <= run < len(outline.run_texts):
                break
            if not holder <= outline.run_elements[run] < outline.ends[holder]:
                break
            if any(map(str.isalnum, outline.run_texts[run])):
                return run
        return -1
