"""Say what an image is: its format and the size of its file; of an SVG, which is text,
what it says.

The picture itself is not decoded; a function of the application may read it, and the
scans of a PDF.
"""

from __future__ import annotations
import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Literal

from ..._runtime.deadline import time_left
from ..._text.invisible import one_line, strip_invisible
from ..._text.quantity import quantity
from ...models import Page
from .._sniff import media_type
from .._types import DESCRIPTION_LENGTH, TITLE_LENGTH, Document

_NOTE = "the picture itself is not read"
_NAMES = {
    f"image/{name.lower()}": name
    for name in "AVIF BMP GIF HEIC JPEG PNG TIFF WebP".split()
}
_NAMES |= {
    "image/x-icon": "ICO",
    "image/vnd.microsoft.icon": "ICO",
    "image/svg+xml": "SVG",
}
_MAX_TEXTS = 2_000  # read in an SVG
_MAX_SVG_SIZE = 2**20  # bytes
_MAX_PICTURES = 100  # of a document
_MAX_PIXELS = 50_000_000  # of a picture: an A4 page at 600 dpi has 35 million
_MAX_LENGTH = 100_000  # characters of a picture
_MIN_SECONDS = 2.0  # left for a picture, and to read the document once more
_SIZES = {
    "image/jpeg": re.compile(rb"\xff[\xc0-\xcf]..\x08(..)(..)", re.DOTALL),
    "image/png": re.compile(rb"IHDR(.{4})(.{4})", re.DOTALL),
    "image/jp2": re.compile(rb"\xff\x4f\xff\x51.{4}(.{4})(.{4})", re.DOTALL),
    "image/tiff": re.compile(
        rb"\x00\x01\x04\x00\x01\x00{3}(.{4})\x01\x01\x04\x00\x01\x00{3}(.{4})",
        re.DOTALL,
    ),
}  # where files state their width and height


def read_image(document: Document) -> Page:
    data = document.data
    kind = document.media_type
    texts: dict[str, str] = {}
    files: dict[str, bytes] = {}
    if kind == "image/svg+xml":
        texts = _read_svg(data)
    elif document.texts == {}:
        files["1"] = data
    name = _NAMES.get(kind, kind.removeprefix("image/"))
    lines = [f"{name} image, {_format_size(len(data))}"]
    lines += [f"{label}: {text}" for label, text in texts.items() if text]
    recognized = (document.texts or {}).values()
    lines += [strip_invisible(text)[0] for text in recognized]
    return document.to_page(
        "\n\n".join(lines),
        title=texts.get("Title", "")[:TITLE_LENGTH],
        description=texts.get("Description") or None,
        notes=() if recognized else (_NOTE,),
        files=files,
    )


def read_pictures(
    read: Callable[[Mapping[str, str]], Page], ocr: Callable[[bytes, str], str]
) -> Page:
    """Read a page, and if it is or has scans, once more with the texts of these."""
    page = read({})
    texts: dict[str, str] = {}
    problems = Counter[str]()
    for name, data in islice(page.files.items(), _MAX_PICTURES):
        kind = media_type(data)
        is_readable = 0 < _count_pixels(data, kind) <= _MAX_PIXELS
        if not is_readable or time_left() < _MIN_SECONDS:
            problems["too large, of an unknown format, or there was no time left"] += 1
            continue
        try:
            texts[name] = "".join(ocr(data, kind))[:_MAX_LENGTH]
        except Exception as error:  # noqa: BLE001 - whatever it raises, the others may be read
            problems[f"ocr failed with {type(error).__name__}"] += 1
    notes = [f"{quantity(n, 'picture')} not read: {why}" for why, n in problems.items()]
    if texts:
        page = read(texts)
        pictures = quantity(len(texts), "picture")
        notes.insert(0, f"{pictures} read by text recognition, which makes mistakes")
    return page.model_copy(update={"files": {}}).with_notes(*notes)


def _count_pixels(data: bytes, kind: str) -> int:
    """Return how many pixels the headers of an image state, at most.

    0 if that is not known.
    """
    if kind not in _SIZES:
        return 0
    order: Literal["big", "little"] = "little" if kind == "image/tiff" else "big"
    pixels = [
        int.from_bytes(width, order) * int.from_bytes(height, order)
        for width, height in _SIZES[kind].findall(data)
    ]
    return max(pixels, default=0)


def _format_size(count: int) -> str:
    for unit in ("bytes", "kB"):
        if count < 1000:
            return f"{count} {unit}"
        count = round(count / 1000)
    return f"{count} MB"


def _read_svg(data: bytes) -> dict[str, str]:
    """Return the texts of a drawing by their label, each in one line."""
    from .._html.parse import parse_page

    document = parse_page(data, size=_MAX_SVG_SIZE)
    texts: dict[str, str] = {}
    for label, selector in (("Title", "svg > title"), ("Description", "svg > desc")):
        node = document.css_first(selector)
        if node:
            texts[label] = node.text()
    lines = (
        " ".join(node.text().split()) for node in document.css("svg text")[:_MAX_TEXTS]
    )
    texts["Text"] = "; ".join(filter(None, lines))
    return {label: one_line(text, DESCRIPTION_LENGTH) for label, text in texts.items()}
