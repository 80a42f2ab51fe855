"""docs/providers.md, and the table of providers in the README: from the providers themselves."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Set as AbstractSet
from typing import Any

from websearch_core.errors import MissingKey
from websearch_core.models import SearchQuery
from websearch_core.provider._declare import Destination, FoundFile, construct, environment, field_notes, is_secret
from websearch_core.provider._ports import can
from websearch_core.providers import known, provider_class

from .docstrings import read_args, read_defaults
from .markdown import as_markdown, make_table

_FOUND = (
    "*In a found file* says what a settings file may set that was merely [found](settings.md#which-files-are-read); "
    "where it is empty, such a file may not set the option."
)
_EVERY_PROVIDER = {"text", "limit", "extra", "unsupported"}


def write_page() -> str:
    """Return what docs/providers.md should say."""
    classes = {name: provider_class(name) for name in known()}
    head = ["# Providers", "Written by `make docs` from the providers themselves.", _FOUND, _query_options(classes)]
    return "\n\n".join(head + [_section(name, cls) for name, cls in classes.items()]) + "\n"


def write_table() -> str:
    """Return the table of the README: what each provider does, what it is, and what it needs."""
    rows = []
    for name in known():
        cls = provider_class(name)
        marks = ["✓" if able else "" for able in (can(cls, "search"), can(cls, "read"))]
        rows.append([f"`{name}`", *marks, _summary(cls), _needs(name, cls)])
    return make_table(["", "search", "read", "", "needs"], rows, "lccll")


def _summary(cls: type[Any]) -> str:
    """Return the first paragraph of the provider's file, without the name at its beginning."""
    about = as_markdown(_about(cls).partition("\n\n")[0]).removesuffix(".")
    return about.partition(": ")[2] or about


def _needs(name: str, cls: type[Any]) -> str:
    """Return the variable that a provider cannot do without, or that it has a use for."""
    try:
        construct(cls, name, {})
    except MissingKey as error:
        return f"`{error.variables[0]}`"
    notes, variables = field_notes(cls), environment(cls)
    keys = [variables[field][0] for field in variables if is_secret(notes.get(field, ()))]
    return f"no key; `{keys[0]}` for more" if keys else "no key"


def _query_options(classes: dict[str, type[Any]]) -> str:
    """Which provider supports which field of a query."""
    searching = [name for name, cls in classes.items() if can(cls, "search")]
    rows = [
        [f"`{option}`", *("✓" if option in _supported(classes[name]) else "" for name in searching)]
        for option in SearchQuery.model_fields
        if option not in _EVERY_PROVIDER
    ]
    return make_table(["", *searching], rows, "l" + "c" * len(searching))


def _supported(cls: type[Any]) -> AbstractSet[str]:
    """The options of a query; another author's class may have a property, which only instances know."""
    options: Any = getattr(cls, "options", frozenset())
    return options if isinstance(options, AbstractSet) else frozenset()


def _section(name: str, cls: type[Any]) -> str:
    does = " and ".join(verb for verb, able in (("searches", can(cls, "search")), ("reads", can(cls, "read"))) if able)
    return f"## {name}\n\n*{does}*\n\n{_about(cls)}\n\n{_options(cls)}"


def _about(cls: type[Any]) -> str:
    return inspect.cleandoc(sys.modules[cls.__module__].__doc__ or "").replace("``", "`")


def _options(cls: type[Any]) -> str:
    meanings, variables, notes = read_args(cls), environment(cls), field_notes(cls)
    keyed = any(map(is_secret, notes.values()))
    rows = []
    for name, default in read_defaults(cls).items():
        names = ", ".join(f"`{variable}`" for variable in variables.get(name, ()))
        found = _found(notes.get(name, ()), keyed=keyed)
        rows.append([f"`{name}`", default, names, found, meanings.get(name, "")])
    return make_table(["option", "default", "environment", "in a found file", ""], rows)


def _found(notes: tuple[Any, ...], *, keyed: bool) -> str:
    """What a settings file that was merely found may set."""
    note = next((note for note in notes if isinstance(note, FoundFile)), None)
    if note is None:
        return ""
    if is_secret(notes):
        return "text"
    if any(isinstance(note, Destination) for note in notes):
        return "https, or this machine" + "; only with its key" * keyed
    return "any" if note.at_most is None else f"up to {note.at_most:,}"
