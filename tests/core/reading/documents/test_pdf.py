"""PDFs: made here byte by byte, encrypted by pypdf, and, where one is at hand, by
TeX.
"""

from __future__ import annotations
import base64
import io
import sys
import tracemalloc
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.profiling import count_lines
from websearch_core._runtime.deadline import time_limit
from websearch_core.errors import UnsupportedContent
from websearch_core.reading import read_bytes
from websearch_core.reading._documents.layout import (
    _Cell,
    _make_cell,
    _make_lines,
    _Row,
)
from websearch_core.reading._excerpt.window import cut_window

pypdf = pytest.importorskip("pypdf")

URL = "https://paper.example/a/kelp.pdf"
TEX = Path("/usr/share/doc/shared-mime-info/shared-mime-info-spec.pdf")


def pdf(objects: list[bytes], trailer: bytes = b"") -> bytes:
    """Make a file of these objects, the first of which is the catalog."""
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<</Size %d/Root 1 0 R%b>>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        trailer,
        table,
    )
    return bytes(out)


def stream(data: bytes, *, packed: bool = False) -> bytes:
    filters = b"/Filter/FlateDecode" if packed else b""
    data = zlib.compress(data, 9) if packed else data
    return b"<</Length %d%b>>stream\n%b\nendstream" % (len(data), filters, data)


def pages(
    *contents: bytes, catalog: bytes = b"", annotations: bytes = b"", info: bytes = b""
) -> bytes:
    """Make a PDF with a page for each stream; *annotations* are entries of each."""
    first = 5
    kids = b" ".join(b"%d 0 R" % (first + 2 * n) for n in range(len(contents)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R%b>>" % catalog,
        b"<</Type/Pages/Kids[%b]/Count %d>>" % (kids, len(contents)),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        b"<<%b>>" % info,
    ]
    for n, content in enumerate(contents):
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R%b/Resources<</Font<</F1 3 0 R>>>>>>"
            % (first + 2 * n + 1, annotations)
        )
        objects.append(content if content.startswith(b"<<") else stream(content))
    return pdf(objects, b"/Info 4 0 R")


def lines(*texts: str) -> bytes:
    """Make the stream of a page with these lines, one below the other."""
    shown = b"".join(b"(%b) Tj 0 -14 Td " % text.encode("cp1252") for text in texts)
    return b"BT /F1 12 Tf 72 720 Td " + shown + b"ET"


PAPER = pages(
    lines(
        "Kelp",
        "Brown algae of the cold and shallow seas, which grow to thirty me-",
        "ters in a summer.",
    ),
    lines("The second page of it."),
    catalog=b"/Lang(en-GB)",
    annotations=b"/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(../b.html)>>>>]",
    info=b"/Title(On Kelp)/Author(Ada)/Subject(Algae)/CreationDate(D:20260504100000+02'00')/ModDate(D:20260601)",
)


def test_each_page_has_a_heading_with_its_number():
    page = read_bytes(PAPER, URL, "application/pdf")

    assert page.content == (
        "## Page 1\n\nKelp\nBrown algae of the cold and shallow seas, which grow to thirty meters in a summer.\n\n"
        "## Page 2\n\nThe second page of it."
    )
    assert page.notes == ("2 pages",)
    assert (page.media_type, page.truncated) == ("application/pdf", False)


def test_the_metadata_of_a_pdf():
    page = read_bytes(PAPER, URL)

    assert (page.title, page.author, page.description, page.language) == (
        "On Kelp",
        "Ada",
        "Algae",
        "en-GB",
    )
    assert page.published.isoformat() == "2026-05-04T10:00:00+02:00"
    assert page.modified.isoformat() == "2026-06-01T00:00:00+00:00"
    assert page.links == ("https://paper.example/b.html",)
    assert read_bytes(PAPER, URL, links="text").links == ()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (
            [
                "command-line tools are what this is a text about, command-",
                "line tools alone",
            ],
            "command-line tools alone",
        ),
        (
            [
                "- one item of a list that is as long as any other line of it",
                "- another",
            ],
            "of it\n- another",
        ),
        (
            [
                "It has a table of contents . . . . . . . . . . . . . . . . . . 3",
                "and more . . . . . . . . 4",
            ],
            "s … 3\nand",
        ),
        (
            ["if (kelp_is_brown && kelp_is_long) { return kelp_is_an_alga; }", "else"],
            "; }\nelse",
        ),
        (
            ["1992 12.3 14.2 99.1 12.3 14.2 99.1 12.3 14.2 99.1 99.1", "1993 12.4 1"],
            "99.1\n1993 12.4 1",
        ),
    ],
)
def test_lines_are_joined_only_where_it_is_safe(text, read):
    assert read in read_bytes(pages(lines(*text)), URL).content


def raised(*texts: str) -> bytes:
    """Make a page with a line of texts, of which ^ raises one, and _ lowers one."""
    out = b"BT 72 720 Td "
    for text in texts:
        mark = text[0]
        size, rise = {"^": (7, 5), "_": (7, -3), "=": (7, 0)}.get(mark, (12, 0))
        shown = text.removeprefix(mark) if size == 7 else text
        out += b"/F1 %d Tf %d Ts (%b) Tj " % (size, rise, shown.encode("cp1252"))
    return pages(out + b"ET")


@pytest.mark.parametrize(
    ("texts", "read"),
    [
        (("A crew of 12", "^3", " left"), "A crew of 12^3 left"),
        (("It is 10", "^3", " m, or 2", "^10"), "It is 10^3 m, or 2^10"),
        (("It sank in 2019.", "^12", " Then"), "It sank in 2019.^12 Then"),
        (("Only $19", "^99", " today"), "Only $19^99 today"),
        (("Only $19", "=99", " today"), "Only $19 99 today"),
        (("It is 12", "_10", " here"), "It is 12_10 here"),
        (("^4", "2019 was dry"), "4 2019 was dry"),
        (("CO", "_2", " and 5 km", "^2"), "CO2 and 5 km2"),
        (("Use 3", "^1/2", " cups"), "Use 3 1/2 cups"),
        (("In 20", "19 it sank"), "In 2019 it sank"),
    ],
)
def test_a_superscript_is_no_part_of_the_number_beside_it(texts, read):
    assert read_bytes(raised(*texts), URL).content == f"## Page 1\n\n{read}"


@pytest.mark.parametrize(
    ("numbers", "cell"),
    [("3^1\u20442", "3 1\u20442"), ("3^12", "3^12"), ("3^1/s", "3^1/s")],
)
def test_a_raised_number_before_a_fraction_slash_is_no_power(numbers, cell):
    assert _make_cell(0, 1, numbers).text == cell


def test_a_rise_ends_with_what_it_was_set_for():
    content = b"q BT /F1 12 Tf 9 Ts 72 720 Td (Kelp) Tj ET Q BT /F1 12 Tf 72 700 Td (A crew of 12) Tj (3) Tj (nothing) Ts (4) Tj ET"
    page = read_bytes(pages(content), URL)

    assert page.content == "## Page 1\n\nKelp\nA crew of 1234"


def test_a_soft_hyphen_is_painted_and_so_a_hyphen():
    text = "Brown algae of the cold and shallow seas, which grow to thirty me\xad"
    page = read_bytes(pages(lines(text, "ters in a long\xadterm plan.")), URL)

    assert page.content.endswith("thirty meters in a long-term plan.")
    assert page.notes == ("1 page",)


def test_the_titles_of_the_outline_are_headings():
    made = pypdf.PdfWriter(
        clone_from=io.BytesIO(
            pages(lines("1. Habitat", "Cold seas."), lines("1.1 Depth", "Shallow."))
        )
    )
    above = made.add_outline_item(title="Habitat", page_number=0)
    made.add_outline_item(title="Depth", page_number=1, parent=above)
    out = io.BytesIO()
    made.write(out)

    content = read_bytes(out.getvalue(), URL).content

    assert (
        content
        == "## Page 1\n\n### 1. Habitat\n\nCold seas.\n\n## Page 2\n\n#### 1.1 Depth\n\nShallow."
    )


def test_page_numbers_headers_and_footers_are_left_out():
    paper = pages(
        *(
            lines(
                "The Journal of Kelp", f"What is said on leaf {'abcd'[n]}.", f"{n + 7}"
            )
            for n in range(4)
        )
    )

    page = read_bytes(paper, URL)
    assert page.content == (
        "## Page 1\n\nThe Journal of Kelp\nWhat is said on leaf a.\n\n## Page 2\n\nWhat is said on leaf b.\n\n"
        "## Page 3\n\nWhat is said on leaf c.\n\n## Page 4\n\nWhat is said on leaf d."
    )
    assert page.notes == (
        "4 pages",
        "headers, footers and page numbers that repeat left out: 7 lines",
    )


@pytest.mark.parametrize(
    "leaves",
    [
        [
            ["Chapter 1", "Brown algae."],
            ["Chapter 2", "Red algae."],
            ["Chapter 3", "Green algae."],
        ],
        [
            ["For Ada", "Total: 111 EUR"],
            ["For Bo", "Total: 222 EUR"],
            ["For Cy", "Total: 333 EUR"],
        ],
        [
            ["Invoice 17", "Total: 111 EUR"],
            ["Invoice 28", "Total: 222 EUR"],
            ["Invoice 31", "Total: 333 EUR"],
        ],
        [["1992", "Kelp"], ["1994", "Dulse"], ["2003", "Laver"], ["2004", "Carrageen"]],
        [
            ["The same line."],
            ["The same line."],
            ["The same line."],
            ["The same line."],
        ],
        [["7"], ["8"], ["9"]],
    ],
)
def test_lines_that_only_look_alike_are_kept(leaves):
    page = read_bytes(pages(*(lines(*leaf) for leaf in leaves)), URL)

    parts = ("\n".join(leaf) for leaf in leaves)
    assert page.content == "\n\n".join(
        f"## Page {n}\n\n{part}" for n, part in enumerate(parts, start=1)
    )
    assert page.notes == (f"{len(leaves)} pages",)


def test_a_header_of_left_pages_and_one_of_right_pages_are_each_kept_once():
    leaves = [
        lines(
            f"{n + 7} On the Algae of Cold Seas" if n % 2 else f"Ada and Bo {n + 7}",
            f"Leaf {'abcdefgh'[n]}.",
        )
        for n in range(8)
    ]
    content = read_bytes(pages(*leaves), URL).content

    assert (
        content.count("On the Algae of Cold Seas")
        == content.count("8 On the Algae")
        == 1
    )
    assert content.count("Leaf ") == 8


def test_a_line_that_many_pages_share_is_kept_in_the_middle_of_the_page():
    leaf = b"BT /F1 12 Tf 72 400 Td (To be signed here) Tj 0 -14 Td (%s) Tj 0 -14 Td (By Ada) Tj ET"
    page = read_bytes(
        pages(*(leaf % name for name in (b"Kelp", b"Dulse", b"Laver"))), URL
    )

    assert page.content.count("To be signed here") == page.content.count("By Ada") == 3
    assert page.notes == ("3 pages",)


BOLD = b"BT /F1 12 Tf 1 0 0 1 72 720 Tm (Bold title) Tj ET "


@pytest.mark.parametrize(
    "content",
    [
        BOLD
        + BOLD.replace(b"72 720", b"72.3 720")
        + BOLD.replace(b"72 720", b"72 720.3"),
        b"BT /F1 12 Tf 1 0 0 1 72 720 Tm (Bold title) Tj 1 0 0 1 72.3 720 Tm (Bold title) Tj ET ",
        b"BT /F1 12 Tf 72 720 Td (Bold title) Tj .3 0 Td [(Bold title)] TJ -.3 .3 Td (Bold title) Tj ET ",
        b"BT /F1 12 Tf 1 0 0 1 72 720 Tm (Bold) Tj 1 0 0 1 72.3 720 Tm (Bold) Tj 40 0 Td (title) Tj .3 0 Td (title) Tj ET ",
        b"BT /F1 12 Tf 72 720 Td (Bold ) Tj (title) Tj ET BT /F1 12 Tf 72 720.2 Td (Bold ) Tj (title) Tj ET ",
    ],
)
def test_what_is_printed_twice_in_a_place_is_read_once(content):
    paper = pages(
        content
        + b"BT /F1 12 Tf 72 700 Td (Kelp, kelp, kelp) Tj 0 -14 Td (Kelp, kelp, kelp) Tj ET"
    )
    text = read_bytes(paper, URL).content

    assert text.split("\n")[2:] == [
        "Bold title",
        "Kelp, kelp, kelp",
        "Kelp, kelp, kelp",
    ]


def test_letters_that_are_placed_one_by_one_are_kept():
    content = (
        b"BT /F1 9 Tf 72 720 Td "
        + b"".join(b"(%c) Tj 2 0 Td " % letter for letter in b"illl")
        + b"(Kelp) Tj ET"
    )
    assert "illlKelp" in read_bytes(pages(content), URL).content


def form(*annotations: bytes) -> bytes:
    return pages(lines("A form"), annotations=b"/Annots[%b]" % b" ".join(annotations))


FIELD = b"<</Type/Annot/Subtype/Widget/Rect[0 0 99 9]"


def test_what_was_entered_in_a_form_is_read():
    page = read_bytes(
        form(
            FIELD + b"/FT/Tx/T(name)/TU(Your name)/V(Ada Lovelace)>>",
            FIELD + b"/Parent<</FT/Tx/T(place)/V(On the shore\\012of the sea)>>>>",
            FIELD + b"/FT/Ch/T(algae)/V[(Kelp)(Dulse)]>>",
            FIELD + b"/FT/Btn/T(member)/V/Yes/AS/Yes>>",
            FIELD + b"/FT/Btn/T(guest)/V/Off/AS/Off>>",
            FIELD + b"/FT/Tx/T(empty)>>",
            b"<</Type/Annot/Subtype/FreeText/Rect[0 0 99 9]/Contents(Written on the page)>>",
        ),
        URL,
    )
    assert page.content == (
        "## Page 1\n\nA form\n\nYour name: Ada Lovelace\n\nplace: On the shore\nof the sea\n\n"
        "algae: Kelp, Dulse\n\nmember: Yes\n\nWritten on the page"
    )


@pytest.mark.parametrize(
    "annotation",
    [
        FIELD + b"/F 2/FT/Tx/T(x)/V(secret)>>",
        FIELD + b"/F 34/FT/Tx/T(x)/V(secret)>>",
        FIELD + b"/Ff 8192/FT/Tx/T(x)/V(secret)>>",
        b"<</Type/Annot/Subtype/FreeText/F 2/Contents(secret)>>",
        b"<</Type/Annot/Subtype/Text/Contents(secret)>>",
        b"<</Type/Annot/Subtype/Widget/FT/Tx/V 99 0 R/Parent 7 0 R>>",
        b"7",
    ],
)
def test_what_no_reader_of_a_form_sees_is_left_out(annotation):
    page = read_bytes(form(annotation, FIELD + b"/FT/Tx/T(y)/V(shown)>>"), URL)

    assert page.content == "## Page 1\n\nA form\n\ny: shown"
    assert page.notes == ("1 page",)


def test_words_that_run_together_give_a_note():
    glued = pages(
        lines("WhatisEarthScienceExplain theimportanceofaskingquestions", "Aboutthesea")
    )
    assert read_bytes(glued, URL).notes == (
        "1 page",
        "words may run together: the file does not say where they end",
    )
    assert read_bytes(pages(lines("Donaudampfschifffahrtsgesellschaft is a long word of German", *["words"] * 50)),
                      URL).notes == ("1 page",)  # fmt: skip


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
@pytest.mark.parametrize("password", ["", "secret"])
def test_an_encrypted_pdf_is_read_if_it_opens_without_a_password(algorithm, password):
    made = pypdf.PdfWriter(clone_from=io.BytesIO(PAPER))
    made.encrypt(password, "of the owner", algorithm=algorithm)
    out = io.BytesIO()
    made.write(out)

    if password:
        with pytest.raises(
            UnsupportedContent, match="application/pdf that is encrypted"
        ):
            read_bytes(out.getvalue(), URL)
    else:
        assert "thirty meters" in read_bytes(out.getvalue(), URL).content


def test_a_scan_has_a_note():
    page = read_bytes(pages(b"0 0 m 9 9 l S", b"0 0 m 9 9 l S"), URL)

    assert page.content == ""
    assert page.notes == (
        "2 pages",
        "there is no text in it: its pages are pictures, as of a scan, or empty",
    )
    assert read_bytes(pages(lines("Words."), b"S"), URL).notes == (
        "2 pages",
        "1 page without text: empty, or pictures",
    )


def test_without_the_extra_the_error_names_it(monkeypatch):
    # in this process, so read in this one
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(UnsupportedContent, match=r"websearch-core\[pdf\]"):
        read_bytes(PAPER, URL, isolate=False)


def test_no_image_survives():
    content = read_bytes(
        pages(lines("words ![a]\\(https://evil.example/\\) <img src=x>")), URL
    ).content
    assert "![" not in content
    assert "<img" not in content


def test_looking_up_objects_ends_in_time(monkeypatch):
    monkeypatch.setattr("websearch_core.reading._documents.pdf._MORE_SECONDS", -1)
    with time_limit(0.0), pytest.raises(UnsupportedContent, match="LimitReachedError"):
        read_bytes(PAPER, URL, isolate=False)


def test_no_time_left_leaves_the_first_pages():
    with time_limit(0.0):
        page = read_bytes(PAPER, URL, isolate=False)
    assert (page.truncated, page.notes[0]) == (True, "the first 0 of 2 pages")


FONT = b"/Resources<</Font<</F1 3 0 R>>>>"
HOSTILE = {
    "64 MiB of blanks": pages(stream(bytes([32]) * 2**26, packed=True)),
    "a million words in one place": pages(
        stream(b"BT /F1 12 Tf 72 720 Td (w) Tj ET " * 300_000, packed=True)
    ),
    "a page tree in a circle": pdf(
        [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[2 0 R]/Count 9>>"]
    ),
    "two thousand million pages": pdf(
        [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[]/Count 2000000000>>"]
    ),
    "half a million times the same page": pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[%b]>>" % (b"3 0 R " * 500_000),
            b"<</Type/Page>>",
        ]
    ),
    "arrays in arrays": pdf([b"<</Type/Catalog/X " + b"[" * 100_000 + b">>"]),
    "forms of ten forms of ten forms": pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[4 0 R]/Count 1>>",
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            b"<</Type/Page/Parent 2 0 R/Contents 5 0 R/Resources<</XObject<</X 6 0 R>>>>>>",
            stream(b"/X Do"),
            *(
                b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X %d 0 R>>>>/Length 60>>stream\n%b\n"
                b"endstream" % (n + 1, b"/X Do " * 10)
                for n in range(6, 14)
            ),
            b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]%b/Length 33>>stream\nBT /F1 9 Tf 9 9 Td (kelp) Tj ET   \n"
            b"endstream" % FONT,
        ]
    ),
}


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(PAPER)), st.binary(max_size=8), st.integers(0, 12))
def test_a_damaged_pdf_is_read_or_refused(place, junk, gone):
    data = PAPER[:place] + junk + PAPER[place + gone :]
    try:
        page = read_bytes(data, URL, "application/pdf")
    except UnsupportedContent:
        return
    assert len(page.content) == page.content_length


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(PAPER)))
def test_a_truncated_pdf_is_read_or_refused(place):
    try:
        read_bytes(PAPER[:place], URL, "application/pdf")
    except UnsupportedContent as error:
        assert "application/pdf" in str(error)


@pytest.mark.skipif(
    not TEX.exists(), reason=f"needs {TEX}, which Debian's shared-mime-info has"
)
def test_a_pdf_made_with_tex():
    page = read_bytes(TEX.read_bytes(), URL)

    assert "## Page 1\n" in page.content
    assert "### 1. Introduction\n" in page.content
    assert (
        "Many programs and desktops use the MIME system[MIME] to represent the types of files. Frequently, it is "
        "necessary to work out the correct MIME type for a file." in page.content
    )
    leaves, offset = [], 0
    while offset is not None:
        leaf = cut_window(page, 3000, offset)
        leaves.append(leaf.content)
        offset = leaf.next_offset
    assert "".join(leaves) == page.content


def filtered(data: bytes, filters: bytes, more: bytes = b"") -> bytes:
    return b"<</Length %d/Filter%b%b>>stream\n%b\nendstream" % (
        len(data),
        filters,
        more,
        data,
    )


KELP = b"BT /F1 12 Tf (Brown algae) Tj ET"


@pytest.mark.parametrize(
    "content",
    [
        filtered(base64.a85encode(KELP) + b"~>", b"/ASCII85Decode"),
        filtered(
            b"<~ " + base64.a85encode(KELP, wrapcol=20) + b" ~>\n", b"/ASCII85Decode"
        ),
        filtered(base64.a85encode(KELP), b"[/ASCII85Decode]"),
        filtered(
            base64.a85encode(KELP + b"\n" + bytes(8) + b"\n" * 9) + b"~>",
            b"/ASCII85Decode",
        ),
        filtered(KELP.hex(" ").encode() + b">", b"/ASCIIHexDecode"),
        filtered(KELP.hex().encode().rstrip(b"0") + b"\n>", b"/ASCIIHexDecode"),
        filtered(bytes([len(KELP) - 1]) + KELP + b"\x80", b"/RunLengthDecode"),
        filtered(
            base64.a85encode(zlib.compress(KELP)) + b"~>",
            b"[/ASCII85Decode/FlateDecode]",
        ),
    ],
)
def test_every_filter_gives_its_text(content):
    assert "Brown algae" in read_bytes(pages(content), URL, "application/pdf").content


MIB = 2**20
BOMBS = {
    "ASCII85": filtered(b"z" * 10 * MIB, b"/ASCII85Decode"),
    "ASCII85 of words": filtered(b"+&)GQ" * 2 * MIB, b"/ASCII85Decode"),
    "packed ASCII85": filtered(
        zlib.compress(b"z" * 10 * MIB), b"[/FlateDecode/ASCII85Decode]"
    ),
    "ASCII85 twice": filtered(
        zlib.compress(b"z" * (MIB // 8)), b"[/FlateDecode/ASCII85Decode/ASCII85Decode]"
    ),
    "hexadecimal digits": filtered(b"2 " * 4 * MIB, b"/ASCIIHexDecode"),
    "run lengths": filtered(b"\0 " * 5 * MIB, b"/RunLengthDecode"),
    "packed run lengths": filtered(
        zlib.compress(b"\0 " * 5 * MIB), b"[/FlateDecode/RunLengthDecode]"
    ),
    "Flate": filtered(zlib.compress(bytes(2**26)), b"/FlateDecode"),
    "LZW": filtered(b"\x80\x08\x01\x00\x20\x10" * MIB, b"/LZWDecode"),
    "a predictor": filtered(
        zlib.compress(b"\4aaa" * MIB * 2),
        b"/FlateDecode",
        b"/DecodeParms<</Predictor 15/Columns 3>>",
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_little_memory(name):
    paper = pages(BOMBS[name])
    # run the imports that happen on first use
    read_bytes(PAPER, URL, "application/pdf")
    tracemalloc.start()
    try:
        page = read_bytes(paper, URL, "application/pdf")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert page.content == ""
    assert most < 64 * MIB - len(paper)


def test_fonts_that_share_a_list_of_widths_take_little_memory():
    font = b"<</Type/Font/Subtype/Type0/BaseFont/M/Encoding/Identity-H/DescendantFonts[6 0 R]>>"
    paper = pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[4 0 R]/Count 1>>",
            b"<</F1 %b%b>>"
            % (
                font,
                b"".join(b"/F%d %b" % (number, font) for number in range(2, 1000)),
            ),
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 5 0 R/Resources<</Font 3 0 R>>>>",
            stream(KELP),
            b"<</Type/Font/Subtype/CIDFontType0/BaseFont/M/W[1[%b]]>>"
            % (b"500 " * 5_000),
        ]
    )
    tracemalloc.start()
    try:
        page = read_bytes(paper, URL, "application/pdf")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "too complex" in " ".join(page.notes)
    assert peak < 64 * MIB


def test_a_bomb_in_a_character_map_takes_little_memory():
    unicode_map = stream(
        b"1 beginbfchar\n" + b"<01> <0041>\n" * 300_000 + b"endbfchar", packed=True
    )
    paper = pages(lines("Kelp")).replace(
        b"/WinAnsiEncoding>>", b"/WinAnsiEncoding/ToUnicode 7 0 R>>"
    )
    paper = paper.replace(
        b"xref\n", b"7 0 obj\n" + unicode_map + b"\nendobj\nxref\n", 1
    )
    tracemalloc.start()
    try:
        read_bytes(paper, URL, "application/pdf")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 40 * MIB


@pytest.mark.no_cover
def test_decoded_pages_are_not_kept():
    # which pypdf skips quickly
    image = b"BI /W 1 /H 1 ID " + b"x" * 3_000_000 + b"\nEI Q"
    paper = pages(*[stream(KELP + b"\n" + image, packed=True)] * 10)
    tracemalloc.start()
    try:
        page = read_bytes(paper, URL, "application/pdf")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "10 pages" in page.notes[0]
    assert most < 25 * MIB


def test_a_large_image_does_not_lose_the_text():
    picture = (
        b"<</Type/XObject/Subtype/Image/Length 6000000>>stream\n"
        + bytes(6_000_000)
        + b"\nendstream"
    )
    paper = pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[4 0 R]/Count 1>>",
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
            b"<</Type/Page/Parent 2 0 R/Contents 5 0 R/Resources<</Font<</F1 3 0 R>>/XObject<</X 6 0 R>>>>>>",
            stream(KELP + b" /X Do"),
            picture,
        ]
    )
    assert "Brown algae" in read_bytes(paper, URL, "application/pdf").content


def test_an_application_that_uses_pypdf_itself_is_not_bounded():
    read_bytes(PAPER, URL, "application/pdf")

    assert pypdf.filters.ASCII85Decode.decode(b"z" * 2 * MIB + b"~>") == bytes(8 * MIB)
    assert len(pypdf.filters.RunLengthDecode.decode(b"\0 " * MIB + b"\x80")) == MIB


@pytest.mark.parametrize(
    "text", ["k" * 200_000, "k-" * 100_000, "1." * 100_000, "k_" * 100_000]
)
@pytest.mark.no_cover
def test_a_page_without_spaces_takes_linear_time(text):
    page = read_bytes(
        pages(lines(text, text)), URL, "application/pdf"
    )  # once took minutes, beyond the reach of a deadline
    assert len(page.content) >= 200_000


def at(x: float, y: float, text: str, size: int = 10) -> bytes:
    """Paint a text as some programs do: each in an object that ends with a new line."""
    shown = text.encode("cp1252")
    return b"BT 1 0 0 1 %.1f %.1f Tm /F1 %d Tf 12 TL (%b) Tj T* ET\n" % (
        x, y, size, shown
    )  # fmt: skip


def text_of(*contents: bytes) -> str:
    return read_bytes(pages(*contents), URL).content.partition("\n\n")[2]


@pytest.mark.parametrize(
    ("pieces", "line"),
    [
        ([(72, "Ferry"), (100, "leaves"), (134, "at"), (146, "nine.")], "Ferry leaves at nine."),
        ([(200, "17.50"), (72, "Fare:"), (140, "to Selby")], "Fare: to Selby 17.50"),
        ([(72, "2,248"), (97, "1,135"), (122, "103,532")], "2,248 1,135 103,532"),
    ],
)  # fmt: skip
def test_words_that_are_painted_one_by_one_stand_in_their_line(pieces, line):
    content = b"".join(at(x, 700, text) for x, text in pieces)

    assert text_of(content) == line


def test_numbers_in_narrow_columns_stay_apart():
    """The gap between them is a tenth of the size of the font."""
    content = at(72, 700, "0", 8) + at(77.3, 700, "2,248", 8) + at(98.2, 700, "17", 8)

    assert text_of(content) == "0 2,248 17"


@pytest.mark.parametrize("step", [0.3, 0.8, 1.2])
def test_a_word_that_is_painted_over_itself_counts_once(step):
    content = b"".join(at(72 + step * n, 700, "300218", 14) for n in range(3))

    assert text_of(content + at(72, 660, "300218", 14)) == "300218\n300218"


RULED = [
    ("Port", "May", "June", "July"),
    ("Selby", "1.79", "", "1.82"),
    ("Amity", "", "2.10", "2.20"),
    ("Quay", "0.95", "1.05", ""),
]


def test_rows_that_repeat_are_a_table_with_its_empty_cells():
    content = b"".join(
        at(72 + 90 * column, 700 - 18 * row, cell)
        for row, cells in enumerate(RULED)
        for column, cell in enumerate(cells)
    )
    assert text_of(at(72, 730, "Tides") + content + at(72, 600, "In metres.")) == (
        "Tides\n\n| Port | May | June | July |\n| --- | --- | --- | --- |\n| Selby | 1.79 | | 1.82 |\n"
        "| Amity | | 2.10 | 2.20 |\n| Quay | 0.95 | 1.05 | |\n\nIn metres."
    )


def test_a_list_with_its_numbers_apart_is_no_table():
    content = b"".join(
        at(72, 700 - 14 * n, f"{n + 1}.") + at(110, 700 - 14 * n, f"Leaf {'abcd'[n]}")
        for n in range(4)
    )
    assert text_of(content) == "1. Leaf a\n2. Leaf b\n3. Leaf c\n4. Leaf d"


@pytest.mark.parametrize("is_first", [True, False])
def test_headers_and_footers_of_two_lines_are_left_out_wherever_they_are_painted(
    is_first,
):
    leaves = []
    for n in range(4):
        furniture = (
            at(72, 760, "Harbour Office of Selby") + at(72, 745, "Yearly report on tides")
            + at(72, 50, f"Page {n + 1} of 4") + at(72, 36, "Printed in May, not for sale")
        )  # fmt: skip
        body = at(72, 500, f"What is said on leaf {'abcd'[n]}.")
        leaves.append(furniture + body if is_first else body + furniture)
    content = read_bytes(pages(*leaves), URL).content

    for line in ("Harbour Office", "Yearly report", "Printed in May"):
        assert content.count(line) == 1
    assert "Page 3 of" not in content
    assert content.count("What is said on leaf") == 4


def test_a_short_line_that_ends_in_a_hyphen_goes_on():
    text = text_of(
        at(72, 700, "It is a long-") + at(72, 686, "term plan for the pier.")
    )

    assert text == "It is a long-term plan for the pier."


def test_a_gap_ends_a_paragraph_after_a_long_line():
    long_lines = [
        "The harbour was built of granite that came by sea from the quarries",
        "of the north, and its light is seen from fourteen miles on clear days",
        "and the ferry to the islands leaves the inner pier at nine and at four",
        "of every day in summer, and on Mondays and Fridays in the winter only",
    ]
    content = b"".join(
        at(72, 700 - 12 * n - 14 * (n > 1), line) for n, line in enumerate(long_lines)
    )
    assert text_of(content).count("\n\n") == 1


def test_a_file_without_its_last_lines_is_read():
    paper = pages(lines("Kelp is brown."))
    cut = paper[: paper.rindex(b"startxref")]

    assert "Kelp is brown." in read_bytes(cut, URL, "application/pdf").content


def test_text_below_a_header_that_looks_like_the_next_page_stays():
    leaves = [
        at(72, 760, "Tides of Selby") + at(72, 740, f"Line 1 of leaf {n + 1} is about kelp")
        + at(72, 726, f"Line 2 of leaf {n + 1} is about dulse") + at(72, 500, "More of it follows.")
        for n in range(4)
    ]  # fmt: skip
    content = read_bytes(pages(*leaves), URL).content

    assert content.count("is about kelp") == content.count("is about dulse") == 4
    assert content.count("Tides of Selby") == 1


def test_text_that_is_turned_stands_behind_the_others():
    turned = b"BT 0 1 -1 0 30 200 Tm /F1 8 Tf (Printed) Tj 0 1 -1 0 30 235 Tm (in May) Tj ET "
    content = at(72, 700, "Tides") + turned + at(72, 680, "of Selby")

    assert text_of(content) == "Tides\nof Selby\n\nPrinted in May"


def turned(x: float, y: float, text: str) -> bytes:
    """Paint a text that goes upwards."""
    return b"BT 0 1 -1 0 %.1f %.1f Tm /F1 10 Tf (%b) Tj ET\n" % (x, y, text.encode())


@pytest.mark.parametrize("entry", [b"", b"/Rotate 90"])
def test_a_table_across_the_page_is_a_table_and_what_stands_beside_it_follows(entry):
    rows = [("Port", "Depth"), ("Selby", "1.79"), ("Wharf", "12.5"), ("Quay", "3.4")]
    content = b"".join(
        turned(100 + 14 * row, 72 + 130 * column, cell)
        for row, cells in enumerate(rows)
        for column, cell in enumerate(cells)
    )
    paper = pages(content + at(300, 30, "Printed in May"), annotations=entry)

    assert read_bytes(paper, URL).content == (
        "## Page 1\n\n| Port | Depth |\n| --- | --- |\n| Selby | 1.79 |\n"
        "| Wharf | 12.5 |\n| Quay | 3.4 |\n\nPrinted in May"
    )


@pytest.mark.parametrize(
    ("box", "kept"),
    [
        (b"", ["Tides of Selby", "Cut off", "Half of it"]),
        (b"/CropBox[50 100 612 792]", ["Tides of Selby", "Half of it"]),
        (b"/CropBox[50 100 9999 9999]", ["Tides of Selby", "Half of it"]),
        (b"/CropBox[9 9 9 9]", ["Tides of Selby", "Cut off", "Half of it"]),
        (b"/CropBox[700 0 800 792]", ["Tides of Selby", "Cut off", "Half of it"]),
    ],
)
def test_text_where_nobody_sees_it_is_left_out_with_a_note(box, kept):
    content = (
        at(72, 700, "Tides of Selby")
        + at(72, 40, "Cut off")
        + at(30, 300, "Half of it")
        + at(72, -60, "Below the page")
        + at(700, 400, "Beside the page")
    )
    page = read_bytes(pages(content, annotations=box), URL)

    assert [text for text in page.content.split("\n") if text] == ["## Page 1", *kept]
    assert page.notes == (
        "1 page",
        "text outside of the page, which nobody sees, left out: 1 page",
    )


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (b"(ABC) Tj", "\u05d2\u05d1\u05d0"),
        (b"(CA) Tj 40 0 Td (BA) Tj 40 0 Td (AA) Tj", "\u05d0\u05d0 \u05d0\u05d1 \u05d0\u05d2"),
        (b"40 0 Td (BA) Tj -40 0 Td (CA) Tj", "\u05d0\u05d1 \u05d0\u05d2"),
        (b"(CB 17:50 AC) Tj", "\u05d2\u05d0 17:50 \u05d1\u05d2"),
        (b"(AB kelp CCCC) Tj", "\u05d2\u05d2\u05d2\u05d2 kelp \u05d1\u05d0"),
        (b"(the word ABC is old) Tj", "the word \u05d2\u05d1\u05d0 is old"),
        (b"(\\(A\\) BC) Tj", "\u05d2\u05d1 (\u05d0)"),
        (b"[(CCC) (kelp ) (BBB)] TJ", "\u05d1\u05d1\u05d1kelp \u05d2\u05d2\u05d2"),
        (b"(CB2024 B) Tj", "\u05d1 2024\u05d1\u05d2"),
    ],
)  # fmt: skip
def test_text_from_right_to_left_is_read_in_its_order(shown, text):
    font = (
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding"
        b"<</Differences[65/afii57664/afii57665/afii57666]>>>>"
    )
    content = b"BT /F1 12 Tf 72 720 Td " + shown + b" ET"
    paper = pages(content).replace(
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        font,
    )
    page = read_bytes(paper, URL)

    assert page.content == f"## Page 1\n\n{text}"
    assert page.notes == ("1 page",)


@pytest.mark.parametrize(
    ("matrix", "text"),
    [
        (b"0 0 0 1", "ebb"),
        (b"0 0 0 0", "ebb"),
        (b"-1 0 0 1", "tide\n\nebb"),
        (b"1 0 0 -1", "tide ebb"),
    ],
)
def test_text_that_is_flat_or_mirrored_does_not_cost_the_page(matrix, text):
    shown = b"BT /F1 12 Tf " + matrix + b" 72 700 Tm (tide) Tj ET "
    assert text_of(shown + at(120, 700, "ebb")) == text


def test_rows_that_are_no_table_take_linear_time():
    """A list of two columns: each of its rows could be the first of a table."""

    def read(count: int) -> int:
        rows = [
            _Row(9e4 - n, 1, [_Cell(1, 2, "1."), _Cell(5, 7, "a")])
            for n in range(count)
        ]
        return count_lines(lambda: [*_make_lines(rows)])

    few, many = read(1_000), read(3_000)

    assert many < 4 * few < 16_000_000, (few, many)


def test_a_table_after_rows_that_are_none_is_one():
    rows = [
        _Row(900 - 9 * n, 8, [_Cell(1, 9, f"{n}."), _Cell(50, 70, "a")])
        for n in range(9)
    ]
    rows += [
        _Row(700 - 9 * n, 8, [_Cell(1, 9, "Kelp"), _Cell(50, 70, "c")])
        for n in range(3)
    ]

    assert [line.text for line in _make_lines(rows)][8:] == [
        "8. a", "| Kelp | c |\n| --- | --- |\n| Kelp | c |\n| Kelp | c |"
    ]  # fmt: skip


def test_a_table_of_short_cells_has_all_its_rows():
    content = b"".join(
        at(72 + 60 * column, 700 - 14 * row, f"{row}{column}")
        for row in range(20)
        for column in range(4)
    )
    table = text_of(content).split("\n")

    assert table[2:] == [
        f"| {row}0 | {row}1 | {row}2 | {row}3 |" for row in range(1, 20)
    ]
