"""Help with misspelled names."""

from __future__ import annotations

from collections.abc import Iterable


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Return how a message that *name* is unknown should end: with the known name that it resembles, or with all."""
    from difflib import get_close_matches  # imported here, because only a mistake needs it

    known = list(known)
    if close := get_close_matches(name, known, n=1):
        return f"; did you mean {close[0]}?"
    return f"; known are {', '.join(known)}" if known else ""
