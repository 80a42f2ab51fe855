"""Read the sheets of a workbook as people see them, with openpyxl.

Sheets are streamed: one with a single cell in its last corner has seventeen billion
cells.
"""

from __future__ import annotations
import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from io import BytesIO
from typing import Any, NamedTuple

from ..._text.invisible import one_line
from ..._text.quantity import quantity
from .._markdown.table import drop_empty, write_rows
from .._types import TITLE_LENGTH

# including empty cells before others, of which a row can have sixteen thousand
_MAX_CELLS = 2_000_000
_MAX_DECIMALS = 30
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
# A cell with a formula whose value the program that wrote it did not store.
_UNCALCULATED = re.compile(
    rb"<f(?:\s[^<>]*)?(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>"
)
# Of number formats, which have at most 255 characters: what is quoted, escaped or in
# brackets does not describe the form of a value.
_LITERAL = re.compile(
    r'"[^"]{0,255}"|\\.|_.|\*.|\[(?![hms]{1,9}\])[^\]]{0,255}\]', re.IGNORECASE
)
_DURATION = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_DECIMALS = re.compile(r"[0#?]\.([0#?]+)")


class Sheets(NamedTuple):
    """The text of the sheets, notes on them, and whether something is missing."""

    text: str
    notes: list[str]
    cut: bool


class _Rows(NamedTuple):
    """The rows and columns that are not empty, and how many cells may still be read.

    The number is negative if cells were left out.
    """

    rows: list[list[str]]
    cells_left: int


def read_sheets(archive: BytesIO, limit: int) -> Sheets:
    """Write the visible sheets of a workbook, each under a heading with its name.

    They have about *limit* characters.
    """
    from openpyxl import load_workbook

    book = load_workbook(archive, read_only=True, data_only=True, keep_links=False)
    texts: list[str] = []
    notes: list[str] = []
    cells_left = _MAX_CELLS
    cut = False
    hidden = 0
    for number, sheet in enumerate(book.worksheets, start=1):
        if sheet.sheet_state != "visible":
            hidden += 1
            continue
        if cut:
            continue
        title = one_line(str(sheet.title), TITLE_LENGTH)
        rows, cells_left = _read_rows(sheet, cells_left, limit)
        columns = max(map(len, rows), default=0)
        table, count = write_rows(rows, columns, limit)
        limit -= len(table)
        texts.append(f"## {title}\n\n{table}".strip())
        cut = cells_left < 0 or count < len(rows) - 1
        size = f"{quantity(count, 'row')}, {quantity(columns, 'column')}"
        if cut:
            size = f"the first {size}"
        notes.append(f"sheet {number}: {size}")
    if hidden:
        notes.append(f"{quantity(hidden, 'hidden sheet')} left out")
    return Sheets("\n\n".join(texts), notes, cut)


def count_uncalculated(parts: Mapping[str, bytes]) -> int:
    """Return how many formulas have no value, among the parts of a workbook."""
    sheets = [content for name, content in parts.items() if _SHEET.fullmatch(name)]
    return sum(len(_UNCALCULATED.findall(sheet)) for sheet in sheets)


def _read_rows(sheet: Any, cells_left: int, limit: int) -> _Rows:
    """Return at most *limit* characters of a sheet.

    Many cells can share one long text, so each is cut as it is read.
    """
    rows: list[list[str]] = []
    sheet.reset_dimensions()  # the size that a sheet declares may be wrong
    for cells in sheet.iter_rows():
        cells_left -= 1 + len(cells)
        if cells_left < 0:
            break
        row: list[str] = []
        for cell in cells:
            text = _write(cell)
            row.append(text[:limit])
            limit -= len(text)
            if limit < 0:
                cells_left = -1
                break
        if any(row):
            rows.append(row)
        if cells_left < 0:
            break
    return _Rows(drop_empty(rows), cells_left)


def _write(cell: Any) -> str:
    """Return what a cell shows."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, date | time):
        return _write_date(value)
    if isinstance(value, timedelta):
        return _write_duration(value, str(cell.number_format))
    if isinstance(value, int | float):
        return _write_number(value, str(cell.number_format))
    return str(value)


def _write_date(value: date | time) -> str:
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return value.isoformat()


def _write_number(value: float, number_format: str) -> str:
    """Write a number, and a share as a percentage where its format shows one."""
    places = _count_decimals(number_format)
    if places is not None:
        return f"{100 * value:.{places}f}%"
    is_whole = isinstance(value, float) and value.is_integer()
    if is_whole and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, float):
        return f"{value:.15g}"  # the digits that a workbook keeps
    return str(value)


def _form_of(number_format: str) -> str:
    """Return what a format says of positive numbers, without its literal text."""
    return _LITERAL.sub("", number_format.partition(";")[0])


@lru_cache(maxsize=64)
def _count_decimals(number_format: str) -> int | None:
    """Return how many decimals a format of percentages shows, None for any other."""
    form = _form_of(number_format)
    if "%" not in form:
        return None
    decimals = _DECIMALS.search(form)
    if decimals is None:
        return 0
    return min(len(decimals[1]), _MAX_DECIMALS)


def _write_duration(value: timedelta, number_format: str) -> str:
    """Write a duration with the units that its format shows: ``26:30``."""
    form = _form_of(number_format).lower()
    unit = _DURATION.search(form)
    if unit is None:
        form = "hms"
    else:
        form = form[unit.start(1) :]
    sign = ""
    if value < timedelta():
        sign = "-"
    seconds = round(abs(value).total_seconds())
    if form[0] == "s":
        return f"{sign}{seconds}"
    minutes, rest = divmod(seconds, 60)
    written = f"{sign}{minutes}"
    if form[0] == "h":
        hours, minutes = divmod(minutes, 60)
        written = f"{sign}{hours}:{minutes:02}"
    if "s" in form:
        written += f":{rest:02}"
    return written
