"""Help with misspelled names."""

from __future__ import annotations
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from ..errors import WebSearchError


def suggest_name(
    name: str, names: Iterable[str], aliases: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return how a message that *name* is none of *names* should end: with the one that
    it resembles, or with all.

    *aliases* are words that other libraries use, each with the name that it stands for.
    """
    names = list(names)
    close = find_close(name, names, aliases)
    if close:
        return f"; did you mean {close}?"
    return f"; known are {', '.join(names)}" if names else ""


def find_close(
    name: str, names: Iterable[str], aliases: Mapping[str, str] = MappingProxyType({})
) -> str | None:
    """Return which of *names* is like *name*, itself or by one of its *aliases*, or
    None.
    """
    # imported here, because only a mistake needs it
    from difflib import get_close_matches

    names = list(names)
    close = get_close_matches(name, [*names, *aliases], n=1)
    if not close:
        return None
    # an alias is another word, so half of it says nothing
    if close[0] in aliases and not get_close_matches(name, close, cutoff=0.8):
        close = get_close_matches(name, names, n=1)
    return aliases.get(close[0], close[0]) if close else None


def check_names(
    arguments: Iterable[str],
    names: Collection[str],
    error: type[WebSearchError],
    aliases: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Raise *error* if a keyword argument is none of *names*; it says which one it is
    like.
    """
    unknown = sorted(set(arguments) - set(names))
    if not unknown:
        return
    hint = suggest_name(unknown[0], names, aliases)
    what = "unknown argument" if len(unknown) == 1 else "unknown arguments"
    raise error(f"{what}: {', '.join(unknown)}{hint}")
