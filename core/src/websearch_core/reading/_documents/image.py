"""
A picture -> Page: what kind it is, how large, and the words that its file carries about itself.

Pictures themselves are not looked at. A header that is cut or lies leaves the size unknown; nothing is decompressed.
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
_MAX_PARTS = 2_000  # of a file
_MAX_SVG_SIZE = 2**20  # bytes that are looked at


class _Told(NamedTuple):
    """What a file says: width and height in pixels, and words about itself by what they are."""

    size: Size | None = None
    words: dict[str, str] = {}  # noqa: RUF012 - never changed


def read_image(data: bytes, url: str, media_type: str) -> Page:
    """
    Tell what the file of a picture says of itself.

    Args:
        data: The bytes.
        url: Where they came from.
        media_type: What they are.

    """
    name, tell = _KINDS.get(media_type, (media_type.removeprefix("image/"), None))
    try:
        told = tell(data) if tell else _Told()
    except (struct.error, IndexError, ValueError):  # the header is cut or broken
        told = _Told()
    words = {label: one_line(text, DESCRIPTION_LENGTH) for label, text in told.words.items()}
    title = words.get("Title", "")[:TITLE_LENGTH]
    description = words.get("Description") or None
    size = f"{told.size[0]} × {told.size[1]} pixels" if told.size and min(told.size) > 0 else "size unknown"  # noqa: RUF001
    lines = [f"{name} image, {size}, {_weight(len(data))}"]
    lines += [f"{label}: {text}" for label, text in words.items() if text]
    facts = {"title": title, "description": description, "author": words.get("Author") or None}
    return make_page(url, media_type, "\n\n".join(lines), notes=(_NOTE,), **facts)


def _weight(count: int) -> str:
    for unit in ("bytes", "kB"):
        if count < 1000:
            return f"{count} {unit}"
        count = round(count / 1000)
    return f"{count} MB"


def _png(data: bytes) -> _Told:
    words: dict[str, str] = {}
    for kind, body in _png_chunks(data):
        keyword, _, text = body.partition(b"\x00")
        if kind == b"tEXt":
            words.setdefault(keyword.decode("latin-1"), text.decode("latin-1"))
        elif kind == b"iTXt" and text[:1] == b"\x00":  # 1: compressed
            words.setdefault(keyword.decode("latin-1"), text[2:].split(b"\x00", 2)[-1].decode("utf-8", "replace"))
    size = struct.unpack_from(">II", data, 16) if data[12:16] == b"IHDR" else None
    xmp = words.pop("XML:com.adobe.xmp", "")
    told = {
        label: words[label] for label in ("Title", "Author", "Description", "Comment", "Copyright") if label in words
    }
    return _Told(size, _xmp(xmp.encode()) | told)


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = 8
    for _ in range(_MAX_PARTS):
        if place + 8 > len(data):
            return
        length, kind = struct.unpack_from(">I4s", data, place)
        if kind in {b"tEXt", b"iTXt"}:
            yield kind, data[place + 8 : place + 8 + min(length, 100_000)]
        place += 12 + length


def _gif(data: bytes) -> _Told:
    return _Told(struct.unpack_from("<HH", data, 6))


def _jpeg(data: bytes) -> _Told:
    """Walk over the segments before the picture: its frame has the size, Exif, XMP and comments have words."""
    size: Size | None = None
    words: dict[str, str] = {}
    place = 2
    for _ in range(_MAX_PARTS):
        if place + 4 > len(data) or data[place] != 0xFF:
            break
        marker, length = data[place + 1], struct.unpack_from(">H", data, place + 2)[0]
        if marker == 0xFF:  # padding
            place += 1
            continue
        body = data[place + 4 : place + 2 + length]
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack_from(">HH", body, 1)
            size = width, height
        elif marker == 0xE1 and body.startswith(b"Exif\x00\x00"):
            words |= _tiff(body[6:]).words
        elif marker == 0xE1 and body.startswith(b"http://ns.adobe.com/xap/1.0/"):
            words |= _xmp(body)
        elif marker == 0xFE:
            words.setdefault("Comment", body.decode("utf-8", "replace"))
        elif marker == 0xDA:
            break
        place += 2 + length
    return _Told(size, words)


def _tiff(data: bytes) -> _Told:
    """The first directory of a TIFF file, which Exif is too."""
    order = "<" if data.startswith(b"II") else ">"
    (place,) = struct.unpack_from(f"{order}I", data, 4)
    (count,) = struct.unpack_from(f"{order}H", data, place)
    numbers: dict[int, int] = {}
    words: dict[str, str] = {}
    for n in range(min(count, _MAX_PARTS)):
        entry = place + 2 + 12 * n
        if entry + 12 > len(data):
            break
        tag, kind, length, value = struct.unpack_from(f"{order}HHII", data, entry)
        if kind == 3:
            (value,) = struct.unpack_from(f"{order}H", data, entry + 8)
        numbers[tag] = value
        if tag in _EXIF and kind == 2 and length > 4:
            text = data[value : value + min(length, 10_000)].partition(b"\x00")[0].decode("utf-8", "replace")
            words[_EXIF[tag]] = text
    return _Told((numbers[256], numbers[257]) if {256, 257} <= numbers.keys() else None, words)


_EXIF = {0x010D: "Title", 0x010E: "Description", 0x013B: "Author", 0x8298: "Copyright"}


def _xmp(packet: bytes) -> dict[str, str]:
    words = {}
    for label, name in (("Title", b"title"), ("Author", b"creator"), ("Description", b"description")):
        found = re.search(
            rb"<dc:" + name + rb"\b[^<]{0,200}<rdf:(?:Alt|Seq|Bag)>\s{0,200}<rdf:li[^>]{0,200}>([^<]+)", packet
        )
        if found:
            words[label] = unescape(found[1].decode("utf-8", "replace"), {"&quot;": '"', "&apos;": "'"})
    return words


def _webp(data: bytes) -> _Told:
    kind = data[12:16]
    if kind == b"VP8X":
        return _Told((1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")))
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return _Told((1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)))
    width, height = struct.unpack_from("<HH", data, 26)
    return _Told((width & 0x3FFF, height & 0x3FFF) if kind == b"VP8 " else None)


def _bmp(data: bytes) -> _Told:
    if data[14] == 12:
        return _Told(struct.unpack_from("<HH", data, 18))
    width, height = struct.unpack_from("<ii", data, 18)
    return _Told((width, abs(height)))  # upside down if negative


def _ico(data: bytes) -> _Told:
    """The largest of the pictures in it."""
    (count,) = struct.unpack_from("<H", data, 4)
    sizes = [(data[place] or 256, data[place + 1] or 256) for place in range(6, 6 + 16 * min(count, 256), 16)]
    return _Told(max(sizes, default=None))


def _heif(data: bytes) -> _Told:
    """The largest of the spatial extents of an AVIF or HEIC file: the others are of its parts and thumbnails."""
    extents = re.finditer(rb"\x00\x00\x00\x14ispe\x00{4}(.{8})", data[:100_000], re.DOTALL)
    return _Told(max((struct.unpack(">II", extent[1]) for extent in extents), default=None))


def _svg(data: bytes) -> _Told:
    from .._charset import to_utf8
    from .._html.harden import harden
    from .._html.parse import parse

    document = parse(harden(to_utf8(data, most=_MAX_SVG_SIZE).data.replace(b"\x00", b"")).source)
    root = document.css_first("svg")
    if root is None:
        return _Told()
    given = root.attributes
    box = (given.get("viewbox") or given.get("viewBox") or "").replace(",", " ").split()
    width, height = (_pixels(given.get(name)) for name in ("width", "height"))
    if not (width and height) and len(box) == 4:
        width, height = _pixels(box[2]), _pixels(box[3])
    words: dict[str, str] = {}
    for label, selector in (("Title", "svg > title"), ("Description", "svg > desc")):
        if node := document.css_first(selector):
            words[label] = node.text()
    texts = (" ".join(node.text().split()) for node in document.css("svg text")[:_MAX_PARTS])
    words["Text"] = "; ".join(filter(None, texts))
    return _Told((width, height) if width and height else None, words)


def _pixels(length: str | None) -> int:
    """``12.5px`` -> 12; what is relative to something else says nothing."""
    found = re.fullmatch(r"\s*(\d{1,6})(?:\.\d{0,9})?(?:px)?\s*", length or "")
    return int(found[1]) if found else 0


_KINDS: dict[str, tuple[str, Callable[[bytes], _Told] | None]] = {
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
