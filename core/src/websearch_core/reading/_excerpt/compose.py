"""Compose an excerpt: parts of a page in order, with marks that say what is left out
and where each part begins.

::

    [... 3,200 characters left out; offset 3200: Installing > Linux ...]

    Add the repository, then install the package.

    [... 840 characters left out ...]

    [... outside the main text of the page; offset 9120 ...]

    Starter: $12 a month
"""

from __future__ import annotations
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from ..._text.invisible import one_line
from ...models import Page, Passage
from .pieces import Piece, Span, pieces, tie
from .window import OUTSIDE, check, cut_window, join_rest, show

_MAX_QUOTE_LENGTH = 80  # characters
_MIN_MARK_LENGTH = len("\n\n[... 50 characters left out; offset 0 ...]\n\n")


class Composer:
    """Composes excerpts of a whole page, of its text from *offset* on, which must not
    be negative, and of its ``rest``.

    A code block of at most *whole* characters is never divided.
    """

    def __init__(self, page: Page, offset: int, whole: int) -> None:
        check(1, offset)
        self.page, self.offset = page, offset
        self.main = page.content[offset:]
        self.text = join_rest(page)
        self._whole = whole

    @cached_property
    def pieces(self) -> list[Piece]:
        """The pieces of the text, found when they are needed."""
        main, rest = self.page.content, self.page.rest
        found = tie(main, pieces(main, self._whole))
        if rest:
            shift = len(self.text) - len(rest)
            # Its paragraphs have all that stands together: to tie them would join
            # neighbours.
            beside = [_shifted(piece, shift) for piece in pieces(rest, self._whole)]
            found += [piece._replace(start=len(main)) for piece in beside[:1]] + beside[
                1:
            ]
        found = found[bisect_right(found, self.offset, key=lambda piece: piece.end) :]
        if found and found[0].start < self.offset:
            found[0] = found[0]._replace(start=self.offset)
        return found

    @cached_property
    def cuts(self) -> list[int]:
        """Where the pieces begin, and where the last one ends."""
        return [*(piece.start for piece in self.pieces), len(self.text)]

    @cached_property
    def beside(self) -> int:
        """The number of the first piece outside the main text."""
        return bisect_left(
            self.pieces, len(self.page.content), key=lambda piece: piece.start
        )

    @cached_property
    def sections(self) -> list[int]:
        """The numbers of the pieces that begin a section: headings of their own;
        outside the main text, paragraphs.
        """

        def begins(n: int, one: Piece) -> bool:
            if n > self.beside:
                return self.text.endswith("\n\n", 0, one.start)
            return n == self.beside or (
                one.leads and one.frame is None and not one.tied
            )

        return [n for n, one in enumerate(self.pieces) if begins(n, one)]

    def covering(self, start: int, end: int) -> Span:
        """Return the pieces that contain the characters from *start* to *end*."""
        first = bisect_right(self.cuts, start) - 1
        return Span(first, max(first + 1, bisect_left(self.cuts, end)))

    def excerpt(self, runs: Sequence[Span]) -> Page:
        """Return the page with only *runs* of its pieces as content, in the order of
        the page.
        """
        runs = self._joined(runs)
        complete = (
            (runs[0].first == 0 and runs[0].after >= self.beside)
            if runs
            else not self.main.strip()
        )
        return self._page(
            "\n\n".join(self._lines(runs)), map(self._passage, runs), complete=complete
        )

    def everything(self, *, telling: bool) -> Page:
        """Return the page with all its text; *telling* says whether the text has what
        was asked for.
        """
        whole = Passage(offset=self.offset, length=len(self.main))
        return self._page(self.main, [whole] if telling else [], complete=True)

    def around(self, place: int, max_length: int) -> Page:
        """Return the text around *place* without marks, for when not even one piece
        fits.
        """
        first = self.pieces[self.covering(place, place + 1).first]
        start = max(first.start, place - max_length // 4)
        text = self.text if start >= len(self.page.content) else self.page.content
        cut = cut_window(
            self.page.model_copy(update={"content": text}), max_length, start
        )
        passage = Passage(
            offset=start, length=cut.content_length, headings=first.headings
        )
        return self._page(cut.content, [passage], complete=False)

    def _page(self, content: str, shown: Iterable[Passage], *, complete: bool) -> Page:
        facts = {
            "offset": self.offset,
            "rest": "",
            "next_offset": None,
            "passages": tuple(shown),
        }
        return show(
            self.page, content, truncated=self.page.truncated or not complete, **facts
        )

    def _joined(self, runs: Sequence[Span]) -> list[Span]:
        """Return *runs*, which may overlap, in order; join those with less text between
        them than a mark would take.
        """
        found: list[Span] = []
        cuts, first, after = (self.cuts, *min(runs)) if runs else ([], 0, 0)
        for run in sorted(runs):
            if (
                cuts[run[0]] - cuts[after] <= _MIN_MARK_LENGTH
                and not first < self.beside <= run[0]
            ):
                after = max(after, run[1])
            else:
                found.append(Span(first, after))
                first, after = run
        return [*found, Span(first, after)] if runs else []

    def _passage(self, run: Span) -> Passage:
        start, text = self._bare(run)
        return Passage(
            offset=start, length=len(text), headings=self.pieces[run.first].headings
        )

    def _bare(self, run: Span) -> tuple[int, str]:
        """Return where the text of *run* begins, and the text without surrounding blank
        lines.
        """
        start, end = self.pieces[run.first].start, self.pieces[run.after - 1].end
        text = self.text[start:end]
        bare = text.lstrip("\n")
        return start + len(text) - len(bare), bare.rstrip()

    def _lines(self, runs: Sequence[Span]) -> Iterator[str]:
        at, under = self.offset, tuple[str, ...]()
        for run in runs:
            first, last = self.pieces[run.first], self.pieces[run.after - 1]
            start, text = self._bare(run)
            if first.start >= len(self.page.content) >= at:
                yield from self._end(at)
                at, under = first.start, ()
                yield f"[... {OUTSIDE}; offset {start}{_path(first)} ...]"
            elif first.start > at:
                path = "" if first.headings == under else _path(first)
                yield (
                    f"[... {first.start - at:,} characters left out; offset "
                    f"{start}{path} ...]"
                )
            opening = (
                first.frame.opening
                if first.frame and first.start > first.frame.start
                else ""
            )
            closing = (
                f"\n{last.frame.closing}"
                if last.frame and last.frame.closing and last.end < last.frame.end
                else ""
            )
            yield f"{opening}{text}{closing}"
            at, under = last.end, last.headings
        if runs:
            yield from self._end(at)

    def _end(self, at: int) -> Iterator[str]:
        """Yield the mark for the main text from *at* on, which is left out."""
        if at < len(self.page.content):
            yield f"[... {len(self.page.content) - at:,} characters left out ...]"


def _shifted(piece: Piece, by: int) -> Piece:
    frame = piece.frame and replace(
        piece.frame, start=piece.frame.start + by, end=piece.frame.end + by
    )
    return piece._replace(start=piece.start + by, end=piece.end + by, frame=frame)


def _path(piece: Piece) -> str:
    return f": {' > '.join(piece.headings)}".removesuffix(": ")


def quote(words: str) -> str:
    """Quote *words* for a note."""
    return repr(one_line(words, _MAX_QUOTE_LENGTH))
