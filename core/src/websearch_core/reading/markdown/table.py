"""Tables: which hold data and which only lay out the page, and how one of data is written."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from ..html.tree import HEADINGS, Element

_CELLS = frozenset({"td", "th"})
_GROUPS = frozenset({"thead", "tbody", "tfoot"})
_NEVER_IN_A_CELL = frozenset({"table", "article", "section", "blockquote", "hr"})
_RARELY_IN_A_CELL = HEADINGS | frozenset({"ul", "ol", "dl", "pre"})  # only where the table has headers
_LONGEST_CELL = 1500  # characters, where no cell is a header: more is a page inside a cell
_WIDE = 12  # columns, beyond which a row in a line of pipes can no longer be read
_SPAN = re.compile("[0-9]{1,4}")


def is_data(table: Element) -> bool:
    """Return whether a table has rows of several cells that each hold what a cell of Markdown can hold."""
    rows = list(_rows(table))
    if table.get("role") in {"presentation", "none"} or len(rows) < 2:
        return False
    cells = [[cell for cell in row.children if isinstance(cell, Element) and cell.name in _CELLS] for row in rows]
    if max(map(len, cells)) < 2:
        return False
    headed = any(cell.name == "th" for row in cells for cell in row)
    for element in table.elements():
        if element is table:
            continue
        if element.name in _NEVER_IN_A_CELL or (not headed and element.name in _RARELY_IN_A_CELL):
            return False
        if element.name == "pre" and "\n" in element.text():
            return False
    return headed or all(len(cell.text()) <= _LONGEST_CELL for row in cells for cell in row)


def span(cell: Element, attribute: str, most: int) -> int:
    """Return how many columns or rows a cell takes, from 1 to *most*."""
    stated = cell.get(attribute)
    return min(most, max(1, int(stated))) if _SPAN.fullmatch(stated) else 1


def write(table: Element, rows: Sequence[Sequence[str]]) -> list[str]:
    """
    Write the rows of a table as pipes; as records, a line each, if it is too wide for that.

    The first row gets as many cells as the widest, since what is beyond those is not shown.

    Args:
        table: Where the rows are from.
        rows: The text of their cells, as many as the row has columns. Rows and columns without any text are left out.

    """
    used = sorted({n for row in rows for n, cell in enumerate(row) if cell})
    grid = [[row[n] for n in used[: bisect_left(used, len(row))]] for row in rows if any(row)]
    if not grid:
        return []
    header = grid[0] + [""] * (len(used) - len(grid[0]))
    if len(used) > _WIDE and len(grid) > 1 and _has_header(table):
        return [_record(header, row) for row in grid[1:]]
    return [_line(header), "|" + " --- |" * len(used), *map(_line, grid[1:])]


def _line(row: Sequence[str]) -> str:
    return "".join(f"| {cell} " if cell else "| " for cell in row) + "|"


def _record(header: Sequence[str], row: Sequence[str]) -> str:
    said = [f"{name}: {cell}" if name else cell for name, cell in zip(header, row, strict=False) if cell]
    return "- " + "; ".join(said)


def _has_header(table: Element) -> bool:
    first = next(_rows(table), None)
    return first is not None and all(
        cell.name == "th" for cell in first.children if isinstance(cell, Element) and cell.name in _CELLS
    )


def _rows(table: Element) -> Iterator[Element]:
    for child in table.children:
        if isinstance(child, Element):
            if child.name == "tr":
                yield child
            elif child.name in _GROUPS:
                yield from (row for row in child.children if isinstance(row, Element) and row.name == "tr")
