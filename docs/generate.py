"""Write docs/providers.md and docs/api.md from the code itself: ``make docs``."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

from pydantic_core import PydanticUndefined

from websearch_core.models import SearchQuery
from websearch_core.provider import can
from websearch_core.provider._declare import Destination, FoundFile, environment, field_notes, is_secret
from websearch_core.providers import known, provider_class

PAGE = Path(__file__).with_name("providers.md")
REFERENCE = Path(__file__).with_name("api.md")
_FOUND = (
    "*In a found file* says what a settings file may set that was merely [found](settings.md#which-files-are-read); "
    "where it says nothing, such a file may not set the option."
)
_SAID_ANYWAY = {"text", "limit", "extra", "unsupported"}


def page() -> str:
    """Return what docs/providers.md should say."""
    classes = {name: provider_class(name) for name in known()}
    head = ["# Providers", "Written by `make docs` from the providers themselves.", _FOUND, _matrix(classes)]
    return "\n\n".join(head + [_section(name, cls) for name, cls in classes.items()]) + "\n"


def _matrix(classes: dict[str, type[Any]]) -> str:
    """Which provider can express which field of a query; every one of them takes ``limit`` and ``extra``."""
    searching = {name: cls for name, cls in classes.items() if can(cls, "search")}
    rows = [f"| | {' | '.join(searching)} |", f"|---{'|:-:' * len(searching)}|"]
    for option in SearchQuery.model_fields:
        if option not in _SAID_ANYWAY:
            marks = " | ".join("✓" if option in _supported(cls) else "" for cls in searching.values())
            rows.append(f"| `{option}` | {marks} |")
    return "\n".join(rows)


def _supported(cls: type[Any]) -> AbstractSet[str]:
    """The options of a query; they can be a property of another author's class, and then only its instances know."""
    options = getattr(cls, "options", frozenset())
    return options if isinstance(options, AbstractSet) else frozenset()


def _section(name: str, cls: type[Any]) -> str:
    does = " and ".join(verb for verb, able in (("searches", can(cls, "search")), ("reads", can(cls, "read"))) if able)
    about = inspect.cleandoc(sys.modules[cls.__module__].__doc__ or "").replace("``", "`")
    return f"## {name}\n\n*{does}*\n\n{about}\n\n{_options(cls)}"


def _options(cls: type[Any]) -> str:
    described = inspect.cleandoc(cls.__doc__ or "").partition("Args:\n")[2].partition("\n\n")[0]
    entries = [
        " ".join(entry.split()).partition(": ") for entry in re.split(r"^ {4}(?! )", described, flags=re.MULTILINE)
    ]
    said = {name: meaning for name, _, meaning in entries}
    variables, notes = environment(cls), field_notes(cls)
    keyed = any(map(is_secret, notes.values()))
    rows = ["| option | default | environment | in a found file | |", "|---|---|---|---|---|"]
    for name, default in _fields(cls).items():
        names = ", ".join(f"`{variable}`" for variable in variables.get(name, ()))
        meaning = said.get(name, "").replace("``", "`")
        rows.append(f"| `{name}` | {default} | {names} | {_open(notes.get(name, ()), keyed=keyed)} | {meaning} |")
    return "\n".join(rows)


def _open(notes: tuple[Any, ...], *, keyed: bool) -> str:
    """What a settings file may set that was merely found."""
    note = next((note for note in notes if isinstance(note, FoundFile)), None)
    if note is None:
        return ""
    if is_secret(notes):
        return "text"
    if any(isinstance(note, Destination) for note in notes):
        return "https, or this machine" + "; only with its key" * keyed
    return "any" if note.at_most is None else f"up to {note.at_most}"


def _fields(cls: type[Any]) -> dict[str, str]:
    """The options of a provider and their defaults; of a class that is not a dataclass, what calling it takes."""
    if is_dataclass(cls):
        return {field.name: _default(field) for field in fields(cls)}
    parameters = inspect.signature(cls).parameters.values()
    return {one.name: "required" if one.default is one.empty else _shown(one.default) for one in parameters}


def _default(field: Any) -> str:
    default = getattr(field.default, "default", field.default)
    if default in (MISSING, PydanticUndefined):
        return "" if field.default_factory is not MISSING else "required"
    return _shown(default)


def _shown(default: Any) -> str:
    return "" if default in (None, "", ()) else f"`{default}`"


if __name__ == "__main__":
    from generators.reference import write_page

    PAGE.write_text(page(), "utf-8")
    REFERENCE.write_text(write_page(), "utf-8")
