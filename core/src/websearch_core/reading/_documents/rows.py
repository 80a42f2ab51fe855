"""Rows of cells, from a CSV or a sheet, as Markdown: a table of pipes, or records where that would be too wide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO

from .._markdown.table import WIDE, line, record, rule

MAX_COLUMNS = 1000


def lay_out(rows: Iterable[Sequence[str]], columns: int, most: int) -> tuple[str, int]:
    """
    Write rows as a table, or as a list of records, each cell after the name of its column.

    Args:
        rows: The names of the columns first. A row may be shorter than others, or longer than the table is wide.
        columns: How many columns the table has.
        most: Characters, after which no further row is begun.

    Returns:
        The text, and how many rows it holds, without the first.

    """
    columns = min(columns, MAX_COLUMNS)
    out = StringIO()
    names: list[str] = []
    written = 0
    for written, row in enumerate(rows):
        cells = [_cell(cell) for cell in row[:columns]]
        if columns <= WIDE:
            cells = [cell.replace("|", "\\|") for cell in cells] + [""] * (columns - len(cells))
            out.write(f"{line(cells)}\n")
            if written == 0:
                out.write(f"{rule(columns)}\n")
        elif written == 0:
            cells += [""] * (columns - len(cells))
            names = [cell or f"column {number}" for number, cell in enumerate(cells, start=1)]
        elif any(cells):
            out.write(f"{record(names, cells)}\n")
        if out.tell() > most:
            break
    return out.getvalue(), written


def _cell(text: str) -> str:
    return " ".join(text.split())
