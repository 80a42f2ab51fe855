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
from collections.abc import Iterator, Sequence
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

    A code block of at most *whole* characters is never divided. *marks_offsets* says
    whether the marks say where each part begins.
    """

    def __init__(
        self,
        page: Page,
        offset: int,
        whole: int,
        *,
        marks_offsets: bool = True,
    ) -> None:
        check(1, offset)
        self.page = page
        self.offset = offset
        self.main = page.content[offset:]
        self.text = join_rest(page)
        self._whole = whole
        self._marks_offsets = marks_offsets

    @cached_property
    def pieces(self) -> list[Piece]:
        """The pieces of the text, found when they are needed."""
        main = self.page.content
        all_pieces = tie(main, pieces(main, self._whole))
        all_pieces += self._pieces_beside()
        first = bisect_right(all_pieces, self.offset, key=lambda piece: piece.end)
        del all_pieces[:first]
        if all_pieces and all_pieces[0].start < self.offset:
            all_pieces[0] = all_pieces[0]._replace(start=self.offset)
        return all_pieces

    def _pieces_beside(self) -> list[Piece]:
        """Return the pieces outside the main text.

        A paragraph there has all that stands together: to tie pieces would join
        neighbours.
        """
        rest = self.page.rest
        shift = len(self.text) - len(rest)
        beside: list[Piece] = []
        for piece in pieces(rest, self._whole):
            beside.append(_shifted(piece, shift))
        if beside:
            end = len(self.page.content)
            beside[0] = beside[0]._replace(start=end)
        return beside

    @cached_property
    def cuts(self) -> list[int]:
        """Where the pieces begin, and where the last one ends."""
        cuts = [piece.start for piece in self.pieces]
        cuts.append(len(self.text))
        return cuts

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
        return [n for n in range(len(self.pieces)) if self._begins_section(n)]

    def _begins_section(self, n: int) -> bool:
        piece = self.pieces[n]
        if n > self.beside:
            return self.text.endswith("\n\n", 0, piece.start)
        if n == self.beside:
            return True
        return piece.leads and piece.frame is None and not piece.tied

    def covering(self, start: int, end: int) -> Span:
        """Return the pieces that contain the characters from *start* to *end*."""
        first = bisect_right(self.cuts, start) - 1
        after = bisect_left(self.cuts, end)
        return Span(first, max(first + 1, after))

    def excerpt(self, runs: Sequence[Span]) -> Page:
        """Return the page with only *runs* of its pieces as content, in the order of
        the page.
        """
        runs = self._joined(runs)
        complete = not self.main.strip()
        if runs:
            first = runs[0]
            complete = first.first == 0 and first.after >= self.beside
        content = "\n\n".join(self._lines(runs))
        passages = [self._passage(run) for run in runs]
        return self._page(content, passages, complete=complete)

    def everything(self, *, telling: bool) -> Page:
        """Return the page with all its text; *telling* says whether the text has what
        was asked for.
        """
        passages: list[Passage] = []
        if telling:
            whole = Passage(offset=self.offset, length=len(self.main))
            passages.append(whole)
        return self._page(self.main, passages, complete=True)

    def around(self, place: int, max_length: int) -> Page:
        """Return the text around *place* without marks, for when not even one piece
        fits.
        """
        span = self.covering(place, place + 1)
        first = self.pieces[span.first]
        start = max(first.start, place - max_length // 4)
        page = self.page
        if start >= len(page.content):
            page = page.model_copy(update={"content": self.text})
        cut = cut_window(page, max_length, start)
        passage = Passage(
            offset=start,
            length=cut.content_length,
            headings=first.headings,
        )
        return self._page(cut.content, [passage], complete=False)

    def _page(
        self,
        content: str,
        passages: Sequence[Passage],
        *,
        complete: bool,
    ) -> Page:
        return show(
            self.page,
            content,
            offset=self.offset,
            rest="",
            next_offset=None,
            passages=tuple(passages),
            truncated=self.page.truncated or not complete,
        )

    def _joined(self, runs: Sequence[Span]) -> list[Span]:
        """Return *runs*, which may overlap, in order; join those with less text between
        them than a mark would take.
        """
        joined: list[Span] = []
        for run in sorted(runs):
            if not joined or not self._are_near(joined[-1], run):
                joined.append(run)
                continue
            last = joined[-1]
            after = max(last.after, run.after)
            joined[-1] = last._replace(after=after)
        return joined

    def _are_near(self, run: Span, other: Span) -> bool:
        """Return whether so little text is between a run and a later one that a mark
        would be longer, and both are in the main text, or outside it.
        """
        if run.first < self.beside <= other.first:
            return False
        between = self.cuts[other.first] - self.cuts[run.after]
        return between <= _MIN_MARK_LENGTH

    def _passage(self, run: Span) -> Passage:
        start, text = self._bare(run)
        return Passage(
            offset=start,
            length=len(text),
            headings=self.pieces[run.first].headings,
        )

    def _bare(self, run: Span) -> tuple[int, str]:
        """Return where the text of *run* begins, and the text without surrounding blank
        lines.
        """
        text = self.text_of(run)
        bare = text.lstrip("\n")
        blank = len(text) - len(bare)
        return self.cuts[run.first] + blank, bare.rstrip()

    def text_of(self, run: Span) -> str:
        """Return the text of *run*, with the blank lines around it."""
        start = self.cuts[run.first]
        end = self.cuts[run.after]
        return self.text[start:end]

    def _lines(self, runs: Sequence[Span]) -> Iterator[str]:
        shown_to = self.offset  # where the text that is shown so far ends
        under: tuple[str, ...] = ()  # the headings above that end
        for run in runs:
            first = self.pieces[run.first]
            last = self.pieces[run.after - 1]
            start, text = self._bare(run)
            place = ""
            if self._marks_offsets:
                place = f"; offset {start}"
            if first.start >= len(self.page.content) >= shown_to:
                yield from self._end(shown_to)
                yield f"[... {OUTSIDE}{place}{_path(first)} ...]"
            elif first.start > shown_to:
                size = first.start - shown_to
                path = ""
                if first.headings != under:
                    path = _path(first)
                yield f"[... {size:,} characters left out{place}{path} ...]"
            yield f"{_opening_of(first)}{text}{_closing_of(last)}"
            shown_to = last.end
            under = last.headings
        if runs:
            yield from self._end(shown_to)

    def _end(self, shown_to: int) -> Iterator[str]:
        """Yield the mark for the main text that is left out at its end."""
        size = len(self.page.content) - shown_to
        if size > 0:
            yield f"[... {size:,} characters left out ...]"


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
    if not frame.closing:
        return ""
    return f"\n{frame.closing}"


def _shifted(piece: Piece, by: int) -> Piece:
    """Return *piece* as it is in a text that begins *by* so many characters earlier."""
    start = piece.start + by
    end = piece.end + by
    frame = piece.frame
    if frame is not None:
        frame = frame._replace(start=frame.start + by, end=frame.end + by)
    return piece._replace(start=start, end=end, frame=frame)


def _path(piece: Piece) -> str:
    """Return the headings above a piece, for a mark."""
    if not piece.headings:
        return ""
    return f": {' > '.join(piece.headings)}"


def quote(words: str) -> str:
    """Quote *words* for a note."""
    return repr(one_line(words, _MAX_QUOTE_LENGTH))
