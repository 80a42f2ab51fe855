"""How the command line speaks: answers on stdout, progress and errors on stderr, exit codes that scripts can tell."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from ..errors import ServiceError, UnsafeURL, WebSearchError
from ..render import Format, error_as_json, render_error

EXIT_CODES = """Exit codes: 0 done, even if nothing was found; 1 a service failed or could not be reached; 2 wrong
usage or configuration; 3 the URL may not be opened."""

# What would be a command to a terminal, or turn the direction in which it shows what follows.
_TERMINAL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LINE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_IN_JSON = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_EVERY = 100  # pages between two lines of progress where there is no terminal


def print_text(text: str) -> None:
    """Write *text* for people; nothing in it can steer their terminal."""
    typer.echo(_TERMINAL.sub("", text))


def put_line(text: str) -> None:
    """Write *text* as one line: a name in it, such as that of a file, cannot forge another one."""
    typer.echo(one_line(text))


def one_line(text: str) -> str:
    """Return *text* with whatever would end the line, steer a terminal or turn the direction written as an escape."""
    return _LINE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def print_markdown(text: str) -> None:
    """Write Markdown: set for reading on a terminal, as it is elsewhere."""
    if not sys.stdout.isatty():
        print_text(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(_TERMINAL.sub("", text)))


def print_json(data: Any) -> None:
    """Write *data* for programs; what would steer a terminal, or is no character, is escaped as JSON has it."""
    text = json.dumps(data, ensure_ascii=False, indent=2)
    typer.echo(_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table: drawn on a terminal, else in plain columns."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(*columns)
        for row in rows:
            table.add_row(*(Text(one_line(cell)) for cell in row))
        Console().print(table)
        return
    lines = [columns, *rows]
    widths = [max(len(line[n]) for line in lines) for n in range(len(columns))]
    for line in lines:
        put_line("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def exit_code(error: WebSearchError) -> int:
    """Return the exit code that tells of *error*."""
    if isinstance(error, UnsafeURL):
        return 3
    return 1 if isinstance(error, ServiceError) else 2


@contextmanager
def report_errors(form: Format) -> Iterator[None]:
    """End the program on an error of ours: a line on stderr, or JSON on stdout for those who asked for JSON."""
    try:
        yield
    except WebSearchError as error:
        if form == "json":
            print_json(error_as_json(error))
        else:
            typer.echo(one_line(render_error(error)), err=True)
        raise typer.Exit(exit_code(error)) from error


@contextmanager
def show_progress(what: str) -> Iterator[Callable[[str], None]]:
    """Say on stderr what takes long; the function given is to be called for each step."""
    count = 0
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.text import Text

        with Console(stderr=True).status(Text(what)) as status:

            def tell(step: str) -> None:
                nonlocal count
                count += 1
                status.update(Text(f"{what}: {count}, {one_line(step)}"))

            yield tell
    else:

        def tell(step: str) -> None:
            nonlocal count
            count += 1
            if count % _EVERY == 0:
                typer.echo(f"{what}: {count}, {one_line(step)}", err=True)

        yield tell
