"""Lay out a page of a PDF: the lines and tables that its pieces of text make.

The pieces come in the order in which they are painted, which is mostly that of
reading; within a line, their places decide.
"""

from __future__ import annotations
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from .._markdown.table import write_rows
from .columns import Shown, find_parts

_MAX_PIECES = 100_000  # of a page: one with more is read in the order of the file
_MAX_SHOWN = 20_000
_MAX_PARTS = 16
_MAX_PLACES = 8  # of the same text that are compared
# Of the size of the font. A gap is a space, and a wide one parts the cells of a table.
_SPACE = 0.15
_SPACE_OF_NUMBERS = 0.08
_SPACE_OF_IDEOGRAPHS = 0.5
_CELL = 1.0
_SAME_LINE = 0.2
_RAISED = 0.5  # how far a superscript stands from its line
_DOUBLE = 0.1  # what stands closer to the same text was painted twice, to look bold
_PARAGRAPH = 1.3  # times the usual distance of lines: a new paragraph begins
# Of tables.
_MIN_ROWS = 3
_MAX_ROWS = 500
_MAX_COLUMNS = 12
_MAX_CELL_LENGTH = 120  # characters
_MAX_MEAN_LENGTH = 30
_MAX_DISTANCE = 3.5  # of the rows, times the size of their font
_BULLET = re.compile(r"\W|\(?(?:\d{1,3}(?:\.\d{1,3})*|[a-zA-Z]|[ivxIVX]{1,4})[.)]?")
_NUMBER = re.compile(r"(?!0\d)\d{1,3}(?:[,.]\d{3})+(?:[.,]\d+)?|(?!0\d)\d+(?:[.,]\d+)?")
_LEADERS = re.compile(r"(?: ?\.){5,}")


class Piece(NamedTuple):
    """A text on the page, where it begins and ends, and the operator that shows it."""

    text: str
    x: float
    y: float
    end: float
    size: float  # of the font, in points
    operator: int


class Line(NamedTuple):
    """A line of text, or a whole table, and where it stands."""

    text: str
    y: float
    is_new: bool = False  # whether a gap parts it from the line above
    is_table: bool = False


class _Cell(NamedTuple):
    x: float
    end: float
    text: str


class _Row(NamedTuple):
    y: float
    size: float
    cells: list[_Cell]

    @property
    def text(self) -> str:
        return " ".join(cell.text for cell in self.cells)


class Recorder:
    """Keeps what is painted on a page, for `lay_out`."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.turned: list[Piece] = []  # as if the page were turned for them
        self.operator = 0  # how many have shown text so far
        self.is_plain = True  # False if some text goes from right to left
        self._places: dict[str, list[Piece]] = {}

    def add(
        self,
        text: str,
        x: float,
        y: float,
        end: float,
        size: float,
        *,
        is_upright: bool = True,
    ) -> None:
        """Keep a text, unless it was painted in this place before."""
        places = self._places.setdefault(text, [])
        limit = _DOUBLE * size
        if len(text) > 2:  # narrow letters can be close
            limit *= 2
        for other in places[-_MAX_PLACES:]:
            if abs(y - other.y) < limit and abs(x - other.x) < limit:
                return
        piece = Piece(text, x, y, end, size, self.operator)
        if is_upright:
            self.pieces.append(piece)
        else:
            self.turned.append(piece)
        if not text.isspace():
            places.append(piece)
        if len(self.pieces) > _MAX_PIECES:
            self.is_plain = False


def lay_out_turned(pieces: Sequence[Piece], y: float) -> list[Line]:
    """Return the lines of text that is not upright, as if all stood at *y*."""
    rows = [_make_row(row) for row in _group_rows(pieces)]
    return [Line(row.text, y, is_new=True) for row in rows if row.cells]


def lay_out(pieces: Sequence[Piece], middle: float) -> list[Line]:
    """Return the lines of a page, whose *middle* may part two columns."""
    lines: list[Line] = []
    for part in _part_columns(pieces, middle):
        rows = [_make_row(row) for row in _group_rows(part)]
        lines += _make_lines([row for row in rows if row.cells])
    return lines


def _part_columns(pieces: Sequence[Piece], middle: float) -> list[list[Piece]]:
    """Return the pieces of each column, if lines of two are painted in turns."""
    operators: dict[int, Shown] = {}
    for piece in pieces:
        first = operators.get(piece.operator)
        x = first.x if first else piece.x
        operators[piece.operator] = Shown(x, piece.y, piece.size, piece.end - x)
    if len(operators) >= _MAX_SHOWN:
        return [[*pieces]]
    numbers = [*operators]
    parts = find_parts([*operators.values()], middle)
    if not 1 < len(parts) < _MAX_PARTS:
        return [[*pieces]]
    part_of: dict[int, int] = {}
    for number, part in enumerate(parts):
        part_of |= {numbers[place]: number for place in part}
    columns: list[list[Piece]] = [[] for _ in parts]
    for piece in pieces:
        columns[part_of[piece.operator]].append(piece)
    return columns


def _group_rows(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Yield the pieces of each line, from left to right."""
    row: list[Piece] = []
    for piece in pieces:
        if row and not _is_level(row, piece):
            yield _sort(row)
            row = []
        row.append(piece)
    if row:
        yield _sort(row)


def _is_level(row: Sequence[Piece], piece: Piece) -> bool:
    """Return whether a piece stands in the line of a row."""
    first = row[0]
    last = row[-1]
    distance = min(abs(piece.y - first.y), abs(piece.y - last.y))
    if distance <= _SAME_LINE * min(first.size, piece.size):
        return True
    # raised or lowered, right behind the last
    goes_on = last.end - last.size / 2 <= piece.x <= last.end + last.size
    return goes_on and distance <= _RAISED * max(first.size, piece.size)


def _sort(row: list[Piece]) -> list[Piece]:
    goes_back = any(b.x < a.x - a.size / 2 for a, b in pairwise(row))
    return sorted(row, key=lambda piece: piece.x) if goes_back else row


def _make_row(pieces: Sequence[Piece]) -> _Row:
    """Join the pieces of a line to cells, which wide gaps part."""
    cells: list[_Cell] = []
    text = ""
    begin = pieces[0].x
    last: Piece | None = None
    for piece in pieces:
        if piece.text.isspace():
            text += " "
            continue
        gap = piece.x - last.end if last else 0.0
        if last and gap > _CELL * min(last.size, piece.size):
            cells.append(_Cell(begin, last.end, " ".join(text.split())))
            text = ""
            begin = piece.x
        elif last and _is_parted(last, piece, gap):
            text += " "
        text += piece.text
        last = piece
    if last and text.strip():
        cells.append(_Cell(begin, last.end, " ".join(text.split())))
    size = max(piece.size for piece in pieces)
    return _Row(pieces[0].y, size, [cell for cell in cells if cell.text])


def _is_parted(last: Piece, piece: Piece, gap: float) -> bool:
    """Return whether a gap between two pieces is a space."""
    if _are_numbers(last, piece):
        return True
    before = last.text[-1]
    after = piece.text[0]
    share = _SPACE
    if before >= "\u2e80" and after >= "\u2e80":
        share = _SPACE_OF_IDEOGRAPHS
    elif before.isdigit() and after.isdigit():
        share = _SPACE if last.operator == piece.operator else _SPACE_OF_NUMBERS
    return gap > share * min(last.size, piece.size)


def _are_numbers(last: Piece, piece: Piece) -> bool:
    """Return whether two texts are two numbers, however close they stand."""
    if last.operator == piece.operator:
        return False
    before = last.text.split(" ")[-1]
    after = piece.text.split(" ")[0]
    if not _NUMBER.fullmatch(before) or not _NUMBER.fullmatch(after):
        return False
    return not _NUMBER.fullmatch(before + after)


def _make_lines(rows: Sequence[_Row]) -> Iterator[Line]:
    """Yield the lines of some rows, and a table where rows repeat."""
    steps = [above.y - below.y for above, below in pairwise(rows)]
    distances = sorted(step for step in steps if step > 0)
    distance = distances[len(distances) // 2] if distances else 0.0
    place = 0
    while place < len(rows):
        row = rows[place]
        gap = rows[place - 1].y - row.y if place else 0.0
        is_new = gap > _PARAGRAPH * max(distance, row.size)
        table = _find_table(rows, place)
        if table:
            yield Line(_write_table(table), row.y, is_new=True, is_table=True)
            place += len(table)
        else:
            yield Line(row.text, row.y, is_new=is_new)
            place += 1


def _find_table(rows: Sequence[_Row], begin: int) -> list[list[str]]:
    """Return the rows of cells of the table that begins at a place, if one does."""
    columns: list[tuple[float, float]] = []
    end = begin
    while end < min(len(rows), begin + _MAX_ROWS):
        row = rows[end]
        if len(row.cells) < 2 or _LEADERS.search(row.text):
            break
        if end > begin and not _follows(rows[end - 1], row):
            break
        wider = _merge(columns, row)
        if not all(_fits(other, wider) for other in rows[begin : end + 1]):
            break
        columns = wider
        end += 1
    rows = rows[begin:end]
    if not _is_table(rows, columns):
        return []
    starts = [start for start, _ in columns]
    table: list[list[str]] = []
    for row in rows:
        cells = [""] * len(columns)
        for cell in row.cells:
            cells[bisect_right(starts, cell.x) - 1] = cell.text
        table.append(cells)
    return table


def _follows(above: _Row, row: _Row) -> bool:
    return 0 < above.y - row.y <= _MAX_DISTANCE * row.size


def _merge(columns: list[tuple[float, float]], row: _Row) -> list[tuple[float, float]]:
    """Return the columns, widened by the cells of a row."""
    spans = sorted([*columns, *((cell.x, cell.end) for cell in row.cells)])
    merged = [spans[0]]
    for start, end in spans[1:]:
        last = merged[-1]
        if start < last[1]:
            merged[-1] = (last[0], max(last[1], end))
        else:
            merged.append((start, end))
    return merged


def _fits(row: _Row, columns: Sequence[tuple[float, float]]) -> bool:
    """Return whether each cell of a row is in a column of its own."""
    starts = [start for start, _ in columns]
    places = {bisect_right(starts, cell.x) for cell in row.cells}
    return len(places) == len(row.cells)


def _is_table(rows: Sequence[_Row], columns: Sequence[tuple[float, float]]) -> bool:
    """Return whether rows are a table, not a list or columns of prose."""
    if len(rows) < _MIN_ROWS or not 2 <= len(columns) <= _MAX_COLUMNS:
        return False
    cells = chain.from_iterable(row.cells for row in rows)
    lengths = [len(cell.text) for cell in cells]
    if max(lengths) > _MAX_CELL_LENGTH:
        return False
    if sum(lengths) > _MAX_MEAN_LENGTH * len(lengths):
        return False
    first = [row.cells[0].text for row in rows]
    return not all(map(_BULLET.fullmatch, first))


def _write_table(rows: Sequence[Sequence[str]]) -> str:
    limit = 2 * sum(map(len, chain.from_iterable(rows))) + len(rows)
    table, _ = write_rows(rows, len(rows[0]), limit)
    return table.rstrip("\n")
