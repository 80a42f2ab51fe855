"""Say what an image is: its format and the size of its file; of an SVG, which is text, what it says.

The picture itself is not decoded.
"""

from __future__ import annotations

from ..._text.invisible import one_line
from ...models import Page
from .._page import DESCRIPTION_LENGTH, TITLE_LENGTH, make_page
from .._types import Document

_NOTE = "the picture itself is not read"
_NAMES = {
    "image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WebP", "image/avif": "AVIF",
    "image/heic": "HEIC", "image/bmp": "BMP", "image/tiff": "TIFF", "image/x-icon": "ICO",
    "image/vnd.microsoft.icon": "ICO", "image/svg+xml": "SVG",
}  # fmt: skip
_MAX_TEXTS = 2_000  # read in an SVG
_MAX_SVG_SIZE = 2**20  # bytes


def read_image(document: Document) -> Page:
    """Say what an image is."""
    data, media_type = document.data, document.media_type
    found = _read_svg(data) if media_type == "image/svg+xml" else {}
    texts = {label: one_line(text, DESCRIPTION_LENGTH) for label, text in found.items()}
    name = _NAMES.get(media_type, media_type.removeprefix("image/"))
    lines = [f"{name} image, {_format_size(len(data))}", *(f"{label}: {text}" for label, text in texts.items() if text)]
    title = texts.get("Title", "")[:TITLE_LENGTH]
    description = texts.get("Description") or None
    return make_page(document.url, media_type, "\n\n".join(lines), title=title, description=description, notes=(_NOTE,))


def _format_size(count: int) -> str:
    for unit in ("bytes", "kB"):
        if count < 1000:
            return f"{count} {unit}"
        count = round(count / 1000)
    return f"{count} MB"


def _read_svg(data: bytes) -> dict[str, str]:
    """Return the texts of a drawing by their label."""
    from .._html.parse import parse_page

    document = parse_page(data, most=_MAX_SVG_SIZE)
    texts: dict[str, str] = {}
    for label, selector in (("Title", "svg > title"), ("Description", "svg > desc")):
        if node := document.css_first(selector):
            texts[label] = node.text()
    lines = (" ".join(node.text().split()) for node in document.css("svg text")[:_MAX_TEXTS])
    return {**texts, "Text": "; ".join(filter(None, lines))}
