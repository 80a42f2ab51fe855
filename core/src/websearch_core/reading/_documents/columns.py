"""Find the columns of a page of a PDF whose lines are painted in turns."""

from __future__ import annotations
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

_MIN_LINES = 6  # of two columns that stand beside each other
_MIDDLE = 90  # points: how far from the middle of the page the second column may begin
# of the longest line: half of the lines of a text are this long, other than those of a
# table
_FULL = 0.7
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
    if not beside:
        return []
    [(start, count)] = Counter(round(b.x) for _, b in beside).most_common(1)
    if count < _MIN_LINES or abs(start - middle) > _MIDDLE:
        return []
    # of the lines to the left, and to the right
    widths: defaultdict[tuple[int, bool], float] = defaultdict(float)
    for text in texts:
        widths[round(text.y), text.x >= start - 1] += text.width
    pairs = [(a, b) for a, b in beside if abs(b.x - start) <= 1]
    left = [widths[round(a.y), False] for a, _ in pairs]
    right = [widths[round(b.y), True] for _, b in pairs]
    if not _is_text(left) or not _is_text(right):
        return []
    limit = _ACROSS * max(left)
    starts = {round(text.y) for text in texts if abs(text.x - start) <= 1}
    parts: list[set[int]] = [set(), set(), set()]
    is_across = False
    for number, text in sorted(enumerate(texts), key=_height_of):
        y = round(text.y)
        width = widths[y, False] + widths[y, True]
        is_wide = widths[y, False] and width > limit
        if y in starts:
            is_across = False
        elif is_wide and not is_across:
            parts += [set(), set(), set()]
            is_across = True
        if is_across:
            parts[-3].add(number)
        elif text.x >= start - 1:
            parts[-1].add(number)
        else:
            parts[-2].add(number)
    return list(filter(None, parts))


def _height_of(numbered: tuple[int, Shown]) -> int:
    """Return where a text stands, from the top."""
    return -round(numbered[1].y)


def _is_beside(text: Shown, other: Shown) -> bool:
    is_right = other.x > text.x + text.size
    return is_right and abs(other.y - text.y) < other.size


def _is_text(widths: Sequence[float]) -> bool:
    return sum(width > _FULL * max(widths) for width in widths) > len(widths) / 2
