"""The parser: lexbor, through selectolax, which is loaded when the first page is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser


def parse(source: bytes) -> LexborHTMLParser:
    """Parse markup in UTF-8 that `tame` has looked at."""
    from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

    # Without events, since those take time in the square of the options of a <select>.
    return LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS)
