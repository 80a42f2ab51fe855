"""The table of docs/settings.md: from `Settings`, and from the arguments of `WebSearch`."""

from __future__ import annotations

import inspect
from typing import Any

from websearch_core import WebSearch
from websearch_core.keys._environ import ENV_FILE
from websearch_core.provider._declare import FoundFile
from websearch_core.settings import Settings
from websearch_core.settings._shapes import OTHER_NAMES
from websearch_core.settings._sources import NAMED, NAMES

from .docstrings import read_args
from .markdown import make_table

_ARGUMENTS = {
    "enabled": "",
    "providers": '`provider_options={"brave": {...}}`',
    "layers": "`layers=[...]`",
}
_VARIABLES = {
    "providers": "those of each provider, such as `BRAVE_API_KEY`; all options: `WEB_SEARCH_PROVIDERS`, as JSON",
    "layers": "`WEB_SEARCH_LAYERS`, as JSON",
}
_IN_A_FILE = {"providers": "`[providers.brave]`", "layers": "`[layers.retry]`"}
_FOUND = {"layers": "as [below](#layers)", "providers": "as [providers](providers.md) says"}
_SET_ELSEWHERE = {"provider_options", "layers"}


def write_table() -> str:
    """Return a row for each setting, and one for each further argument of `WebSearch`."""
    meanings = read_args(Settings)
    rows = [_row(name, field, meanings[name]) for name, field in Settings.model_fields.items()]
    arguments = read_args(WebSearch)
    further = [name for name in inspect.signature(WebSearch).parameters if name not in Settings.model_fields]
    rows += [[f"`{name}`", "", "", "", "", arguments[name]] for name in further if name not in _SET_ELSEWHERE]
    head = ["argument of `WebSearch`", "environment", "in a file", "default", "a found file may set", ""]
    return make_table(head, rows)


def write_sources() -> str:
    """Return a row for each source of settings, in order of precedence, with what it may set."""
    names = ", ".join(f"`{name}`" for name in NAMES)
    named, env_file = f"`{NAMED}=/path/to/{NAMES[0]}`", f"`{ENV_FILE}=/path/to/.env`"
    folders = (
        "`$XDG_CONFIG_HOME/websearch` (`~/.config/websearch`)",
        "`~/Library/Application Support/websearch` (macOS)",
    )
    closed = [f"`{name}`" for name, field in Settings.model_fields.items() if _is_closed(name, field)]
    rows = [
        ["arguments", "your program: `WebSearch(...)`, `Settings(...)`, `Settings.from_mapping({...})`", "everything"],
        ["environment", "the variables above", "everything"],
        ["a `.env` file", f"only the one that you name: {env_file}", "everything"],
        ["a file that you name", f"{named}, or any other `.toml`, `.json` or `.yaml`", "everything"],
        [
            "a *found* file, unless you named one",
            f"the nearest one, from the working directory up: {names}, or `[tool.websearch]` in `pyproject.toml`",
            f"what the table above says, so not {', '.join(closed)}; of providers and layers, only harmless options",
        ],
        ["your own file", f"{names} in {', '.join(folders)} or `%APPDATA%\\websearch`", "everything"],
    ]
    return make_table(["source", "where", "may set"], rows)


def _is_closed(name: str, field: Any) -> bool:
    return name not in _FOUND and not any(isinstance(note, FoundFile) for note in field.metadata)


def _row(name: str, field: Any, meaning: str) -> list[str]:
    others = [f"`{other}`" for other, real in OTHER_NAMES.items() if real == name]
    in_a_file = _IN_A_FILE.get(name, f"`{name}`") + "".join(f", or {other}" for other in others)
    variable = _VARIABLES.get(name, f"`WEB_SEARCH_{name.upper()}`")
    argument = _ARGUMENTS.get(name, f"`{name}`")
    return [argument, variable, in_a_file, _default(field), _FOUND.get(name) or _found(field), meaning]


def _default(field: Any) -> str:
    default = field.get_default(call_default_factory=True)
    if default in (None, (), {}):
        return ""
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return f"{default:,}".removesuffix(".0") if isinstance(default, int | float) else f"`{default}`"


def _found(field: Any) -> str:
    note = next((note for note in field.metadata if isinstance(note, FoundFile)), None)
    if note is None:
        return "nothing"
    if note.narrows:
        return "any, within yours"
    if note.at_most is None:
        return "any"
    if isinstance(note.at_most, bool):
        return "`false`"
    return f"up to {note.at_most:,}" + (f", unless you set `{note.replaces}`" if note.replaces else "")
