"""Find the columns of a page of a PDF whose lines are painted in turns."""

from __future__ import annotations
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import NamedTuple

_MIN_LINES = 6  # of two columns that stand beside each other
_MIDDLE = 90  # points: how far from the middle of the page the second column may begin
# of the longest line: half of the lines of a text are this long, other than those of a
# table
_FULL = 0.7
_MIN_ROWS = 3  # of a table that goes across
_ACROSS = 1.1  # times the longest line on the left: such a line goes across both


class Shown(NamedTuple):
    """A text that an operator shows.

    That is where it begins, its size in points, and about how wide it is.
    """

    x: float
    y: float
    size: float
    width: float


def find_parts(texts: Sequence[Shown], middle: float) -> list[set[int]]:
    """Return the numbers of the texts that belong together, in the order to read.

    That is what goes across, left, right.
    """
    beside = [(a, b) for a, b in pairwise(texts) if _is_beside(a, b)]
    start = _find_start(beside, middle)
    if start is None:
        return []
    pairs = [(a, b) for a, b in beside if abs(b.x - start) <= 1]
    rows: defaultdict[int, list[Shown]] = defaultdict(list)
    for text in texts:
        rows[round(text.y)].append(text)
    starts = {y for y, row in rows.items() if _begins(row, start)}
    left = {y: _measure(row, -inf, start - 1) for y, row in rows.items()}
    right = {y: _measure(row, start - 1, inf) for y, row in rows.items()}
    lines = [left[round(a.y)] for a, _ in pairs]
    if not _is_text(lines) or not _is_text([right[round(b.y)] for _, b in pairs]):
        return []
    limit = _ACROSS * max(lines)
    across = _list_cells(rows, starts, start) | _list_long(left, right, limit)
    return _part(texts, start, starts, across)


def _list_long(
    left: Mapping[int, float], right: Mapping[int, float], limit: float
) -> set[int]:
    """Return the heights of the rows that are too long for a column."""
    rows: set[int] = set()
    for y, width in left.items():
        if width and width + right[y] > limit:
            rows.add(y)
    return rows


def _part(
    texts: Sequence[Shown], start: int, starts: set[int], across: set[int]
) -> list[set[int]]:
    """Return the numbers of the texts across both columns, on the left and right.

    A row at one of the heights *across* begins a part that goes across, and ends where
    a line of the second column begins.
    """
    parts: list[set[int]] = [set(), set(), set()]
    is_across = False
    for number, text in sorted(enumerate(texts), key=_height_of):
        y = round(text.y)
        if y in starts:
            is_across = False
        elif y in across and not is_across:
            parts += [set(), set(), set()]
            is_across = True
        if is_across:
            parts[-3].add(number)
        elif text.x >= start - 1:
            parts[-1].add(number)
        else:
            parts[-2].add(number)
    return list(filter(None, parts))


def _find_start(beside: Sequence[tuple[Shown, Shown]], middle: float) -> int | None:
    """Return where the lines of a second column begin, None if there is none."""
    begins = Counter(round(text.x) for _, text in beside)
    for start, count in begins.most_common(1):
        if count >= _MIN_LINES and abs(start - middle) <= _MIDDLE:
            return start
    return None


def _begins(row: Sequence[Shown], start: int) -> bool:
    return any(abs(text.x - start) <= 1 for text in row)


def _measure(row: Sequence[Shown], begin: float, end: float) -> float:
    """Return how wide the texts of a row are together that begin in a span."""
    return sum(text.width for text in row if begin <= text.x < end)


def _list_cells(
    rows: Mapping[int, Sequence[Shown]], starts: set[int], start: int
) -> set[int]:
    """Return the heights of rows of a table with cells on both sides."""
    cells: set[int] = set()
    run: list[int] = []
    for y in sorted(rows):
        if y in starts or not _has_cells(rows[y], start):
            run = []
            continue
        run.append(y)
        if len(run) >= _MIN_ROWS:
            cells.update(run)
    return cells


def _has_cells(row: Sequence[Shown], start: int) -> bool:
    """Return whether a row has two cells on the left, and another on the right."""
    left = [text for text in row if text.x < start - 1]
    left.sort(key=lambda text: text.x)
    gaps = [b for a, b in pairwise(left) if b.x - a.x - a.width > a.size]
    return len(gaps) > 0 and len(row) > len(left)


def _height_of(numbered: tuple[int, Shown]) -> int:
    """Return where a text stands, from the top."""
    return -round(numbered[1].y)


def _is_beside(text: Shown, other: Shown) -> bool:
    is_right = other.x > text.x + text.size
    return is_right and abs(other.y - text.y) < other.size


def _is_text(widths: Sequence[float]) -> bool:
    minimum = _FULL * max(widths)
    return sum(width > minimum for width in widths) > len(widths) / 2
