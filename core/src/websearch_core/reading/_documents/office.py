"""Read Office documents and e-books, each kind with its own reader.

Word files, slides and e-books are HTML on the way, which our own writer writes;
workbooks are read by openpyxl. The libraries belong to the extra ``office``.
"""

from __future__ import annotations
import re
from typing import Any
from xml.sax.saxutils import unescape

from ..._text.dates import parse_date
from ..._text.invisible import one_line, removal_note, strip_invisible
from ...errors import UnsupportedContent
from ...models import Page
from .._types import (
    DESCRIPTION_LENGTH,
    DOCX,
    EPUB,
    NAME_LENGTH,
    PPTX,
    TITLE_LENGTH,
    XLSX,
    Document,
    language_of,
)
from .archive import MAX_CHARACTERS, unpack
from .book import read_book
from .slides import read_slides
from .text import TOO_LONG
from .word import read_word
from .workbook import read_workbook

_MAX_TAGS = 250_000  # the converters take thirty microseconds for each
_MAX_SHEET_TAGS = 1_000_000  # more, since workbooks are read as a stream
_FACT = re.compile(
    r"<(dc:(?:title|creator|description|date|language)|dcterms:(?:created|modified))\b"
    r"[^>]{0,300}>([^<]{1,5000})"
)

_READERS = {
    DOCX: read_word,
    EPUB: read_book,
    PPTX: read_slides,
    XLSX: read_workbook,
}


def read_office(document: Document) -> Page:
    """Read a document: its headings, paragraphs, lists, tables and links.

    Needs the extra ``office``.
    """
    media_type = document.media_type
    max_tags = _MAX_SHEET_TAGS if media_type == XLSX else _MAX_TAGS
    unpacked = unpack(document.data, media_type, max_tags)
    try:
        page = _READERS[media_type](unpacked, document)
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        # a damaged file fails in as many ways as there are elements in it
        raise UnsupportedContent(
            f"{media_type} that is damaged: {type(error).__name__}"
        ) from error
    cut = page.truncated or unpacked.cut or len(page.content) > MAX_CHARACTERS
    text, invisible = strip_invisible(page.content[:MAX_CHARACTERS])
    facts = _read_metadata(unpacked.parts)
    if page.title:
        facts["title"] = page.title
    notes = [*page.notes, *removal_note(invisible)]
    if cut:
        notes.append(TOO_LONG)
    return document.to_page(text, links=page.links, truncated=cut, notes=notes, **facts)


def _read_metadata(parts: dict[str, bytes]) -> dict[str, Any]:
    facts: dict[str, str] = {}
    for name, content in parts.items():
        if name == "docProps/core.xml" or name.endswith(".opf"):
            for fact in _FACT.finditer(content[:100_000].decode("utf-8", "replace")):
                facts.setdefault(fact[1], unescape(fact[2]).strip())
    description = one_line(facts.get("dc:description", ""), DESCRIPTION_LENGTH)
    return {
        "title": one_line(facts.get("dc:title", ""), TITLE_LENGTH),
        "author": one_line(facts.get("dc:creator", ""), NAME_LENGTH) or None,
        "description": description or None,
        "published": parse_date(facts.get("dcterms:created") or facts.get("dc:date")),
        "modified": parse_date(facts.get("dcterms:modified")),
        "language": language_of([facts.get("dc:language", "")]),
    }
