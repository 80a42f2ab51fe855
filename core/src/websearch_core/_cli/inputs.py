"""Options of commands that take a list."""

from __future__ import annotations
from pathlib import Path
from typing import Annotated

import typer

from .._text.urls import describe_relative
from ..errors import InvalidOption
from .arguments import declare

Input = Annotated[
    str | None,
    declare(
        "FILE",
        "Take each line of a file instead, or the rows of a table or of JSON; - is "
        "standard input",
        "--input -i",
    ),
]
Column = Annotated[
    str | None, declare("NAME", "Which column or field of the --input to take")
]
_OUTPUT = (
    "Write a line of JSON for each, as it is ready, and go on there the next time; a "
    "folder/ is for Markdown, "
    "- for standard output"
)
Output = Annotated[str | None, declare("FILE", _OUTPUT, "--output -o")]
Retry = Annotated[
    bool,
    typer.Option(
        "--retry-failed", help="Ask again for rows whose error may be temporary"
    ),
]
Refresh = Annotated[
    bool,
    typer.Option(
        "--refresh", help="Ask again for what the output has, and say what changed"
    ),
]


def check_rows(output: str | None, *, refresh: bool, retry: bool = False) -> None:
    """Refuse options about the rows of an earlier run where no output has them."""
    if output:
        return
    if refresh or retry:
        which = "--refresh" if refresh else "--retry-failed"
        raise InvalidOption(f"{which}: also name the --output of the earlier run")


def find_items(source: str | None, arguments: list[str] | None) -> str | list[str]:
    """Return the file of ``--input``, or else the *arguments*."""
    if not source and not arguments:
        raise InvalidOption(
            "Missing argument: give one, or with --input a file that has one per line"
        )
    if source and arguments:
        raise InvalidOption("--input: give arguments or a file with them, not both")
    if not source:
        return arguments or []
    if source == "-":
        return source
    if not Path(source).exists() or Path(source).is_dir():
        raise InvalidOption(f"--input: there is no file {source!r}")
    return source


def check_url(place: str, *, why: str = "") -> str:
    """Return *place*, a URL, without spaces around it; refuse what has no scheme."""
    place = place.strip()
    if "://" in place:
        return place
    raise InvalidOption(f"url: {why}{describe_relative(place)}")


def check_column(column: str | None, source: str | None) -> None:
    """Refuse a column where no file has it."""
    if column and not source:
        raise InvalidOption("--column: also name the --input that has it")
