"""Write docs/providers.md from the providers themselves: ``make docs``."""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from pydantic_core import PydanticUndefined

from websearch_core.models import SearchQuery
from websearch_core.provider import Destination, FoundFile, declared, environment, is_secret
from websearch_core.providers import known, provider_class

PAGE = Path(__file__).with_name("providers.md")
_FOUND = (
    "*In a found file* says what a settings file may set that was merely [found](settings.md#which-files-are-read); "
    "where it says nothing, such a file may not set the option."
)
_SAID_ANYWAY = {"text", "limit", "extra"}


def page() -> str:
    """Return what docs/providers.md should say."""
    classes = [provider_class(name) for name in known()]
    head = ["# Providers", "Written by `make docs` from the providers themselves.", _FOUND, _matrix(classes)]
    return "\n\n".join(head + [_section(cls) for cls in classes]) + "\n"


def _matrix(classes: list[type[Any]]) -> str:
    """Which provider can express which field of a query; every one of them takes ``limit`` and ``extra``."""
    searching = [cls for cls in classes if hasattr(cls, "search")]
    rows = [f"| | {' | '.join(cls.name for cls in searching)} |", f"|---{'|:-:' * len(searching)}|"]
    for option in SearchQuery.model_fields:
        if option not in _SAID_ANYWAY:
            marks = " | ".join("✓" if option in cls.options else "" for cls in searching)
            rows.append(f"| `{option}` | {marks} |")
    return "\n".join(rows)


def _section(cls: type[Any]) -> str:
    does = " and ".join(verb for verb, method in (("searches", "search"), ("reads", "read")) if hasattr(cls, method))
    about = inspect.cleandoc(sys.modules[cls.__module__].__doc__ or "").replace("``", "`")
    return f"## {cls.name}\n\n*{does}*\n\n{about}\n\n{_options(cls)}"


def _options(cls: type[Any]) -> str:
    described = inspect.cleandoc(cls.__doc__ or "").partition("Args:\n")[2].partition("\n\n")[0]
    entries = [
        " ".join(entry.split()).partition(": ") for entry in re.split(r"^ {4}(?! )", described, flags=re.MULTILINE)
    ]
    said = {name: meaning for name, _, meaning in entries}
    variables, notes = environment(cls), declared(cls)
    keyed = any(map(is_secret, notes.values()))
    rows = ["| option | default | environment | in a found file | |", "|---|---|---|---|---|"]
    for field in fields(cls):
        names = ", ".join(f"`{name}`" for name in variables.get(field.name, ()))
        meaning = said.get(field.name, "").replace("``", "`")
        rows.append(
            f"| `{field.name}` | {_default(field)} | {names} | {_open(notes[field.name], keyed=keyed)} | {meaning} |"
        )
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


def _default(field: Any) -> str:
    default = getattr(field.default, "default", field.default)
    if default in (MISSING, PydanticUndefined):
        return "" if field.default_factory is not MISSING else "required"
    return "" if default in (None, "", ()) else f"`{default}`"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
