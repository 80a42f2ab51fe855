"""Output of the command line: answers on stdout, progress and errors on stderr, and
exit codes for scripts.
"""

from __future__ import annotations
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from .._text.escaping import escape_json, escape_line, join_lines, strip_controls
from .._text.vocabulary import Format
from ..errors import DisallowedByRobots, ServiceError, UnsafeURL, WebSearchError

if TYPE_CHECKING:
    from ..models import Page, SearchResponse

Row = tuple[str, str]

EXIT_CODES = (
    "Exit codes: 0 done (even if nothing was found); 1 a service or the network "
    "failed; 2 wrong usage or\n"
    "configuration; 3 the URL may not be opened; 130 interrupted; 143 ended by "
    "SIGTERM."
)

_PROGRESS_STEP = 100  # pages between two lines of progress if stderr is not a terminal


def print_response(response: SearchResponse, form: Format) -> None:
    """Print what a search found."""
    from ..render import render_search, search_as_json

    if form == "json":
        print_json(search_as_json(response))
    elif form == "markdown":
        print_markdown(render_search(response, form))
    elif sys.stdout.isatty():
        from .terminal import show_response

        show_response(response)
    else:
        print_text(render_search(response, form))
        for image in response.images:
            print_line(
                f"Image: {join_lines(image.description) or '(no description)'} — "
                f"{image.url}"
            )


def print_pages(pages: Sequence[Page | WebSearchError], form: Format) -> None:
    """Print pages, and the errors of those that cannot be read; exit with the code of
    the first error.
    """
    errors = [page for page in pages if isinstance(page, WebSearchError)]
    if form == "json":
        answers = list(map(_as_json, pages))
        data: Any = answers if len(answers) > 1 else answers[0]
        print_json(data)
    else:
        for number, page in enumerate(pages):
            if isinstance(page, WebSearchError):
                _print_error(page, where=page.url)
                continue
            if number:
                typer.echo("\n", nl=False)
            _print_page(page, form)
    if errors:
        raise typer.Exit(exit_code(type(errors[0])))


def _as_json(page: Page | WebSearchError) -> dict[str, Any]:
    from ..render import error_as_json, page_as_json

    if isinstance(page, WebSearchError):
        return error_as_json(page)
    return page_as_json(page)


def _print_page(page: Page, form: Format) -> None:
    from ..render import render_page

    if form == "markdown":
        print_markdown(render_page(page, form))
    elif sys.stdout.isatty():
        from .terminal import show_page

        show_page(page)
    else:
        print_text(render_page(page, form))


def print_text(text: str) -> None:
    """Print *text* for people, without characters that would control their terminal."""
    typer.echo(strip_controls(text))


def print_line(text: str) -> None:
    """Print *text* as one line, so that a file name, for example, cannot forge another
    line.
    """
    typer.echo(escape_line(text))


def print_markdown(text: str) -> None:
    """Print Markdown: rendered on a terminal, unchanged elsewhere."""
    if not sys.stdout.isatty():
        print_text(text)
        return
    from .terminal import show_markdown

    show_markdown(text)


def print_json(data: Any) -> None:
    """Print *data* as JSON; characters that would control a terminal, and lone
    surrogates, are escaped.
    """
    typer.echo(escape_json(json.dumps(data, ensure_ascii=False, indent=2)))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: drawn on a terminal, in plain columns elsewhere."""
    if sys.stdout.isatty():
        from .terminal import show_table

        show_table(columns, [list(map(escape_line, row)) for row in rows])
        return
    lines = [columns, *rows]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    for line in lines:
        print_line(
            "  ".join(
                cell.ljust(width) for cell, width in zip(line, widths, strict=True)
            ).rstrip()
        )


def print_rows(rows: Iterable[Row]) -> None:
    """Print a name and a text in each line; rows without a text are left out."""
    rows = [(name, text) for name, text in rows if text]
    width = max(len(name) for name, _ in rows)
    before: str | None = None
    for name, text in rows:
        label = "" if name == before else name
        print_row(label, text, width)
        before = name


def print_row(name: str, text: str, width: int, style: str = "bold") -> None:
    """Print *name* and *text* as one line; on a terminal, further lines of the text
    stand below its first.
    """
    if sys.stdout.isatty():
        from .terminal import show_row

        show_row(escape_line(name), escape_line(text), width, style)
    else:
        print_line(f"{name.ljust(width)}  {text}")


def exit_code(error: type[WebSearchError]) -> int:
    """Return the exit code for errors of a class."""
    if issubclass(error, UnsafeURL | DisallowedByRobots):
        return 3
    return 1 if issubclass(error, ServiceError) else 2


@contextmanager
def report_errors(form: Format) -> Iterator[None]:
    """Exit on a `WebSearchError`, with a line on stderr, or with JSON on stdout if
    *form* is ``json``.
    """
    try:
        yield
    except WebSearchError as error:
        from ..render import error_as_json

        if form == "json":
            print_json(error_as_json(error))
        else:
            _print_error(error)
        raise typer.Exit(exit_code(type(error))) from error


def _print_error(error: WebSearchError, where: str | None = None) -> None:
    """Print an error, and what a person can do about it: the notes, which no model
    reads.
    """
    from ..render import render_error

    line = render_error(error)
    if where:
        line = f"{line} ({where})"
    line = escape_line(line)
    if sys.stderr.isatty():
        from .terminal import show_error

        show_error(line)
    else:
        typer.echo(line, err=True)
    for note in getattr(error, "__notes__", ()):
        typer.echo(escape_line(note), err=True)


@contextmanager
def show_progress(
    what: str, max_steps: int | None = None
) -> Iterator[Callable[[str], None]]:
    """Show the progress of *what* on stderr; call the yielded function for each step.

    The maximum number of steps makes a bar of it; without that, steps are only counted.
    """
    if sys.stderr.isatty():
        from .terminal import live_progress

        with live_progress(escape_line(what), max_steps) as report:
            yield lambda step: report(escape_line(step))
        return
    count = 0

    def report_step(step: str) -> None:
        nonlocal count
        count += 1
        if count % _PROGRESS_STEP == 0:
            typer.echo(f"{what}: {count}, {escape_line(step)}", err=True)

    yield report_step
