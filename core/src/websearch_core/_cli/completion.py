"""What a shell may offer to complete a word with. Quick: it asks neither the network
nor the settings.
"""

from __future__ import annotations
from collections.abc import Iterable, Iterator
from pathlib import Path

from .._text.vocabulary import TimeRange


def complete_provider(incomplete: str) -> list[str]:
    """Return the providers that search, also as the next one of a chain:
    ``tavily,b``.
    """
    return _complete_chain(incomplete, _list_providers("search"))


def complete_reader(incomplete: str) -> list[str]:
    """Return the providers that read, also as the next one of a chain, and ``auto``."""
    return _complete_chain(incomplete, ["auto", *_list_providers("read")])


def complete_name(incomplete: str) -> list[str]:
    """Return all providers."""
    from .._registry import known

    return _starting_with(incomplete, known())


def complete_option(incomplete: str) -> list[str]:
    """Return the providers that have options; after ``tavily.``, its options; and after
    ``=``, the choices.
    """
    from .._registry import find_class, known
    from ..provider._declare import field_notes, is_secret

    if "." not in incomplete:
        return [f"{name}." for name in _starting_with(incomplete, known())]
    name = incomplete.partition(".")[0]
    notes = field_notes(find_class(name))
    return _starting_with(
        incomplete,
        (f"{name}.{option}=" for option, of in notes.items() if not is_secret(of)),
    )


def complete_time_range(incomplete: str) -> list[str]:
    """Return the names of the ranges."""
    return _starting_with(incomplete, TimeRange.__args__)  # type: ignore[attr-defined]


def _list_providers(role: str) -> Iterator[str]:
    """Yield the providers that can do *role*, as their files say: importing all of them
    would take too long.
    """
    from .._registry import known

    folder = Path(__file__).parents[1] / "providers"
    for name in known():
        file = folder / f"{name}.py"
        # a plug-in may do anything
        text = file.read_text("utf-8") if file.is_file() else f"    def {role}("
        if f"    def {role}(" in text or f"    {role} = " in text:
            yield name


def _complete_chain(incomplete: str, names: Iterable[str]) -> list[str]:
    last = incomplete.rpartition(",")[2]
    before = incomplete.removesuffix(last)
    chain = before.split(",")
    return [
        f"{before}{name}" for name in _starting_with(last, names) if name not in chain
    ]


def _starting_with(beginning: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(beginning)]
