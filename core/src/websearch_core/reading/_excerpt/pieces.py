"""Divide Markdown into the smallest parts that are shown whole: sentences, items, rows,
code blocks.
"""

from __future__ import annotations
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..._text.money import AMOUNT
from ..._text.sentences import SENTENCE_END
from .._markdown.fences import find_fences, span_at
from .window import LINK, Part, plain_title, without_targets

_MAX_LENGTH = 600  # characters of a sentence; a longer one is divided between words
_ALONE = {"heading", "item"}  # each line is a block
_HEADING = re.compile(r"#{1,6}[ \t]")
_ITEM = re.compile(r"[ \t>]{0,60}(?:[-*+]|\d{1,9}[.)])[ \t]")
_ROW = re.compile(r"[ \t>]{0,60}\|")
_EMPTY_CELL = re.compile(r"[ \t>]{0,60}\|[ \t]{0,60}\|")  # goes on with the row above
_RULE = re.compile(r"[ \t>]{0,60}\|[-:| \t]++")
_FENCE = re.compile(r"([ >]{0,60}(?:[-*] |\d{1,9}\. )?)(`{3,}|~{3,})")
_BLANK = re.compile(r"(?:[ \t]*\n)*")
# Of pieces that are tied to those before them.
# characters: a text of this length can be a question, or the name of what follows
_SHORT = 200
_MAX_TIED_LENGTH = 2_000  # characters of such a text, with link targets
_MAX_PRICE_LENGTH = 80  # characters, with link targets left out
_MAX_PRICE_LETTERS = 32  # besides the amount: "regular price", "incl. VAT"
_NEAR = 6  # pieces between the name of a thing and its price
# of a link: its words are not words of the page
TARGET = re.compile(r"\]\([^()\n]*+\)")
_INDENT = re.compile(r"[ \t>]{0,60}")
_ITEM_OR_TERM = re.compile(rf"{_ITEM.pattern}|: ")
_TERM = "\n: "  # after it, the explanation of a term
_CARD_HEADING = re.compile(r"(?:[-*+] )?(#{1,6})[ \t]")
_CLOSING = " \t\n*_`\"'”’»)]"  # noqa: RUF001 - quotation marks
_EXPECTS_MORE = ("?", ":", "？", "：", "؟")  # noqa: RUF001 - the signs of Chinese and Arabic


class Span(NamedTuple):
    """Consecutive pieces: the number of the first one, and of the one after the
    last.
    """

    first: int
    after: int


class Frame(NamedTuple):
    """What a block needs around it when its beginning or end is not shown."""

    start: int  # where the block begins
    end: int  # where it ends
    opening: str  # its first lines: the header of a table, the fence that opens code
    closing: str = ""  # what closes it


class Piece(NamedTuple):
    """A part of a text, including the blank lines after it. The pieces of a text cover
    all of it.
    """

    start: int  # where it begins
    end: int  # where it ends and the next piece begins
    headings: tuple[str, ...] = ()  # the headings above it, outermost first
    # true if it makes no sense without the next piece: a heading, the header of a table
    leads: bool = False
    frame: Frame | None = None  # the frame of the block that it belongs to
    # True if it makes no sense without the piece before it: what a heading stands
    # above, an answer, the rest of a list item, the price of what is named there.
    tied: bool = False


def pieces(text: str, whole: int = _MAX_LENGTH) -> list[Piece]:
    """Divide Markdown where it may be cut: never inside a link, a table row or code.

    A code block with more than *whole* characters is divided between lines.
    """
    parts: list[Piece] = []
    headings: list[tuple[int, str]] = []  # level and title of the open ones
    path: tuple[str, ...] = ()
    for kind, start, end in _blocks(text):
        if kind == "heading":
            title = text[start:end].lstrip("#")
            level = end - start - len(title)
            headings = [opened for opened in headings if opened[0] < level]
            above = _titles(headings)
            parts.append(Piece(start, end, above, leads=True))
            headings.append((level, plain_title(title)))
            path = _titles(headings)
        elif kind == "code":
            parts += _code(text, start, end, path, whole)
        elif kind == "table":
            parts += _table(text, start, end, path)
        else:
            for here, there in _sentences(text, start, end):
                parts.append(Piece(here, there, path))
    if parts:
        parts[0] = parts[0]._replace(start=0)
    return parts


def _blocks(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the kind, start and end of each block; blank lines belong to the block
    before them.
    """
    position = _past_blank(text, 0)
    for begin, end in find_fences(text):
        yield from _prose(text, position, begin)
        position = _past_blank(text, end)
        yield "code", begin, position
    yield from _prose(text, position, len(text))


def _prose(text: str, position: int, stop: int) -> Iterator[tuple[str, int, int]]:
    """Yield the blocks between code blocks."""
    kind = ""
    start = position
    is_closed = False  # by a blank line
    while position < stop:
        end = text.find("\n", position, stop) + 1 or stop
        line_kind = _kind(text[position:end])
        is_blank = line_kind == "blank"
        begins = is_closed or not _goes_on(kind, line_kind)
        if begins and not is_blank:
            if kind:
                yield kind, start, position
                start = position
            kind = line_kind
        is_closed = is_blank
        position = end
    if start < stop:
        yield kind or "text", start, stop


def _goes_on(kind: str, line_kind: str) -> bool:
    """Return whether a block goes on with a line of some kind."""
    if line_kind == kind:
        return kind not in _ALONE
    return kind == "item" and line_kind == "text"


def _kind(line: str) -> str:
    if not line.strip():
        return "blank"
    if line.startswith("#") and _HEADING.match(line):
        return "heading"
    if _ROW.match(line):
        return "table"
    if _ITEM.match(line):
        return "item"
    return "text"


def _code(
    text: str,
    start: int,
    end: int,
    path: tuple[str, ...],
    whole: int,
) -> Iterator[Piece]:
    first = text.find("\n", start, end) + 1 or end
    fence = _FENCE.match(text, start, first)
    closing = ""
    if fence:
        indent = re.sub(r"[^\s>]", " ", fence[1])
        closing = indent + fence[2]
    frame = Frame(start, end, text[start:first], closing)
    if end - start <= whole:
        yield Piece(start, end, path, frame=frame)
        return
    for begin, stop in _lines(text, start, end):
        for here, there in _divided(text, begin, stop):
            opens = here == start
            yield Piece(here, there, path, leads=opens, frame=frame)


def _lines(text: str, start: int, end: int) -> Iterator[Part]:
    """Yield where each line begins and ends; blank ones belong to the one before."""
    while start < end:
        after = text.find("\n", start, end) + 1 or end
        after = _past_blank(text, after, end)
        yield start, after
        start = after


def _table(
    text: str,
    start: int,
    end: int,
    path: tuple[str, ...],
) -> Iterator[Piece]:
    rows = list(_lines(text, start, end))
    frame = None
    if len(rows) > 2:
        second, head = rows[1]
        rule = text[second:head].rstrip()
        if _RULE.fullmatch(rule):
            if head - start <= _MAX_LENGTH:
                frame = Frame(start, end, text[start:head])
            yield Piece(start, head, path, leads=True, frame=frame)
            del rows[:2]
    has_name = False
    for here, there in rows:
        is_nameless = _EMPTY_CELL.match(text, here, there) is not None
        yield Piece(here, there, path, frame=frame, tied=is_nameless and has_name)
        has_name = not is_nameless


def _sentences(text: str, start: int, end: int) -> Iterator[Part]:
    ends = [mark.end() for mark in SENTENCE_END.finditer(text, start, end)]
    is_one = not ends or ends[0] == end
    if is_one and end - start <= _MAX_LENGTH:  # most items of a list
        yield start, end
        return
    links = [link.span() for link in LINK.finditer(text, start, end)]
    position = start
    for after in ends:
        if after < end and span_at(links, after, within=True) is None:
            yield from _divided(text, position, after, links)
            position = after
    yield from _divided(text, position, end, links)


def _divided(
    text: str,
    start: int,
    end: int,
    links: Sequence[Part] = (),
) -> Iterator[Part]:
    """Yield the text from *start* to *end* in parts of at most `_MAX_LENGTH`, except
    for a longer link.
    """
    bare = text[start:end].rstrip()
    written = start + len(bare)
    while written - start > _MAX_LENGTH:
        middle = start + _MAX_LENGTH // 2
        limit = start + _MAX_LENGTH
        space = text.rfind(" ", middle, limit)
        line_end = text.rfind("\n", middle, limit)
        cut = max(space, line_end) + 1 or limit
        link = span_at(links, cut, within=True)
        if link is not None:
            begin, after = link
            cut = after
            if begin > start:
                cut = begin
        if cut >= written:
            break
        yield start, cut
        start = cut
    yield start, end


def _past_blank(text: str, position: int, stop: int | None = None) -> int:
    """Return where the blank lines after *position* end."""
    if stop is None:
        stop = len(text)
    blank = _BLANK.match(text, position, stop)
    if blank is None:
        return position
    return blank.end()


def _titles(headings: list[tuple[int, str]]) -> tuple[str, ...]:
    """Return the titles of the open headings, without the title of the page."""
    titles = [title for level, title in headings if level > 1]
    return tuple(filter(None, titles))


def tie(text: str, pieces: Sequence[Piece]) -> list[Piece]:
    """Return the *pieces* of *text*, with those tied that belong to the piece before
    them.
    """
    return _Ties(text, pieces).pieces


class _Ties:
    """Ties what makes no sense alone to what stands before it: an answer to its
    question, a price to what is sold.

    Markdown shows where a list item ends. It does not show where a card of a shop's
    grid ends, so there the order decides: if the same kind of block stands before each
    price, it names what is sold; if after each, the prices come first.
    """

    def __init__(self, text: str, pieces: Sequence[Piece]) -> None:
        self.text = text
        self.pieces = list(pieces)
        self.inside = self._tie_items()
        outside = (n for n, inside in enumerate(self.inside) if not inside)
        prices = filter(self._is_price, outside)
        for group in self._groups(prices):
            self._tie_prices(group)

    # Measured: every piece of a page. What is said of the piece before decides:
    # "- Lamp" (short), "Which one?" (expects), "## Lamps" (leads); "  $5" is inside the
    # open item, whose text begins at column 2.
    def _tie_items(self) -> bytearray:
        """Tie to the piece before it what belongs to its heading, question or item;
        return which are in an item.
        """
        text, found = self.text, self.pieces
        inside = bytearray(len(found))
        column = 0  # where the text of the open item begins; 0 if none is open
        # of the piece before; the first piece has none
        leads = short = expects = False
        explains = _TERM in text
        for n, piece in enumerate(found):
            start = piece.start
            end = piece.end
            if column:
                begins_line = not start or text[start - 1] == "\n"
                if begins_line and _indent(text, start, end) < column:
                    column = 0
            if column:
                inside[n] = True
            else:
                column = _column(text, start, end, explains)
            answers = expects and (piece.frame or not piece.leads)
            belongs = leads or answers
            if inside[n] and not belongs:
                belongs = short or self._is_price(n)
            if belongs:
                found[n] = _tied(piece)
            leads = piece.leads
            short = _is_short(text, start, end)
            expects = short and _expects_more(text[start:end])
        return inside

    def _is_price(self, n: int) -> bool:
        """Return whether a piece states a price and hardly anything else."""
        piece = self.pieces[n]
        if piece.leads or piece.frame:
            return False
        written = self.text[piece.start : piece.end].strip()
        max_letters = _MAX_PRICE_LETTERS
        if written.startswith("["):
            written = without_targets(written)
            max_letters = 0
        if len(written) > _MAX_PRICE_LENGTH:
            return False
        if not AMOUNT.search(written):
            return False
        besides = AMOUNT.sub("", written)
        return sum(map(str.isalpha, besides)) <= max_letters

    def _groups(self, prices: Iterable[int]) -> Iterator[list[Span]]:
        """Yield the prices of one grid at a time, as runs of pieces: only a few short
        ones are between them.
        """
        group: list[Span] = []
        for n in prices:
            if not group:
                group = [Span(n, n + 1)]
                continue
            first, after = group[-1]
            if after == n:
                group[-1] = Span(first, n + 1)
                continue
            between = range(after, n)
            if len(between) > _NEAR or not all(map(self._is_near, between)):
                yield group
                group = []
            group.append(Span(n, n + 1))
        if group:
            yield group

    def _is_near(self, n: int) -> bool:
        """Return whether a piece can be a part of the same card as a price."""
        piece = self.pieces[n]
        return not piece.frame and piece.end - piece.start <= _MAX_TIED_LENGTH

    def _tie_prices(self, group: Sequence[Span]) -> None:
        """Tie the prices of a grid to the names before them, or the names after them to
        the prices.
        """
        if self._come_first(group):
            for first, after in group:
                above = self.pieces[after].headings
                price = self.pieces[first]
                self.pieces[first] = price._replace(tied=False, headings=above)
                self._tie(first + 1, after + 1)
            return
        previous = 0  # where the card before ends
        size = 1  # of a card: its pieces before the price
        if len(group) > 1:
            size = group[1].first - group[0].after
        for first, after in group:
            begin = first
            earliest = max(previous, first - size)
            while begin > earliest and self._is_in_card(begin):
                begin -= 1
            self._tie(begin + 1, after)
            previous = after
            size = _NEAR

    def _is_in_card(self, n: int) -> bool:
        """Return whether the piece before another can be in the same card."""
        if self.pieces[n].leads:
            return False
        return self._is_near(n - 1)

    def _tie(self, first: int, after: int) -> None:
        pieces = self.pieces[first:after]
        self.pieces[first:after] = map(_tied, pieces)

    def _come_first(self, group: Sequence[Span]) -> bool:
        """Return whether each price of a grid stands before the name of the thing."""
        before = [self._shape(prices.first - 1) for prices in group]
        after = [self._shape(prices.after) for prices in group]
        if before[0] in before[1:]:
            return False
        last = after[-1]
        return bool(last) and last in after[:-1]

    def _shape(self, n: int) -> str:
        """Return what kind of block a piece is; empty if it is none that names a
        thing.
        """
        if not 0 <= n < len(self.pieces):
            return ""
        if not self._is_near(n):
            return ""
        start = self.pieces[n].start
        end = self.pieces[n].end
        heading = _CARD_HEADING.match(self.text, start, end)
        if heading is not None:
            return heading[1]
        written = self.text[start:end]
        bare = written.lstrip("*_ \n")
        if bare.startswith("["):
            return "link"
        if len(written) > _SHORT:
            return ""
        return "text"


def _tied(piece: Piece) -> Piece:
    return Piece(*piece[:-1], tied=True)  # faster than _replace


def _column(
    text: str,
    start: int,
    end: int,
    explains: bool,
) -> int:
    """Return where the text of the item begins that a piece opens; 0 if it opens
    none. *explains* says whether the page explains terms.
    """
    item = _ITEM_OR_TERM.match(text, start, end)
    if item:
        return item.end() - start
    if explains and text.find(_TERM, start, end) >= 0:
        return len(_TERM) - 1
    return 0


def _indent(text: str, start: int, end: int) -> int:
    blank = _INDENT.match(text, start, end)
    if blank is None:
        return 0
    return blank.end() - start


def _is_short(text: str, start: int, end: int) -> bool:
    """Return whether a text has few characters, without link targets."""
    length = end - start
    if length <= _SHORT:
        return True
    if length > _MAX_TIED_LENGTH:
        return False
    if text.find("](", start, end) < 0:
        return False
    seen = TARGET.sub("]", text[start:end])
    return len(seen) <= _SHORT


def _expects_more(text: str) -> bool:
    """Return whether a text is a question, or ends in a colon."""
    bare = text.rstrip()
    if bare.endswith(")") and "](" in bare:
        target = bare.rindex("](")
        bare = bare[:target]
    return bare.rstrip(_CLOSING).endswith(_EXPECTS_MORE)
