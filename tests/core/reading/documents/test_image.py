"""Pictures are named, not read; the text of a drawing is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_core.errors import UnsupportedContent
from websearch_core.reading import read_bytes
from websearch_core.reading._sniff import named

URL = "https://sea.example/kelp"
SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 480.5"><title>A frond</title><desc>Of ![x](y) kelp'
    b"</desc><g><text x='1'>Stipe</text><text>Blade</text></g><script>no()</script></svg>"
)
PICTURES = {
    "PNG": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(30), "image/png"),
    "JPEG": (b"\xff\xd8\xff\xe0" + bytes(30), "image/jpeg"),
    "GIF": (b"GIF89a" + bytes(30), "image/gif"),
    "WebP": (b"RIFF\x00\x00\x00\x00WEBPVP8 " + bytes(30), "image/webp"),
    "AVIF": (b"\x00\x00\x00\x18ftypavif" + bytes(30), "image/avif"),
    "HEIC": (b"\x00\x00\x00\x18ftypheic" + bytes(30), "image/heic"),
    "BMP": (
        b"BM" + b"\x63\x00\x00\x00" + bytes(4) + b"\x36\x00\x00\x00\x28" + bytes(40),
        "image/bmp",
    ),
    "TIFF": (b"II*\x00\x08\x00\x00\x00" + bytes(30), "image/tiff"),
    "ICO": (b"\x00\x00\x01\x00\x02\x00" + b"\x10\x10" + bytes(30), "image/x-icon"),
    "SVG": (SVG, "image/svg+xml"),
}


@pytest.mark.parametrize("kind", PICTURES)
@pytest.mark.parametrize("declared", [None, "text/html", "image/x-unknown"])
def test_the_kind_of_a_picture(kind, declared):
    data, media_type = PICTURES[kind]
    page = read_bytes(data, URL, declared)

    assert page.content.partition("\n")[0] == f"{kind} image, {len(data)} bytes"
    assert page.media_type == media_type
    assert page.notes[0] == "the picture itself is not read"
    assert (
        f"declared as {declared and named(declared)}, but it is {media_type}"
        in page.notes
    ) == (declared is not None)


@given(data=st.data())
def test_a_damaged_drawing_is_read_or_refused(data):
    place = data.draw(st.integers(0, len(SVG)))
    broken = (
        SVG[:place]
        + data.draw(st.binary(max_size=9))
        + SVG[place + data.draw(st.integers(0, 9)) :]
    )
    try:
        assert read_bytes(broken, URL, "image/svg+xml").final_url == URL
    except UnsupportedContent as error:  # another kind of file now
        assert "image/svg+xml" not in str(error)


def test_a_large_picture():
    data, _ = PICTURES["PNG"]

    assert read_bytes(data + bytes(22_900), URL).content == "PNG image, 23 kB"
    assert read_bytes(data + bytes(2_499_000), URL).content == "PNG image, 2 MB"


def test_the_text_in_an_svg():
    page = read_bytes(SVG, URL)

    assert (
        page.content.partition("\n\n")[2]
        == "Title: A frond\n\nDescription: Of x kelp\n\nText: Stipe; Blade"
    )
    assert (page.title, page.description) == ("A frond", "Of ![x](y) kelp")


def test_an_svg_without_text():
    assert (
        read_bytes(b"<svg width='100%'>" + b"<g>" * 50_000, URL).content
        == "SVG image, 150 kB"
    )
