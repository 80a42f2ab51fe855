"""Parse HTML with lexbor, through selectolax, which is imported when the first page is read."""

from __future__ import annotations
from typing import TYPE_CHECKING

from .._charset import to_utf8
from .._links import absolute
from .harden import harden

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser


def parse(source: bytes) -> LexborHTMLParser:
    """Parse UTF-8 markup that `harden` has checked."""
    from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

    # No events: they take time quadratic in the options of a <select>.
    return LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS)


def parse_page(data: bytes, content_type: str | None = None, *, most: int) -> LexborHTMLParser:
    """Parse the first *most* bytes of a page in any encoding and form."""
    text = to_utf8(data, content_type, most=most).data
    return parse(harden(text.replace(b"\x00", b"")).source)


def find_base(document: LexborHTMLParser, url: str) -> str:
    """Return the URL that links are resolved against; the page's ``<base>`` counts only if it is http(s)."""
    tag = document.css_first("base[href]")
    return absolute(tag.attributes.get("href"), url) or url if tag else url
