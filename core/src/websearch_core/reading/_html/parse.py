"""Parse HTML with lexbor, through selectolax, which is imported when the first page is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._links import absolute

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser


def parse(source: bytes) -> LexborHTMLParser:
    """Parse UTF-8 markup that `harden` has checked."""
    from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

    # No events: they take time quadratic in the options of a <select>.
    return LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS)


def find_base(document: LexborHTMLParser, url: str) -> str:
    """Return the URL that links are resolved against; the page's ``<base>`` counts only if it is http(s)."""
    tag = document.css_first("base[href]")
    return absolute(tag.attributes.get("href"), url) or url if tag else url
