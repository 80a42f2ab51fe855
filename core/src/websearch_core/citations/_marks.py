"""Find citations in the answer of a model: ``[1]``, ``[1, 2]``, ``[1-3]``, ``【1】``; never in code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_CODE = re.compile(
    r"^[ >]{0,12}(?P<fence>`{3,}|~{3,})[^\n]*(?:\n|\Z)(?s:.*?)(?:^[ >]{0,12}(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n)(?s:.))+?(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE,
)
_NUMBERS = r"\s*\d{1,6}(?:\s*[,;、，\-–]\s*\d{1,6})*\s*"  # noqa: RUF001 - a fullwidth comma and an en dash
_MARK = re.compile(rf"(?P<image>!?)\[(?P<square>{_NUMBERS})\](?!\()|【(?P<lens>{_NUMBERS})(?:†[^】\n]{{0,80}})?】")
_ITEM = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")  # noqa: RUF001
_MAX_RANGE = 20  # sources: anything longer is years or pages, not citations


class Mark(NamedTuple):
    """
    A citation in a text.

    Args:
        start: Where it begins.
        end: Where it ends.
        numbers: The numbers cited, in order.
        image: True if an exclamation mark before it would make a link to it an image.

    """

    start: int
    end: int
    numbers: tuple[int, ...]
    image: bool = False


def find_marks(text: str) -> Iterator[Mark]:
    """Yield the citations in *text*, in order."""
    code = [found.span() for found in _CODE.finditer(text)]
    for found in _MARK.finditer(text):
        while code and code[0][1] <= found.start():
            del code[0]
        if code and code[0][0] <= found.start():
            continue
        if numbers := _parse(found["square"] or found["lens"]):
            yield Mark(found.start(), found.end(), numbers, bool(found["image"]))


def code_spans(text: str) -> list[tuple[int, int]]:
    """Return where the code in *text* begins and ends."""
    return [found.span() for found in _CODE.finditer(text)]


def _parse(numbers: str) -> tuple[int, ...]:
    found: dict[int, None] = {}
    for item in _ITEM.finditer(numbers):
        first, last = int(item[1]), int(item[2] or item[1])
        if not 0 < first <= last < first + _MAX_RANGE:
            return ()
        found |= dict.fromkeys(range(first, last + 1))
    return tuple(found)
