"""Tie what makes no sense alone to what stands before it: an answer to its question, a price to what is sold.

Markdown shows where a list item ends. It does not show where a card of a shop's grid ends, so there the order decides:
if the same kind of block stands before each price, it names what is sold; if after each, the prices come first.
"""

from __future__ import annotations
import re
from collections.abc import Iterable, Iterator, Sequence

from ..._text.money import AMOUNT
from .pieces import Piece, Span
from .window import LINK

_SHORT = 200  # characters: a text of this length can be a question, or the name of what follows
_MAX_LENGTH = 2_000  # characters of such a text, with link targets
_MAX_PRICE_LENGTH = 80  # characters, with link targets left out
_MAX_PRICE_LETTERS = 32  # besides the amount: "regular price", "incl. VAT"
_NEAR = 6  # pieces between the name of a thing and its price

_TARGET = re.compile(r"\]\([^()\n]*+\)")
_INDENT = re.compile(r"[ \t>]{0,60}")
_ITEM = re.compile(r"[ \t>]{0,60}(?:[-*+]|\d{1,9}[.)])[ \t]|: ")
_TERM = "\n: "  # after it, the explanation of a term
_HEADING = re.compile(r"(?:[-*+] )?(#{1,6})[ \t]")
_CLOSING = " \t\n*_`\"'”’»)]"  # noqa: RUF001 - quotation marks
_EXPECTS_MORE = ("?", ":", "？", "：", "؟")  # noqa: RUF001 - the signs of Chinese and Arabic


def tie(text: str, pieces: Sequence[Piece]) -> list[Piece]:
    """Return the *pieces* of *text*, with those tied that belong to the piece before them."""
    return _Ties(text, pieces).found


class _Ties:
    def __init__(self, text: str, pieces: Sequence[Piece]) -> None:
        self.text = text
        self.found = list(pieces)
        self.inside = self._tie_items()
        prices = (n for n in range(len(self.found)) if not self.inside[n] and self._is_price(n))
        for group in self._groups(prices):
            self._tie_prices(group)

    def _tie_items(self) -> bytearray:
        """Tie to the piece before it what belongs to its heading, question or item; return which are in an item."""
        text, found = self.text, self.found
        inside = bytearray(len(found))
        column = 0  # where the text of the open item begins; 0 if none is open
        leads = short = expects = False  # of the piece before
        explains = _TERM in text
        for n, piece in enumerate(found):
            start, end = piece.start, piece.end
            if column and (not start or text[start - 1] == "\n") and _indent(text, start, end) < column:
                column = 0
            inside[n] = column > 0
            if not column and (item := _ITEM.match(text, start, end)):
                column = item.end() - start
            elif explains and not column and text.find(_TERM, start, end) >= 0:
                column = len(_TERM) - 1
            if n and (leads or (expects and not piece.leads) or (inside[n] and (short or self._is_price(n)))):
                found[n] = _tied(piece)
            leads, short = piece.leads, _is_short(text, start, end)
            expects = short and _expects_more(text[start:end])
        return inside

    def _is_price(self, n: int) -> bool:
        """Return whether a piece states a price and hardly anything else."""
        piece = self.found[n]
        written = self.text[piece.start : piece.end].strip()
        linked = written.startswith("[")
        if piece.leads or piece.frame or not (linked or len(written) <= _MAX_PRICE_LENGTH):
            return False
        if linked:
            written = LINK.sub(lambda link: link[0][1 : link[0].rindex("](")], written)
        if len(written) > _MAX_PRICE_LENGTH or not AMOUNT.search(written):
            return False
        return sum(map(str.isalpha, AMOUNT.sub("", written))) <= (0 if linked else _MAX_PRICE_LETTERS)

    def _groups(self, prices: Iterable[int]) -> Iterator[list[Span]]:
        """Yield the prices of one grid at a time, as runs of pieces: only a few short ones are between them."""
        group: list[Span] = []
        for n in prices:
            if group and group[-1].after == n:
                group[-1] = Span(group[-1].first, n + 1)
            elif group and all(map(self._is_near, range(group[-1].after, n))) and n - group[-1].after <= _NEAR:
                group.append(Span(n, n + 1))
            else:
                if group:
                    yield group
                group = [Span(n, n + 1)]
        if group:
            yield group

    def _is_near(self, n: int) -> bool:
        """Return whether a piece can be a part of the same card as a price."""
        piece = self.found[n]
        return not piece.frame and piece.end - piece.start <= _MAX_LENGTH

    def _tie_prices(self, group: Sequence[Span]) -> None:
        """Tie the prices of a grid to the names before them, or the names after them to the prices."""
        if self._come_first(group):
            for first, after in group:
                above = self.found[after].headings
                self.found[first] = self.found[first]._replace(tied=False, headings=above)
                self._tie(first + 1, after + 1)
            return
        least, most = 0, group[1].first - group[0].after if len(group) > 1 else 1  # pieces of a card before the price
        for first, after in group:
            begin = first
            while begin > max(least, first - most) and not self.found[begin].leads and self._is_near(begin - 1):
                begin -= 1
            self._tie(begin + 1, after)
            least, most = after, _NEAR

    def _tie(self, first: int, after: int) -> None:
        self.found[first:after] = map(_tied, self.found[first:after])

    def _come_first(self, group: Sequence[Span]) -> bool:
        """Return whether each price of a grid stands before the name of the thing."""
        before = [self._shape(prices.first - 1) for prices in group]
        after = [self._shape(prices.after) for prices in group]
        return before[0] not in before[1:] and bool(after[-1]) and after[-1] in after[:-1]

    def _shape(self, n: int) -> str:
        """Return what kind of block a piece is; empty if it is none that names a thing."""
        if not 0 <= n < len(self.found) or not self._is_near(n):
            return ""
        piece = self.found[n]
        if heading := _HEADING.match(self.text, piece.start, piece.end):
            return heading[1]
        bare = self.text[piece.start : piece.end].lstrip("*_ \n")
        return "link" if bare.startswith("[") else "text" if piece.end - piece.start <= _SHORT else ""


def _tied(piece: Piece) -> Piece:
    start, end, headings, leads, frame, _ = piece  # faster than _replace
    return Piece(start, end, headings, leads, frame, tied=True)


def _indent(text: str, start: int, end: int) -> int:
    found = _INDENT.match(text, start, end)
    return found.end() - start if found else 0


def _is_short(text: str, start: int, end: int) -> bool:
    """Return whether a text has few characters, without link targets."""
    if end - start <= _SHORT or end - start > _MAX_LENGTH:
        return end - start <= _SHORT
    return text.find("](", start, end) >= 0 and len(_TARGET.sub("]", text[start:end])) <= _SHORT


def _expects_more(text: str) -> bool:
    """Return whether a text is a question, or ends in a colon."""
    bare = text.rstrip()
    if bare.endswith(")") and "](" in bare:
        bare = bare[: bare.rindex("](")]
    return bare.rstrip(_CLOSING).endswith(_EXPECTS_MORE)
