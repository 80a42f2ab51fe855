"""Help with misspelled names."""

from __future__ import annotations
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from ..errors import WebSearchError


def suggest_name(
    name: str, known: Iterable[str], aliases: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return how a message that *name* is unknown should end: with the known name that
    it resembles, or with all.

    *aliases* are names that other libraries use, each with the known name that it
    stands for.
    """
    known = list(known)
    if close := find_close(name, known, aliases):
        return f"; did you mean {close}?"
    return f"; known are {', '.join(known)}" if known else ""


def find_close(
    name: str, known: Iterable[str], aliases: Mapping[str, str] = MappingProxyType({})
) -> str | None:
    """Return the known name that *name* resembles, itself or by one of its *aliases*,
    or None.
    """
    # imported here, because only a mistake needs it
    from difflib import get_close_matches

    known = list(known)
    close = get_close_matches(name, [*known, *aliases], n=1)
    if close and close[0] in aliases and not get_close_matches(name, close, cutoff=0.8):
        # an alias is another word, so half of it says nothing
        close = get_close_matches(name, known, n=1)
    return aliases.get(close[0], close[0]) if close else None


def check_names(
    given: Iterable[str],
    known: Collection[str],
    error: type[WebSearchError],
    aliases: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Raise *error* if a keyword argument is unknown; it names the known one that it
    resembles.
    """
    if unknown := sorted(set(given) - set(known)):
        hint = suggest_name(unknown[0], known, aliases)
        raise error(
            f"unknown argument{'s' * (len(unknown) > 1)}: {', '.join(unknown)}{hint}"
        )
