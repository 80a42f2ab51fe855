"""Rows of cells, from a CSV or a sheet, as Markdown: a table of pipes, or records where that would be too wide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO

from ..whole import without_images

MOST_COLUMNS = 1000
_WIDE = 12  # columns, beyond which a row in a line of pipes can no longer be read


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
    columns = min(columns, MOST_COLUMNS)
    out = StringIO()
    names: list[str] = []
    written = -1
    for row in rows:
        cells = [_cell(cell) for cell in row[:columns]]
        written += 1
        if columns > _WIDE:
            if written == 0:
                names = [cell or f"column {number}" for number, cell in enumerate(cells, start=1)]
                names += [f"column {number}" for number in range(len(names) + 1, columns + 1)]
            else:
                said = "; ".join(f"{name}: {cell}" for name, cell in zip(names, cells, strict=False) if cell)
                out.write(f"- {said}\n" if said else "")
        else:
            cells += [""] * (columns - len(cells))
            line = " | ".join(cell.replace("|", "\\|") for cell in cells)
            out.write(f"| {line} |\n")
            if written == 0:
                out.write("|" + " --- |" * columns + "\n")
        if out.tell() > most:
            break
    return out.getvalue(), max(written, 0)


def _cell(text: str) -> str:
    return without_images(" ".join(text.split()))
