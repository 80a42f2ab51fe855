"""
Bytes -> `Page`: what a page says, as Markdown.

`read_bytes` looks at what the bytes are and hands them to the file of that kind; `window` cuts a long page into
leaves. Nothing here touches the network, and nothing raises but the errors of this library, whatever the bytes.
"""

from __future__ import annotations

from ..errors import UnsupportedContent
from ..models import Page
from .html import Links, read_html
from .sniff import HTML, declared, is_text, media_type
from .text import read_text
from .window import window

__all__ = ["Links", "read_bytes", "read_html", "window"]


def read_bytes(data: bytes, url: str, content_type: str | None = None, *, links: Links = "keep") -> Page:
    """
    Read a whole page, whatever kind it is of.

    Args:
        data: The bytes of the page.
        url: Where they came from; what relative links are relative to.
        content_type: The value of the HTTP header, where there was one. Bytes that are plainly something else win.
        links: What becomes of the links of a page of HTML, as `read_html` has it.

    Returns:
        The page with all of its text: `window` cuts it.

    Raises:
        UnsupportedContent: The bytes are no text: an image, an archive. The message names the kind.

    """
    kind = media_type(data, content_type)
    if kind in HTML:
        page = read_html(data, url, content_type, links=links)
    elif is_text(kind):
        page = read_text(data, url, kind, content_type)
    else:
        raise UnsupportedContent(f"{kind} has no text that can be read")
    stated = declared(content_type)
    if stated and stated != page.media_type and not (stated in HTML and page.media_type in HTML):
        return page.noting(f"declared as {stated}, but it is {page.media_type}")
    return page
