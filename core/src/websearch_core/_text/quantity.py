"""Numbers of things in notes and messages."""

from __future__ import annotations


def quantity(number: int, thing: str, things: str = "") -> str:
    """Return ``1 page``, ``1,200 pages``; *things* is the plural, if it does not just add an s."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"
