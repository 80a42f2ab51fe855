"""
Compose an excerpt: parts of a page in order, with marks that say what is left out and where each part begins.

::

    [... 3,200 characters left out; offset 3200: Installing > Linux ...]

    Add the repository, then install the package.

    [... 840 characters left out ...]
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from ..._text.invisible import one_line
from ...models import Page, Passage
from .pieces import Piece, Span, pieces
from .ties import tie
from .window import check, cut_window

_MAX_QUOTE_LENGTH = 80  # characters
_MIN_MARK_LENGTH = len("\n\n[... 50 characters left out; offset 0 ...]\n\n")


class Composer:
    """
    Composes excerpts of a whole page, of its text from *offset* on, which must not be negative.

    A code block of at most *whole* characters is never divided.
    """

    def __init__(self, page: Page, offset: int, whole: int) -> None:
        check(1, offset)
        self.page, self.offset = page, offset
        self.text = page.content[offset:]
        self._whole = whole

    @cached_property
    def pieces(self) -> list[Piece]:
        """The pieces of the text, found when they are needed."""
        found = tie(self.page.content, pieces(self.page.content, self._whole))
        found = found[bisect_right(found, self.offset, key=lambda piece: piece.end) :]
        if found and found[0].start < self.offset:
            found[0] = found[0]._replace(start=self.offset)
        return found

    @cached_property
    def cuts(self) -> list[int]:
        """Where the pieces begin, and where the last one ends."""
        return [*(piece.start for piece in self.pieces), len(self.page.content)]

    @cached_property
    def sections(self) -> list[int]:
        """The numbers of the pieces that are headings and do not belong to what is before them."""
        return [n for n, one in enumerate(self.pieces) if one.leads and one.frame is None and not one.tied]

    def covering(self, start: int, end: int) -> Span:
        """Return the pieces that contain the characters from *start* to *end*."""
        first = bisect_right(self.cuts, start) - 1
        return Span(first, max(first + 1, bisect_left(self.cuts, end)))

    def excerpt(self, runs: Sequence[Span]) -> Page:
        """Return the page with only *runs* of its pieces as content, in the order of the page."""
        runs = self._joined(runs)
        complete = runs == [Span(0, len(self.pieces))] if runs else not self.text.strip()
        return self._page("\n\n".join(self._lines(runs)), map(self._passage, runs), complete=complete)

    def everything(self, *, telling: bool) -> Page:
        """Return the page with all its text; *telling* says whether the text has what was asked for."""
        whole = Passage(offset=self.offset, length=len(self.text))
        return self._page(self.text, [whole] if telling else [], complete=True)

    def around(self, place: int, max_length: int) -> Page:
        """Return the text around *place* without marks, for when not even one piece fits."""
        first = self.pieces[self.covering(place, place + 1).first]
        start = max(first.start, place - max_length // 4)
        cut = cut_window(self.page, max_length, start)
        passage = Passage(offset=start, length=cut.content_length, headings=first.headings)
        return self._page(cut.content, [passage], complete=False)

    def _page(self, content: str, shown: Iterable[Passage], *, complete: bool) -> Page:
        return self.page.model_copy(
            update={
                "content": content,
                "content_length": len(content),
                "original_length": len(self.page.content),
                "offset": self.offset,
                "truncated": self.page.truncated or not complete,
                "next_offset": None,
                "passages": tuple(shown),
            }
        )

    def _joined(self, runs: Sequence[Span]) -> list[Span]:
        """Return *runs*, which may overlap, in order; join those with less text between them than a mark would take."""
        found: list[Span] = []
        cuts, first, after = (self.cuts, *min(runs)) if runs else ([], 0, 0)
        for run in sorted(runs):
            if cuts[run[0]] - cuts[after] <= _MIN_MARK_LENGTH:
                after = max(after, run[1])
            else:
                found.append(Span(first, after))
                first, after = run
        return [*found, Span(first, after)] if runs else []

    def _passage(self, run: Span) -> Passage:
        start, text = self._bare(run)
        return Passage(offset=start, length=len(text), headings=self.pieces[run.first].headings)

    def _bare(self, run: Span) -> tuple[int, str]:
        """Return where the text of *run* begins, and the text without surrounding blank lines."""
        start, end = self.pieces[run.first].start, self.pieces[run.after - 1].end
        text = self.page.content[start:end]
        bare = text.lstrip("\n")
        return start + len(text) - len(bare), bare.rstrip()

    def _lines(self, runs: Sequence[Span]) -> Iterator[str]:
        at, under = self.offset, tuple[str, ...]()
        for run in runs:
            first, last = self.pieces[run.first], self.pieces[run.after - 1]
            start, text = self._bare(run)
            if first.start > at:
                path = "" if first.headings == under else f": {' > '.join(first.headings)}".removesuffix(": ")
                yield f"[... {first.start - at:,} characters left out; offset {start}{path} ...]"
            opening = first.frame.opening if first.frame and first.start > first.frame.start else ""
            closing = (
                f"\n{last.frame.closing}" if last.frame and last.frame.closing and last.end < last.frame.end else ""
            )
            yield f"{opening}{text}{closing}"
            at, under = last.end, last.headings
        if runs and at < len(self.page.content):
            yield f"[... {len(self.page.content) - at:,} characters left out ...]"


def quote(words: str) -> str:
    """Quote *words* for a note."""
    return repr(one_line(words, _MAX_QUOTE_LENGTH))
