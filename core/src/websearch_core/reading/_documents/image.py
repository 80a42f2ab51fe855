"""
Read the metadata of an image: its format, its size, and the texts in its file.

The image itself is not decoded, and nothing is decompressed. If a header is cut off or wrong, the size is unknown.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple
from xml.sax.saxutils import unescape

from ..._text.invisible import one_line
from ...models import Page
from .._page import DESCRIPTION_LENGTH, TITLE_LENGTH, make_page

Size = tuple[int, int]

_NOTE = "the picture itself is not read: this is what its file says"
_MAX_PARTS = 2_000  # chunks, segments or entries read in a file
_MAX_SVG_SIZE = 2**20  # bytes


class _Metadata(NamedTuple):
    """Width and height in pixels, and the texts of a file by their label, such as ``Title``."""

    size: Size | None = None
    texts: dict[str, str] = {}  # noqa: RUF012 - never changed


def read_image(data: bytes, url: str, media_type: str) -> Page:
    """
    Read what the file of an image says about it.

    Args:
        data: The bytes of the file.
        url: Where they came from.
        media_type: Their media type.

    """
    name, read = _KINDS.get(media_type, (media_type.removeprefix("image/"), None))
    try:
        found = read(data) if read else _Metadata()
    except (struct.error, IndexError, ValueError):  # the header is cut off or broken
        found = _Metadata()
    texts = {label: one_line(text, DESCRIPTION_LENGTH) for label, text in found.texts.items()}
    title = texts.get("Title", "")[:TITLE_LENGTH]
    description = texts.get("Description") or None
    size = f"{found.size[0]} × {found.size[1]} pixels" if found.size and min(found.size) > 0 else "size unknown"  # noqa: RUF001
    lines = [f"{name} image, {size}, {_format_size(len(data))}"]
    lines += [f"{label}: {text}" for label, text in texts.items() if text]
    facts = {"title": title, "description": description, "author": texts.get("Author") or None}
    return make_page(url, media_type, "\n\n".join(lines), notes=(_NOTE,), **facts)


def _format_size(count: int) -> str:
    for unit in ("bytes", "kB"):
        if count < 1000:
            return f"{count} {unit}"
        count = round(count / 1000)
    return f"{count} MB"


def _png(data: bytes) -> _Metadata:
    texts: dict[str, str] = {}
    for kind, body in _png_chunks(data):
        keyword, _, text = body.partition(b"\x00")
        if kind == b"tEXt":
            texts.setdefault(keyword.decode("latin-1"), text.decode("latin-1"))
        elif kind == b"iTXt" and text[:1] == b"\x00":  # 1: compressed
            texts.setdefault(keyword.decode("latin-1"), text[2:].split(b"\x00", 2)[-1].decode("utf-8", "replace"))
    size = struct.unpack_from(">II", data, 16) if data[12:16] == b"IHDR" else None
    xmp = texts.pop("XML:com.adobe.xmp", "")
    known = {
        label: texts[label] for label in ("Title", "Author", "Description", "Comment", "Copyright") if label in texts
    }
    return _Metadata(size, _xmp(xmp.encode()) | known)


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    offset = 8
    for _ in range(_MAX_PARTS):
        if offset + 8 > len(data):
            return
        length, kind = struct.unpack_from(">I4s", data, offset)
        if kind in {b"tEXt", b"iTXt"}:
            yield kind, data[offset + 8 : offset + 8 + min(length, 100_000)]
        offset += 12 + length


def _gif(data: bytes) -> _Metadata:
    return _Metadata(struct.unpack_from("<HH", data, 6))


def _jpeg(data: bytes) -> _Metadata:
    """Walk the segments before the image data: the frame has the size; Exif, XMP and comments have texts."""
    size: Size | None = None
    texts: dict[str, str] = {}
    offset = 2
    for _ in range(_MAX_PARTS):
        if offset + 4 > len(data) or data[offset] != 0xFF:
            break
        marker, length = data[offset + 1], struct.unpack_from(">H", data, offset + 2)[0]
        if marker == 0xFF:  # padding
            offset += 1
            continue
        body = data[offset + 4 : offset + 2 + length]
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack_from(">HH", body, 1)
            size = width, height
        elif marker == 0xE1 and body.startswith(b"Exif\x00\x00"):
            texts |= _tiff(body[6:]).texts
        elif marker == 0xE1 and body.startswith(b"http://ns.adobe.com/xap/1.0/"):
            texts |= _xmp(body)
        elif marker == 0xFE:
            texts.setdefault("Comment", body.decode("utf-8", "replace"))
        elif marker == 0xDA:
            break
        offset += 2 + length
    return _Metadata(size, texts)


def _tiff(data: bytes) -> _Metadata:
    """Read the first directory of a TIFF file; Exif has the same format."""
    order = "<" if data.startswith(b"II") else ">"
    (offset,) = struct.unpack_from(f"{order}I", data, 4)
    (count,) = struct.unpack_from(f"{order}H", data, offset)
    numbers: dict[int, int] = {}
    texts: dict[str, str] = {}
    for n in range(min(count, _MAX_PARTS)):
        entry = offset + 2 + 12 * n
        if entry + 12 > len(data):
            break
        tag, kind, length, value = struct.unpack_from(f"{order}HHII", data, entry)
        if kind == 3:
            (value,) = struct.unpack_from(f"{order}H", data, entry + 8)
        numbers[tag] = value
        if tag in _EXIF and kind == 2 and length > 4:
            text = data[value : value + min(length, 10_000)].partition(b"\x00")[0].decode("utf-8", "replace")
            texts[_EXIF[tag]] = text
    return _Metadata((numbers[256], numbers[257]) if {256, 257} <= numbers.keys() else None, texts)


_EXIF = {0x010D: "Title", 0x010E: "Description", 0x013B: "Author", 0x8298: "Copyright"}


def _xmp(packet: bytes) -> dict[str, str]:
    texts = {}
    for label, name in (("Title", b"title"), ("Author", b"creator"), ("Description", b"description")):
        found = re.search(
            rb"<dc:" + name + rb"\b[^<]{0,200}<rdf:(?:Alt|Seq|Bag)>\s{0,200}<rdf:li[^>]{0,200}>([^<]+)", packet
        )
        if found:
            texts[label] = unescape(found[1].decode("utf-8", "replace"), {"&quot;": '"', "&apos;": "'"})
    return texts


def _webp(data: bytes) -> _Metadata:
    kind = data[12:16]
    if kind == b"VP8X":
        return _Metadata((1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")))
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return _Metadata((1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)))
    width, height = struct.unpack_from("<HH", data, 26)
    return _Metadata((width & 0x3FFF, height & 0x3FFF) if kind == b"VP8 " else None)


def _bmp(data: bytes) -> _Metadata:
    if data[14] == 12:
        return _Metadata(struct.unpack_from("<HH", data, 18))
    width, height = struct.unpack_from("<ii", data, 18)
    return _Metadata((width, abs(height)))  # a negative height means that the rows are stored from top to bottom


def _ico(data: bytes) -> _Metadata:
    """Read an icon file: the size is that of its largest image."""
    (count,) = struct.unpack_from("<H", data, 4)
    sizes = [(data[offset] or 256, data[offset + 1] or 256) for offset in range(6, 6 + 16 * min(count, 256), 16)]
    return _Metadata(max(sizes, default=None))


def _heif(data: bytes) -> _Metadata:
    """Read AVIF or HEIC: the size is the largest spatial extent, since tiles and thumbnails have their own."""
    extents = re.finditer(rb"\x00\x00\x00\x14ispe\x00{4}(.{8})", data[:100_000], re.DOTALL)
    return _Metadata(max((struct.unpack(">II", extent[1]) for extent in extents), default=None))


def _svg(data: bytes) -> _Metadata:
    from .._charset import to_utf8
    from .._html.harden import harden
    from .._html.parse import parse

    document = parse(harden(to_utf8(data, most=_MAX_SVG_SIZE).data.replace(b"\x00", b"")).source)
    root = document.css_first("svg")
    if root is None:
        return _Metadata()
    given = root.attributes
    box = (given.get("viewbox") or given.get("viewBox") or "").replace(",", " ").split()
    width, height = (_pixels(given.get(name)) for name in ("width", "height"))
    if not (width and height) and len(box) == 4:
        width, height = _pixels(box[2]), _pixels(box[3])
    texts: dict[str, str] = {}
    for label, selector in (("Title", "svg > title"), ("Description", "svg > desc")):
        if node := document.css_first(selector):
            texts[label] = node.text()
    lines = (" ".join(node.text().split()) for node in document.css("svg text")[:_MAX_PARTS])
    texts["Text"] = "; ".join(filter(None, lines))
    return _Metadata((width, height) if width and height else None, texts)


def _pixels(length: str | None) -> int:
    """Return the pixels of a length, ``12.5px`` -> 12; 0 for a relative length."""
    found = re.fullmatch(r"\s*(\d{1,6})(?:\.\d{0,9})?(?:px)?\s*", length or "")
    return int(found[1]) if found else 0


_KINDS: dict[str, tuple[str, Callable[[bytes], _Metadata] | None]] = {
    "image/png": ("PNG", _png),
    "image/jpeg": ("JPEG", _jpeg),
    "image/gif": ("GIF", _gif),
    "image/webp": ("WebP", _webp),
    "image/avif": ("AVIF", _heif),
    "image/heic": ("HEIC", _heif),
    "image/bmp": ("BMP", _bmp),
    "image/tiff": ("TIFF", _tiff),
    "image/x-icon": ("ICO", _ico),
    "image/vnd.microsoft.icon": ("ICO", _ico),
    "image/svg+xml": ("SVG", _svg),
}
