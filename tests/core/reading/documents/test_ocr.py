"""A function of the application reads scans: the pictures of a PDF without text, and
images.
"""

from __future__ import annotations
import asyncio
import struct
import threading
import zlib

import pytest

from tests.core.reading.documents.test_pdf import lines, pdf, stream
from websearch_core import WebSearch
from websearch_core._runtime.deadline import time_limit
from websearch_core._runtime.scope import WantedContent
from websearch_core.errors import ConfigurationError
from websearch_core.providers import Direct
from websearch_core.reading import is_safe, read_bytes
from websearch_core.settings._values import find_setting
from websearch_core.tools import WebTools
from websearch_core.tools._arguments import PageArguments

pytest.importorskip("pypdf")

URL = "https://archive.example/scan.pdf"
LEFT_OUT = "too large, of an unknown format, or there was no time left"
NONE = "there is no text in it: its pages are pictures, as of a scan, or empty"


def jpeg(width: int = 200, height: int = 100) -> bytes:
    """Make what begins as a JPEG file: nothing here decodes it."""
    head = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
    return (
        head
        + b"\xff\xc0\x00\x0b\x08"
        + struct.pack(">HH", height, width)
        + b"\x01\x01\x11\x00\xff\xd9"
    )


def png(width: int = 200, height: int = 100) -> bytes:
    return (
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"
        + struct.pack(">II", width, height)
        + b"\x08\x00\x00\x00\x00"
    )


def image(
    data: bytes, filters: bytes, width: int = 200, height: int = 100, more: bytes = b""
) -> bytes:
    size = b"/Width %d/Height %d/BitsPerComponent 8/ColorSpace/DeviceGray" % (
        width,
        height,
    )
    head = b"<</Type/XObject/Subtype/Image%b/Filter%b%b/Length %d>>" % (
        size,
        filters,
        more,
        len(data),
    )
    return head + b"stream\n" + data + b"\nendstream"


def scan(*pages: bytes) -> bytes:
    """Make a PDF with a page for each image, or for each content stream."""
    objects = [b"", b""]
    kids: list[int] = []
    for page in pages:
        is_image = b"/Image" in page[:40]
        objects.append(page if is_image else stream(page))
        here = b"/XObject<</I %d 0 R>>" % len(objects) if is_image else b""
        what = b"" if is_image else b"/Contents %d 0 R" % len(objects)
        font = b"/Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>"
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]%b/Resources<<%b%b>>>>"
            % (what, here, font)
        )
        kids.append(len(objects))
    objects[0] = b"<</Type/Catalog/Pages 2 0 R>>"
    objects[1] = b"<</Type/Pages/Kids[%b]/Count %d>>" % (
        b" ".join(b"%d 0 R" % kid for kid in kids),
        len(kids),
    )
    return pdf(objects)


SCAN = image(jpeg(), b"/DCTDecode")


def recognize(data: bytes, media_type: str) -> str:
    return f"Minutes of the harbour board: {media_type}, {len(data)} bytes."


@pytest.mark.parametrize("isolate", [False, "require"])
def test_the_text_of_a_scan_is_what_the_function_returns(isolate):
    page = read_bytes(
        scan(SCAN, lines("Written words."), SCAN), URL, ocr=recognize, isolate=isolate
    )

    said = f"Minutes of the harbour board: image/jpeg, {len(jpeg())} bytes."
    assert (
        page.content
        == f"## Page 1\n\n{said}\n\n## Page 2\n\nWritten words.\n\n## Page 3\n\n{said}"
    )
    assert page.notes == (
        "3 pages",
        "2 pictures read by text recognition, which makes mistakes",
    )
    assert page.files == {}


def test_without_the_function_a_note_says_that_it_is_a_scan():
    assert read_bytes(scan(SCAN), URL).notes == ("1 page", NONE)


GREY = bytes(range(200)) * 100
FAX = image(b"\x00" * 50, b"/CCITTFaxDecode", more=b"/DecodeParms<</K -1/Columns 200>>")


@pytest.mark.parametrize(
    ("made", "begin", "media_type"),
    [
        (SCAN, jpeg(), "image/jpeg"),
        (
            image(
                b"\xff\x4f\xff\x51\x00\x29\x00\x00" + struct.pack(">II", 200, 100),
                b"/JPXDecode",
            ),
            b"\xff\x4f",
            "image/jp2",
        ),
        (FAX, b"II*\x00", "image/tiff"),
    ],
)
def test_each_encoding_becomes_a_file(made, begin, media_type):
    given = []
    read_bytes(
        scan(made),
        URL,
        ocr=lambda data, kind: given.append((data[: len(begin)], kind)) or "words",
    )

    assert given == [(begin, media_type)]


@pytest.mark.parametrize(
    "made",
    [
        image(jpeg(20_000, 20_000), b"/DCTDecode"),
        image(jpeg(200, 100) + jpeg(20_000, 20_000), b"/DCTDecode"),
        image(b"\xff\xd8\xff\xe0 no size", b"/DCTDecode"),
        image(zlib.compress(GREY), b"/FlateDecode"),
    ],
    ids=["too many pixels", "two sizes", "no size", "samples"],
)
def test_a_picture_that_may_take_much_memory_is_not_given(made):
    page = read_bytes(scan(made), URL, ocr=recognize)

    assert page.content == ""
    assert page.notes == ("1 page", NONE, f"1 picture not read: {LEFT_OUT}")


def test_small_pictures_and_those_in_other_encodings_are_left_out():
    made = image(jpeg(), b"/DCTDecode", 9, 9), image(b"\x97JB2", b"/JBIG2Decode")

    assert read_bytes(scan(*made), URL, ocr=recognize).notes == ("2 pages", NONE)


def test_the_number_and_the_size_of_pictures_have_limits(monkeypatch):
    monkeypatch.setattr("websearch_core.reading._documents.image._MAX_PICTURES", 2)
    page = read_bytes(scan(SCAN, SCAN, SCAN), URL, ocr=recognize, isolate=False)
    assert "2 pictures read by text recognition, which makes mistakes" in page.notes

    monkeypatch.setattr(
        "websearch_core.reading._documents.pdf._MAX_PICTURES_SIZE", len(jpeg())
    )
    page = read_bytes(scan(SCAN, SCAN, SCAN), URL, ocr=recognize, isolate=False)
    assert page.notes[1:] == (
        "2 pages without text: empty, or pictures",
        "1 picture read by text recognition, which makes mistakes",
    )


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda data, kind: 1 / 0, "ocr failed with ZeroDivisionError"),
        (lambda data, kind: None, "ocr failed with TypeError"),
        (lambda data: "words", "ocr failed with TypeError"),
        (lambda data, kind: b"words", "ocr failed with TypeError"),
    ],
)
def test_a_function_that_fails_gives_a_note(function, why):
    page = read_bytes(scan(SCAN, lines("Words.")), URL, ocr=function)

    assert page.content == "## Page 2\n\nWords."
    assert page.notes[-1] == f"1 picture not read: {why}"


def test_no_time_left_gives_a_note(monkeypatch):
    monkeypatch.setattr("websearch_core.reading._documents.image._MIN_SECONDS", 600.0)
    with time_limit(300.0):
        page = read_bytes(scan(SCAN), URL, ocr=recognize)

    assert page.notes[-1] == f"1 picture not read: {LEFT_OUT}"


def test_the_text_of_a_picture_is_inert_and_bounded():
    hostile = (
        "![x](https://evil.example/) <script>x</script> [a](javascript:x) \u202e\u200b"
        + "word " * 100_000
    )

    for data, url in ((scan(SCAN), URL), (jpeg(), "https://archive.example/a.jpg")):
        page = read_bytes(data, url, ocr=lambda data, kind: hostile)
        assert is_safe(page.content)
        assert "javascript" not in page.content
        assert "\u202e" not in page.content
        assert len(page.content) < 101_000


@pytest.mark.parametrize("isolate", [False, "require"])
@pytest.mark.parametrize("data", [jpeg(), png()])
def test_an_image_is_read_too(data, isolate):
    page = read_bytes(data, "https://archive.example/a", ocr=recognize, isolate=isolate)

    assert "Minutes of the harbour board" in page.content
    assert page.notes == ("1 picture read by text recognition, which makes mistakes",)


def test_what_has_no_scan_is_not_given():
    def refuse(data: bytes, media_type: str) -> str:
        raise AssertionError("it was called")

    svg = b"<svg xmlns='http://www.w3.org/2000/svg'><title>A map</title></svg>"
    for data in (b"<p>A page of words.</p>", scan(lines("Words.")), svg):
        page = read_bytes(data, URL, ocr=refuse)
        assert page.content
        assert [
            note
            for note in page.notes
            if "picture not read" in note or "pictures read" in note
        ] == []


@pytest.mark.enable_socket
def test_a_web_search_passes_it_on_and_calls_it_off_the_event_loop(server, http):
    threads = []

    def note_thread(data: bytes, media_type: str) -> str:
        threads.append(threading.current_thread())
        return "The board met on 4 May."

    server.answers["/scan.pdf"] = http(
        scan(SCAN), "200 OK", "Content-Type: application/pdf"
    )
    options = {
        "reader": Direct(isolate=False),
        "internal": ["127.0.0.0/8"],
        "timeout": 300,
    }
    page = asyncio.run(
        WebSearch("duckduckgo", read_options={"ocr": note_thread}, **options).aread(
            f"{server.url}/scan.pdf"
        )
    )
    other = WebSearch("duckduckgo", **options).read(
        f"{server.url}/scan.pdf", ocr=note_thread
    )
    tools = WebTools(
        WebSearch("duckduckgo", **options), read_options={"ocr": note_thread}
    )

    assert page.content == other.content == "## Page 1\n\nThe board met on 4 May."
    assert threads[0] is not threading.main_thread()
    assert (
        "The board met on 4 May."
        in tools.open_page({"url": f"{server.url}/scan.pdf"}).content
    )


def test_pages_that_were_read_with_it_have_a_key_of_their_own():
    assert WantedContent(ocr=recognize).describe() == ["ocr=recognize"]
    assert WantedContent().describe() == []


def test_only_a_function_is_taken():
    with pytest.raises(ConfigurationError, match="ocr: must be callable"):
        WebSearch("duckduckgo", read_options={"ocr": "pytesseract"})


def test_no_settings_file_and_no_model_can_set_it():
    setting = find_setting("read_options", "ocr")
    assert not setting.variable
    assert setting.notes == ()  # nothing of it is for a project file
    assert "ocr" not in PageArguments.model_fields
