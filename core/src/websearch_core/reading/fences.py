"""Where the code blocks of a Markdown text are: neither a cut nor a correction may happen inside one."""

from __future__ import annotations

import re
from collections.abc import Callable

_FENCE = re.compile(r"^[ >]{0,60}(?:[-*] |\d{1,9}\. )?(`{3,}|~{3,})(.*)$", re.MULTILINE)


def fences(text: str, end: int | None = None) -> list[tuple[int, int]]:
    """
    Find the code blocks that begin before *end*.

    Returns:
        For each its begin and its end, from the start of the line that opens it to the end of the line that closes it.

    """
    found: list[tuple[int, int]] = []
    opened: tuple[int, str] | None = None
    for line in _FENCE.finditer(text):
        mark, rest = line[1], line[2]
        if opened is None:
            if end is not None and line.start() >= end:
                break
            if "`" not in rest:  # else it is code within a line
                opened = line.start(), mark
        elif mark.startswith(opened[1]) and not rest.strip():
            found.append((opened[0], min(line.end() + 1, len(text))))
            opened = None
    if opened is not None:
        found.append((opened[0], len(text)))
    return found


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """Apply *change* to what is not code."""
    pieces: list[str] = []
    position = 0
    for begin, end in fences(text):
        pieces += [change(text[position:begin]), text[begin:end]]
        position = end
    return "".join([*pieces, change(text[position:])])
