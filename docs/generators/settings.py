"""The table of docs/settings.md: from `Settings`, and from the arguments of
`WebSearch`.
"""

from __future__ import annotations
import re
from collections.abc import Mapping
from typing import Any

from websearch_core import Http, SearchQuery, Timeout, WebSearch
from websearch_core.client import WebSearchOptions
from websearch_core.keys._environ import ENV_FILE
from websearch_core.provider._declare import ProjectFile
from websearch_core.reading import ReadOptions
from websearch_core.settings import Settings
from websearch_core.settings._shapes import OTHER_NAMES
from websearch_core.settings._sources import NAMED, NAMES
from websearch_core.settings._values import find_setting

from .docstrings import read_args
from .markdown import make_table

_ARGUMENTS = {
    "enabled": "",
    "providers": "`provider=Brave(...)`",
    "layers": "`layers=[...]`",
}
_VARIABLES = {
    "providers": "those of each provider, such as `BRAVE_API_KEY`; all options: "
    "`WEB_SEARCH_PROVIDERS`, as JSON",
    "layers": "`WEB_SEARCH_LAYERS`, as JSON",
}
_IN_A_FILE = {
    "combine": "`combine`, `[combine.fuse]`, `[combine.fallback]`",
    "providers": "`[providers.brave]`",
    "layers": "`[layers.relax]`",
}
_FOUND = {
    "layers": "as [below](#layers)",
    "providers": "as [providers](providers.md) says",
    "retry": "as [below](#layers)",
}
_PARTS: dict[str, Any] = {
    "timeout": Timeout,
    "search_options": SearchQuery,
    "read_options": ReadOptions,
    "http": Http,
}
_DEFAULTS = {"combine": "`first`", "retry": "3"}
# Where the pages say the rest: a row has the first sentence of the docstring.
_MORE = {
    "provider": "[Who is chosen](#who-is-chosen).",
    "reader": "[Who is chosen](#who-is-chosen).",
    "internal": "[Holes in the guard](#holes-in-the-guard).",
    "allowed_domains": "[Domains](#domains).",
    "blocked_domains": "[Domains](#domains).",
    "cache": "[The cache](layers.md#keeping-answers-and-pages).",
    "budget": "[Budgets](layers.md#a-budget).",
    "throttle": "[The throttle](layers.md#no-faster-than-a-service-allows).",
    "robots": "[robots.txt](reading.md#robotstxt).",
    "http.proxy": "[Behind a proxy](#behind-a-proxy).",
    "http.resolve": "[Behind a proxy](#behind-a-proxy).",
    "http.contact": "[Who is asking](#who-is-asking).",
    "http.certificates": "[Certificates](#certificates-of-a-company).",
    "read_options.comments": "[Comments and reviews](reading.md#comments-and-reviews).",
    "read_options.transcripts": "[Transcripts](reading.md#transcripts).",
    "api_key": "[Keys](#keys).",
    "on_event": "[Events](observing.md#events).",
}


def write_table() -> str:
    """Return the table with the rows of `list_rows`."""
    head = [
        "argument of `WebSearch`",
        "environment",
        "in a file",
        "default",
        "a project file may set",
        "",
    ]
    return make_table(head, list_rows())


def list_rows() -> list[list[str]]:
    """Return a row for each setting, or for each part of one, and one for each further
    argument of `WebSearch`.
    """
    arguments = read_args(WebSearch)
    meanings = arguments | read_args(Settings)
    rows = [
        row
        for name, field in Settings.model_fields.items()
        for row in _rows(name, field, meanings[name])
    ]
    further = [
        name
        for name in WebSearchOptions.__annotations__
        if name not in Settings.model_fields
    ]
    rows += [
        [f"`{name}`", "", "", "", "", _meaning(name, arguments[name])]
        for name in further
    ]
    return rows


def write_sources() -> str:
    """Return a row for each source of settings, in order of precedence, with what it
    may set.
    """
    names = ", ".join(f"`{name}`" for name in NAMES)
    named, env_file = f"`{NAMED}=/path/to/{NAMES[0]}`", f"`{ENV_FILE}=/path/to/.env`"
    folders = (
        "`$XDG_CONFIG_HOME/websearch` (`~/.config/websearch`)",
        "`~/Library/Application Support/websearch` (macOS)",
    )
    closed = [
        f"`{name}`"
        for name, field in Settings.model_fields.items()
        if _is_closed(name, field)
    ]
    rows = [
        [
            "arguments",
            (
                "your program: `WebSearch(...)`, `Settings(...)`, "
                "`Settings.from_mapping({...})`"
            ),
            "everything",
        ],
        ["environment", "the variables above", "everything"],
        ["a `.env` file", f"only the one that you name: {env_file}", "everything"],
        [
            "a file that you name",
            f"{named}, or any other `.toml`, `.json` or `.yaml`",
            "everything",
        ],
        [
            "a *found* file, unless you named one",
            (
                f"the nearest one, from the working directory up: {names}, or "
                f"`[tool.websearch]` in `pyproject.toml`"
            ),
            (
                f"what the table above says, so not {', '.join(closed)}; of providers and "
                f"layers, only harmless options"
            ),
        ],
        [
            "your own file",
            f"{names} in {', '.join(folders)} or `%APPDATA%\\websearch`",
            "everything",
        ],
    ]
    return make_table(["source", "where", "may set"], rows)


def _is_closed(name: str, field: Any) -> bool:
    parts = find_setting(name).parts
    if parts:
        return not any(
            isinstance(note, ProjectFile)
            for part in parts.values()
            for note in part.notes
        )
    return name not in _FOUND and not any(
        isinstance(note, ProjectFile) for note in field.metadata
    )


def _rows(name: str, field: Any, meaning: str) -> list[list[str]]:
    """Return the row of a setting, and one for each part of it that has a variable of
    its own.
    """
    others = [f"`{other}`" for other, real in OTHER_NAMES.items() if real == name]
    table = (
        f", `[{name}]`" if find_setting(name).layers and name not in _IN_A_FILE else ""
    )
    in_a_file = _IN_A_FILE.get(name, f"`{name}`{table}") + "".join(
        f", or {other}" for other in others
    )
    argument = _ARGUMENTS.get(name, f"`{name}`")
    setting = find_setting(name)
    if not setting.parts:
        variable = _VARIABLES.get(name, f"`{setting.variable}`")
        return [
            [
                argument,
                variable,
                in_a_file,
                _default(name, field),
                _FOUND.get(name) or _found(field.metadata),
                _meaning(name, meaning),
            ]
        ]
    whole = f"`{setting.variable}`" if setting.variable else ""
    found = _found(setting.parts["read"].notes) if setting.variable else ""
    in_a_file = in_a_file if whole else f"`[{name}]`"
    rows = [[argument, whole, in_a_file, "", found, _meaning(name, meaning)]]
    default = getattr(Settings(), name)
    for part, row in setting.parts.items():
        if not row.variable:
            continue
        also = "".join(
            f", or `{other}`"
            for other, real in OTHER_NAMES.items()
            if real == f"{name}.{part}"
        )
        value = (
            default.get(part)
            if isinstance(default, Mapping)
            else getattr(default, part)
        )
        cells = [
            f"`{row.variable}`",
            f"`{name}.{part}`{also}",
            _write_value(value),
        ]
        of_part = _meaning(f"{name}.{part}", read_args(_PARTS[name])[part])
        rows.append(["", *cells, _found(row.notes), of_part])
    return rows


def _meaning(name: str, docstring: str) -> str:
    """Return the first sentence of what a docstring says; what it says before a colon
    or semicolon, if another part of the documentation says the rest.
    """
    first = re.split(r"(?<=\.) ", docstring, maxsplit=1)[0]
    if name not in _MORE:
        return first
    short = re.split("[:;] |, (?:or `|such as )", first.removesuffix("."), maxsplit=1)[
        0
    ]
    return f"{short}. {_MORE[name]}"


def _default(name: str, field: Any) -> str:
    return _DEFAULTS.get(name) or _write_value(
        field.get_default(call_default_factory=True)
    )


def _write_value(value: Any) -> str:
    if value in (None, (), {}):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return (
        f"{value:,}".removesuffix(".0")
        if isinstance(value, int | float)
        else f"`{value}`"
    )


def _found(notes: Any) -> str:
    note = next((note for note in notes if isinstance(note, ProjectFile)), None)
    if note is None:
        return "nothing"
    if note.narrows:
        return "any, within yours"
    if note.at_most is None:
        return "any"
    if isinstance(note.at_most, bool):
        return "`false`"
    return f"up to {note.at_most:,}" + (
        f", unless you set `{note.replaces}`" if note.replaces else ""
    )
