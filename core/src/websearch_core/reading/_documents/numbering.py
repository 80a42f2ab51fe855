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


class Numbering:
    """Counts the paragraphs of each list."""

    def __init__(self, roots: Iterable[Any], styles: Styles) -> None:
        self._styles = styles
        self._forms: dict[str, _Form] = {}
        self._lists: dict[str, Any] = {}
        self._levels: dict[str, tuple[str, dict[int, _Level]]] = {}
        self._starts: dict[tuple[str, int], int] = {}  # that are yet to be used
        self._counts: dict[str, dict[int, int]] = {}
        for root in roots:
            for form in root.iterfind(named("abstractNum")):
                name = form.get(named("abstractNumId"), "")
                levels = _read_levels(form)
                self._forms[name] = _Form(levels, value_of(form, "numStyleLink"))
            for entry in root.iterfind(named("num")):
                self._lists[entry.get(named("numId"), "")] = entry

    def restart(self) -> None:
        """Forget what was counted, since each part of a document counts anew."""
        self._levels.clear()
        self._starts.clear()
        self._counts.clear()

    def count(self, properties: Any, style: str) -> Item | None:
        """Count a paragraph, and return its number, None if it is in no list."""
        number, depth = self._styles.find_list(style)
        reference = properties.find(named("numPr"))
        number = value_of(reference, "numId") or number
        depth = value_of(reference, "ilvl") or depth
        if number not in self._lists:
            return None
        form, levels = self._read_list(number)
        level = _read_count(depth, 0)
        if level not in levels:
            return None
        self._step(number, form, levels, level)
        return self._write(levels, level, self._counts[form])

    def _step(
        self, number: str, form: str, levels: dict[int, _Level], level: int
    ) -> None:
        counts = self._counts.setdefault(form, {})
        count = counts.get(level, levels[level].start - 1) + 1
        counts[level] = self._starts.pop((number, level), count)
        for lower in range(level + 1, _LEVELS):
            if lower in levels and level < levels[lower].restart:
                counts.pop(lower, None)

    def _write(
        self, levels: dict[int, _Level], level: int, counts: dict[int, int]
    ) -> Item:
        own = levels[level]
        if own.form == "bullet":
            return Item(None, level)
        place = f"%{level + 1}"
        is_plain = own.text in {place, f"{place}.", f"{place})"}
        if own.form == "decimal" and is_plain:
            return Item(None, level, counts[level])
        text = own.text
        for place in set(_PLACE.findall(text)):
            number = _find_number(int(place[1]) - 1, levels, counts, own)
            if number is None:
                return Item("", level)
            text = text.replace(place, number)
        return Item(text.strip(), level)

    def _read_list(self, number: str) -> tuple[str, dict[int, _Level]]:
        """Return the name and the levels of the form of a list."""
        if number in self._levels:
            return self._levels[number]
        entry = self._lists[number]
        name = value_of(entry, "abstractNumId")
        form = self._forms.get(name, _Form({}, ""))
        if form.style:
            other, _ = self._styles.find_list(form.style)
            name = value_of(self._lists.get(other), "abstractNumId")
            form = self._forms.get(name, form)
        levels = dict(form.levels)
        for change in entry.iterfind(named("lvlOverride")):
            levels |= _read_levels(change)
            start = value_of(change, "startOverride")
            level = _read_count(change.get(named("ilvl")), 0)
            if start:
                self._starts[number, level] = _read_count(start, 0)
        self._levels[number] = name, levels
        return name, levels


def _find_number(
    level: int, levels: dict[int, _Level], counts: dict[int, int], own: _Level
) -> str | None:
    """Return the number of a level as another one writes it, None if it is unknown."""
    if level not in levels:
        return None
    form = levels[level].form
    if own.is_legal:
        form = "decimal"
    number = counts.get(level, levels[level].start)
    return write_number(number, form)


def _read_levels(holder: Any) -> dict[int, _Level]:
    levels: dict[int, _Level] = {}
    for element in holder.iterfind(named("lvl")):
        level = _read_count(element.get(named("ilvl")), 0)
        text = value_of(element, "lvlText")
        if level >= _LEVELS:
            continue
        start = value_of(element, "start") or "0"
        is_known = _COUNT.fullmatch(start) and len(text) <= _MAX_TEXT
        if not is_known or find_vanish(element.find(named("rPr"))):
            text = ""
        levels[level] = _Level(
            _read_count(start, 0),
            value_of(element, "numFmt") or "decimal",
            text,
            _read_count(value_of(element, "lvlRestart"), level),
            element.find(named("isLgl")) is not None,
        )
    return levels


def _read_count(text: str | None, default: int) -> int:
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
    text: str | None = None
    if form in {"lowerLetter", "upperLetter"}:
        text = _write_letters(number)
    elif form in {"lowerRoman", "upperRoman"} and 0 < number < _MAX_ROMAN:
        text = write_letters(number, "i")
    if text and form.startswith("upper"):
        return text.upper()
    return text


def _write_letters(number: int) -> str | None:
    times, letter = divmod(number - 1, 26)
    if not 0 <= times < _MAX_LETTERS:
        return None
    return chr(ord("a") + letter) * (times + 1)
