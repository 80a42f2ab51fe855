"""Show answers on a terminal: in colour, wrapped between words at its width.

rich decides what the terminal can do, and honours ``NO_COLOR``, ``FORCE_COLOR`` and
``TERM=dumb``.
"""

from __future__ import annotations
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
)
from rich.style import Style
from rich.table import Table
from rich.text import Text

from .._text.escaping import join_lines, link_target, strip_controls
from ..models import Page, SearchResponse, SearchResult

_WIDTH = 100  # longer lines of prose are hard to read
_INDENT = 3
_SHORT = 24  # characters of a cell that is not wrapped
_STYLES = {"ready": "green"}  # cells of tables


class _Heading(Heading):
    """A heading at the left; rich would centre it and draw a box around the first."""

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        del console, options
        self.text.justify = "left"
        style = "bold magenta" if self.tag == "h1" else "bold"
        self.text.stylize(style)
        yield self.text


class _Markdown(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
    }


def show_response(response: SearchResponse) -> None:
    """Show what a search found."""
    console = _console()
    if response.answer:
        _prose(console, Text("Answer", "bold green"))
        console.print(_markdown(response.answer), width=_width(console))
        console.print()
    for result in response.results:
        _show_result(console, result)
    if not response.results:
        _prose(
            console,
            Text.assemble("No results found for: ", (_line(response.query), "bold")),
        )
    if response.images:
        _prose(console, Text("Images", "bold"))
        for image in response.images:
            if image.description:
                _prose(console, Text(_line(image.description)), _INDENT)
            _show_url(console, image.url)
        console.print()
    if response.suggestions:
        _prose(
            console,
            Text.assemble(
                ("Try also: ", "bold"), ", ".join(map(_line, response.suggestions))
            ),
        )
    _show_notes(console, response.notes)


def show_page(page: Page) -> None:
    """Show a page: what is known about it, then its text."""
    console = _console()
    title = _line(page.title)
    if title and not page.content.startswith(f"# {title}"):
        _prose(console, Text(title, "bold magenta"))
    _show_url(console, page.final_url or page.url, "")
    dates = (("published", page.published), ("updated", page.modified))
    facts = [
        page.author or "",
        *(f"{name} {date:%Y-%m-%d}" for name, date in dates if date),
    ]
    _show_facts(console, facts)
    if page.content.strip():
        console.print()
        console.print(_markdown(page.content), width=_width(console))
    console.print()
    _show_notes(console, page.notes)
    position = _describe_position(page)
    if position:
        _prose(console, Text(position, "dim"))


def show_markdown(text: str) -> None:
    """Show rendered Markdown."""
    console = _console()
    console.print(_markdown(text), width=_width(console))


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Show a table, without lines between its rows."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    # what is short stays whole, and the rest is wrapped
    for number, column in enumerate(columns):
        longest = max((len(row[number]) for row in rows), default=0)
        table.add_column(column, overflow="fold", no_wrap=longest <= _SHORT)
    for row in rows:
        table.add_row(*(Text(cell, _STYLES.get(cell, "")) for cell in row))
    _console().print(table)


def show_row(name: str, text: str, width: int, style: str = "bold") -> None:
    """Show a name, and beside it a text that is wrapped in its own column."""
    console = _console()
    for number, line in enumerate(
        Text(text).wrap(console, max(_width(console) - width - 2, 20))
    ):
        label = "" if number else name
        beside = label.ljust(width + 2)
        console.print(Text.assemble((beside, style), line), soft_wrap=True)


def show_error(line: str) -> None:
    """Show an error on stderr: its code in red."""
    message = line.partition("]")[2]
    code = line.removesuffix(message)
    text = Text.assemble((code, "bold red"), message)
    Console(stderr=True, highlight=False).print(text, soft_wrap=not message)


@contextmanager
def live_progress(what: str, max_steps: int | None) -> Iterator[Callable[[str], None]]:
    """Show a spinner, or a bar if the number of steps is known, on stderr; it is gone
    afterwards.
    """
    counted = (
        (BarColumn(bar_width=24), MofNCompleteColumn())
        if max_steps
        else (TextColumn("{task.fields[count]}"),)
    )
    doing = TextColumn("{task.description}", markup=False)
    step = TextColumn("{task.fields[step]}", markup=False, style="dim")
    with Progress(
        SpinnerColumn(),
        doing,
        *counted,
        step,
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(what, total=max_steps, step="", count="")
        done = 0

        def report(name: str) -> None:
            nonlocal done
            done += 1
            room = max(10, bar.console.width - len(what) - 44)
            label = name if len(name) <= room else f"…{name[-room:]}"
            bar.update(
                task,
                completed=done,
                count=str(done),
                step=label,
            )

        yield report


def _show_result(console: Console, result: SearchResult) -> None:
    number = f"{result.citation_id}. ".ljust(_INDENT)
    title = _line(result.title)
    if title and title != _line(result.url):
        _prose(
            console, Text.assemble((number, "dim"), (title, "bold")), hang=len(number)
        )
        _show_url(console, result.url)
    else:
        _show_url(console, result.url, number)
    facts = [result.author or ""]
    if result.published:
        facts.append(f"{result.published:%Y-%m-%d}")
    _show_facts(console, facts, _INDENT)
    snippet = _line(result.snippet)
    if result.content is not None:
        text = _markdown(result.content)
        console.print(Padding(text, (0, 0, 0, _INDENT)), width=_width(console))
    elif snippet:
        _prose(console, Text(snippet), _INDENT)
    console.print()


def _show_facts(console: Console, facts: Sequence[str], indent: int = 0) -> None:
    line = " · ".join(filter(None, map(_line, facts)))
    if line:
        _prose(console, Text(line, "dim"), indent)


def _show_url(console: Console, url: str, before: str = " " * _INDENT) -> None:
    """Show a URL on one line of the terminal's own, so that it can be copied however
    long it is.
    """
    line = _line(url)
    style = Style(color="cyan", link=link_target(line))
    text = Text.assemble((before, "dim"), (line, style))
    console.print(text, soft_wrap=True)


def _show_notes(console: Console, notes: Sequence[str]) -> None:
    for note in notes:
        _prose(console, Text.assemble(("Note: ", "yellow"), _line(note)))


def _describe_position(page: Page) -> str:
    if page.next_offset is None:
        return ""
    if page.passages:
        return f"For the next places, add --offset {page.next_offset}."
    end = page.offset + page.content_length
    return (
        f"Characters {page.offset:,} to {end:,} of {page.original_length:,}; read on "
        f"with --offset {page.next_offset}."
    )


def _prose(console: Console, text: Text, indent: int = 0, hang: int = 0) -> None:
    """Print *text*, wrapped between words; its further lines are indented by *hang*
    more.
    """
    width = _width(console) - indent - hang
    lines = text.wrap(console, max(width, 20))
    margin = indent
    for line in lines:
        console.print(Text(" " * margin) + line, soft_wrap=True)
        margin = indent + hang


def _markdown(text: str) -> _Markdown:
    return _Markdown(strip_controls(text))


def _line(text: str) -> str:
    return join_lines(strip_controls(text))


def _console() -> Console:
    return Console(file=sys.stdout, highlight=False)


def _width(console: Console) -> int:
    return min(console.width, _WIDTH)
