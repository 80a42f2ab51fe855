"""The tables of docs/cli.md: from the command `websearch` itself."""

from __future__ import annotations
import inspect
from typing import Any

from typer.core import TyperArgument
from typer.main import get_command

from websearch_core._cli.app import app

from .markdown import make_table


def write_tables() -> dict[str, str]:
    """Return, for each command, how it is called, what it does, and a table of its
    options.
    """
    # click's types, or typer's own: that depends on the version of typer
    group: Any = get_command(app)
    return {name: _describe(name, command) for name, command in group.commands.items()}


def _describe(name: str, command: Any) -> str:
    arguments = [one for one in command.params if isinstance(one, TyperArgument)]
    options = [
        one
        for one in command.params
        if not isinstance(one, TyperArgument) and not one.hidden
    ]
    rows = [[f"`{_metavar(one)}`", "", "", one.help or ""] for one in arguments]
    rows += [
        [
            ", ".join(f"`{spelling}`" for spelling in one.opts),
            _value(one),
            _default(one),
            one.help or "",
        ]
        for one in options
    ]
    usage = " ".join(["websearch", name, *map(_metavar, arguments)])
    return f"`{usage}`\n\n{inspect.cleandoc(command.help or '')}\n\n{make_table(['', 'value', 'default', ''], rows)}"


def _metavar(argument: TyperArgument) -> str:
    name = argument.metavar or (argument.name or "").upper()
    return f"{name if argument.required else f'[{name}]'}{'...' if argument.nargs == -1 else ''}"


def _value(option: Any) -> str:
    """Return what an option takes: one of several words, or a kind of value."""
    return ", ".join(
        f"`{word}`" for word in (option.metavar or "").strip("[]").split("|") if word
    )


def _default(option: Any) -> str:
    return f"`{option.default}`" if option.default else ""
