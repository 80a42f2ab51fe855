"""Write a workbook as a table for each sheet, from the rows that openpyxl streams."""

from __future__ import annotations

from datetime import date, datetime, time
from io import BytesIO
from typing import Any, NamedTuple

from ..._text.invisible import one_line
from ..._text.quantity import quantity
from .._page import TITLE_LENGTH
from .rows import lay_out

_MAX_CELLS = 2_000_000  # including empty cells before others, of which a row can have sixteen thousand


class Sheets(NamedTuple):
    """The text of all sheets, notes on them, and whether something is missing."""

    text: str
    notes: list[str]
    cut: bool


def read_sheets(archive: BytesIO, most: int) -> Sheets:
    """Write the visible sheets of a workbook, each under a heading with its name: about *most* characters."""
    from openpyxl import load_workbook

    book = load_workbook(archive, read_only=True, data_only=True, keep_links=False)
    texts: list[str] = []
    notes: list[str] = []
    cells = _MAX_CELLS
    cut = False
    for number, sheet in enumerate(book.worksheets, start=1):
        if sheet.sheet_state == "visible" and not cut:
            title = one_line(str(sheet.title), TITLE_LENGTH)
            rows, cells = _rows(sheet, cells, most)
            columns = max(map(len, rows), default=0)
            table, written = lay_out(rows, columns, most)
            most -= len(table)
            texts.append(f"## {title}\n\n{table}".strip())
            cut = cells < 0 or written < len(rows) - 1
            notes.append(
                f"sheet {number}: {'the first ' * cut}{quantity(written, 'row')}, {quantity(columns, 'column')}"
            )
    if hidden := sum(sheet.sheet_state != "visible" for sheet in book.worksheets):
        notes.append(f"{quantity(hidden, 'hidden sheet')} left out")
    return Sheets("\n\n".join(texts), notes, cut)


def _rows(sheet: Any, room: int, most: int) -> tuple[list[list[str]], int]:
    """
    Return the rows and columns that are not empty, up to *most* characters, and how many cells may still be read.

    The number is negative if cells were left out. Many cells can share one long text, so each is cut as it is read.
    """
    rows: list[list[str]] = []
    sheet.reset_dimensions()  # the size that a sheet declares may be wrong
    for values in sheet.iter_rows(values_only=True):
        room -= 1 + len(values)
        if room < 0:
            break
        row: list[str] = []
        for value in values:
            text = _format(value)
            row.append(text[:most])
            most -= len(text)
            if most < 0:
                room, most = -1, 0
                break
        while row and not row[-1]:
            row.pop()
        if row:
            rows.append(row)
        if room < 0:
            break
    used = sorted({n for row in rows for n, cell in enumerate(row) if cell})
    return [[row[n] if n < len(row) else "" for n in used] for row in rows], room


def _format(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)
