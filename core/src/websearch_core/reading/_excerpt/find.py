"""
Find a phrase in a page as a person would.

Case, accents, whitespace, emphasis and links do not matter, nor typographic apostrophes, quotation marks and dashes.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache

from ..._text.quantity import quantity
from ..._text.terms import fold
from ...errors import InvalidOption
from ...models import Page
from .._markdown.fences import find_fences
from .compose import Composer, Span, quote
from .window import LINK, beyond, check

_AROUND = 300  # characters shown before and after a place, extended to whole sentences
_MARKS = "*`\\"  # of Markdown, within a line
# What people type for what typesetters set; NFKD knows none of these.
_TYPED = {
    sign: typed
    for typed, signs in {
        "'": "‘’‚‛‹›′ʻʼ´",  # noqa: RUF001
        '"': "“”„‟«»″",
        "-": "‐‑‒–—―⁃−",  # noqa: RUF001
    }.items()
    for sign in signs
}
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&#39;": "'"}
_LONGEST = max(map(len, _ENTITIES))  # of what is not just a space
_HANGUL = "[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?"  # a syllable in its letters
_SPECIAL = rf"\s{{2,}}|\n[ \t]{{0,9}}(?:>[ \t]{{0,9}})+|{'|'.join(_ENTITIES)}|{_HANGUL}"


def find_phrase(page: Page, phrase: str, max_length: int, offset: int = 0) -> Page:
    """
    Find the places around *phrase* in a whole page.

    They appear in the order of the page, each with the sentences around it; places close together are merged. Marks
    between them are those of `pick_passages`. A note says how many places there are and how many are shown, and
    ``next_offset`` leads to the next ones. If there are none, the content is empty and a note says so.

    Args:
        page: The whole page.
        phrase: The text to find; case, accents, width, whitespace, emphasis and typographic signs do not matter.
        max_length: Most characters to return, including the marks.
        offset: Search the text that begins here, in characters.

    Raises:
        InvalidOption: *phrase* has nothing to search for, *max_length* is less than 1, or *offset* is negative.

    """
    check(max_length, offset)
    return by_phrase(page, phrase, offset, max_length)(max_length)


def by_phrase(page: Page, phrase: str, offset: int, about: int) -> Callable[[int], Page]:
    """
    Find *phrase*, once.

    Args:
        page: The whole page.
        phrase: The text to find.
        offset: Search the text that begins here.
        about: Roughly how many characters will fit.

    Returns:
        A function that takes the number of characters that fit and returns the page with the places.

    """
    source = Composer(page, offset, whole=max(_AROUND, about // 2))
    places = occurrences(page.content, phrase, offset)
    around = min(_AROUND, about // 6)
    sought = quote(phrase) + (f" from offset {offset} on" if offset else "")

    def first(count: int) -> Page:
        return source.excerpt([_context(source, start, end, around) for start, end in places[:count]])

    def cut(max_length: int) -> Page:
        if not places:
            return beyond(source.excerpt([])).with_notes(f"the page does not contain {sought}")
        count = _most(len(places), lambda count: first(count).content_length <= max_length)
        shown = first(count) if count else source.around(places[0][0], max_length)
        left = places[max(count, 1) :]
        part = f", the first {max(count, 1)} of them shown" if left else ""
        note = f"{quantity(len(places), 'place')} with {sought}{part}"
        return shown.model_copy(update={"next_offset": left[0][0] if left else None}).with_notes(note)

    return cut


def _context(source: Composer, start: int, end: int, around: int) -> Span:
    """
    Return the pieces that contain a place and those *around* it, within its section.

    They begin and end between pieces that are tied, so that no price of another thing is shown above or below.
    """
    pieces = source.pieces

    def continues(n: int) -> bool:
        return pieces[n].tied or not _heads(source, n)

    here, beyond = first, after = source.covering(start, end)
    while first > 0 and continues(first) and start - pieces[first - 1].start <= around:
        first -= 1
        here = first if here == first + 1 and pieces[here].tied else here
    while after < len(pieces) and continues(after) and pieces[after].end - end <= around:
        beyond = after + 1 if beyond == after and pieces[after].tied else beyond
        after += 1
    while first < here and pieces[first].tied:
        first += 1
    while beyond < after < len(pieces) and pieces[after].tied:
        after -= 1
    return Span(first, after)


def _heads(source: Composer, n: int) -> bool:
    return source.pieces[n].leads and source.pieces[n].frame is None


def _most(limit: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number, up to *limit*, that fits; 0 if not even one does."""
    low, high = 0, 1
    while high <= limit and fits(high):
        low, high = high, 2 * high
    high = min(high, limit + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def occurrences(text: str, phrase: str, offset: int = 0) -> list[tuple[int, int]]:
    """
    Return the start and end of each occurrence of *phrase* after *offset*.

    The text is searched as people see it, without link targets; if that finds nothing, as it is written.

    Raises:
        InvalidOption: *phrase* has nothing to search for.

    """
    wanted = Folded(phrase).form.strip()
    if not wanted:
        raise InvalidOption(f"find: {phrase!r} has nothing to search for")
    return Folded(text, offset, seen=True).places(wanted) or Folded(text, offset).places(wanted)


class Folded:
    """
    A text in the form used for comparing phrases, which knows where each of its characters came from.

    Args:
        text: The text.
        offset: Where to begin.
        seen: Leave out the targets of links.

    """

    def __init__(self, text: str, offset: int = 0, *, seen: bool = False) -> None:
        folds = {ord(character): _fold(character) for character in set(text)}
        uneven = "".join(chr(code) for code, form in folds.items() if len(form) != 1)
        special = re.compile("|".join([_SPECIAL, *_composed(text), *([f"[{re.escape(uneven)}]"] if uneven else [])]))
        hidden = _syntax(text, offset) if seen else []
        pieces: list[str] = []
        self._from: list[int] = []  # where each piece begins in the text
        self._to: list[int | None] = []  # where it ends, unless it has as many characters there
        self._at: list[int] = []  # where it begins in the form
        length = 0

        def add(form: str, start: int, end: int | None = None) -> None:
            nonlocal length
            if form[:1] == " " and pieces and pieces[-1].endswith(" "):
                form, start = form[1:], start + 1
            if form:
                pieces.append(form)
                self._from.append(start)
                self._to.append(end)
                self._at.append(length)
                length += len(form)

        position = offset
        for begin, end in [*hidden, (len(text), len(text))]:
            for found in special.finditer(text, position, begin):
                add(text[position : found.start()].translate(folds), position)
                for character in _fold(found[0][:_LONGEST]):
                    add(character, *found.span())
                position = found.end()
            add(text[position:begin].translate(folds), position)
            position = end
        self.form = "".join(pieces)

    def places(self, wanted: str) -> list[tuple[int, int]]:
        """Return the start and end of each occurrence of *wanted* in the text."""
        found = []
        place = self.form.find(wanted)
        while place >= 0:
            found.append((self._origin(place)[0], self._origin(place + len(wanted) - 1)[1]))
            place = self.form.find(wanted, place + len(wanted))
        return found

    def _origin(self, place: int) -> tuple[int, int]:
        """Return where the text of a character of the form begins and ends."""
        n = bisect_right(self._at, place) - 1
        end = self._to[n]
        start = self._from[n] + (0 if end else place - self._at[n])
        return start, end or start + 1


@lru_cache(maxsize=32_768)
def _fold(text: str) -> str:
    """Fold a character, or what stands for one."""
    if text[0].isspace():
        return " "
    if text in _MARKS or unicodedata.category(text[0]) == "Cf":  # a soft hyphen, say
        return ""
    return _TYPED.get(text) or fold(_ENTITIES.get(text, text)).replace("⁄", "/")  # noqa: RUF001 - of a fraction


def _composed(text: str) -> list[str]:
    """Return the letters of *text* that are written as two characters, a base and a mark."""
    signs = set(text)
    marks = [sign for sign in signs if unicodedata.category(sign)[0] == "M" and fold(sign)]
    return [base + mark for mark in marks for base in signs if len(unicodedata.normalize("NFC", base + mark)) == 1]


def _syntax(text: str, offset: int) -> list[tuple[int, int]]:
    """Return where the brackets and the targets of links are, which code blocks have none of."""
    hidden: list[tuple[int, int]] = []
    code = find_fences(text)
    for link in LINK.finditer(text, offset):
        if (n := bisect_right(code, (link.start(), len(text)))) and link.start() < code[n - 1][1]:
            continue
        hidden += [(link.start(), link.start() + 1), (text.rindex("](", *link.span()), link.end())]
    return hidden
