"""Lay out a page of a PDF: the lines and tables that its pieces of text make.

The pieces come in the order in which they are painted, which is mostly that of
reading; within a line, their places decide.
"""

from __future__ import annotations
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise, product
from math import atan2, cos, degrees, hypot, radians, sin
from typing import NamedTuple
from unicodedata import normalize

from .._markdown.table import write_rows
from .columns import Shown, find_parts
from .direction import put_in_order

_MAX_SHOWN = 20_000
_MAX_PARTS = 16
_MAX_PLACES = 8  # of the same text that are compared
_STEP = 5  # degrees: text whose directions differ by less is of one direction
# Of the size of the font. A gap is a space, and a wide one parts the cells of a table.
SPACE = 0.15
_SPACE_OF_NUMBERS = 0.08
_SPACE_OF_IDEOGRAPHS = 0.5
_CELL = 1.0
_SAME_LINE = 0.2
_STEP_DOWN = 1.1  # from one character to the next, in a line that goes down
_DOWN = 0.8  # no line that goes to the right descends as far
_RAISED = 0.5  # how far a superscript stands from its line
_SCRIPT = 0.8  # how large a superscript is at most
_DOUBLE = 0.1  # what stands closer to the same text was painted twice, to look bold
_PARAGRAPH = 1.3  # times the usual distance of lines: a new paragraph begins
# Of tables.
_MIN_ROWS = 3
_MAX_ROWS = 500
_MAX_STEPS = 50_000  # of the search in a page
_MAX_COLUMNS = 12
_MAX_CELL_LENGTH = 120  # characters
_MAX_MEAN_LENGTH = 30
_MAX_TABLE_LENGTH = 2_000_000  # characters: none of these rows and cells has more
_MAX_DISTANCE = 3.5  # of the rows, times the size of their font
_BULLET = re.compile(r"\W|\(?(?:\d{1,3}(?:\.\d{1,3})*|[a-zA-Z]|[ivxIVX]{1,4})[.)]?")
_NUMBER = re.compile(r"(?!0\d)\d{1,3}(?:[,.]\d{3})+(?:[.,]\d+)?|(?!0\d)\d+(?:[.,]\d+)?")
# What looks like a power before the slash of a fraction.
_FRACTION = re.compile(r"(?<=[0-9])\^(?=[0-9]{1,3}\u2044)")
_ENDS_IN_NUMBER = re.compile(r"[0-9][.,]?$")
LEADERS = re.compile(r"(?: ?\.){5,}")
# The accents that some programs paint over letters, and Unicode's that combine.
_ACCENTS = dict(
    zip(
        "`´ˆ^˜~¯˘˙¨˚˝ˇ¸˛",  # noqa: RUF001 (these are meant)
        "\u0300\u0301\u0302\u0302\u0303\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327\u0328",
        strict=True,
    )
)
_MAX_ACCENTED = 1_000  # characters: each accent copies them
_DOTLESS = str.maketrans("ıȷ", "ij")


class Piece(NamedTuple):
    """A text on the page, where it begins and ends, and the operator that shows it."""

    text: str
    x: float
    y: float
    end: float
    size: float  # of the font, in points
    operator: int


class Box(NamedTuple):
    """What a page shows: its left, lower, right and upper edge, in points."""

    left: float
    low: float
    right: float
    high: float

    def shows(self, x: float, y: float, size: float) -> bool:
        """Return whether a text of some size that is at a place can be seen."""
        is_across = self.left - size < x < self.right + size
        return is_across and self.low - size < y < self.high + size

    def cut(self, other: Box) -> Box:
        """Return what both boxes show."""
        return Box(
            max(self.left, other.left),
            max(self.low, other.low),
            min(self.right, other.right),
            min(self.high, other.high),
        )

    def turn(self, angle: int) -> Box:
        """Return the box as seen by a text that goes up at an angle, in degrees."""
        cosine = cos(radians(angle))
        sine = sin(radians(angle))
        corners = [*product((self.left, self.right), (self.low, self.high))]
        across = [x * cosine + y * sine for x, y in corners]
        up = [y * cosine - x * sine for x, y in corners]
        return Box(min(across), min(up), max(across), max(up))


LETTER = Box(0, 0, 612, 792)  # a page of an unknown size


class Line(NamedTuple):
    """A line of text, or a whole table, and where it stands."""

    text: str
    y: float
    is_new: bool = False  # whether a gap parts it from the line above
    is_table: bool = False


class Leaf(NamedTuple):
    """The lines of a page, and the places of its lower and upper edge."""

    lines: list[Line]
    low: float
    high: float


_Span = tuple[float, float]  # where a column begins and ends


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
        return put_in_order(" ".join(cell.text for cell in self.cells))


class Recorder:
    """Keeps what is painted on a page that shows a *box*."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self.operator = 0  # how many have shown text so far
        self.rise = 0.0  # of the text over its line
        self.kern = 0.0  # how far this operator goes back between strings, most often
        self.hides = False  # whether some text is where nobody sees it
        # By the angle of their direction, in degrees; their places are as if the page
        # were turned for them.
        self._pieces: dict[int, list[Piece]] = {}
        self._places: dict[tuple[str, int], list[Piece]] = {}

    def add(
        self, text: str, matrix: Sequence[float], begin: float, end: float, size: float
    ) -> None:
        """Keep a text that can be seen, unless it was painted there before.

        It goes from *begin* to *end*, from the place and in the units of a *matrix*.
        """
        scale = hypot(matrix[0], matrix[1])
        size *= hypot(matrix[2], matrix[3])
        places = begin, (begin + end) / 2, end
        if not scale or not self._is_shown(matrix, places, size):
            self.hides = True
            return
        cosine = matrix[0] / scale
        sine = matrix[1] / scale
        begin *= scale
        end *= scale
        left = matrix[4] + self.rise * matrix[2]
        low = matrix[5] + self.rise * matrix[3]
        x = left * cosine + low * sine
        y = low * cosine - left * sine
        angle = _STEP * round(degrees(atan2(sine, cosine)) / _STEP)
        piece = Piece(text, x + begin, y, x + end, size, self.operator)
        if self._is_double(piece, angle):
            return
        pieces = self._pieces.setdefault(angle, [])
        joined: Piece | None = None
        if pieces:
            joined = _join_accent(pieces[-1], piece)
        if joined:
            pieces[-1] = joined
        else:
            pieces.append(piece)

    def _is_shown(
        self, matrix: Sequence[float], places: Iterable[float], size: float
    ) -> bool:
        """Return whether one of some places on a line of text can be seen."""
        for place in places:
            x = matrix[4] + place * matrix[0]
            y = matrix[5] + place * matrix[1]
            if self.box.shows(x, y, size):
                return True
        return False

    def _is_double(self, piece: Piece, angle: int) -> bool:
        """Return whether a text was painted in this place before; remember it."""
        places = self._places.setdefault((piece.text, angle), [])
        limit = _DOUBLE * piece.size
        if len(piece.text) > 2:  # narrow letters can be close
            limit *= 2
        for other in places[-_MAX_PLACES:]:
            if other.operator == piece.operator:
                continue
            if abs(piece.y - other.y) < limit and abs(piece.x - other.x) < limit:
                return True
        if not piece.text.isspace():
            places.append(piece)
        return False

    def leaf(self) -> Leaf:
        """Return the lines of the page: the text in the direction of most, then others.

        Each of these is laid out as if the page were turned for it.
        """
        angles = sorted(self._pieces, key=self._count_letters, reverse=True)
        if not angles:
            return Leaf([], self.box.low, self.box.high)
        box = self.box.turn(angles[0])
        lines = _lay_out(self._pieces[angles[0]], (box.left + box.right) / 2)
        middle = (box.low + box.high) / 2
        for angle in angles[1:]:
            rows = map(_make_row, _group_rows(self._pieces[angle]))
            lines += [Line(row.text, middle, is_new=True) for row in rows if row.cells]
        return Leaf(lines, box.low, box.high)

    def _count_letters(self, angle: int) -> int:
        return sum(len(piece.text) for piece in self._pieces[angle])


def _join_accent(last: Piece, piece: Piece) -> Piece | None:
    """Return two pieces as one if one is an accent over a letter of the other."""
    letter = last.text[-1]
    first = piece.text[0]
    if letter not in _ACCENTS and first not in _ACCENTS:
        return None
    limit = SPACE * piece.size
    is_near = abs(last.y - piece.y) < _RAISED * piece.size
    is_over = is_near and last.end - piece.x > limit
    if not is_over or len(last.text) > _MAX_ACCENTED:
        return None
    before = last.text[:-1]
    if letter in _ACCENTS and first.isalpha():
        text = before + _put_on(first, letter) + piece.text[1:]
        return piece._replace(text=text, x=min(last.x, piece.x))
    if not letter.isalpha() or piece.text not in _ACCENTS:
        return None
    if piece.end > last.end + limit:
        return None
    return last._replace(text=before + _put_on(letter, first))


def _put_on(letter: str, accent: str) -> str:
    return normalize("NFC", letter.translate(_DOTLESS) + _ACCENTS[accent])


def _lay_out(pieces: Sequence[Piece], middle: float) -> list[Line]:
    """Return the lines of some text, whose *middle* may part two columns."""
    lines: list[Line] = []
    for part in _part_columns(pieces, middle):
        rows = [_make_row(row) for row in _group_rows(part)]
        lines += _make_lines([row for row in rows if row.cells])
    return lines


def _part_columns(pieces: Sequence[Piece], middle: float) -> list[list[Piece]]:
    """Return the pieces of each column, if lines of two are painted in turns."""
    operators: dict[int, Shown] = {}
    for piece in pieces:
        first = operators.get(piece.operator, piece)
        width = piece.end - first.x
        operators[piece.operator] = Shown(first.x, piece.y, piece.size, width)
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
    if _goes_down(row) or _is_below(last, piece):
        return _is_below(last, piece)
    distance = min(abs(piece.y - first.y), abs(piece.y - last.y))
    if distance <= _SAME_LINE * min(first.size, piece.size):
        return True
    # raised or lowered, right behind the last, or with it as an index with a power
    begin = last.end - last.size / 2
    if last.y != first.y:
        begin = min(begin, last.x - last.size / 4)
    goes_on = begin <= piece.x <= last.end + last.size
    return goes_on and distance <= _RAISED * max(first.size, piece.size)


def _goes_down(row: Sequence[Piece]) -> bool:
    return row[0].y - row[-1].y > _DOWN * row[0].size


def _is_below(last: Piece, piece: Piece) -> bool:
    """Return whether a character follows another in a line that goes down."""
    are_single = len(last.text) == len(piece.text) == 1
    if not are_single or min(last.text, piece.text) < "\u2e80":
        return False
    step = _STEP_DOWN * last.size
    if not last.text.isalnum():  # a bracket fills but a part of its place
        step *= 2
    return abs(piece.x - last.x) < 0.6 * last.size and 0 < last.y - piece.y < step


def _sort(row: list[Piece]) -> list[Piece]:
    if _goes_down(row):
        return row
    goes_back = any(b.x < a.x - a.size / 2 for a, b in pairwise(row))
    if goes_back:
        return sorted(row, key=lambda piece: piece.x)
    return row


def _make_row(pieces: Sequence[Piece]) -> _Row:
    """Join the pieces of a line to cells, which wide gaps part."""
    base = pieces[0].y
    cells: list[_Cell] = []
    text = ""
    begin = pieces[0].x
    last: Piece | None = None
    for piece in pieces:
        if piece.text.isspace():
            if last is None or piece.end > last.end:  # it is not under a letter
                text += " "
            continue
        if last and piece.x - last.end > _CELL * min(last.size, piece.size):
            cells.append(_make_cell(begin, last.end, text))
            text = ""
            begin = piece.x
        elif last:
            text += _find_joint(text, last, piece, base)
        text += piece.text
        last = piece
    if last:
        cells.append(_make_cell(begin, last.end, text))
    size = max(piece.size for piece in pieces)
    return _Row(base, size, [cell for cell in cells if cell.text])


def _make_cell(begin: float, end: float, text: str) -> _Cell:
    text = _FRACTION.sub(" ", text)
    return _Cell(begin, end, " ".join(text.split()))


def _find_joint(text: str, last: Piece, piece: Piece, base: float) -> str:
    """Return what stands between two pieces, after the text of a line at a height."""
    if _are_numbers(last, piece) or _is_mark(text, last, piece):
        return " "
    before = last.text[-1]
    after = piece.text[0]
    are_digits = before.isdigit() and after.isdigit()
    share = SPACE
    if before >= "\u2e80" and after >= "\u2e80":
        share = _SPACE_OF_IDEOGRAPHS
    elif are_digits and last.operator != piece.operator:
        share = _SPACE_OF_NUMBERS
    if piece.x - last.end > share * min(last.size, piece.size):
        return " "
    if after.isdigit() and _ENDS_IN_NUMBER.search(text[-2:]):
        return _find_script(last, piece, base)
    return ""


def _find_script(last: Piece, piece: Piece, base: float) -> str:
    """Return what parts a number from a superscript or subscript beside it.

    The texts of two sizes or heights are not one number: a power, the mark of a
    footnote, or the cents of a price.
    """
    rise = (piece.y - base) / piece.size
    if (
        piece.size < _SCRIPT * last.size
        or abs(piece.y - last.y) > _SAME_LINE * last.size
    ):
        if rise > _SAME_LINE and "/" not in piece.text:
            return "^"
        if rise < -_SAME_LINE:
            return "_"
        return " "
    if last.size < _SCRIPT * piece.size:
        return " "
    return ""


def _is_mark(text: str, last: Piece, piece: Piece) -> bool:
    """Return whether a line begins with a raised number, as a footnote does."""
    is_raised = last.y - piece.y > _SAME_LINE * piece.size
    is_first = text.strip() == last.text
    return is_raised and is_first and last.text.isdigit() and piece.text[0].isalnum()


def _are_numbers(last: Piece, piece: Piece) -> bool:
    """Return whether two texts are two numbers, however close they stand."""
    are_digits = len(last.text) == len(piece.text) == 1  # maybe of one: 0, 7
    if are_digits or last.operator == piece.operator:
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
    distance = 0.0
    if distances:
        distance = distances[len(distances) // 2]
    tables = _Tables(rows)
    above: float | None = None
    place = 0
    while place < len(rows):
        row = rows[place]
        table = tables.find(place)
        if table:
            text, _ = write_rows(table, len(table[0]), _MAX_TABLE_LENGTH)
            yield Line(text.rstrip("\n"), row.y, is_new=True, is_table=True)
            place += len(table)
        else:
            limit = _PARAGRAPH * max(distance, row.size)
            is_new = above is not None and above - row.y > limit
            yield Line(row.text, row.y, is_new=is_new)
            place += 1
        above = rows[place - 1].y


class _Tables:
    """Finds the tables among the rows of a page, in a limited number of steps."""

    def __init__(self, rows: Sequence[_Row]) -> None:
        self._rows = rows
        self._steps = _MAX_STEPS  # that are left; each looks at a row

    def find(self, begin: int) -> list[list[str]]:
        """Return the rows of cells of the table that begins at a place, if one does."""
        columns: list[_Span] = []
        rows: list[_Row] = []
        for row in islice(self._rows, begin, begin + _MAX_ROWS):
            if not _has_cells(row):
                break
            if rows and not _follows(rows[-1], row):
                break
            wider = self._widen(columns, rows, row)
            if not wider:
                break
            columns = wider
            rows.append(row)
        if not _is_table(rows, columns):
            return []
        return [_list_cells(row, columns) for row in rows]

    def _widen(
        self, columns: Sequence[_Span], above: Sequence[_Row], row: _Row
    ) -> list[_Span]:
        """Return the columns with the cells of one more row; empty if it has others."""
        wider = _merge(columns, row)
        starts = [start for start, _ in wider]
        self._steps -= 1
        rows = [row]
        places = {bisect_right(starts, start) for start, _ in columns}
        if len(places) < len(columns):  # two became one
            self._steps -= len(above)
            rows += above
        if self._steps < 0 or len(wider) > _MAX_COLUMNS:
            return []
        if all(_fits(other, starts) for other in rows):
            return wider
        return []


def _has_cells(row: _Row) -> bool:
    """Return whether a row can be one of a table."""
    if not 2 <= len(row.cells) <= _MAX_COLUMNS:
        return False
    return not LEADERS.search(row.text)


def _list_cells(row: _Row, columns: Sequence[_Span]) -> list[str]:
    """Return the text of a row in each column."""
    starts = [start for start, _ in columns]
    cells = [""] * len(columns)
    for cell in row.cells:
        cells[bisect_right(starts, cell.x) - 1] = put_in_order(cell.text)
    return cells


def _follows(above: _Row, row: _Row) -> bool:
    return 0 < above.y - row.y <= _MAX_DISTANCE * row.size


def _merge(columns: Sequence[_Span], row: _Row) -> list[_Span]:
    """Return the columns, widened by the cells of a row."""
    spans = [*columns, *((cell.x, cell.end) for cell in row.cells)]
    spans.sort()
    merged = [spans[0]]
    for start, end in spans[1:]:
        last = merged[-1]
        if start < last[1]:
            merged[-1] = (last[0], max(last[1], end))
        else:
            merged.append((start, end))
    return merged


def _fits(row: _Row, starts: Sequence[float]) -> bool:
    """Return whether each cell of a row is in a column of its own."""
    places = {bisect_right(starts, cell.x) for cell in row.cells}
    return len(places) == len(row.cells)


def _is_table(rows: Sequence[_Row], columns: Sequence[_Span]) -> bool:
    """Return whether rows are a table, not a list or columns of prose."""
    if len(rows) < _MIN_ROWS or not 2 <= len(columns) <= _MAX_COLUMNS:
        return False
    cells = chain.from_iterable(row.cells for row in rows)
    lengths = [len(cell.text) for cell in cells]
    if max(lengths) > _MAX_CELL_LENGTH:
        return False
    if sum(lengths) > _MAX_MEAN_LENGTH * len(lengths):
        return False
    if len(columns) > 2:
        return True
    first = [row.cells[0].text for row in rows]
    return not all(map(_BULLET.fullmatch, first))
