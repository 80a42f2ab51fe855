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

EXIT_CODES = """Exit codes: 0 done (finding nothing included); 1 a service failed, or the way there; 2 wrong usage or
configuration; 3 the URL may not be opened."""

_TERMINAL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # what would be a command to a terminal
_EVERY = 100  # pages between two lines of progress where there is no terminal


def put(text: str) -> None:
    """Write *text* for people; nothing in it can steer their terminal."""
    typer.echo(_TERMINAL.sub("", text))


def put_markdown(text: str) -> None:
    """Write Markdown: set for reading on a terminal, as it is elsewhere."""
    if not sys.stdout.isatty():
        put(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(_TERMINAL.sub("", text)))


def put_json(data: Any) -> None:
    """Write *data* for programs."""
    typer.echo(json.dumps(data, ensure_ascii=False, indent=2))


def put_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table: drawn on a terminal, else in plain columns."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(*columns)
        for row in rows:
            table.add_row(*(Text(_TERMINAL.sub("", cell)) for cell in row))
        Console().print(table)
        return
    lines = [columns, *rows]
    widths = [max(len(line[n]) for line in lines) for n in range(len(columns))]
    for line in lines:
        put("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def exit_code(error: WebSearchError) -> int:
    """Return the exit code that tells of *error*."""
    if isinstance(error, UnsafeURL):
        return 3
    return 1 if isinstance(error, ServiceError) else 2


@contextmanager
def reported(form: Format) -> Iterator[None]:
    """End the program on an error of ours: a line on stderr, or JSON on stdout for those who asked for JSON."""
    try:
        yield
    except WebSearchError as error:
        if form == "json":
            put_json(error_as_json(error))
        else:
            typer.echo(_TERMINAL.sub("", render_error(error)), err=True)
        raise typer.Exit(exit_code(error)) from error


@contextmanager
def progress(what: str) -> Iterator[Callable[[str], None]]:
    """Say on stderr what takes long; the function given is to be called for each step."""
    count = 0
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.text import Text

        with Console(stderr=True).status(Text(what)) as status:

            def tell(step: str) -> None:
                nonlocal count
                count += 1
                status.update(Text(f"{what}: {count}, {_TERMINAL.sub('', step)}"))

            yield tell
    else:

        def tell(step: str) -> None:
            nonlocal count
            count += 1
            if count % _EVERY == 0:
                typer.echo(f"{what}: {count}, {_TERMINAL.sub('', step)}", err=True)

        yield tell
