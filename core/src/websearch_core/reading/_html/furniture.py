"""Remove from a page what belongs to its program, not to its text, before anything is
judged: links to edit a section, marks of notes that are written twice, line breaks in
scripts without spaces.
"""

from __future__ import annotations
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from .._element import HEADINGS

if TYPE_CHECKING:
    from .text_blocks import TextBlocks

_MAX_LENGTH = 30  # characters of a link that stands beside each heading
_BRACKETS = re.compile(r"[\[\](){}|·\s]*")
_INLINE = frozenset({"a", "small", "span", "sup"})
_MAX_TAIL = 8  # texts at the end of a heading
_MAX_MARKS = 4  # times that the mark of a note is written
_MAX_RUNS = 60  # texts of a note in a line
_MIN_HEADINGS = 2
_MARK = re.compile(r"\s*(?:\d{1,3}|[a-z]|[*†‡§¶]{1,3})\s*")
# Of Chinese and Japanese, with their punctuation: lines are joined without a space.
_HAN = "\u2e80-\u312f\u3190-\u9fff\uf900-\ufaff\uff00-\uff60\uffe0-\uffe6"
_BREAK = re.compile(f"(?<=[{_HAN}])[ \t]*[\n\r]\\s*(?=[{_HAN}])")
_BOXES = frozenset({"checkbox", "radio"})
_CODES = frozenset({"pre", "code"})


def blank_edits(outline: TextBlocks) -> None:
    """Remove the links that stand behind several headings, such as "[edit]"."""
    links: list[_Link] = []
    for runs in _find_headings(outline):
        links += _find_links(outline, runs)
    times = Counter(link.text for link in links)
    for link in links:
        if times[link.text] < _MIN_HEADINGS:
            continue
        for run in link.runs:
            outline.run_texts[run] = ""


class _Link(NamedTuple):
    text: str
    runs: range  # with the brackets around it


def _find_headings(outline: TextBlocks) -> Iterator[list[int]]:
    """Yield the runs of each heading, and of the only element beside it in a line."""
    lines: dict[int, int] = {}  # by heading, and by what stands beside it
    for heading in outline.block_elements:
        if outline.names[heading] in HEADINGS:
            beside = _find_beside(outline, heading)
            end = outline.ends[beside or heading]
            if "a" in outline.names[heading:end]:
                lines[heading] = heading
                lines[beside or heading] = heading
    if len(lines) < _MIN_HEADINGS:
        return
    holders = outline.holders(lines)
    runs: defaultdict[int, list[int]] = defaultdict(list)
    for run, element in enumerate(outline.run_elements):
        if holders[element]:
            runs[lines[holders[element]]].append(run)
    yield from runs.values()


def _find_beside(outline: TextBlocks, heading: int) -> int:
    """Return the only element beside a heading, if it is a part of a line; or 0."""
    parent = outline.parents[heading]
    beside = outline.ends[heading]
    if heading != parent + 1 or beside >= outline.ends[parent]:
        return 0
    is_last = outline.ends[beside] == outline.ends[parent]
    if not is_last or outline.names[beside] not in _INLINE:
        return 0
    return beside


def _find_links(outline: TextBlocks, runs: list[int]) -> Iterator[_Link]:
    """Yield the short links after the text of a heading that stand in brackets, or in
    an element of their own.
    """
    texts = outline.run_texts
    tail = runs[1:][-_MAX_TAIL:]
    for run in tail:
        text = texts[run].strip()
        if not 0 < len(text) <= _MAX_LENGTH:
            continue
        element = outline.run_elements[run]
        if not outline.is_linked(element):
            continue
        begin = run
        while begin - 1 in tail and _BRACKETS.fullmatch(texts[begin - 1]):
            begin -= 1
        end = run + 1
        while end in tail and _BRACKETS.fullmatch(texts[end]):
            end += 1
        is_in_brackets = "".join(texts[begin:run]).strip()[:1] == "["
        if is_in_brackets or outline.run_blocks[run] != outline.run_blocks[runs[0]]:
            yield _Link(text, range(begin, end))


def join_marks(outline: TextBlocks) -> None:
    """Write the mark of a note once, if it stands before the note and in it, and the
    note in brackets.
    """
    texts = outline.run_texts
    if "sup" not in outline.names:
        return
    for run, (element, other) in enumerate(pairwise(outline.run_elements)):
        is_mark = outline.names[element] == "sup" and texts[run] == texts[run + 1]
        if not is_mark or not _MARK.fullmatch(texts[run]):
            continue
        note = outline.parents[element]
        if outline.names[note] != "span" or other >= outline.ends[note]:
            continue
        first = run + 1
        while first < min(run + _MAX_MARKS, len(texts)) and texts[first] == texts[run]:
            first += 1
        last = first
        while last < min(run + _MAX_RUNS, len(texts)):
            if not note <= outline.run_elements[last] < outline.ends[note]:
                break
            last += 1
        if first < last < run + _MAX_RUNS:
            texts[run + 1 : first] = [""] * (first - run - 1)
            texts[first] = f" ({texts[first].lstrip()}"
            texts[last - 1] = f"{texts[last - 1].rstrip()})"


def join_lines(outline: TextBlocks) -> None:
    """Remove line breaks between Chinese and Japanese characters, as browsers do."""
    lines = [run for run, text in enumerate(outline.run_texts) if "\n" in text]
    broken = [run for run in lines if not outline.run_texts[run].isascii()]
    if not broken:
        return
    in_code = outline.holders(
        element for element, name in enumerate(outline.names) if name in _CODES
    )
    for run in broken:
        if not in_code[outline.run_elements[run]]:
            outline.run_texts[run] = _BREAK.sub("", outline.run_texts[run])


def drop_fields(outline: TextBlocks, content: list[bool]) -> list[bool]:
    """Leave out the labels of the fields of a form, checkboxes excepted: they may be
    items of a list.
    """
    if "form" not in outline.names or "for" not in outline.attribute_names:
        return content
    forms = outline.holders(
        element for element, name in enumerate(outline.names) if name == "form"
    )
    boxes = {
        attributes.get("id")
        for attributes in outline.attributes
        if attributes.get("type") in _BOXES
    }
    rest = content.copy()
    for block, element in enumerate(outline.block_elements):
        if outline.names[element] != "label" or not forms[element]:
            continue
        target = outline.attributes[element].get("for")
        if target and target not in boxes:
            rest[block] = False
    return rest
