"""Write and find fenced code blocks in Markdown."""

from __future__ import annotations
import re
from collections.abc import Callable
from io import StringIO

_BACKTICKS = re.compile("`+")
_FENCE = re.compile(r"^[ >]{0,60}(?:[-*] |\d{1,9}\. )?(`{3,}|~{3,})(.*)$", re.MULTILINE)


def fence_code(code: str, language: str) -> str:
    """Return *code* as a fenced code block that its text cannot close; empty if *code* is empty."""
    ticks = code_fence(code)
    return f"{ticks}{language}\n{code}\n{ticks}" if code else ""


def code_fence(code: str, least: int = 3) -> str:
    """Return a fence for *code*: more backticks than it has in a row, and at least *least*."""
    return "`" * max(least, 1 + max(map(len, _BACKTICKS.findall(code)), default=0))


def find_fences(text: str, end: int | None = None) -> list[tuple[int, int]]:
    """Return where each code block before *end* begins and ends: its opening line, and the end of its closing line."""
    if "```" not in text and "~~~" not in text:  # fast path: matching every line takes time, and holds the GIL
        return []
    found: list[tuple[int, int]] = []
    opened: tuple[int, str] | None = None
    for line in _FENCE.finditer(text):
        mark, rest = line[1], line[2]
        if opened is None:
            if end is not None and line.start() >= end:
                return found
            if "`" not in rest:  # else it is inline code
                opened = line.start(), mark
        elif mark.startswith(opened[1]) and not rest.strip():
            found.append((opened[0], min(line.end() + 1, len(text))))
            opened = None
    if opened is not None:
        found.append((opened[0], len(text)))
    return found


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """Apply *change* to the text between code blocks."""
    changed = StringIO()
    position = 0
    for begin, end in find_fences(text):
        changed.write(change(text[position:begin]))
        changed.write(text[begin:end])
        position = end
    changed.write(change(text[position:]))
    return changed.getvalue()
