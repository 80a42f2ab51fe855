"""Code blocks in Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from io import StringIO

_BACKTICKS = re.compile("`+")

_FENCE = re.compile(r"^[ >]{0,60}(?:[-*] |\d{1,9}\. )?(`{3,}|~{3,})(.*)$", re.MULTILINE)


def fence_code(code: str, language: str) -> str:
    """Return *code* as a block of code that it cannot end by itself; nothing for nothing."""
    ticks = code_fence(code)
    return f"{ticks}{language}\n{code}\n{ticks}" if code else ""


def code_fence(code: str, least: int = 3) -> str:
    """Return as many backticks as *code* needs around it: more than stand together in it, and *least* of them."""
    return "`" * max(least, 1 + max(map(len, _BACKTICKS.findall(code)), default=0))


def find_fences(text: str, end: int | None = None) -> list[tuple[int, int]]:
    """
    Find the code blocks that begin before *end*.

    Returns:
        For each its begin and its end, from the start of the line that opens it to the end of the line that closes it.

    """
    return list(_fences(text, end))


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """Apply *change* to what is not code."""
    changed = StringIO()
    position = 0
    for begin, end in _fences(text):
        changed.write(change(text[position:begin]))
        changed.write(text[begin:end])
        position = end
    changed.write(change(text[position:]))
    return changed.getvalue()


def _fences(text: str, before: int | None = None) -> Iterator[tuple[int, int]]:
    if "```" not in text and "~~~" not in text:  # seen at once; to try every line takes time, and Python's lock
        return
    opened: tuple[int, str] | None = None
    for line in _FENCE.finditer(text):
        mark, rest = line[1], line[2]
        if opened is None:
            if before is not None and line.start() >= before:
                return
            if "`" not in rest:  # else it is code within a line
                opened = line.start(), mark
        elif mark.startswith(opened[1]) and not rest.strip():
            yield opened[0], min(line.end() + 1, len(text))
            opened = None
    if opened is not None:
        yield opened[0], len(text)
