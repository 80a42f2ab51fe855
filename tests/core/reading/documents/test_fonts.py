"""What a PDF shows is read although its fonts do not say it in Unicode, and words end
where they do on the page.
"""

from io import BytesIO

import pypdf
import pytest

from tests.core.reading.documents.test_pdf import (
    URL,
    at,
    lines,
    pages,
    pdf,
    stream,
    text_of,
)
from websearch_core.reading import read_bytes


def numbered(
    collection: bytes,
    shown: bytes,
    *,
    encoding: bytes = b"Identity-H",
    more: bytes = b"",
) -> bytes:
    """Make a PDF whose font has the characters of a collection."""
    return pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[4 0 R]/Count 1>>",
            b"<</Type/Font/Subtype/Type0/BaseFont/Mincho/Encoding/%b/DescendantFonts[6 0 R]%b>>"
            % (encoding, more),
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 5 0 R/Resources<</Font<</F1 3 0 R>>>>>>",
            stream(b"BT /F1 12 Tf 72 720 Td " + shown + b" ET"),
            b"<</Type/Font/Subtype/CIDFontType0/BaseFont/Mincho/W[32[900]]/DW 500"
            b"/CIDSystemInfo<</Registry(Adobe)/Ordering(%b)/Supplement 2>>>>"
            % collection,
            stream(
                b"begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange 2 beginbfchar\n"
                b"<0001> <0061>\n<0002> <0062>\nendbfchar endcmap"
            ),
        ]
    )


@pytest.mark.parametrize(
    ("collection", "shown", "text"),
    [
        (b"Japan1", b"<0cd40e8a037703a70009027a1ed0> Tj", "日本のカ(、。"),
        (b"GB1", b"<11cf0ed301110022> Tj", "中文，A"),
        (b"Korea1", b"<0ce004b40f6b> Tj", "한국國"),
    ],
)
def test_numbers_of_a_collection_are_read_as_its_characters(collection, shown, text):
    page = read_bytes(numbered(collection, shown), URL, "application/pdf")
    assert page.content == f"## Page 1\n\n{text}"
    assert page.notes == ("1 page",)


def test_numbers_that_nobody_can_know_are_shown_as_such_with_a_note():
    page = read_bytes(numbered(b"CNS1", b"<002200230fff> Tj"), URL, "application/pdf")
    assert page.content == "## Page 1\n\nAB\ufffd"
    assert "1 character that the fonts do not name, shown as \ufffd" in page.notes


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [(b"EUC-H", "日本".encode("euc_jp")), (b"KSCms-UHC-V", "한국".encode("cp949"))],
)
def test_encodings_of_countries_are_known_by_their_names(encoding, shown):
    content = read_bytes(
        numbered(b"Japan1", b"<%b> Tj" % shown.hex().encode(), encoding=encoding), URL
    ).content
    assert content.endswith(shown.decode("euc_jp" if encoding == b"EUC-H" else "cp949"))


def test_a_gap_is_a_space_in_a_font_that_has_none():
    paper = numbered(
        b"Identity", b"[<00010002> -250 <00020001>] TJ", more=b"/ToUnicode 7 0 R"
    )
    assert read_bytes(paper, URL, "application/pdf").content.endswith("ab ba")


def test_a_line_is_read_from_left_to_right():
    paper = pages(
        b"BT /F1 12 Tf 1 0 0 1 300 720 Tm (right) Tj 1 0 0 1 72 720 Tm (left) Tj ET"
    )
    assert read_bytes(paper, URL, "application/pdf").content.endswith("left right")


def test_an_application_that_uses_pypdf_itself_gets_what_pypdf_reads():
    read_bytes(pages(lines("Kelp")), URL, "application/pdf")
    paper = pages(
        b"BT /F1 12 Tf 1 0 0 1 300 720 Tm (right) Tj 1 0 0 1 72 720 Tm (left) Tj ET"
    )
    assert pypdf.PdfReader(BytesIO(paper)).pages[0].extract_text() == "rightleft"


def mapped(shown: bytes, names: bytes, characters: bytes) -> bytes:
    """Make a PDF whose font names some glyphs, and maps them to other characters."""
    content = stream(b"BT /F1 12 Tf 72 720 Td " + shown + b" ET")
    return pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[4 0 R]/Count 1>>",
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding<</Type/Encoding"
            b"/BaseEncoding/WinAnsiEncoding/Differences[33%b]>>/ToUnicode 6 0 R>>"
            % names,
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 5 0 R/Resources<</Font<</F1 3 0 R>>>>>>",
            content,
            stream(
                b"begincmap 1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar\n"
                b"<21> <%b>\nendbfchar endcmap" % characters
            ),
        ]
    )


@pytest.mark.parametrize(
    ("shown", "name", "characters", "text"),
    [
        (b"(di!culty) Tj", b"/ffi", b"0000", "difficulty"),
        (b"(an e!ort) Tj", b"/ff", b"21b5", "an effort"),
        (b"(!eets) Tj", b"/fl", b"fb02", "fleets"),
        (b"(!ve) Tj", b"/g7", b"fb01", "five"),
        (b"(no! a) Tj", b"/t", b"0074", "not a"),
        (b"(!) Tj", b"/g8", b"fefb", "\u0644\u0627"),
        (b"(!) Tj", b"/g9", b"fb2a", "\u05e9\u05c1"),
        (b"(!) Tj", b"/g1", b"fe41", "\u300c"),
    ],
)
def test_ligatures_and_other_forms_are_letters_whatever_a_font_maps_them_to(
    shown, name, characters, text
):
    paper = mapped(shown, name, characters)
    assert read_bytes(paper, URL).content == f"## Page 1\n\n{text}"


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([(72, 700, "Z"), (79.4, 700.1, "\u00a8"), (78.1, 700, "urich")], "Zürich"),
        ([(72, 700, "Avec"), (92.3, 699.9, "\u00b8"), (94.2, 700, "on")], "Aveçon"),
        ([(72, 700, "Jos\u00b4"), (85.6, 700, "e Diaz")], "José Diaz"),
        ([(72, 702, "\u02c6"), (71, 700, "Ile")], "Île"),
        ([(72, 700, "it\u00b4"), (80, 700, "s")], "it\u00b4s"),
    ],
)
def test_an_accent_is_read_with_the_letter_under_it(pieces, text):
    content = b"".join(at(*piece) for piece in pieces)
    assert text_of(content) == text


def test_an_accent_at_the_end_of_a_very_long_text_stays_where_it_is():
    """To put it on its letter is to copy the text."""
    content = at(10, 700, 1_001 * "e", 1) + at(566.2, 700, "\u00b4", 1)
    assert text_of(content) == 1_001 * "e" + "\u00b4"


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([(72, 704, "3", 6), (75.5, 700, "Without tides", 9)], "3 Without tides"),
        ([(72, 700, "10", 9), (82, 704, "6", 6), (85.5, 700, "a", 9)], "10^6a"),
        ([(72, 700, "3", 9), (77, 700, "rd quay", 9)], "3rd quay"),
    ],
)
def test_a_raised_number_before_a_line_is_the_mark_of_a_note(pieces, text):
    content = b"".join(at(*piece) for piece in pieces)
    assert text_of(content) == text


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (b"4 Tc [(,M) 333 (o) 333 (o) 333 (r) 333 (s) 0 (O) 333 (f)] TJ", ", Moors Of"),
        (b"-1 Tc [(To) -120 (o) -83 (l) -83 (k) -83 (i) -83 (t)] TJ", "Toolkit"),
        (b"4 Tc (TIDES) Tj", "TIDES"),
        (b"3 Tc [(TI) 0 (DES)] TJ", "TIDES"),
    ],
)
def test_space_between_letters_parts_words_only_where_it_stays(shown, text):
    assert text_of(b"BT /F1 12 Tf 72 720 Td " + shown + b" ET") == text


def down(*columns: tuple[int, str]) -> bytes:
    """Paint lines that go down, from the right to the left."""
    shown = b""
    for x, text in columns:
        for place, sign in enumerate(text):
            code = JAPANESE[sign]
            shown += b"1 0 0 1 %d %d Tm <%b> Tj " % (x, 700 - 12 * place, code)
    return numbered(b"Japan1", shown)


JAPANESE = {
    "日": b"0cd4",
    "本": b"0e8a",
    "の": b"0377",
    "力": b"03a7",
    "「": b"1ed6",
    "」": b"1ed7",
}


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ([(300, "日本の日本")], "日本の日本"),
        ([(300, "日本"), (280, "の日")], "日本\nの日"),
        ([(300, "日の日"), (280, "本の本"), (260, "日日")], "日の日\n本の本\n日日"),
    ],
)
def test_a_line_that_goes_down_is_one_line(columns, text):
    page = read_bytes(down(*columns), URL)
    assert page.content == f"## Page 1\n\n{text}"


def test_characters_in_the_rows_of_a_table_are_no_line_that_goes_down():
    rows = b"".join(
        b"1 0 0 1 72 %d Tm <%b> Tj " % (700 - 18 * n, code)
        for n, code in enumerate([b"0cd4", b"0e8a", b"0377"])
    )
    content = read_bytes(numbered(b"Japan1", rows), URL).content
    assert content.endswith("日\n本\nの")


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([(72, 700, "of p"), (88.9, 704, "2", 6), (88.9, 697, "i", 6), (95, 700, "and q")], "of p2i and q"),
        ([(72, 700, "a"), (78, 697, "n", 6), (78, 704, "3", 6), (84, 700, "+ b")], "an3 + b"),
        ([(72, 700, "x"), (77, 703, "4", 6), (82, 700, "is one")], "x4 is one"),
    ],
)  # fmt: skip
def test_an_index_under_a_power_stays_in_its_line(pieces, text):
    content = b"".join(at(*piece) for piece in pieces)
    assert text_of(content) == text


@pytest.mark.parametrize("number", ["2003", "1:03", "05.06.2024", "007", "$1,005.00"])
def test_a_number_that_is_painted_digit_by_digit_stays_one(number):
    content = b""
    x = 72.0
    for sign in number:
        content += at(x, 700, sign)
        x += 5.56 if sign.isdigit() or sign == "$" else 2.78
    assert text_of(content) == number


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (b"[(i) 200 (i) 200 (i)] TJ", "iii"),
        (b"(ti) Tj 1 0 0 1 72.5 720 Tm ( ) Tj 1 0 0 1 78 720 Tm (de) Tj", "tide"),
        (b"(ti) Tj 1 0 0 1 78 720 Tm ( ) Tj 1 0 0 1 81.4 720 Tm (de) Tj", "ti de"),
    ],
)
def test_letters_of_one_operator_are_no_copies_and_a_space_under_a_letter_is_none(
    shown, text
):
    assert text_of(b"BT /F1 12 Tf 72 720 Td " + shown + b" ET") == text
