"""Divide Markdown into the smallest parts that are shown whole: sentences, items, rows, code blocks."""

from __future__ import annotations
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..._text.sentences import SENTENCE_END
from .._markdown.fences import find_fences
from .window import LINK

_MAX_LENGTH = 600  # characters of a sentence; a longer one is divided between words
_MAX_TITLE_LENGTH = 80  # characters of a heading in a mark

_ALONE = {"heading", "item"}  # each line is a block

_HEADING = re.compile(r"#{1,6}[ \t]")
_ITEM = re.compile(r"[ \t>]{0,60}(?:[-*+]|\d{1,9}[.)])[ \t]")
_ROW = re.compile(r"[ \t>]{0,60}\|")
_RULE = re.compile(r"[ \t>]{0,60}\|[-:| \t]++")
_FENCE = re.compile(r"([ >]{0,60}(?:[-*] |\d{1,9}\. )?)(`{3,}|~{3,})")
_BLANK = re.compile(r"(?:[ \t]*\n)*")


class Span(NamedTuple):
    """Consecutive pieces: the number of the first one, and of the one after the last."""

    first: int
    after: int


@dataclass(frozen=True)
class Frame:
    """What a block needs around it when its beginning or end is not shown."""

    start: int  # where the block begins
    end: int  # where it ends
    opening: str  # its first lines: the header of a table, the fence that opens code
    closing: str = ""  # what closes it


class Piece(NamedTuple):
    """A part of a text, including the blank lines after it. The pieces of a text cover all of it."""

    start: int  # where it begins
    end: int  # where it ends and the next piece begins
    headings: tuple[str, ...] = ()  # the headings above it, outermost first
    leads: bool = False  # true if it makes no sense without the next piece: a heading, the header of a table
    frame: Frame | None = None  # the frame of the block that it belongs to
    # True if it makes no sense without the piece before it: what a heading stands above, an answer, the rest of a
    # list item, the price of what is named there.
    tied: bool = False


def pieces(text: str, whole: int = _MAX_LENGTH) -> list[Piece]:
    """Divide Markdown where it may be cut: never inside a link, a table row or code.

    A code block with more than *whole* characters is divided between lines.
    """
    found: list[Piece] = []
    headings: list[tuple[int, str]] = []  # level and title of the open ones
    path: tuple[str, ...] = ()
    for kind, start, end in _blocks(text):
        if kind == "heading":
            title = text[start:end].lstrip("#")
            level = end - start - len(title)
            headings = [(above, name) for above, name in headings if above < level]
            found.append(Piece(start, end, _titles(headings), leads=True))
            headings.append((level, plain_title(title)))
            path = _titles(headings)
        elif kind == "code":
            found += _code(text, start, end, path, whole)
        elif kind == "table":
            found += _table(text, start, end, path)
        else:
            found += (Piece(here, there, path) for here, there in _sentences(text, start, end))
    if found:
        found[0] = found[0]._replace(start=0)
    return found


def _blocks(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the kind, start and end of each block; blank lines belong to the block before them."""
    position = _past_blank(text, 0)
    for begin, end in find_fences(text):
        yield from _prose(text, position, begin)
        position = _past_blank(text, end)
        yield "code", begin, position
    yield from _prose(text, position, len(text))


def _prose(text: str, position: int, stop: int) -> Iterator[tuple[str, int, int]]:
    """Yield the blocks between code blocks."""
    kind, start, closed = "", position, False
    while position < stop:
        end = text.find("\n", position, stop) + 1 or stop
        here = _kind(text[position:end])
        if here == "blank":
            closed = True
        else:
            goes_on = not closed and (here == kind not in _ALONE or (here, kind) == ("text", "item"))
            if kind and not goes_on:
                yield kind, start, position
                start = position
            if not goes_on:
                kind = here
            closed = False
        position = end
    if start < stop:
        yield kind or "text", start, stop


def _kind(line: str) -> str:
    if not line.strip():
        return "blank"
    if line.startswith("#") and _HEADING.match(line):
        return "heading"
    if _ROW.match(line):
        return "table"
    return "item" if _ITEM.match(line) else "text"


def _code(text: str, start: int, end: int, path: tuple[str, ...], whole: int) -> Iterator[Piece]:
    first = text.find("\n", start, end) + 1 or end
    fence = _FENCE.match(text, start, first)
    closing = re.sub(r"[^\s>]", " ", fence[1]) + fence[2] if fence else ""
    frame = Frame(start, end, text[start:first], closing)
    if end - start <= whole:
        yield Piece(start, end, path, frame=frame)
        return
    position = start
    while position < end:
        after = text.find("\n", position, end) + 1 or end
        after = _past_blank(text, after, end)
        for here, there in _divided(text, position, after):
            yield Piece(here, there, path, leads=here == start, frame=frame)
        position = after


def _table(text: str, start: int, end: int, path: tuple[str, ...]) -> Iterator[Piece]:
    rows = []
    position = start
    while position < end:
        after = _past_blank(text, text.find("\n", position, end) + 1 or end, end)
        rows.append((position, after))
        position = after
    frame = None
    if len(rows) > 2 and _RULE.fullmatch(text[slice(*rows[1])].rstrip()):
        head = rows[1][1]
        if head - start <= _MAX_LENGTH:
            frame = Frame(start, end, text[start:head])
        yield Piece(start, head, path, leads=True, frame=frame)
        del rows[:2]
    for here, there in rows:
        yield Piece(here, there, path, frame=frame)


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    ends = [mark.end() for mark in SENTENCE_END.finditer(text, start, end)]
    if end - start <= _MAX_LENGTH and (not ends or ends[0] == end):  # most items of a list
        yield start, end
        return
    links = [link.span() for link in LINK.finditer(text, start, end)]
    position = start
    for after in ends:
        if after < end and _around(links, after) is None:
            yield from _divided(text, position, after, links)
            position = after
    yield from _divided(text, position, end, links)


def _divided(text: str, start: int, end: int, links: Sequence[tuple[int, int]] = ()) -> Iterator[tuple[int, int]]:
    """Yield the text from *start* to *end* in parts of at most `_MAX_LENGTH`, except for a longer link."""
    while end - start > _MAX_LENGTH:
        middle, limit = start + _MAX_LENGTH // 2, start + _MAX_LENGTH
        cut = max(text.rfind(" ", middle, limit), text.rfind("\n", middle, limit)) + 1 or limit
        if link := _around(links, cut):
            cut = link[0] if link[0] > start else link[1]
        if cut >= end:
            break
        yield start, cut
        start = cut
    yield start, end


def _around(links: Sequence[tuple[int, int]], place: int) -> tuple[int, int] | None:
    """Return the link that contains *place*."""
    n = bisect_left(links, (place, 0)) - 1
    return links[n] if n >= 0 and place < links[n][1] else None


def _past_blank(text: str, position: int, stop: int | None = None) -> int:
    """Return where the blank lines after *position* end."""
    blank = _BLANK.match(text, position, len(text) if stop is None else stop)
    return blank.end() if blank else position


def _titles(headings: list[tuple[int, str]]) -> tuple[str, ...]:
    """Return the titles of the open headings, without the title of the page."""
    return tuple(title for level, title in headings if level > 1 and title)


def plain_title(title: str) -> str:
    """Return the text of a heading, without Markdown and not too long."""
    title = title.rstrip(" \t\n#")
    bare = LINK.sub(lambda link: link[0][1 : link[0].rindex("](")], title) if "](" in title else title
    line = " ".join(bare.replace("*", "").replace("`", "").replace("\\", "").split())
    return line if len(line) <= _MAX_TITLE_LENGTH else f"{line[: _MAX_TITLE_LENGTH - 1].rstrip()}…"
