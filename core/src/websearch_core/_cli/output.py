"""Output of the command line: answers on stdout, progress and errors on stderr, and exit codes for scripts."""

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

EXIT_CODES = """Exit codes: 0 done (even if nothing was found); 1 a service or the network failed; 2 wrong usage or
configuration; 3 the URL may not be opened."""

# Characters that would control a terminal, or change the direction of the text that follows.
_TERMINAL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LINE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_IN_JSON = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_PROGRESS_STEP = 100  # pages between two lines of progress if stderr is not a terminal


def print_text(text: str) -> None:
    """Print *text* for people, without characters that would control their terminal."""
    typer.echo(_TERMINAL.sub("", text))


def print_line(text: str) -> None:
    """Print *text* as one line, so that a file name, for example, cannot forge another line."""
    typer.echo(escape_line(text))


def escape_line(text: str) -> str:
    """Escape the characters of *text* that would end the line, control a terminal or change the direction."""
    return _LINE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def print_markdown(text: str) -> None:
    """Print Markdown: rendered on a terminal, unchanged elsewhere."""
    if not sys.stdout.isatty():
        print_text(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(_TERMINAL.sub("", text)))


def print_json(data: Any) -> None:
    """Print *data* as JSON; characters that would control a terminal, and lone surrogates, are escaped."""
    text = json.dumps(data, ensure_ascii=False, indent=2)
    typer.echo(_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: drawn on a terminal, in plain columns elsewhere."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(*columns)
        for row in rows:
            table.add_row(*(Text(escape_line(cell)) for cell in row))
        Console().print(table)
        return
    lines = [columns, *rows]
    widths = [max(len(line[n]) for line in lines) for n in range(len(columns))]
    for line in lines:
        print_line("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def exit_code(error: WebSearchError) -> int:
    """Return the exit code for *error*."""
    if isinstance(error, UnsafeURL):
        return 3
    return 1 if isinstance(error, ServiceError) else 2


@contextmanager
def report_errors(form: Format) -> Iterator[None]:
    """Exit on a `WebSearchError`, with a line on stderr, or with JSON on stdout if *form* is ``json``."""
    try:
        yield
    except WebSearchError as error:
        if form == "json":
            print_json(error_as_json(error))
        else:
            typer.echo(escape_line(render_error(error)), err=True)
        raise typer.Exit(exit_code(error)) from error


@contextmanager
def show_progress(what: str) -> Iterator[Callable[[str], None]]:
    """Show the progress of *what* on stderr; call the yielded function for each step."""
    count = 0
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.text import Text

        with Console(stderr=True).status(Text(what)) as status:

            def report_step(step: str) -> None:
                nonlocal count
                count += 1
                status.update(Text(f"{what}: {count}, {escape_line(step)}"))

            yield report_step
    else:

        def report_step(step: str) -> None:
            nonlocal count
            count += 1
            if count % _PROGRESS_STEP == 0:
                typer.echo(f"{what}: {count}, {escape_line(step)}", err=True)

        yield report_step
