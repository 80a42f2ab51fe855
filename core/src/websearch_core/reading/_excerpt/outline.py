"""The outline of a page: its headings, with the size of what is below each."""

from __future__ import annotations
import re
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from ..._text.quantity import quantity
from ...models import Page, Passage
from .._markdown.fences import find_fences, span_at
from .window import check, plain_title, show

# a sign is found much faster than "^"
_HEADING = re.compile(r"#(?<![^\n]#)(#{0,5})[ \t]+(.*)")
_MAX_HEADINGS = 300
_MAX_PARTS = 30
_LEVELS = 6


class Section(NamedTuple):
    """What a heading is above: its level, where it begins and ends, and the headings
    around it with its own.
    """

    level: int
    start: int
    end: int
    titles: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many characters it has."""
        return self.end - self.start

    def show(self) -> Passage:
        """Return it as a part of the page."""
        return Passage(offset=self.start, length=self.size, headings=self.titles)


class _Heading(NamedTuple):
    level: int
    start: int
    title: str


def find_sections(text: str) -> list[Section]:
    """Return the sections of *text*: so few that they may lack the lower levels.

    If even the highest level below the title has too many, they are its first ones.
    """
    return _list_sections(text)[:_MAX_HEADINGS]


def _list_sections(text: str) -> list[Section]:
    """Return all sections of the levels that an outline can show."""
    headings = _find_headings(text)
    deepest = _find_deepest(headings)
    headings = [heading for heading in headings if heading.level <= deepest]
    sections: list[Section] = []
    path: list[_Heading] = []
    for heading, end in zip(headings, _find_ends(headings, len(text)), strict=True):
        level = heading.level
        path = [above for above in path if above.level < level]
        path.append(heading)
        titles = [above.title for above in path]
        # the title of the page is above all others
        if len(path) > 1 and path[0].level == 1:
            del titles[0]
        sections.append(Section(level, heading.start, end, tuple(titles)))
    return sections


def _find_ends(headings: Sequence[_Heading], length: int) -> list[int]:
    """Return where the section of each heading ends, in a text of a *length*."""
    ends = [length] * len(headings)
    opened: list[int] = []
    for n, heading in enumerate(headings):
        while opened and headings[opened[-1]].level >= heading.level:
            ends[opened.pop()] = heading.start
        opened.append(n)
    return ends


def _find_headings(text: str) -> list[_Heading]:
    fences = find_fences(text)
    headings: list[_Heading] = []
    for heading in _HEADING.finditer(text):
        start = heading.start()
        if span_at(fences, start) is not None:
            continue
        title = plain_title(heading[2])
        if title:
            level = len(heading[1]) + 1
            headings.append(_Heading(level, start, title))
    return headings


def _find_deepest(headings: Sequence[_Heading]) -> int:
    """Return the lowest level of headings that an outline can show whole, or the
    highest one below the title if there are too many of those.
    """
    counts = Counter(heading.level for heading in headings)
    deepest = 0
    total = 0
    for level in range(1, _LEVELS + 1):
        if total > 1 and total + counts[level] > _MAX_HEADINGS:
            break
        total += counts[level]
        deepest = level
    return deepest


def find_parts(text: str) -> tuple[Passage, ...]:
    """Return the main parts of *text*: the sections of the highest level that has
    several, the title set aside.
    """
    if text.count("#") < 2:  # most short pages have no two headings
        return ()
    sections = find_sections(text)
    levels = [section.level for section in sections]
    for level in range(1, _LEVELS + 1):
        if levels.count(level) > 1:
            break
    else:
        return ()
    parts = [section for section in sections if section.level == level]
    return _show(parts[:_MAX_PARTS])


def _show(sections: Sequence[Section]) -> tuple[Passage, ...]:
    return tuple([section.show() for section in sections])


def outline_of(page: Page, max_length: int) -> Page:
    """Return *page* with its outline as its content: as many levels as *max_length*
    characters hold.
    """
    check(max_length, 0)
    sections = _list_sections(page.content)
    first = sections[:_MAX_HEADINGS]
    lines = _choose_lines(first, max_length)
    content = "\n".join(lines)
    cut = show(page, content, rest="", truncated=True, outline=_show(first))
    if not sections:
        size = len(page.content)
        return cut.with_notes(f"the text has no headings, and {size:,} characters")
    left = len(sections) - len(lines)
    if not left:
        return cut
    return cut.with_notes(f"{quantity(left, 'heading')} left out of the outline")


def _choose_lines(sections: Sequence[Section], max_length: int) -> list[str]:
    """Return the lines of as many levels as fit; if only the title would, the first
    ones of the level below it.
    """
    levels = sorted({section.level for section in sections})
    lines: list[str] = []
    while levels:
        parts = [section for section in sections if section.level in levels]
        if lines and len(parts) <= 1:
            break
        lines = [_write_line(section, levels[0]) for section in parts]
        if len("\n".join(lines)) <= max_length:
            break
        levels.pop()
    ends = accumulate(len(line) + 1 for line in lines)
    count = sum(end <= max_length + 1 for end in ends)
    return lines[:count]


def _write_line(section: Section, base: int) -> str:
    indent = "  " * (section.level - base)
    title = section.titles[-1]
    return f"{indent}- {title} ({section.size:,} characters; offset {section.start})"
