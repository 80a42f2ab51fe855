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
        self.page = page
        self.offset = offset
        self.main = page.content[offset:]
        self.text = join_rest(page)
        self._whole = whole

    @cached_property
    def pieces(self) -> list[Piece]:
        """The pieces of the text, found when they are needed."""
        main = self.page.content
        rest = self.page.rest
        whole = tie(main, pieces(main, self._whole))
        if rest:
            shift = len(self.text) - len(rest)
            # Its paragraphs have all that stands together: to tie them would join
            # neighbours.
            beside = [_shifted(piece, shift) for piece in pieces(rest, self._whole)]
            if beside:
                beside[0] = beside[0]._replace(start=len(main))
            whole += beside
        first = bisect_right(whole, self.offset, key=lambda piece: piece.end)
        parts = whole[first:]
        if parts and parts[0].start < self.offset:
            parts[0] = parts[0]._replace(start=self.offset)
        return parts

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

        def begins(n: int, piece: Piece) -> bool:
            if n > self.beside:
                return self.text.endswith("\n\n", 0, piece.start)
            if n == self.beside:
                return True
            return piece.leads and piece.frame is None and not piece.tied

        return [n for n, piece in enumerate(self.pieces) if begins(n, piece)]

    def covering(self, start: int, end: int) -> Span:
        """Return the pieces that contain the characters from *start* to *end*."""
        first = bisect_right(self.cuts, start) - 1
        return Span(first, max(first + 1, bisect_left(self.cuts, end)))

    def excerpt(self, runs: Sequence[Span]) -> Page:
        """Return the page with only *runs* of its pieces as content, in the order of
        the page.
        """
        runs = self._joined(runs)
        complete = not self.main.strip()
        if runs:
            complete = runs[0].first == 0 and runs[0].after >= self.beside
        content = "\n\n".join(self._lines(runs))
        return self._page(content, map(self._passage, runs), complete=complete)

    def everything(self, *, telling: bool) -> Page:
        """Return the page with all its text; *telling* says whether the text has what
        was asked for.
        """
        whole = Passage(offset=self.offset, length=len(self.main))
        passages = [whole] if telling else []
        return self._page(self.main, passages, complete=True)

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

    def _page(
        self, content: str, passages: Iterable[Passage], *, complete: bool
    ) -> Page:
        facts = {
            "offset": self.offset,
            "rest": "",
            "next_offset": None,
            "passages": tuple(passages),
        }
        return show(
            self.page, content, truncated=self.page.truncated or not complete, **facts
        )

    def _joined(self, runs: Sequence[Span]) -> list[Span]:
        """Return *runs*, which may overlap, in order; join those with less text between
        them than a mark would take.
        """
        joined: list[Span] = []
        for run in sorted(runs):
            if joined and self._are_near(joined[-1], run):
                last = joined[-1]
                joined[-1] = last._replace(after=max(last.after, run.after))
            else:
                joined.append(run)
        return joined

    def _are_near(self, run: Span, other: Span) -> bool:
        """Return whether so little text is between a run and a later one that a mark
        would be longer, and both are in the main text, or outside it.
        """
        if run.first < self.beside <= other.first:
            return False
        return self.cuts[other.first] - self.cuts[run.after] <= _MIN_MARK_LENGTH

    def _passage(self, run: Span) -> Passage:
        start, text = self._bare(run)
        return Passage(
            offset=start, length=len(text), headings=self.pieces[run.first].headings
        )

    def _bare(self, run: Span) -> tuple[int, str]:
        """Return where the text of *run* begins, and the text without surrounding blank
        lines.
        """
        start = self.pieces[run.first].start
        end = self.pieces[run.after - 1].end
        text = self.text[start:end]
        bare = text.lstrip("\n")
        return start + len(text) - len(bare), bare.rstrip()

    def _lines(self, runs: Sequence[Span]) -> Iterator[str]:
        at = self.offset
        under: tuple[str, ...] = ()
        for run in runs:
            first = self.pieces[run.first]
            last = self.pieces[run.after - 1]
            start, text = self._bare(run)
            if first.start >= len(self.page.content) >= at:
                yield from self._end(at)
                at = first.start
                yield f"[... {OUTSIDE}; offset {start}{_path(first)} ...]"
            elif first.start > at:
                path = "" if first.headings == under else _path(first)
                yield (
                    f"[... {first.start - at:,} characters left out; offset "
                    f"{start}{path} ...]"
                )
            yield f"{_opening_of(first)}{text}{_closing_of(last)}"
            at = last.end
            under = last.headings
        if runs:
            yield from self._end(at)

    def _end(self, at: int) -> Iterator[str]:
        """Yield the mark for the main text from *at* on, which is left out."""
        if at < len(self.page.content):
            yield f"[... {len(self.page.content) - at:,} characters left out ...]"


def _opening_of(piece: Piece) -> str:
    """Return what opens the block that a piece is a later part of."""
    if piece.frame is None or piece.start <= piece.frame.start:
        return ""
    return piece.frame.opening


def _closing_of(piece: Piece) -> str:
    """Return what closes the block that a piece is an earlier part of."""
    frame = piece.frame
    if frame is None or piece.end >= frame.end:
        return ""
    return f"\n{frame.closing}" if frame.closing else ""


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
