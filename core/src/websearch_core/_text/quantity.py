"""Numbers, what is one, and short lines, in notes, messages and reprs."""

from __future__ import annotations
from collections.abc import Iterable
from typing import Any, TypeGuard

_MAX_IN_LINE = 80  # characters of a title or a URL


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number; for Python, True and False are numbers."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole_number(value: object) -> TypeGuard[int]:
    """Return whether a value is a whole number, and not True or False."""
    return isinstance(value, int) and not isinstance(value, bool)


def quantity(number: int, thing: str, things: str = "") -> str:
    """Return ``1 page``, ``1,200 pages``; *things* is the plural, if it does not just
    add an s.
    """
    if number == 1:
        return f"1 {thing}"
    return f"{number:,} {things or thing + 's'}"


class Size(str):
    """A part of a repr that is not a value: ``<5 results>``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{self}>"


def shorten(text: str) -> str:
    """Return *text* as a repr shows it: one short line."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_IN_LINE else f"{line[: _MAX_IN_LINE - 1]}…"


def count(things: Iterable[Any], name: str) -> Size:
    """Return how many *things* there are: ``<1 note>``."""
    return Size(quantity(len(list(things)), name))
