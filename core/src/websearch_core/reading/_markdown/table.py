"""Distinguish tables of data from tables used for layout, and write tables of data as
Markdown.
"""

from __future__ import annotations
import re
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import chain, compress, islice, repeat
from operator import attrgetter, or_

from .._element import HEADINGS, Element
from .lines import CELL, DOWN, ROW

_CELLS = frozenset({"td", "th"})
_GROUPS = frozenset({"thead", "tbody", "tfoot", "tr"})
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
    rows = [_cells(row) for row in _rows(table)]
    if table.get("role") in {"presentation", "none"} or len(rows) < 2:
        return False
    is_narrow = all(len(row) < 2 for row in rows)
    if is_narrow and not _is_column(rows):
        return False
    cells = [*chain.from_iterable(rows)]
    headed = any(cell.name == "th" for cell in cells)
    if not _fits_cells(table, headed=headed):
        return False
    if headed:
        return True
    return all(len(cell.text()) <= _MAX_CELL_LENGTH for cell in cells)


# Measured: level by level, each in few steps. `level` has the elements that are equally
# deep in the table: its groups, then its rows, its cells, what they contain ...
def _fits_cells(table: Element, *, headed: bool) -> bool:
    """Return whether nothing in a table needs more than a cell of one line."""
    never = _NEVER_IN_A_CELL
    if not headed:
        never |= _RARELY_IN_A_CELL
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
        if "pre" in names and any(map(_is_block_of_code, level)):
            return False
    return True


def _is_block_of_code(element: Element) -> bool:
    return element.name == "pre" and "\n" in element.text()


def _is_column(rows: Sequence[Sequence[Element]]) -> bool:
    """Return whether rows are a header and at least two short values.

    The rows have at most one cell each.
    """
    cells = [row[0] for row in rows if row]
    names = [cell.name for cell in cells]
    if names[:1] != ["th"] or len(names) < 3:
        return False
    if names.count("td") != len(names) - 1:
        return False
    return all(len(cell.text()) <= _MAX_VALUE_LENGTH for cell in cells)


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
            rows = part.partition(DOWN)[0]
            left[len(cells)] = int(rows) - 1  # below this one
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


def drop_empty(rows: Iterable[Sequence[str]]) -> list[list[str]]:
    """Return rows without those, and without the columns, that are empty.

    The first row gets as many cells as the widest one, since viewers do not show cells
    beyond it.
    """
    filled = [row for row in rows if any(row)]
    used: list[bool] = []  # whether a column has a cell that is not empty
    for row in filled:
        used += [False] * (len(row) - len(used))
        used[: len(row)] = map(or_, used, map(bool, row))
    grid = [[*compress(row, used)] for row in filled]
    if grid:
        grid[0] = _fill(grid[0], sum(used))
    return grid


def _lay_out(element: Element, rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    grid = drop_empty(rows)
    if not grid:
        return []
    header = grid[0]
    is_wide = len(header) > _WIDE and len(grid) > 1
    if is_wide and _has_header(element):
        return [_record(header, row) for row in grid[1:]]
    rule = _RULE * len(header) + "|"
    return [_line(header), rule, *map(_line, grid[1:])]


def _line(row: Sequence[str]) -> str:
    """Write a row between pipes; pipes in its cells are already escaped."""
    if row and all(row):
        return f"| {' | '.join(row)} |"
    line = "|"
    for cell in row:
        line += cell and f" {cell}"
        line += " |"
    return line


def _record(names: Sequence[str], row: Sequence[str]) -> str:
    """Write a row as a list item.

    It has each cell that is not empty, after the name of its column if that has one.
    """
    cells: list[str] = []
    for name, cell in zip(names, row, strict=False):
        if name and cell:
            cells.append(f"{name}: {cell}")
        elif cell:
            cells.append(cell)
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
    write = _list_records
    if columns <= _WIDE:
        write = _list_lines
    out = StringIO()
    number = -1
    for line in write(rows, columns):
        number += 1
        out.write(line)
        if out.tell() > limit:
            break
    return out.getvalue(), max(number, 0)


def _list_lines(rows: Iterable[Sequence[str]], columns: int) -> Iterator[str]:
    """Yield what to write for each row of a table."""
    rule = f"{_RULE * columns}|\n"  # only below the first
    for row in rows:
        cells = _fill(map(_fold, row), columns)
        cells = [cell.replace("|", "\\|") for cell in cells]
        yield f"{_line(cells)}\n{rule}"
        rule = ""


def _list_records(rows: Iterable[Sequence[str]], columns: int) -> Iterator[str]:
    """Yield what to write for each row of records: nothing for the first."""
    names: list[str] = []
    for row in rows:
        cells = [*map(_fold, row[:columns])]
        if not names:
            numbered = enumerate(_fill(cells, columns), start=1)
            names = [cell or f"column {n}" for n, cell in numbered]
            yield ""
        elif any(cells):
            yield f"{_record(names, cells)}\n"
        else:
            yield ""


def _fold(cell: str) -> str:
    return " ".join(cell.split())


def _fill(cells: Iterable[str], columns: int) -> list[str]:
    """Return as many cells as there are columns."""
    return [*islice(chain(cells, repeat("")), columns)]


def _has_header(table: Element) -> bool:
    first = next(_rows(table), None)
    if first is None:
        return False
    return all(cell.name == "th" for cell in _cells(first))


def _cells(row: Element) -> list[Element]:
    return [*row.inner(_CELLS)]


def _rows(table: Element) -> Iterator[Element]:
    for child in table.inner(_GROUPS):
        if child.name == "tr":
            yield child
        else:
            yield from child.inner({"tr"})
