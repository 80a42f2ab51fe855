"""Write the rows of a CSV file or a sheet as Markdown: a table, or a list of records if a table would be too wide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO

from .._markdown.table import WIDE, line, record, rule

MAX_COLUMNS = 1000


def lay_out(rows: Iterable[Sequence[str]], columns: int, most: int) -> tuple[str, int]:
    """
    Write rows as a table, or as a list of records, in which each cell follows the name of its column.

    Args:
        rows: The names of the columns first. Rows may have different lengths.
        columns: How many columns the table has.
        most: The number of characters after which no further row is begun.

    Returns:
        The text, and its number of rows, not counting the first.

    """
    columns = min(columns, MAX_COLUMNS)
    out = StringIO()
    names: list[str] = []
    written = 0
    for written, row in enumerate(rows):
        cells = [" ".join(cell.split()) for cell in row[:columns]]
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
