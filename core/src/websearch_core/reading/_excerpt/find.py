"""Find a phrase in a page as a person would.

Case, accents, whitespace, emphasis and links do not matter, nor typographic
apostrophes, quotation marks and dashes.
"""

from __future__ import annotations
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from ..._text.quantity import quantity
from ..._text.terms import fold
from ...errors import InvalidOption
from ...models import Page
from .._markdown.fences import find_fences, span_at
from .compose import Composer, quote
from .pieces import Span
from .window import LINK, Cut, Part, beyond

_AROUND = 300  # characters shown before and after a place, extended to whole sentences
_MARKS = "*`\\"  # of Markdown, within a line
# What people type for what typesetters set; NFKD knows none of these.
_TYPED = {
    **dict.fromkeys("‘’‚‛‹›′ʻʼ´", "'"),  # noqa: RUF001
    **dict.fromkeys("“”„‟«»″", '"'),
    **dict.fromkeys("‐‑‒–—―⁃−", "-"),  # noqa: RUF001
}
_ENTITIES = {
    "&lt;": "<",
    "&gt;": ">",
    "&amp;": "&",
    "&quot;": '"',
    "&#39;": "'",
}
_LONGEST = max(map(len, _ENTITIES))  # of what is not just a space
_HANGUL = "[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?"  # a syllable in its letters
_SPECIAL = rf"\s{{2,}}|\n[ \t]{{0,9}}(?:>[ \t]{{0,9}})+|{'|'.join(_ENTITIES)}|{_HANGUL}"


def by_phrase(
    page: Page,
    phrase: str,
    offset: int,
    about: int,
) -> Cut:
    """Find the places around *phrase* in a whole page from *offset* on, once, when
    *about* so many characters will fit.

    Returns a function that takes the number of characters that fit, marks included, and
    returns the page with the places, in its order, each with the sentences around it;
    places close together are merged. Marks between them are those of `by_query`. A note
    says how many places there are and how many are shown, and ``next_offset`` leads to
    the next ones. If there are none, the content is empty and a note says so.
    """
    return _Places(page, phrase, offset, about).cut


class _Places:
    """The places of *phrase* in a page, with the sentences around each."""

    def __init__(
        self,
        page: Page,
        phrase: str,
        offset: int,
        about: int,
    ) -> None:
        self._source = Composer(page, offset, whole=max(_AROUND, about // 2))
        self._places = occurrences(self._source.text, phrase, offset)
        self._around = min(_AROUND, about // 6)
        self._sought = quote(phrase)
        if offset:
            self._sought += f" from offset {offset} on"
        self._contexts: list[Span] = []  # of the first places

    def cut(self, max_length: int) -> Page:
        """Return the first places that fit into so many characters."""
        source = self._source
        total = len(self._places)
        if not total:
            empty = beyond(source.excerpt([]))
            return empty.with_notes(f"the page does not contain {self._sought}")

        def fits(count: int) -> bool:
            return self._first(count).content_length <= max_length

        count = _most(total, fits)
        if count:
            excerpt = self._first(count)
        else:
            start, _ = self._places[0]
            excerpt = source.around(start, max_length)
            count = 1
        note = f"{quantity(total, 'place')} with {self._sought}"
        if count == total:
            return excerpt.with_notes(note)
        next_offset, _ = self._places[count]
        excerpt = excerpt.model_copy(update={"next_offset": next_offset})
        return excerpt.with_notes(f"{note}, the first {count} of them shown")

    def _first(self, count: int) -> Page:
        """Return the page with its first places."""
        for n in range(len(self._contexts), count):
            start, end = self._places[n]
            context = _context(self._source, start, end, self._around)
            self._contexts.append(context)
        return self._source.excerpt(self._contexts[:count])


# Before the last step; a piece in brackets is tied to the one before it:
#
#    section            place                       section
#    |    first         here    beyond      after   |
#    a    b    [c]   d  [e]  [f]  g   h   [i]   j   k
#
# "here" goes back to d and "beyond" is g, where no tied piece is cut off; then "first"
# goes on and "after" goes back while the piece there is tied.
def _context(
    source: Composer,
    start: int,
    end: int,
    around: int,
) -> Span:
    """Return the pieces that contain a place and those *around* it, within its section.

    They begin and end between pieces that are tied, so that no price of another thing
    is shown above or below.
    """
    pieces = source.pieces
    here, beyond = source.covering(start, end)
    section = _section(source, here, beyond)
    first = bisect_left(source.cuts, start - around)
    first = min(here, max(section.first, first))
    after = bisect_right(source.cuts, end + around) - 1
    after = max(beyond, min(section.after, after))
    while here > first and pieces[here].tied:
        here -= 1
    while beyond < after and pieces[beyond].tied:
        beyond += 1
    while first < here and pieces[first].tied:
        first += 1
    while beyond < after < len(pieces) and pieces[after].tied:
        after -= 1
    return Span(first, after)


def _section(source: Composer, first: int, after: int) -> Span:
    """Return the section that the pieces from *first* to *after* are in."""
    sections = source.sections
    above = bisect_right(sections, first)
    below = bisect_left(sections, after)
    begin = 0
    if above:
        begin = sections[above - 1]
    stop = len(source.pieces)
    if below < len(sections):
        stop = sections[below]
    return Span(begin, stop)


def _most(limit: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number, up to *limit*, that fits; 0 if not even one does."""
    low = 0
    high = 1
    while high <= limit and fits(high):
        low = high
        high = 2 * high
    high = min(high, limit + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low


def occurrences(text: str, phrase: str, offset: int = 0) -> Occurrences:
    """Return the occurrences of *phrase* after *offset*; refuse one that has nothing to
    search for.

    The text is searched as people see it, without link targets; if that finds nothing,
    as it is written.
    """
    form = Folded(phrase).form.strip()
    if not form:
        raise InvalidOption(f"find: {phrase!r} has nothing to search for")
    places = Occurrences(Folded(text, offset, seen=True), form)
    if len(places) or "](" not in text:
        return places
    return Occurrences(Folded(text, offset), form)


class Occurrences:
    """Where a phrase occurs in a text; what a page repeats a million times is not
    traced until it is asked for.
    """

    def __init__(self, text: Folded, form: str) -> None:
        self._text = text
        self._length = len(form)
        pattern = re.escape(form)
        matches = re.finditer(pattern, text.form)
        self._starts = [match.start() for match in matches]

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, n: int) -> Part:
        """Return the start and the end of an occurrence."""
        return self._text.origin(self._starts[n], self._length)


class Folded:
    """A text from *offset* on in the form for comparing phrases, which knows where each
    of its characters came from.

    If *seen*, the targets of links are left out.
    """

    def __init__(
        self,
        text: str,
        offset: int = 0,
        *,
        seen: bool = False,
    ) -> None:
        signs = set(text)
        folds = {ord(sign): _fold(sign) for sign in signs}
        special = _special_of(text, folds)
        hidden: list[Part] = []
        if seen:
            hidden = _syntax(text, offset)
        hidden.append((len(text), len(text)))
        self._pieces: list[str] = []
        self._from: list[int] = []  # where each piece begins in the text
        # where it ends, unless it has as many characters there
        self._to: list[int | None] = []
        self._at: list[int] = []  # where it begins in the form
        self._length = 0  # of the form
        position = offset
        for begin, end in hidden:
            for match in special.finditer(text, position, begin):
                start, after = match.span()
                if start > position:
                    self._add(text[position:start].translate(folds), position)
                position = after
                if match.lastindex:
                    continue
                for character in _fold(match[0][:_LONGEST]):
                    self._add(character, start, after)
            self._add(text[position:begin].translate(folds), position)
            position = end
        self.form = "".join(self._pieces)

    def _add(
        self,
        form: str,
        start: int,
        end: int | None = None,
    ) -> None:
        """Add the *form* of the text from *start* to *end*; one space after another is
        left out.
        """
        pieces = self._pieces
        if pieces and form.startswith(" "):
            before = pieces[-1]
            if before.endswith(" "):
                form = form[1:]
                start += 1
        if not form:
            return
        pieces.append(form)
        self._from.append(start)
        self._to.append(end)
        self._at.append(self._length)
        self._length += len(form)

    def origin(self, place: int, length: int) -> Part:
        """Return where a part of the form begins and ends in the text."""
        start, _ = self._origin(place)
        _, end = self._origin(place + length - 1)
        return start, end

    def _origin(self, place: int) -> Part:
        """Return where the text of a character of the form begins and ends."""
        n = bisect_right(self._at, place) - 1
        start = self._from[n]
        end = self._to[n]
        if end:
            return start, end
        start += place - self._at[n]
        return start, start + 1


def _special_of(text: str, folds: Mapping[int, str]) -> re.Pattern[str]:
    """Return the pattern of what does not become one character; a group has what is
    left out. *folds* has the form of each character of the text.
    """
    marks = [code for code in folds if _is_mark(chr(code))]
    parts = [_SPECIAL, *_composed(text, marks)]
    long = [code for code, form in folds.items() if len(form) > 1]
    if long:
        parts.append(_one_of(long))
    gone = [code for code, form in folds.items() if not form]
    if gone:
        parts.append(f"({_one_of(gone)}++)")
    return re.compile("|".join(parts))


@lru_cache(maxsize=32_768)
def _fold(text: str) -> str:
    """Fold a character, or what stands for one."""
    if text[0].isspace():
        return " "
    if text in _MARKS:
        return ""
    if unicodedata.category(text[0]) == "Cf":  # a soft hyphen, say
        return ""
    if text in _TYPED:
        return _TYPED[text]
    form = fold(_ENTITIES.get(text, text))
    return form.replace("⁄", "/")  # noqa: RUF001 - of a fraction


def _is_mark(sign: str) -> bool:
    """Return whether a sign goes on the one before it, and counts in a search."""
    if unicodedata.category(sign)[0] != "M":
        return False
    return bool(fold(sign))


def _composed(text: str, marks: Sequence[int]) -> list[str]:
    """Return patterns for the letters that *text* writes as two signs, a base and one
    of the *marks*: one pattern for each base.
    """
    if not marks:
        return []
    signs = set(map(chr, marks))
    pairs = {base + sign for base, sign in pairwise(text) if sign in signs}
    letters: defaultdict[str, list[int]] = defaultdict(list)
    for pair in pairs:
        if len(unicodedata.normalize("NFC", pair)) == 1:
            letters[pair[0]].append(ord(pair[1]))
    patterns: list[str] = []
    for base, signs_after in letters.items():
        patterns.append(re.escape(base) + _one_of(signs_after))
    return patterns


def _one_of(codes: Iterable[int]) -> str:
    """Return a pattern for one of some characters, in as few ranges as they need: `re`
    tries one range after another where there are rare characters.
    """
    ranges: list[list[int]] = []
    for code in sorted(codes):
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    inside = "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)
    return f"[{inside}]"


def _syntax(text: str, offset: int) -> list[Part]:
    """Return where the brackets and the targets of links are, which code blocks have
    none of.
    """
    hidden: list[Part] = []
    code = find_fences(text)
    for link in LINK.finditer(text, offset):
        start, end = link.span()
        if span_at(code, start) is not None:
            continue
        target = text.rindex("](", start, end)
        hidden.append((start, start + 1))
        hidden.append((target, end))
    return hidden
