"""What a PDF shows is read although its fonts do not say it in Unicode, and words end
where they do on the page.
"""

from io import BytesIO

import pypdf
import pytest

from tests.core.reading.documents.test_pdf import URL, lines, pages, pdf, stream
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
