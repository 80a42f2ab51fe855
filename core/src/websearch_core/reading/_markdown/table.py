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
_MAX_COLUMNS = 50  # spanned by one cell
_MAX_ROWS = 200
_CHILDREN = attrgetter("children")
_NAME = attrgetter("name")
_RULE = "| --- "  # below each cell of the first row of a table of pipes
_SPAN = re.compile("[0-9]{1,4}")


def is_data(table: Element) -> bool:
    """Return whether a table has data that fit into Markdown cells.

    That is rows of several cells, or a header above one column.
    """
    rows = list(_rows(table))
    if table.get("role") in {"presentation", "none"} or len(rows) < 2:
        return False
    cells = [_cells(row) for row in rows]
    if all(len(row) < 2 for row in cells) and not _is_column(cells):
        return False
    headed = any(map(_has_head, rows))
    if not _fits_cells(table, headed=headed):
        return False
    return headed or all(
        len(cell.text()) <= _MAX_CELL_LENGTH for cell in chain.from_iterable(cells)
    )


def _has_head(row: Element) -> bool:
    children = row.children
    return any(child.name == "th" for child in children if isinstance(child, Element))


# Measured: level by level, each in few steps. `level` has the elements that are equally
# deep in the table: its groups, then its rows, its cells, what they contain ...
def _fits_cells(table: Element, *, headed: bool) -> bool:
    """Return whether nothing in a table needs more than a cell of one line."""
    never = _NEVER_IN_A_CELL if headed else _NEVER_IN_A_CELL | _RARELY_IN_A_CELL
    level = [table]
    while level:
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
    return True


def _is_column(rows: Sequence[Sequence[Element]]) -> bool:
    """Return whether rows are a header and at least two short values.

    The rows have at most one cell each.
    """
    cells = [row[0] for row in rows if row]
    names = [cell.name for cell in cells]
    is_headed = names[:1] == ["th"] and names.count("td") == len(names) - 1 > 1
    return is_headed and all(len(cell.text()) <= _MAX_VALUE_LENGTH for cell in cells)


def spanning(element: Element, content: str) -> str:
    """Write a cell for `table`.

    That is its *content* on one line, with marks for the columns and rows it spans.
    """
    rows = _span(element, "rowspan", _MAX_ROWS)
    if rows > 1:
        content = f"{rows}{DOWN}{content}"
    return content + CELL * _span(element, "colspan", _MAX_COLUMNS)


def table(element: Element, text: str) -> str:
    """Write a table below its caption, as pipes or, if too wide, as records.

    In its *text*, CELL ends each cell, and ROW each row.
    """
    rows: list[list[str]] = []
    lines: list[str] = []  # of the caption
    taken: dict[int, int] = {}
    for line in text.split(ROW):
        if CELL in line:
            cells, taken = _read_row(line, taken)
            rows.append(cells)
        elif line.strip():
            lines.append(line.strip())
    if lines:
        lines.append("")
    return "\n".join([*lines, *_lay_out(element, rows)])


def _read_row(line: str, taken: dict[int, int]) -> tuple[list[str], dict[int, int]]:
    """Return the cells of a row, with empty ones where others reach into it.

    *taken* are the columns that earlier cells reach into, with the number of rows that
    they still take. Returns the same for the next row as well.
    """
    parts = line.split(CELL)[:-1]
    if not taken and DOWN not in line:  # as in most tables
        return [part.strip() for part in parts], taken
    cells: list[str] = []
    left = dict(taken)
    for part in parts:
        while left.get(len(cells)):
            left[len(cells)] -= 1
            cells.append("")
        content = part.rpartition(DOWN)[2]
        if content != part and len(cells) < _MAX_COLUMNS:
            left[len(cells)] = int(part.partition(DOWN)[0]) - 1  # rows below this one
        cells.append(content.strip())
    for column in taken:
        left[column] -= column >= len(cells)  # behind the last cell of the row
    return cells, {column: rows for column, rows in left.items() if rows > 0}


def _span(element: Element, attribute: str, limit: int) -> int:
    value = element.get(attribute)
    if not value or not _SPAN.fullmatch(value):
        return 1
    count = int(value)
    if count == 0 and attribute == "rowspan":  # all rows that follow
        return limit
    return min(limit, max(1, count))


def _lay_out(element: Element, rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, without empty rows and columns.

    The first row gets as many cells as the widest one, since viewers do not show cells
    beyond it.
    """
    longest = max(rows, key=len, default=())
    filled = {*range(len(longest))}
    if not all(longest):
        filled = set[int]().union(*(compress(count(), row) for row in rows))
    used = [column in filled for column in range(max(filled, default=-1) + 1)]
    grid = [[*compress(row, used)] for row in rows if any(row)]
    if not grid:
        return []
    header = grid[0] + [""] * (len(filled) - len(grid[0]))
    is_wide = len(header) > _WIDE and len(grid) > 1
    if is_wide and _has_header(element):
        return [_record(header, row) for row in grid[1:]]
    return [_line(header), _RULE * len(header) + "|", *map(_line, grid[1:])]


def _line(row: Sequence[str]) -> str:
    """Write a row between pipes; pipes in its cells are already escaped."""
    if row and all(row):
        return f"| {' | '.join(row)} |"
    return "".join([f"| {cell and f'{cell} '}" for cell in row]) + "|"


def _record(names: Sequence[str], row: Sequence[str]) -> str:
    """Write a row as a list item.

    It has each cell that is not empty, after the name of its column if that has one.
    """
    cells: list[str] = []
    for name, cell in zip(names, row, strict=False):
        if cell:
            label = f"{name}: " if name else ""
            cells.append(label + cell)
    return "- " + "; ".join(cells)


def write_rows(
    rows: Iterable[Sequence[str]], columns: int, limit: int
) -> tuple[str, int]:
    """Write rows as a table, or as a list of records if they are too wide.

    The names of the columns come first; rows may have different lengths. In a record,
    each cell follows the name of its column. No row is begun after *limit* characters.
    Returns the text, and its number of rows, not counting the first.
    """
    columns = min(columns, MOST_COLUMNS)
    out = StringIO()
    names: list[str] = []
    number = 0
    for number, row in enumerate(rows):
        cells = [" ".join(cell.split()) for cell in row[:columns]]
        if number == 0 or columns <= _WIDE:
            cells += [""] * (columns - len(cells))
        if columns <= _WIDE:
            cells = [cell.replace("|", "\\|") for cell in cells]
            out.write(f"{_line(cells)}\n")
            if number == 0:
                out.write(_RULE * columns + "|\n")
        elif number == 0:
            names = [cell or f"column {n}" for n, cell in enumerate(cells, start=1)]
        elif any(cells):
            out.write(f"{_record(names, cells)}\n")
        if out.tell() > limit:
            break
    return out.getvalue(), number


def _has_header(table: Element) -> bool:
    first = next(_rows(table), None)
    return first is not None and all(cell.name == "th" for cell in _cells(first))


def _cells(row: Element) -> list[Element]:
    children = (child for child in row.children if isinstance(child, Element))
    return [child for child in children if child.name in _CELLS]


def _rows(table: Element) -> Iterator[Element]:
    for child in table.children:
        if not isinstance(child, Element):
            continue
        if child.name == "tr":
            yield child
        elif child.name in _GROUPS:
            rows = (row for row in child.children if isinstance(row, Element))
            yield from (row for row in rows if row.name == "tr")
