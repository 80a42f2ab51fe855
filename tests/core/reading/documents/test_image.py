"""Pictures, built header by header."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_core.errors import UnsupportedContent
from websearch_core.reading import read_bytes
from websearch_core.reading._sniff import named

URL = "https://sea.example/kelp"


def png(*chunks: tuple[bytes, bytes], width=640, height=480):
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    all_chunks = [(b"IHDR", header), *chunks, (b"IDAT", zlib.compress(bytes(9))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in all_chunks
    )


def jpeg(*segments: tuple[int, bytes]):
    frame = (0xC2, struct.pack(">BHHB", 8, 480, 640, 3) + bytes(9))
    return b"\xff\xd8" + b"".join(
        struct.pack(">BBH", 0xFF, marker, 2 + len(body)) + body
        for marker, body in [*segments, frame, (0xDA, bytes(10))]
    )


def tiff(order, *entries: tuple[int, int, int, int], after=b""):
    mark = b"II*\x00" if order == "<" else b"MM\x00*"
    directory = b"".join(struct.pack(f"{order}HHII", *entry) for entry in entries)
    return mark + struct.pack(f"{order}IH", 8, len(entries)) + directory + bytes(4) + after


def webp(kind, body):
    return b"RIFF\x00\x00\x00\x00WEBP" + kind + struct.pack("<I", len(body)) + body


def heif(brand, *extents):
    boxes = b"".join(b"\x00\x00\x00\x14ispe" + bytes(4) + struct.pack(">II", *extent) for extent in extents)
    return b"\x00\x00\x00\x18ftyp" + brand + bytes(12) + boxes


XMP = (
    b"http://ns.adobe.com/xap/1.0/\x00<rdf:RDF><dc:title><rdf:Alt><rdf:li xml:lang='x'>Kelp &amp; co</rdf:li></rdf:Alt>"
    b"</dc:title><dc:creator><rdf:Seq><rdf:li>Ada</rdf:li></rdf:Seq></dc:creator></rdf:RDF>"
)
SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 480.5"><title>A frond</title><desc>Of kelp</desc>'
    b"<g><text x='1'>Stipe</text><text>Blade</text></g><script>no()</script></svg>"
)
ICON = b"\x00\x00\x01\x00\x02\x00" + b"\x10\x10" + bytes(14) + b"\x00\x00" + bytes(14)
BMP = b"BM" + struct.pack("<IIIIii", 99, 0, 54, 40, 640, -480) + bytes(20)
PICTURES = {
    "PNG": (png(), "image/png", "640 × 480"),
    "JPEG": (jpeg(), "image/jpeg", "640 × 480"),
    "GIF": (b"GIF89a" + struct.pack("<HH", 640, 480) + bytes(9), "image/gif", "640 × 480"),
    "WebP, lossy": (webp(b"VP8 ", bytes(6) + struct.pack("<HH", 640, 480)), "image/webp", "640 × 480"),
    "WebP, lossless": (webp(b"VP8L", b"\x2f" + struct.pack("<I", 639 | 479 << 14)), "image/webp", "640 × 480"),
    "WebP, extended": (webp(b"VP8X", bytes(4) + b"\x7f\x02\x00\xdf\x01\x00"), "image/webp", "640 × 480"),
    "AVIF": (heif(b"avif", (32, 32), (640, 480)), "image/avif", "640 × 480"),
    "HEIC": (heif(b"heic", (640, 480)), "image/heic", "640 × 480"),
    "BMP": (BMP, "image/bmp", "640 × 480"),
    "TIFF": (tiff("<", (256, 3, 1, 640), (257, 4, 1, 480)), "image/tiff", "640 × 480"),
    "ICO": (ICON, "image/x-icon", "256 × 256"),
    "SVG": (SVG, "image/svg+xml", "640 × 480"),
}


@pytest.mark.parametrize("kind", PICTURES)
@pytest.mark.parametrize("declared", [None, "text/html", "image/x-unknown"])
def test_the_kind_and_size_of_a_picture(kind, declared):
    data, media_type, size = PICTURES[kind]
    page = read_bytes(data, URL, declared)

    assert page.content.partition("\n")[0] == f"{kind.partition(',')[0]} image, {size} pixels, {len(data)} bytes"
    assert page.media_type == media_type
    assert page.notes[0] == "the picture itself is not read: this is what its file says"
    assert (f"declared as {declared and named(declared)}, but it is {media_type}" in page.notes) == (
        declared is not None
    )


@pytest.mark.parametrize("kind", PICTURES)
def test_a_cut_header_leaves_the_size_unknown(kind):
    data, media_type, _ = PICTURES[kind]
    for end in range(12, len(data)):
        first = read_bytes(data[:end], URL, media_type).content.partition("\n")[0]
        assert " pixels, " in first or ", size unknown, " in first


@pytest.mark.parametrize("kind", PICTURES)
@given(data=st.data())
def test_a_damaged_picture_is_read_or_refused(kind, data):
    picture, media_type, _ = PICTURES[kind]
    place = data.draw(st.integers(0, len(picture)))
    broken = picture[:place] + data.draw(st.binary(max_size=9)) + picture[place + data.draw(st.integers(0, 9)) :]
    try:
        assert read_bytes(broken, URL, media_type).final_url == URL
    except UnsupportedContent as error:  # another kind of file now
        assert media_type not in str(error)


def test_a_large_picture():
    assert read_bytes(png((b"IDAT", bytes(22_900))), URL).content == "PNG image, 640 × 480 pixels, 23 kB"
    assert read_bytes(png((b"IDAT", bytes(2_499_000))), URL).content == "PNG image, 640 × 480 pixels, 2 MB"


def test_the_text_in_a_png():
    page = read_bytes(
        png(
            (b"tEXt", b"Title\x00Kelp"),
            (b"iTXt", b"Description\x00\x00\x00en\x00\x00Brown alg\xc3\xa6 ![x](https://evil.example/)\n\xe2\x80\x8b."),
            (b"zTXt", b"Comment\x00\x00" + zlib.compress(b"a" * 10**6)),
            (b"tEXt", b"Software\x00paint"),
        ),
        URL,
    )

    assert page.content.partition("\n\n")[2] == ("Title: Kelp\n\nDescription: Brown algæ x .")
    assert (page.title, page.description) == ("Kelp", "Brown algæ ![x](https://evil.example/) .")


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_text_in_a_jpeg(order):
    exif = tiff(order, (0x010E, 2, 10, 26), after=b"")[:26] + b"The shore\x00"
    page = read_bytes(jpeg((0xE1, b"Exif\x00\x00" + exif), (0xE1, XMP), (0xFE, b"taken at ebb")), URL)

    assert (page.title, page.author, page.description) == ("Kelp & co", "Ada", "The shore")
    assert page.content.endswith("Comment: taken at ebb")


def test_the_text_in_an_svg():
    page = read_bytes(SVG, URL)

    assert page.content.partition("\n\n")[2] == "Title: A frond\n\nDescription: Of kelp\n\nText: Stipe; Blade"
    assert page.title == "A frond"


def test_an_svg_without_a_size():
    assert "size unknown" in read_bytes(b"<svg width='100%' height='2em'>" + b"<g>" * 50_000, URL).content
