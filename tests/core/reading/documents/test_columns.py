"""Twenty PDFs whose text stands in two columns, each made here: what is read has the
order of the columns.
"""

from __future__ import annotations
import random
import re
import textwrap
from dataclasses import dataclass

import pytest

from tests.core.reading.documents.test_pdf import pages
from websearch_core.reading import read_bytes

pytest.importorskip("pypdf")

URL = "https://paper.example/columns.pdf"
WORDS = "kelp grows in cold and shallow seas where light reaches the ground of bays thirty metres below a ferry".split()
LEFT, RIGHT, TOP = 50, 562, 740
WIDTHS = {
    **dict.fromkeys("ijl.", 0.222),
    **dict.fromkeys("ft -,", 0.278),
    "r": 0.333,
    "m": 0.833,
    "I": 0.278,
}
WIDTHS |= {"W": 0.944, "M": 0.833, **dict.fromkeys("wCGHMNOR", 0.778)}


def width_of(text: str, size: int) -> float:
    """Return the width in Helvetica, about."""
    return (
        sum(WIDTHS.get(letter, 0.556 if letter.islower() else 0.667) for letter in text)
        * size
    )


@dataclass(frozen=True)
class Layout:
    """How a file is set, and in which order its texts are painted."""

    # or "columns", "words", "shifted" (the second column stands a little lower)
    paint: str = "rows"
    gutter: int = 24
    size: int = 10
    title: str = ""  # across both columns
    heading: str = ""  # across both, in the middle of the page
    note: str = ""  # across both, at the end
    notes: bool = False  # at the end of each column
    items: bool = False
    shorter: int = 0  # lines that the second column lacks, or the first, if below 0
    pages: int = 1
    justified: bool = False


LONG = "A note of the editors that goes across both of the columns at the end of the page, and so is long enough"
LAYOUTS = {
    "rows": Layout(),
    "columns": Layout(paint="columns"),
    "words": Layout(paint="words"),
    "shifted": Layout(paint="shifted"),
    "a narrow gutter": Layout(gutter=10),
    "a wide gutter": Layout(gutter=60),
    "a narrow gutter, words": Layout(gutter=10, paint="words"),
    "a title": Layout(title="Kelp of the cold and shallow seas"),
    "a title, words": Layout(title="Kelp of the cold and shallow seas", paint="words"),
    "a title, columns": Layout(
        title="Kelp of the cold and shallow seas", paint="columns"
    ),
    "a heading": Layout(
        heading="How kelp grows to thirty metres in a summer, and why it does"
    ),
    "a heading, words": Layout(
        heading="How kelp grows to thirty metres in a summer, and why", paint="words"
    ),
    "a note": Layout(note=LONG),
    "a note, shifted": Layout(note=LONG, paint="shifted"),
    "notes": Layout(notes=True),
    "items": Layout(items=True),
    "the second is short": Layout(shorter=14),
    "the first is short": Layout(
        shorter=-14, title="Kelp of the cold and shallow seas"
    ),
    "pages": Layout(pages=3, title="Kelp of the cold and shallow seas", note=LONG),
    "justified": Layout(
        justified=True,
        paint="words",
        notes=True,
        heading="How kelp grows to thirty metres in a summer",
    ),
}


class Writer:
    """Lays out the pages of a file, and keeps their words in the order to read."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.random = random.Random(repr(layout))
        self.words: list[str] = []

    def write(self) -> bytes:
        return pages(*(self.write_page(number) for number in range(self.layout.pages)))

    def write_page(self, number: int) -> bytes:
        layout, y, shown = self.layout, TOP, []
        step = round(1.2 * layout.size)
        if layout.title:
            titles = self.keep([f"{layout.title} {'abc'[number]}"])
            shown += [
                ("title", (LEFT + RIGHT - width_of(line, 20)) / 2, y, 20, line)
                for line in titles
            ]
            y -= 40
        for part in range(2 if layout.heading else 1):
            if part:
                shown += [
                    ("title", LEFT, y - 10, 14, line)
                    for line in self.keep([layout.heading])
                ]
                y -= 40
            most = 18 if layout.heading else 34
            columns = [
                self.make_column(most - max(0, cut))
                for cut in (-layout.shorter, layout.shorter)
            ]
            shown += self.place(columns, y, step)
            y -= (most + 3) * step
        if layout.note:
            shown += [
                ("note", LEFT, y - 12 * n, 8, line)
                for n, line in enumerate(self.keep([LONG, f"and a word {number}."]))
            ]
        return b"".join(self.paint(*one) for one in shown)

    def keep(self, lines: list[str]) -> list[str]:
        self.words += " ".join(lines).split()
        return lines

    def make_column(self, count: int) -> list[tuple[int, str]]:
        """Return the lines of a column, each with its size."""
        width = (RIGHT - LEFT - self.layout.gutter) / 2 / (0.5 * self.layout.size)
        lines: list[str] = []
        while len(lines) < count:
            text = (
                " ".join(
                    self.random.choice(WORDS)
                    for _ in range(self.random.randint(20, 60))
                ).capitalize()
                + "."
            )
            if self.layout.items and self.random.random() < 0.4:
                text = f"- {' '.join(text.split()[: self.random.randint(6, 12)])}"
            lines += textwrap.wrap(text, round(width))
        sized = [(self.layout.size, line) for line in lines[:count]]
        if self.layout.notes:
            sized += [
                (7, f"{self.random.randint(1, 9)} A note that only this column has."),
                (7, "It has two lines."),
            ]
        self.keep([line for _, line in sized])
        return sized

    def place(self, columns, top, step):
        """Put lines of columns in the order in which they are painted."""
        starts = LEFT, (LEFT + RIGHT + self.layout.gutter) / 2
        lower = 0, 4 * (self.layout.paint == "shifted")
        placed = [
            [
                ("column", start, top - n * step - low, size, line)
                for n, (size, line) in enumerate(column)
            ]
            for column, start, low in zip(columns, starts, lower, strict=True)
        ]
        if self.layout.paint == "columns":
            return placed[0] + placed[1]
        return sorted(placed[0] + placed[1], key=lambda one: (-one[2], one[1]))

    def paint(self, what: str, x: float, y: float, size: int, line: str) -> bytes:
        if self.layout.paint != "words":
            return b"BT /F1 %d Tf %d %d Td (%b) Tj ET\n" % (size, x, y, line.encode())
        words = line.split()
        width = (
            (RIGHT - LEFT - self.layout.gutter) / 2
            if what == "column" and self.layout.justified
            else 0
        )
        taken = sum(width_of(word, size) for word in words)
        is_full = width and len(words) > 4 and taken > 0.75 * width
        space = (width - taken) / (len(words) - 1) if is_full else 0.28 * size
        out = b""
        for word in words:
            out += b"BT /F1 %d Tf %.2f %d Td (%b) Tj ET\n" % (size, x, y, word.encode())
            x += width_of(word, size) + space
        return out


def words_of(content: str) -> list[str]:
    return re.sub(r"#+ Page \d+|\\", "", content).split()


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.no_cover
def test_text_in_two_columns_is_read_in_order(name):
    writer = Writer(LAYOUTS[name])

    page = read_bytes(writer.write(), URL)

    assert words_of(page.content) == writer.words


TABLE = [
    ("Ferry", "leaves at 9.30 from the northern pier, and takes an hour"),
    ("Bus", "leaves when the ferry is in"),
]


def test_a_table_is_read_by_rows():
    rows = [
        (50 + 256 * (n % 2), 700 - 14 * (n // 2), cell)
        for n, cell in enumerate(sum(TABLE * 6, ()))
    ]
    page = read_bytes(
        pages(
            b"".join(
                b"BT /F1 10 Tf %d %d Td (%b) Tj ET\n" % (x, y, c.encode())
                for x, y, c in rows
            )
        ),
        URL,
    )

    table = [line for line in page.content.split("\n") if line.startswith("| ")]
    cells = [cell.strip() for line in table for cell in line.strip("|").split("|")]
    assert [cell for cell in cells if cell != "---"] == [cell for _, _, cell in rows]


def test_text_in_one_column_painted_by_words_is_read_by_lines():
    writer = Writer(Layout(paint="words"))
    lines = [
        " ".join(writer.random.choice(WORDS) for _ in range(16)) for _ in range(30)
    ]
    content = b"".join(
        writer.paint("text", 50, 700 - 14 * n, 10, line) for n, line in enumerate(lines)
    )

    assert words_of(read_bytes(pages(content), URL).content) == " ".join(lines).split()


@pytest.mark.parametrize(
    ("places", "above"),
    [((50, 220, 420), True), ((50, 150, 400), True), ((60, 200, 340, 480), False)],
)
def test_a_table_across_two_columns_keeps_its_rows(places, above):
    columns = [textwrap.wrap(" ".join(WORDS * 6), 42)[:8]] * 2
    prose = [
        f"BT /F1 10 Tf {x} {700 - 12 * row} Td ({line}) Tj ET"
        for row in range(8)
        for x, line in zip((50, 318), (column[row] for column in columns), strict=True)
    ]
    low = 560 if above else 760
    cells = [
        f"BT /F1 10 Tf {x} {low - 12 * row} Td ({row}{column}.5) Tj ET"
        for row in range(4)
        for column, x in enumerate(places)
    ]
    shown = prose + cells if above else cells + prose
    content = read_bytes(pages("\n".join(shown).encode()), URL).content

    for row in range(4):
        numbers = [f"{row}{column}.5" for column in range(len(places))]
        assert f"| {' | '.join(numbers)} |" in content
    left, right = (" ".join(column) for column in columns)
    assert f"{left} {right}" in " ".join(content.split())
