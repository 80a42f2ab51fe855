"""The parts of docs/cli.md: from the command `websearch` itself."""

from __future__ import annotations
import inspect
from collections.abc import Collection, Iterable
from typing import Any

from typer.core import TyperArgument
from typer.main import get_command

from websearch_core._cli.app import app

# How it is spelled and what it takes, and what it does.
_Row = tuple[str, str]


def write_parts() -> dict[str, str]:
    """Return, for each command, how it is called, what it does, and a list of its
    options; and the part `shared`, with the options that several commands have.
    """
    # click's types, or typer's own: that depends on the version of typer
    group: Any = get_command(app)
    commands_of: dict[_Row, list[str]] = {}
    for name, command in group.commands.items():
        for row in _option_rows(command):
            commands_of.setdefault(row, []).append(name)
    common = {row: names for row, names in commands_of.items() if len(names) > 1}
    parts = {
        name: _describe(name, command, common)
        for name, command in group.commands.items()
    }
    rows = [(f"{row[0]} ({', '.join(names)})", row[1]) for row, names in common.items()]
    return parts | {"shared": _write_list(rows)}


def _write_list(rows: Iterable[_Row]) -> str:
    return "\n".join(f"- {spelled}: {meaning}" for spelled, meaning in rows)


def _describe(name: str, command: Any, common: Collection[_Row]) -> str:
    arguments = [one for one in command.params if isinstance(one, TyperArgument)]
    rows = [(f"`{_metavar(one)}`", one.help or "") for one in arguments]
    rows += [row for row in _option_rows(command) if row not in common]
    usage = " ".join(["websearch", name, *map(_metavar, arguments)])
    parts = [f"`{usage}`", inspect.cleandoc(command.help or "")]
    if rows:
        parts.append(_write_list(rows))
    return "\n\n".join(parts)


def _option_rows(command: Any) -> list[_Row]:
    rows: list[_Row] = []
    for option in command.params:
        if isinstance(option, TyperArgument) or option.hidden:
            continue
        spellings = ", ".join(f"`{spelling}`" for spelling in option.opts)
        taken = " ".join(filter(None, [spellings, _value(option)]))
        rows.append((taken, f"{option.help or ''}{_default(option)}"))
    return rows


def _metavar(argument: TyperArgument) -> str:
    name = argument.metavar or (argument.name or "").upper()
    return f"{name if argument.required else f'[{name}]'}{'...' if argument.nargs == -1 else ''}"


def _value(option: Any) -> str:
    """Return what an option takes: one of several words, or a kind of value."""
    return ", ".join(
        f"`{word}`" for word in (option.metavar or "").strip("[]").split("|") if word
    )


def _default(option: Any) -> str:
    """Return the default of an option, unless it is the one of a switch."""
    if not option.default or option.default is True:
        return ""
    return f"; by default `{option.default}`"
