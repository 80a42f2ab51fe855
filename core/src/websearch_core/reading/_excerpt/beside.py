"""Choose what a page states beside its main text, for a reader who asked for nothing:
how to reach who made it, prices, times, labels with their values.
"""

from __future__ import annotations
import re
from collections.abc import Iterator
from enum import IntEnum
from itertools import islice
from typing import NamedTuple

from ..._text.money import AMOUNT, has_amount
from .._markdown.sanitizer import is_safe
from .asked import kinds_stated
from .window import without_targets

MAX_LENGTH = 2_000  # characters
_CONTACTS = ["address", "phone", "email", "hours"]
# In a notice, other numbers are those of a register.
_PLACES = ["address", "email"]
# A number of three digits, such as a date, or what parts a label from its value or
# choices. Fewer digits count things, or pages.
_VALUE = re.compile(r": | \| |\d[^\d\n]{0,2}\d[^\d\n]{0,2}\d")
_COUNT = re.compile(r"[\d@]")
_WORD = re.compile(r"[^\W\d_]{3}")
_MARKUP = str.maketrans("", "", "\\*`")
_MAX_LINE_LENGTH = 200  # characters: a longer line is prose
_MAX_FACT_LENGTH = 500  # of prose with a contact or an amount, or of labels
_LABEL = ": "
_LABELS = 3  # that make a line a list of values: "Iron: 7 mg, Zinc: 3 mg, Salt: 2 g"
_MAX_NOTICE_LENGTH = 120
_MAX_TRIES = 100  # passages that are compared with the main text


class _Rank(IntEnum):
    CONTACT = 0
    AMOUNT = 1
    VALUE = 2
    COUNT = 3
    NOTHING = 4


class _Passage(NamedTuple):
    rank: _Rank
    place: int  # among the passages
    text: str


def choose_beside(content: str, rest: str, max_length: int) -> str:
    """Return the passages of *rest* that state something which *content*, the part of
    the main text that is shown, lacks; in their order.

    If they have more than *max_length* characters, contacts come before amounts of
    money, and these before others.
    """
    main = without_targets(content).translate(_MARKUP)
    facts: set[tuple[str, ...]] = set()
    chosen: list[_Passage] = []
    room = max_length
    for passage in islice(sorted(_find_passages(rest)), _MAX_TRIES):
        length = len(passage.text) + 2  # with the blank line after it
        if length > room or not _is_inert(passage.text):
            continue
        new = set(_list_facts(passage.text)) - facts
        if not any(_is_missing(main, fact) for fact in new):
            continue
        facts |= new
        chosen.append(passage)
        room -= length
    chosen.sort(key=lambda passage: passage.place)
    return "\n\n".join(passage.text for passage in chosen)


def _find_passages(rest: str) -> Iterator[_Passage]:
    """Yield the passages that state something, without prose and copyright notices."""
    for place, passage in enumerate(rest.split("\n\n")):
        text = "\n".join(filter(_is_worth, passage.splitlines()))
        rank = _rank(text)
        if rank == _Rank.NOTHING:
            continue
        if rank == _Rank.AMOUNT and _lacks_name(text):
            continue
        if rank == _Rank.CONTACT or _WORD.search(text):
            yield _Passage(rank, place, text)


def _is_worth(line: str) -> bool:
    if "://" in line and " " not in line:
        return False
    if is_notice(line):
        return bool(kinds_stated(line, _PLACES))
    if len(line) <= _MAX_LINE_LENGTH:
        return True
    if len(line) > _MAX_FACT_LENGTH:
        return False
    return line.count(_LABEL) >= _LABELS or _rank(line) <= _Rank.AMOUNT


def _rank(text: str) -> _Rank:
    has_count = _COUNT.search(text) is not None
    if has_count and kinds_stated(text, _CONTACTS):
        return _Rank.CONTACT
    if has_count and has_amount(text):
        return _Rank.AMOUNT
    if _VALUE.search(text):
        return _Rank.VALUE
    if has_count:
        return _Rank.COUNT
    return _Rank.NOTHING


def _list_facts(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the lines that state something; a price without words with the line before
    it, which names its thing.
    """
    before = ""
    for line in text.splitlines():
        if has_amount(line) and not _has_words(line):
            yield before, line
        elif _COUNT.search(line) or _VALUE.search(line):
            yield (line,)
        before = line


def _lacks_name(text: str) -> bool:
    """Return whether a price stands below nothing that names its thing: it would be
    taken for that of another one.
    """
    is_named = False
    for line in text.splitlines():
        if _has_words(line):
            is_named = True
        elif not has_amount(line):
            is_named = False
        elif not is_named:
            return True
    return False


def _has_words(line: str) -> bool:
    """Return whether a line has a word beside the currency of an amount."""
    return _WORD.search(AMOUNT.sub("", line)) is not None


def _is_inert(text: str) -> bool:
    """Return whether nothing acts on a text, and it begins no code, wherever it is
    shown.
    """
    return "```" not in text and "~~~" not in text and is_safe(text)


def _is_missing(main: str, fact: tuple[str, ...]) -> bool:
    return any(line.lstrip("# ") not in main for line in fact)


def is_notice(line: str) -> bool:
    """Return whether a line is a copyright notice."""
    if len(line) > _MAX_NOTICE_LENGTH:
        return False
    return "©" in line or line.lower().startswith(("copyright", "(c)"))
