"""Read the sheets of a workbook as people see them, with openpyxl.

Sheets are streamed: one with a single cell in its last corner has seventeen billion
cells.
"""

from __future__ import annotations
import re
from collections.abc import Mapping
from datetime import date, time, timedelta
from typing import Any, NamedTuple

from ..._text.invisible import one_line
from ..._text.quantity import quantity
from ...models import Page
from .._markdown.table import drop_empty, write_rows
from .._types import TITLE_LENGTH, Document
from .archive import MAX_CHARACTERS, Unpacked
from .number_format import hides_text, write_date, write_duration, write_number
from .text import note_hidden

# including empty cells before others, of which a row can have sixteen thousand
_MAX_CELLS = 2_000_000
_MAX_COLUMNS = 16_384
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
# A cell with a formula whose value the program that wrote it did not store.
_UNCALCULATED = re.compile(
    rb"<f(?:\s[^<>]*)?(?:/>|>[^<]*+</f>)\s*+(?:<v\s*+/>|<v>\s*+</v>)?\s*+</c>"
)
_LINE = re.compile(rb"<(?:\w{1,20}:)?(row|col)(?=[\s/>])([^<>]*)>")
_NUMBER = re.compile(rb"\b(r|min|max)\s*=\s*[\"']([0-9]{1,10})[\"']")
_HIDDEN = re.compile(rb"\bhidden\s*=\s*[\"'](?:1|true)[\"']")


class _Lines(NamedTuple):
    """The numbers of rows and of columns."""

    rows: set[int]
    columns: set[int]


class _Rows(NamedTuple):
    """The rows and columns that are not empty, and how many cells may still be read.

    The number is negative if cells were left out. *hidden* says how many rows and
    columns with values are hidden.
    """

    rows: list[list[str]]
    cells_left: int
    hidden: dict[str, int]


def read_workbook(unpacked: Unpacked, document: Document) -> Page:
    """Write the visible sheets of a workbook, each under a heading with its name."""
    from openpyxl import load_workbook

    archive = unpacked.packed()
    book = load_workbook(archive, read_only=True, data_only=True, keep_links=False)
    texts: list[str] = []
    notes: list[str] = []
    limit = MAX_CHARACTERS
    cells_left = _MAX_CELLS
    cut = False
    hidden_sheets = 0
    sheets: list[Any] = book.worksheets
    for number, sheet in enumerate(sheets, start=1):
        if sheet.sheet_state != "visible":
            hidden_sheets += 1
            continue
        if cut:
            continue
        title = one_line(str(sheet.title), TITLE_LENGTH)
        path = sheet._worksheet_path  # noqa: SLF001
        lines = _find_hidden(unpacked.parts.get(path, b""))
        part = _read_rows(sheet, lines, cells_left, limit)
        rows = part.rows
        cells_left = part.cells_left
        columns = max(map(len, rows), default=0)
        table, count = write_rows(rows, columns, limit)
        limit -= len(table)
        texts.append(f"## {title}\n\n{table}".strip())
        cut = cells_left < 0 or count < len(rows) - 1
        size = f"{quantity(count, 'row')}, {quantity(columns, 'column')}"
        if cut:
            size = f"the first {size}"
        notes.append(f"sheet {number}: {size}")
        for kind, count in part.hidden.items():
            for note in note_hidden(count, kind):
                notes.append(f"sheet {number}: {note}")
    notes += note_hidden(hidden_sheets, "hidden sheet")
    blanks = _count_uncalculated(unpacked.parts)
    if blanks:
        formulas = quantity(blanks, "formula")
        notes.append(f"{formulas} without a stored value: those cells are empty here")
    return document.to_page("\n\n".join(texts), truncated=cut, notes=notes)


def _count_uncalculated(parts: Mapping[str, bytes]) -> int:
    """Return how many formulas have no value, among the parts of a workbook."""
    sheets = [content for name, content in parts.items() if _SHEET.fullmatch(name)]
    return sum(len(_UNCALCULATED.findall(sheet)) for sheet in sheets)


def _find_hidden(sheet: bytes) -> _Lines:
    """Return the rows and columns that a sheet does not show."""
    rows: set[int] = set()
    spans: list[tuple[int, int]] = []
    row = 0
    if b"hidden" not in sheet:
        return _Lines(rows, set())
    for line in _LINE.finditer(sheet):
        numbers = {name: int(digits) for name, digits in _NUMBER.findall(line[2])}
        is_hidden = _HIDDEN.search(line[2])
        if line[1] == b"row":
            row = numbers.get(b"r", row + 1)
            if is_hidden:
                rows.add(row)
        elif is_hidden:
            first = numbers.get(b"min", 1)
            last = numbers.get(b"max", first)
            spans.append((first, min(last, _MAX_COLUMNS)))
    columns: set[int] = set()
    end = 0
    for first, last in sorted(spans):
        columns.update(range(max(first, end + 1), last + 1))
        end = max(end, last)
    return _Lines(rows, columns)


def _read_rows(sheet: Any, lines: _Lines, cells_left: int, limit: int) -> _Rows:
    """Return at most *limit* characters of a sheet, without its hidden *lines*.

    Many cells can share one long text, so each is cut as it is read.
    """
    rows: list[list[str]] = []
    hidden_rows = 0
    hidden_columns: set[int] = set()
    sheet.reset_dimensions()  # the size that a sheet declares may be wrong
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        cells_left -= 1 + len(cells)
        if cells_left < 0:
            break
        if number in lines.rows:
            if any(cell.value is not None for cell in cells):
                hidden_rows += 1
            continue
        row: list[str] = []
        for column, cell in enumerate(cells, start=1):
            text = _write(cell)
            if text and column in lines.columns:
                hidden_columns.add(column)
                text = ""
            row.append(text[:limit])
            limit -= len(text)
            if limit < 0:
                cells_left = -1
                break
        if any(row):
            rows.append(row)
        if cells_left < 0:
            break
    hidden = {"hidden row": hidden_rows, "hidden column": len(hidden_columns)}
    return _Rows(drop_empty(rows), cells_left, hidden)


def _write(cell: Any) -> str:
    """Return what a cell shows."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    form = str(cell.number_format)
    if isinstance(value, date | time):
        return write_date(value, form)
    if isinstance(value, timedelta):
        return write_duration(value, form)
    if isinstance(value, int | float):
        return write_number(value, form)
    if hides_text(form):
        return ""
    return str(value)
