"""Number the paragraphs of a Word file as Word does.

A paragraph refers to a list, whose levels say how their numbers are written
(ECMA-376, part 1, 17.9).
"""

from __future__ import annotations
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from .._markdown.writer import write_letters
from .styles import Styles, find_vanish, named, value_of

_LEVELS = 9
_MAX_TEXT = 40  # characters of the form of a number, which each paragraph may repeat
_MAX_ROMAN = 4_000
_MAX_LETTERS = 10  # Word repeats a letter, as in "aa" and "bb"
_COUNT = re.compile(r"[0-9]{1,9}")
_PLACE = re.compile(r"%[1-9]")


class _Level(NamedTuple):
    """How the paragraphs of a level are numbered."""

    start: int
    form: str
    text: str  # in which "%2" is the number of the second level
    restart: int  # the lowest of the levels above that begin this one again
    is_legal: bool  # whether all numbers are decimal


class Item(NamedTuple):
    """A paragraph of a list: the number that it shows, empty if it shows none.

    That is None for an item of a plain list: its *number* is alone, None if it has
    a bullet.
    """

    text: str | None
    level: int
    number: int | None = None


class _Form(NamedTuple):
    """An abstract list: its levels, and the style that has them instead."""

    levels: dict[int, _Level]
    style: str
    counts: dict[int, int]  # of each level; lists of one form share them


class _List(NamedTuple):
    """A list: its levels, with the numbers that they begin with the first time."""

    levels: dict[int, _Level]
    counts: dict[int, int]
    starts: dict[int, int]

    def step(self, level: int) -> None:
        """Count a paragraph of a level."""
        count = self.counts.get(level, self.levels[level].start - 1) + 1
        self.counts[level] = self.starts.pop(level, count)
        for lower in range(level + 1, _LEVELS):
            if lower in self.levels and level < self.levels[lower].restart:
                self.counts.pop(lower, None)

    def write(self, level: int) -> Item:
        """Return the number of the last paragraph of a level."""
        own = self.levels[level]
        if own.form == "bullet":
            return Item(None, level)
        place = f"%{level + 1}"
        is_plain = own.text in {place, f"{place}.", f"{place})"}
        if own.form == "decimal" and is_plain:
            return Item(None, level, self.counts[level])
        text = own.text
        for place in set(_PLACE.findall(text)):
            number = self._find_number(int(place[1]) - 1, own)
            if number is None:
                return Item("", level)
            text = text.replace(place, number)
        return Item(text.strip(), level)

    def _find_number(self, level: int, own: _Level) -> str | None:
        """Return the number of a level as another one writes it, None if it is
        unknown.
        """
        if level not in self.levels:
            return None
        form = self.levels[level].form
        if own.is_legal:
            form = "decimal"
        return write_number(self.counts.get(level, self.levels[level].start), form)


class Numbering:
    """Counts the paragraphs of each list."""

    def __init__(self, roots: Iterable[Any], styles: Styles) -> None:
        self._styles = styles
        self._forms: dict[str, _Form] = {}
        self._entries: dict[str, Any] = {}
        self._lists: dict[str, _List] = {}
        for root in roots:
            for form in root.iterfind(named("abstractNum")):
                name = form.get(named("abstractNumId"), "")
                style = value_of(form, "numStyleLink")
                self._forms[name] = _Form(_read_levels(form), style, {})
            for entry in root.iterfind(named("num")):
                self._entries[entry.get(named("numId"), "")] = entry

    def restart(self) -> None:
        """Forget what was counted, since each part of a document counts anew."""
        self._lists.clear()
        for form in self._forms.values():
            form.counts.clear()

    def count(self, properties: Any, style: str) -> Item | None:
        """Count a paragraph, and return its number, None if it is in no list."""
        number, depth = self._styles.find_list(style)
        reference = properties.find(named("numPr"))
        number = value_of(reference, "numId") or number
        depth = value_of(reference, "ilvl") or depth
        if number not in self._entries:
            return None
        if number not in self._lists:
            self._lists[number] = self._read_list(self._entries[number])
        own = self._lists[number]
        level = _read_count(depth)
        if level not in own.levels:
            return None
        own.step(level)
        return own.write(level)

    def _read_list(self, entry: Any) -> _List:
        name = value_of(entry, "abstractNumId")
        form = self._forms.get(name, _Form({}, "", {}))
        if form.style:
            other, _ = self._styles.find_list(form.style)
            name = value_of(self._entries.get(other), "abstractNumId")
            form = self._forms.get(name, form)
        levels = dict(form.levels)
        starts: dict[int, int] = {}
        for change in entry.iterfind(named("lvlOverride")):
            levels |= _read_levels(change)
            start = value_of(change, "startOverride")
            if start:
                starts[_read_count(change.get(named("ilvl")))] = _read_count(start)
        return _List(levels, form.counts, starts)


def _read_levels(holder: Any) -> dict[int, _Level]:
    levels: dict[int, _Level] = {}
    for element in holder.iterfind(named("lvl")):
        level = _read_count(element.get(named("ilvl")))
        text = value_of(element, "lvlText")
        if level >= _LEVELS:
            continue
        start = value_of(element, "start") or "0"
        is_known = _COUNT.fullmatch(start) and len(text) <= _MAX_TEXT
        if not is_known or find_vanish(element.find(named("rPr"))):
            text = ""
        levels[level] = _Level(
            _read_count(start),
            value_of(element, "numFmt") or "decimal",
            text,
            _read_count(value_of(element, "lvlRestart"), level),
            element.find(named("isLgl")) is not None,
        )
    return levels


def _read_count(text: str | None, default: int = 0) -> int:
    if text and _COUNT.fullmatch(text):
        return int(text)
    return default


def write_number(number: int, form: str) -> str | None:
    """Write a number as a level says, None if it cannot be known what Word shows."""
    if form == "none":
        return ""
    if form == "decimal":
        return str(number)
    if form == "decimalZero":
        return f"{number:02}"
    text = None
    times, letter = divmod(number - 1, 26)
    if form in {"lowerLetter", "upperLetter"} and 0 <= times < _MAX_LETTERS:
        text = chr(ord("a") + letter) * (times + 1)
    elif form in {"lowerRoman", "upperRoman"} and 0 < number < _MAX_ROMAN:
        text = write_letters(number, "i")
    if text and form.startswith("upper"):
        return text.upper()
    return text
