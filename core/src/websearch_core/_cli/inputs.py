"""Options of commands that take a list."""

from __future__ import annotations
from typing import Annotated

import typer

from ..errors import InvalidOption
from .arguments import declare

Input = Annotated[str | None, declare("FILE", "Take each line of a file instead; - is standard input", "--input -i")]
_OUTPUT = (
    "Write a line of JSON for each, as it is ready, and go on there the next time; a folder/ is for Markdown, "
    "- for standard output"
)
Output = Annotated[str | None, declare("FILE", _OUTPUT, "--output -o")]
Refresh = Annotated[bool, typer.Option("--refresh", help="Ask again for what the output has, and say what changed")]


def find_items(source: str | None, given: list[str] | None) -> str | list[str]:
    """Return the file of ``--input``, or what is *given* as arguments."""
    if not source and not given:
        raise InvalidOption("Missing argument: give one, or a file that has one in each line with --input")
    if source and given:
        raise InvalidOption("--input: give arguments or a file that has them, not both")
    return source or given or []
