"""Slides: their tables, charts and notes, and what they hide."""

from __future__ import annotations

import pytest

from tests.core.reading.documents.test_office import URL, replace_part, save
from websearch_core.reading import read_bytes
from websearch_core.reading._documents import slides as reader

pptx = pytest.importorskip("pptx")
TITLE_ONLY = 5
CHARTS = "http://schemas.openxmlformats.org/drawingml/2006/chart"


def deck(*titles):
    made = pptx.Presentation()
    for title in titles:
        slide = made.slides.add_slide(made.slide_layouts[TITLE_ONLY])
        slide.shapes.title.text = title
    return made


def box(slide, text, place=0):
    shape = slide.shapes.add_textbox(place, place, 9, 9)
    shape.text_frame.text = text
    return shape


def read(made):
    return read_bytes(save(made), URL)


def test_a_table_keeps_its_columns():
    made = deck("Ferries")
    table = made.slides[0].shapes.add_table(3, 3, 0, 0, 9, 9).table
    for row in range(3):
        for column in range(3):
            table.cell(row, column).text = f"{row}|{column}"
    table.cell(1, 0).merge(table.cell(2, 0))
    table.cell(1, 0).text = "North\nquay"

    assert read(made).content == (
        "## Slide 1\n\n### Ferries\n\n| 0\\|0 | 0\\|1 | 0\\|2 |\n| --- | --- | --- |\n"
        "| North quay | 1\\|1 | 1\\|2 |\n| | 2\\|1 | 2\\|2 |"
    )


def test_the_title_comes_first_and_the_rest_as_it_is_read_aloud():
    made = deck("Ferries")
    slide = made.slides[0]
    box(slide, "Leave at noon", 900)
    group = slide.shapes.add_group_shape()
    box(group, "From\vSelby", 500)
    box(slide, "# First line", 10)
    slide.notes_slide.notes_text_frame.text = "Say it *twice*"

    assert read(made).content == (
        "## Slide 1\n\n### Ferries\n\nLeave at noon\n\nFrom\nSelby\n\n\\# First line\n\n"
        "### Notes:\n\nSay it *twice*"
    )


@pytest.mark.parametrize("show", ["0", "false"])
def test_a_hidden_slide_is_left_out_with_a_note(show):
    made = deck("Ferries", "Draft", "Boats")
    made.slides[1].element.set("show", show)
    page = read(made)

    assert page.content == "## Slide 1\n\n### Ferries\n\n## Slide 3\n\n### Boats"
    assert page.notes == ("1 hidden slide left out",)


def test_a_hidden_shape_is_left_out():
    made = deck("Ferries")
    slide = made.slides[0]
    for holder in (slide.shapes, slide.shapes.add_group_shape().shapes):
        holder.add_textbox(0, 0, 9, 9).text_frame.text = "ask Ada"
    for shape in [*slide.shapes][1:]:
        shape.element.xpath("./*/p:cNvPr")[0].set("hidden", "1")

    assert read(made).content == "## Slide 1\n\n### Ferries"


def chart(series):
    """Make a presentation whose only chart has this XML."""
    made = deck("Tides")
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    data = CategoryChartData()
    data.categories = ["x"]
    data.add_series("y", (1,))
    kind = XL_CHART_TYPE.LINE
    part = made.slides[0].shapes.add_chart(kind, 0, 0, 9, 9, data).chart.part
    name = str(part.partname).removeprefix("/")
    xml = f"<c:chartSpace xmlns:c='{CHARTS}' xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main'><c:chart>{series}</c:chart></c:chartSpace>"
    return replace_part(save(made), name, xml)


def points(name, **values):
    inner = "".join(
        f"<c:pt idx='{place[1:]}'><c:v>{value}</c:v></c:pt>"
        for place, value in values.items()
    )
    return f"<c:{name}><c:ref>{inner}</c:ref></c:{name}>"


FIRST = f"<c:ser>{points('tx', p0='Ebb')}{points('cat', p0='North', p1='South')}{points('val', p0='1.5', p1='2')}</c:ser>"
SECOND = f"<c:ser>{points('tx', p0='Flood')}{points('val', p1='3')}</c:ser>"
TITLE = "<c:title><a:t>High </a:t><a:t>tides</a:t></c:title>"


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        (TITLE + FIRST + SECOND, "### Chart: High tides\n\n| | Ebb | Flood |\n| --- | --- | --- |\n| North | 1.5 | |\n| South | 2 | 3 |"),
        (f"<c:ser>{points('xVal', p0='4')}{points('yVal', p0='5')}</c:ser>", "### Chart\n\n| | Series 1 |\n| --- | --- |\n| 4 | 5 |"),
        (FIRST.replace("<c:ref>", "<c:ref><c:ptCount val='999999999'/>"), "### Chart\n\n| | Ebb |\n| --- | --- |\n| North | 1.5 |\n| South | 2 |"),
        ("", "### Chart"),
    ],
)  # fmt: skip
def test_a_chart_is_a_table_of_its_numbers(xml, text):
    content = read_bytes(chart(xml), URL).content
    assert content.removeprefix("## Slide 1\n\n### Tides\n\n") == text


def test_a_chart_of_very_many_points_has_no_table(monkeypatch):
    monkeypatch.setattr(reader, "_MAX_POINTS", 3)
    content = read_bytes(chart(FIRST), URL, isolate=False).content
    assert content.endswith("### Chart")


def test_pictures_are_what_they_are_said_to_show():
    made = deck("Ferries")
    slide = made.slides[0]
    for text in ("A ferry at <noon>", ""):
        shape = slide.shapes.add_connector(1, 0, 0, 9, 9)
        shape.element.xpath("./*/p:cNvPr")[0].set("descr", text)

    assert read(made).content == "## Slide 1\n\n### Ferries\n\nA ferry at &lt;noon>"


def test_a_table_of_many_rows_is_read_row_by_row():
    made = deck("Ferries")
    table = made.slides[0].shapes.add_table(60, 2, 0, 0, 9, 9).table
    for row in range(60):
        table.cell(row, 0).text = f"left {row}"
        table.cell(row, 1).text = f"right {row}"
    lines = read(made).content.splitlines()

    assert lines[-1] == "| left 59 | right 59 |"
    assert lines[-59] == "| left 1 | right 1 |"
