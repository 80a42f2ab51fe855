"""Distinguish tables of data from tables used for layout, and write tables of data as
Markdown.
"""

from __future__ import annotations
import re
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import chain, compress, count
from operator import attrgetter

from .._element import HEADINGS, Element
from .lines import CELL, DOWN, ROW

_CELLS = frozenset({"td", "th"})
_GROUPS = frozenset({"thead", "tbody", "tfoot"})
_NEVER_IN_A_CELL = frozenset({"table", "article", "section", "blockquote", "hr"})
# only where the table has headers
_RARELY_IN_A_CELL = HEADINGS | frozenset({"ul", "ol", "dl", "pre"})
# characters, without header cells: more is a page inside a cell
_MAX_CELL_LENGTH = 1500
# characters, in a table of one column: more is a box with a title
_MAX_VALUE_LENGTH = 200
_WIDE = 12  # columns: a wider table is unreadable as pipes
MOST_COLUMNS = 1000
_MAX_COLUMNS, _MAX_ROWS = 50, 200  # spanned by one cell
_CHILDREN, _NAME = attrgetter("children"), attrgetter("name")
_RULE = "| --- "  # below each cell of the first row of a table of pipes
_SPAN = re.compile("[0-9]{1,4}")


def is_data(table: Element) -> bool:
    """Return whether a table has rows of several cells, or a header above one column,
    that fit into Markdown cells.
    """
    rows = list(_rows(table))
    if table.get("role") in {"presentation", "none"} or len(rows) < 2:
        return False
    if all(len(_cells(row)) < 2 for row in rows) and not _is_column(
        [*map(_cells, rows)]
    ):
        return False
    headed = any(
        cell.name == "th"
        for row in rows
        for cell in row.children
        if isinstance(cell, Element)
    )
    never = _NEVER_IN_A_CELL if headed else _NEVER_IN_A_CELL | _RARELY_IN_A_CELL
    level = [table]
    while level:  # level by level, each in few steps
        level = [
            node
            for node in chain.from_iterable(map(_CHILDREN, level))
            if isinstance(node, Element)
        ]
        names = set(map(_NAME, level))
        if not names.isdisjoint(never):
            return False
        if "pre" in names and any(
            node.name == "pre" and "\n" in node.text() for node in level
        ):
            return False
    return headed or all(
        len(cell.text()) <= _MAX_CELL_LENGTH for row in rows for cell in _cells(row)
    )


def _is_column(rows: Sequence[Sequence[Element]]) -> bool:
    """Return whether the rows, of at most one cell each, are a header and at least two
    short values.
    """
    cells = [row[0] for row in rows if row]
    names = [cell.name for cell in cells]
    is_headed = names[:1] == ["th"] and names.count("td") == len(names) - 1 > 1
    return is_headed and all(len(cell.text()) <= _MAX_VALUE_LENGTH for cell in cells)


def spanning(element: Element, content: str) -> str:
    """Write a cell for `table`: *content* on one line, with marks for the columns and
    rows it spans.
    """
    rows = _span(element, "rowspan", _MAX_ROWS)
    return (f"{rows}{DOWN}{content}" if rows > 1 else content) + CELL * _span(
        element, "colspan", _MAX_COLUMNS
    )


def table(element: Element, text: str) -> str:
    """Write a table below its caption, as pipes or, if too wide, as records; CELL ends
    each cell, and ROW each row.
    """
    rows: list[list[str]] = []
    others: list[str] = []  # the caption
    # columns that earlier cells reach into, with the number of rows left
    taken: dict[int, int] = {}
    for written in text.split(ROW):
        if CELL not in written:
            others += [written.strip()] if written.strip() else []
            continue
        if not taken and DOWN not in written:  # as in most tables
            rows.append([each.strip() for each in written.split(CELL)[:-1]])
            continue
        cells: list[str] = []
        reaching: dict[int, int] = {}
        for each in written.split(CELL)[:-1]:
            while taken.get(len(cells)):
                taken[len(cells)] -= 1
                cells.append("")
            rows_down, down, content = each.rpartition(DOWN)
            if down and len(cells) < _MAX_COLUMNS:
                reaching[len(cells)] = int(rows_down) - 1
            cells.append(content.strip())
        taken = {
            column: left
            for column, was in taken.items()
            if (left := was - (column >= len(cells))) > 0
        } | reaching
        rows.append(cells)
    return "\n".join([*others, *([""] if others else []), *_lay_out(element, rows)])


def _span(element: Element, attribute: str, most: int) -> int:
    stated = element.get(attribute)
    if not stated or not _SPAN.fullmatch(stated):
        return 1
    # 0 rows are all that follow
    return min(most, int(stated) or (most if attribute == "rowspan" else 1))


def _lay_out(element: Element, rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, without empty rows and columns.

    The first row gets as many cells as the widest one, since viewers do not show cells
    beyond it.
    """
    longest = max(rows, key=len, default=())
    filled = (
        {*range(len(longest))}
        if all(longest)
        else set[int]().union(*(compress(count(), row) for row in rows))
    )
    used = [column in filled for column in range(max(filled, default=-1) + 1)]
    grid = [[*compress(row, used)] for row in rows if any(row)]
    if not grid:
        return []
    header = grid[0] + [""] * (len(filled) - len(grid[0]))
    if len(header) > _WIDE and len(grid) > 1 and _has_header(element):
        return [_record(header, row) for row in grid[1:]]
    return [_line(header), _RULE * len(header) + "|", *map(_line, grid[1:])]


def _line(row: Sequence[str]) -> str:
    """Write a row between pipes; pipes in its cells are already escaped."""
    if row and all(row):
        return f"| {' | '.join(row)} |"
    return "".join([f"| {cell} " if cell else "| " for cell in row]) + "|"


def _record(names: Sequence[str], row: Sequence[str]) -> str:
    """Write a row as a list item: each non-empty cell, after the name of its column if
    it has one.
    """
    return "- " + "; ".join(
        f"{name}: {cell}" if name else cell
        for name, cell in zip(names, row, strict=False)
        if cell
    )


def write_rows(
    rows: Iterable[Sequence[str]], columns: int, most: int
) -> tuple[str, int]:
    """Write rows as a table, or as a list of records, in which each cell follows the
    name of its column.

    The names of the columns come first; rows may have different lengths. No row is
    begun after *most* characters. Returns the text, and its number of rows, not
    counting the first.
    """
    columns = min(columns, MOST_COLUMNS)
    out = StringIO()
    names: list[str] = []
    written = 0
    for written, row in enumerate(rows):
        cells = [" ".join(cell.split()) for cell in row[:columns]]
        if columns <= _WIDE:
            cells = [cell.replace("|", "\\|") for cell in cells] + [""] * (
                columns - len(cells)
            )
            out.write(f"{_line(cells)}\n")
            if written == 0:
                out.write(_RULE * columns + "|\n")
        elif written == 0:
            cells += [""] * (columns - len(cells))
            names = [
                cell or f"column {number}" for number, cell in enumerate(cells, start=1)
            ]
        elif any(cells):
            out.write(f"{_record(names, cells)}\n")
        if out.tell() > most:
            break
    return out.getvalue(), written


def _has_header(table: Element) -> bool:
    first = next(_rows(table), None)
    return first is not None and all(cell.name == "th" for cell in _cells(first))


def _cells(row: Element) -> list[Element]:
    return [
        cell
        for cell in row.children
        if isinstance(cell, Element) and cell.name in _CELLS
    ]


def _rows(table: Element) -> Iterator[Element]:
    for child in table.children:
        if isinstance(child, Element):
            if child.name == "tr":
                yield child
            elif child.name in _GROUPS:
                yield from (
                    row
                    for row in child.children
                    if isinstance(row, Element) and row.name == "tr"
                )
