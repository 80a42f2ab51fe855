"""Divide an answer into claims: each sentence with citations, or its part up to one."""

from __future__ import annotations
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from .._text.marks import Mark, code_spans, find_marks
from .._text.sentences import split_sentences
from .._text.terms import MARKS
from ._figures import UNITS
from ._tables import TABLES, list_words

_WORD = re.compile(r"\w")
# What leads to the source of the words after it: "according to [1], ..."
_INTRODUCTION = re.compile(
    r"(?:根据|根據|据|據|(?:^|[\s,;:(])(?:(?:as|by|from|in|per|see|source|wie|nach"
    r"|laut|quelle|selon|según|fuente|secondo|fonte|segundo|w|po)"
    r"|(?:according to|based "
    r"on|laut|nach|gemäß|selon|d['’]après|según|secondo|segundo|согласно|по "  # noqa: RUF001
    r"данным|według)"
    r"(?:\s{1,3}[^\W\d]{1,30}){0,4}))\s{0,3}:?\s{0,3}$",
    re.IGNORECASE,
)
_SHORT = 3  # letters of a word such as "and", in ASCII
_SHORT_ELSEWHERE = 2
_TAIL = 150  # characters before a citation in which such words stand
# two citations of which the second begins something new have this between them
_JOINT = re.compile(
    r"(?:[,;:(—]|\b(?:and|but|while|whereas|although|though|und|aber|während"
    r"|et|mais|tandis que|y|pero|mientras|e|ma|mas|mentre|и|но))\s{0,3}$",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"^[ \t>]*(?:#{1,6} |[-*+] |\d{1,9}[.)] )?|\*\*|__", re.MULTILINE)
# Before the end of a sentence, and before what only looks like one.
_FULL_STOP = re.compile(
    rf"(?P<word>[^\W\d_](?:[^\s()\[\]]{{0,30}}[\w{MARKS}])?)?\.[)\]\"'»”’*_`]{{0,4}}\s*\Z"  # noqa: RUF001 - quotation marks
)
_ABBREVIATIONS = frozenset(list_words(" ".join(TABLES["abbreviations"])))
_MAX_CLAIM = 2_000  # characters: what is longer is not joined with more
_MAX_ABBREVIATION = 5  # letters
_VOWEL = re.compile(f"[{TABLES['vowels']}]")
_BEFORE_WORD = "*_`\"'«“‘( "  # noqa: RUF001 - quotation marks
_THAI = re.compile(r"[\u0e00-\u0e7f]")
_OPEN = re.compile(r"[(（\[]")  # noqa: RUF001 - fullwidth, too
_CLOSED = re.compile(r"[)）\]]")  # noqa: RUF001
_SHORT_WORD = re.compile(rf"(?<![\w.])[^\W\d_]{{1,{_MAX_ABBREVIATION}}}(?![\w.])")


class Words:
    """The short words of an answer and its sources, to tell them from
    abbreviations.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = list(texts)
        self._words: set[str] | None = None  # until the first is looked up

    def __contains__(self, word: str) -> bool:
        """Return whether *word* stands anywhere without a full stop."""
        if self._words is None:
            self._words = set()
            for text in self._texts:
                for short_word in _SHORT_WORD.findall(text):
                    self._words.add(short_word.lower())
        return word.lower() in self._words


def split_claims(text: str, words: Words) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield each cited claim, with the numbers that it cites.

    *words* are those of the answer and its sources.
    """
    marks = [mark for mark in find_marks(text) if mark.kind != "stray"]
    starts = [mark.start for mark in marks]
    for start, end in _sentences(text, marks, words):
        first = bisect_left(starts, start)
        last = bisect_left(starts, end)
        inside = marks[first:last]
        for part in _divide(text, start, end, inside):
            first = bisect_left(starts, part.start)
            last = bisect_left(starts, part.end)
            claim = _strip(text, part, marks[first:last])
            if _WORD.search(claim):
                numbers = dict.fromkeys(part.numbers)
                yield claim, tuple(numbers)


def _sentences(
    text: str, marks: Sequence[Mark], words: Words
) -> Iterator[tuple[int, int]]:
    """Yield the sentences outside code, each with the citations after its full stop."""
    after = {mark.start: mark.end for mark in marks}
    length = len(text)
    code = iter([*code_spans(text), (length, length)])
    block = next(code)
    spans: list[tuple[int, int]] = []
    for begin, end in join_sentences(text, words):
        start = begin
        follows = bool(spans) and spans[-1][1] >= begin  # on the same line
        if follows:
            # it may begin with citations, which belong to the sentence before
            place = _skip_space(text, start)
            while place in after:
                start = after[place]
                place = _skip_space(text, start)
        if start > begin:
            begin_of_last = spans[-1][0]
            spans[-1] = (begin_of_last, start)
        while block[1] <= start < length:
            block = next(code)
        if start < block[0]:
            spans.append((start, end))
    yield from spans


class _Part(NamedTuple):
    """A part of a sentence, with the numbers that it cites."""

    start: int
    end: int
    numbers: list[int]


def _divide(text: str, start: int, end: int, marks: Sequence[Mark]) -> list[_Part]:
    """Return the parts of a sentence.

    A citation belongs to the words before it; at the beginning, and after words such as
    "according to", to those after.
    """
    parts: list[_Part] = []
    groups = list(_groups(text, marks))
    if not groups:
        return parts
    ends = [group[0].start for group in groups[1:]]
    ends.append(end)
    begin = start
    is_taken = False  # whether the words before a citation belong to an earlier one
    for group, end_of_next in zip(groups, ends, strict=True):
        numbers: list[int] = []
        for mark in group:
            numbers += mark.numbers
        stop = group[0].start
        begin_of_next = group[-1].end
        introduction = _find_introduction(text, begin, stop)
        leads = not _has_content(text[begin:introduction])
        if is_taken and not leads:
            before = text[begin:stop]
            joint = _JOINT.search(before[-_TAIL:])
            leads = introduction < stop or joint is not None
        continues = is_taken or bool(leads and parts)
        if leads and _has_content(text[begin_of_next:end_of_next]):
            if is_taken:
                parts[-1] = parts[-1]._replace(end=introduction)
            parts.append(_Part(begin_of_next, end_of_next, numbers))
            is_taken = True
        elif continues:
            last = parts[-1]
            numbers = [*last.numbers, *numbers]
            parts[-1] = last._replace(end=stop, numbers=numbers)
            is_taken = False
        else:
            parts.append(_Part(begin, stop, numbers))
        begin = begin_of_next
    parts[-1] = parts[-1]._replace(end=end)
    return parts


def _groups(text: str, marks: Sequence[Mark]) -> Iterator[list[Mark]]:
    """Yield citations in groups of those with no word between them, but perhaps an
    "and".
    """
    group: list[Mark] = []
    for mark in marks:
        if group:
            begin = group[-1].end
            end = mark.start
            is_introduced = _find_introduction(text, begin, end) < end
            if is_introduced or _has_content(text[begin:end]):
                yield group
                group = []
        group.append(mark)
    if group:
        yield group


def _find_introduction(text: str, begin: int, end: int) -> int:
    """Return where words such as "according to" begin that end at *end*, or *end*."""
    begin = max(begin, end - _TAIL)
    introduction = _INTRODUCTION.search(text[begin:end])
    if introduction is None:
        return end
    return begin + introduction.start()


def _has_content(part: str) -> bool:
    """Return whether there is more in a part of a sentence than a short word such as
    "and".
    """
    words = re.findall(r"\w+", part[:_TAIL])
    if len(words) != 1:
        return bool(words)
    word: str = words[0]
    if word.isdecimal():
        return True
    limit = _SHORT_ELSEWHERE
    if word.isascii():
        limit = _SHORT
    return len(word) > limit


def _strip(text: str, part: _Part, marks: Sequence[Mark]) -> str:
    """Return the text of a part of a sentence, without citations and markup."""
    pieces = []
    position = part.start
    for mark in marks:
        pieces.append(text[position : mark.start])
        position = mark.end
    pieces.append(text[position : part.end])
    plain = _MARKUP.sub("", "".join(pieces))
    words = plain.split()
    claim = " ".join(words)
    claim = re.sub(r" ([.,;:!?。])", r"\1", claim)
    return claim.lstrip(" ,;:，、；：")  # noqa: RUF001 - fullwidth punctuation


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t":
        position += 1
    return position


def join_sentences(text: str, words: Words) -> Iterator[tuple[int, int]]:
    """Yield the sentences of *text*; what may end with an abbreviation goes on.

    Half of a claim that is not checked looks as if it were supported.
    """
    begin = -1
    last = 0
    for start, end in split_sentences(text):
        if begin >= 0:
            gap = text[last:start].strip(" \t")
            if not gap and _goes_on(text, begin, last, start, words):
                last = end
                continue
            yield begin, last
        begin = start
        last = end
    if begin >= 0:
        yield begin, last


def _goes_on(text: str, begin: int, end: int, after: int, words: Words) -> bool:
    """Return whether the sentence from *begin* to *end* may go on *after* it."""
    if "\n" in text[end - 1 : after]:
        return False
    if end - begin > _MAX_CLAIM:
        return False
    sentence = text[begin:end]
    stop = _FULL_STOP.search(sentence[-_TAIL:])
    if stop is None:
        return False
    opened = len(_OPEN.findall(sentence))
    closed = len(_CLOSED.findall(sentence))
    if opened > closed and _CLOSED.search(text, after, after + _TAIL):
        return True
    rest = text[after : after + _TAIL]
    first = rest.lstrip(_BEFORE_WORD)[:1]
    if first.islower():
        return True
    word = stop["word"] or ""
    return _is_abbreviation(word, first, words)


def _is_abbreviation(word: str, after: str, words: Words) -> bool:
    """Return whether *word* is likely to be one, before a full stop and the character
    *after* it.
    """
    if not word:
        return False
    lower = word.lower()
    if lower in _ABBREVIATIONS or _THAI.match(word[-1]):
        return True
    if len(word) > _MAX_ABBREVIATION:
        return False
    if not word.isalpha():
        return False
    if word in words or lower in UNITS:
        return False
    if after.isdecimal() or word[0].isupper():
        return True
    if word.upper() == lower:  # a script without case does not write all vowels
        return False
    return _VOWEL.search(lower) is None
