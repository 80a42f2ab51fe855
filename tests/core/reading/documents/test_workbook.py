"""Workbooks: what their cells show, and what their sheets hide."""

from __future__ import annotations
from datetime import date, datetime, time, timedelta

import pytest

from tests.core.reading.documents.test_office import (
    SHEET,
    SHEETS,
    URL,
    replace_part,
    save,
    workbook,
)
from websearch_core.errors import UnsupportedContent
from websearch_core.reading import read_bytes

pytest.importorskip("openpyxl")

NOON = datetime.fromisoformat("2026-05-04T12:00")
MAY = datetime.fromisoformat("2026-05-01")
ACCOUNTS = '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)'


@pytest.mark.parametrize(
    ("value", "form", "shown"),
    [
        (0.075, "0.0%", "7.5%"), (0.653035934239184, "0%", "65%"), (1.2, "0.00%;[Red]-0.00%", "120.00%"),
        (0.5, '0.0"%"', "0.5%"), (timedelta(hours=26, minutes=30), "[h]:mm", "26:30"),
        (timedelta(minutes=90, seconds=5), "[mm]:ss", "90:05"), (timedelta(hours=30), "[h]:mm:ss", "30:00:00"),
        (True, "General", "TRUE"), (False, "General", "FALSE"), (12.5, "#,##0.00 [$EUR]", "12.5 EUR"),
        (0.1 + 0.2, "General", "0.3"), (1234.5600000000002, "0.00", "1234.56"), (2.5e-07, "General", "2.5e-07"),
        (1234.5, ACCOUNTS, "$1234.5"), (-1234.5, ACCOUNTS, "$(1234.5)"), (0, ACCOUNTS, "$-"), ("none", ACCOUNTS, "none"),
        (-0.05, "0.0%;(0.0%)", "(5.0%)"), (-3, '"$"0', "-$3"), (-7.5, "0.00;0.00-", "7.5-"), (99.9, "[$€-407] #,##0.00", "€ 99.9"),
        (-3, "0;[Red]0", "-3"),  # red says that it is negative
        (1234567, "#,##0,", "1234.567"), (2500000, '0.0,,"M"', "2.5M"), (5, '0" km"', "5 km"), (7, 'General" pcs"', "7 pcs"),
        (1234, "00000", "01234"), (0, '0;-0;"none"', "none"),
        # not known, so as it is stored
        (5551234567, "(000) 000-0000", "5551234567"), (0.5, "# ?/?", "0.5"), (12345, "0.00E+00", "12345"), (7, "@", "7"),
        (5, '[>3]"many";"few"', "5"), (5, "0" + '"a"' * 60, "5"), (5, "0" * 300, "5"), (5, "0" + ";" * 200, "5"), (5, "[$" * 100, "5"), (5, '"' * 200 + "0", "5"),
        (MAY, "mmm yyyy", "2026-05"), (MAY, "yyyy", "2026"),
        (NOON, "d.m.yy h:mm", "2026-05-04 12:00"), (NOON, "dd/mm/yyyy", "2026-05-04"),
        (NOON, "h:mm", "12:00"), (time(10, 30, 5), "h:mm AM/PM", "10:30"), (time(10, 30, 5), "h:mm:ss", "10:30:05"),
        (date(2026, 5, 4), "[$-F800]dddd\\, mmmm dd\\, yyyy", "2026-05-04"),
    ],
)  # fmt: skip
def test_a_cell_is_read_as_it_is_shown(value, form, shown):
    book = workbook(["name"], [value])
    book.active["A2"].number_format = form

    assert read_bytes(save(book), URL).content.endswith(f"\n| {shown} |")


@pytest.mark.parametrize(
    ("value", "form"),
    [(5, ";;;"), (-5, ";;;"), (0, ";;;"), ("ask Ada", ";;;"), (0, "#,###"), (0, "0;-0;")],
)  # fmt: skip
def test_a_cell_whose_format_shows_nothing_is_empty(value, form):
    book = workbook(["name", "length"], ["kelp", value])
    book.active["B2"].number_format = form

    assert read_bytes(save(book), URL).content.endswith("\n| kelp | |")


def test_hidden_rows_and_columns_are_left_out_with_a_note():
    book = workbook(
        ["name", "cost", "key", "length"], ["kelp", 5, 6, 30], ["dulse", 7, 8, 40]
    )
    sheet = book.active
    sheet.row_dimensions[2].hidden = True
    sheet.row_dimensions[9].hidden = True  # empty
    sheet.column_dimensions.group("B", "C", hidden=True)
    other = book.create_sheet("Ports")
    other.append(["Selby"])
    page = read_bytes(save(book), URL)

    assert (
        page.content
        == "## Algae\n\n| name | length |\n| --- | --- |\n| dulse | 40 |\n\n## Ports\n\n| Selby |\n| --- |"
    )
    assert page.notes == (
        "sheet 1: 1 row, 2 columns",
        "sheet 1: 1 hidden row left out",
        "sheet 1: 2 hidden columns left out",
        "sheet 2: 0 rows, 1 column",
    )


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ("<row><c><v>1</v></c></row><row hidden='true'><c><v>2</v></c></row><row><c><v>3</v></c></row>", "| 1 |\n| --- |\n| 3 |"),
        ('<row r="4"><c><v>1</v></c></row><row hidden = "1" ><c><v>2</v></c></row>', "| 1 |\n| --- |"),
        ("<row hidden='0'><c><v>1</v></c></row>", "| 1 |\n| --- |"),
        ("<row r='x' hidden='1'><c><v>1</v></c></row>", ""),
    ],
)  # fmt: skip
def test_rows_without_a_number_are_counted(rows, text):
    data = replace_part(SHEETS, "xl/worksheets/sheet1.xml", SHEET % rows)
    try:
        content = read_bytes(data, URL).content
    except UnsupportedContent:  # openpyxl wants a number
        content = "## Algae"
    assert content.removeprefix("## Algae").strip() == text


def test_many_columns_that_are_hidden_again_and_again_cost_little():
    columns = "<cols>" + "<col min='2' max='99999999' hidden='1'/>" * 20_000 + "</cols>"
    sheet = (
        SHEET.replace("<sheetData>", f"{columns}<sheetData>")
        % "<row><c><v>1</v></c><c><v>2</v></c></row>"
    )
    page = read_bytes(replace_part(SHEETS, "xl/worksheets/sheet1.xml", sheet), URL)

    assert page.content == "## Algae\n\n| 1 |\n| --- |"
