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


class Shown(NamedTuple):
    """A text that an operator shows: where it begins, its size in points, and about how
    wide it is.
    """

    x: float
    y: float
    size: float
    width: float


def find_parts(shown: Sequence[Shown], middle: float) -> list[set[int]]:
    """Return the numbers of the texts that belong together, in the order to read: what
    goes across, left, right.
    """
    beside = [
        (a, b)
        for a, b in pairwise(shown)
        if b.x > a.x + a.size and abs(b.y - a.y) < b.size
    ]
    [(at, count)] = Counter(round(b.x) for _, b in beside).most_common(1) or [(0, 0)]
    # of the lines to the left, and to the right
    widths: defaultdict[tuple[int, bool], float] = defaultdict(float)
    for one in shown:
        widths[round(one.y), one.x >= at - 1] += one.width
    sides = [
        (widths[round(a.y), False], widths[round(b.y), True])
        for a, b in beside
        if abs(b.x - at) <= 1
    ]
    if (
        count < _MIN_LINES
        or abs(at - middle) > _MIDDLE
        or not all(map(_is_text, zip(*sides, strict=True)))
    ):
        return []
    full = max(left for left, _ in sides)
    starts = {round(one.y) for one in shown if abs(one.x - at) <= 1}
    parts: list[set[int]] = [set(), set(), set()]
    is_across = False
    for number, one in sorted(enumerate(shown), key=lambda pair: -round(pair[1].y)):
        y = round(one.y)
        if y in starts:
            is_across = False
        elif (
            1.1 * full < widths[y, False] + widths[y, True]
            and widths[y, False]
            and not is_across
        ):
            parts += [set(), set(), set()]
            is_across = True
        parts[-3 if is_across else -1 if one.x >= at - 1 else -2].add(number)
    return list(filter(None, parts))


def _is_text(widths: Sequence[float]) -> bool:
    return sum(width > _FULL * max(widths) for width in widths) > len(widths) / 2
