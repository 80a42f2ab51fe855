"""Parse HTML with lexbor, through selectolax, which is imported when the first page is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser


def parse(source: bytes) -> LexborHTMLParser:
    """Parse UTF-8 markup that `harden` has checked."""
    from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

    # No events: they take time quadratic in the options of a <select>.
    return LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS)
