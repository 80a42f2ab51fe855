"""The tables of docs/cli.md: from the command `websearch` itself."""

from __future__ import annotations
import inspect
from collections import Counter
from collections.abc import Sequence
from typing import Any

from typer.core import TyperArgument
from typer.main import get_command

from websearch_core._cli.app import app

from .markdown import make_table

# how it is spelled, what it takes, what it is without it, and what it does
_Row = tuple[str, str, str, str]


def write_tables() -> dict[str, str]:
    """Return, for each command, how it is called, what it does, and a table of its
    options; and the part `shared`, with the options that several commands have.
    """
    # click's types, or typer's own: that depends on the version of typer
    group: Any = get_command(app)
    rows = {name: _option_rows(command) for name, command in group.commands.items()}
    number = Counter(row for those in rows.values() for row in those)
    shared = [row for row, commands in number.items() if commands > 1]
    parts = {
        name: _describe(
            name,
            command,
            [row for row in rows[name] if row not in shared],
            [row for row in rows[name] if row in shared],
        )
        for name, command in group.commands.items()
    }
    commands = [[name for name in rows if row in rows[name]] for row in shared]
    parts["shared"] = make_table(
        ["", "value", "default", "of", ""],
        [
            [*row[:3], ", ".join(names), row[3]]
            for row, names in zip(shared, commands, strict=True)
        ],
    )
    return parts


def _describe(
    name: str, command: Any, own: Sequence[_Row], shared: Sequence[_Row]
) -> str:
    arguments = [one for one in command.params if isinstance(one, TyperArgument)]
    rows = [(f"`{_metavar(one)}`", "", "", one.help or "") for one in arguments]
    usage = " ".join(["websearch", name, *map(_metavar, arguments)])
    parts = [f"`{usage}`", inspect.cleandoc(command.help or "")]
    if rows or own:
        parts.append(make_table(["", "value", "default", ""], [*rows, *own]))
    if shared:
        names = ", ".join(spellings.partition(", ")[0] for spellings, *_ in shared)
        parts.append(f"It also has {names}: [see above](#options-of-several-commands).")
    return "\n\n".join(parts)


def _option_rows(command: Any) -> list[_Row]:
    return [
        (
            ", ".join(f"`{spelling}`" for spelling in one.opts),
            _value(one),
            _default(one),
            one.help or "",
        )
        for one in command.params
        if not isinstance(one, TyperArgument) and not one.hidden
    ]


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
