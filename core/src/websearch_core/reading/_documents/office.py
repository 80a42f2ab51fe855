"""
Documents of Office, and e-books -> Page: Word, PowerPoint and EPUB through markitdown, sheets through openpyxl.

markitdown makes every cell of a sheet before it writes the first, and a sheet with one cell in its last corner has
seventeen billion: so sheets are read another way. The libraries belong to the extra ``office``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import unescape

from ..._text.dates import parse_date
from ..._text.invisible import one_line, removal_note, strip_invisible
from ...errors import UnsupportedContent
from ...models import Page
from .._page import DESCRIPTION_LENGTH, NAME_LENGTH, TITLE_LENGTH, language_of, make_page
from .._sniff import DOCX, EPUB, PPTX, XLSX
from .archive import Unpacked, unpack
from .sheets import read_sheets

_MAX_TAGS = 250_000  # in all: the converters take thirty millionths of a second for each
_MAX_TAGS_OF_SHEETS = 1_000_000  # which are read as a stream
_MAX_CHARACTERS = 1_000_000
_SLIDE = re.compile(r"^<!-- Slide number: (\d{1,6}) -->$", re.MULTILINE)
_FACT = re.compile(
    r"<(dc:title|dc:creator|dc:description|dcterms:created|dcterms:modified|dc:date|dc:language)\b[^>]{0,300}>([^<]{1,5000})"
)


def read_office(data: bytes, url: str, media_type: str) -> Page:
    """
    Read a document: its headings, paragraphs, lists, tables and links.

    Args:
        data: The bytes.
        url: Where they came from.
        media_type: One of `websearch_core.reading._sniff.OFFICE`.

    Raises:
        UnsupportedContent: The extra ``office`` is not installed, the file is damaged, encrypted or too large.

    """
    unpacked = unpack(data, media_type, _MAX_TAGS_OF_SHEETS if media_type == XLSX else _MAX_TAGS)
    cut = unpacked.cut
    notes: list[str] = []
    try:
        if media_type == XLSX:
            text, notes, some = read_sheets(unpacked.packed(), _MAX_CHARACTERS)
            cut = cut or some
        else:
            text = _converted(unpacked, media_type)
    except ImportError as error:
        raise UnsupportedContent(
            f'{media_type} needs the extra "office": pip install "websearch-core[office]"'
        ) from error
    except Exception as error:  # a damaged file fails in as many ways as there are elements in it
        raise UnsupportedContent(f"{media_type} that is damaged: {type(error).__name__}") from error
    cut = cut or len(text) > _MAX_CHARACTERS
    text, invisible = strip_invisible(text[:_MAX_CHARACTERS])
    notes += [*removal_note(invisible), *(["the text is longer than is read: this is its beginning"] if cut else [])]
    return make_page(
        url,
        media_type,
        text,
        truncated=cut,
        notes=tuple(notes),
        **_facts(unpacked.parts),
    )


def _converted(unpacked: Unpacked, media_type: str) -> str:
    """Convert by one converter of markitdown: its front door would load a model to guess what we know already."""
    from markitdown import StreamInfo
    from markitdown.converters import DocxConverter, EpubConverter, PptxConverter

    converters: dict[str, Any] = {DOCX: DocxConverter, PPTX: PptxConverter, EPUB: EpubConverter}
    text: str = converters[media_type]().convert(unpacked.packed(), StreamInfo(mimetype=media_type)).markdown
    if media_type == PPTX:  # slides as the pages of a PDF: headings with a number, their titles below
        text = _SLIDE.sub(r"## Slide \1\n", re.sub(r"^# ", "### ", text, flags=re.MULTILINE))
    return text


def _facts(parts: dict[str, bytes]) -> dict[str, Any]:
    """What the document says of itself, in the part that is there for it."""
    told: dict[str, str] = {}
    for name in _about(parts):
        for found in _FACT.finditer(parts[name][:100_000].decode("utf-8", "replace")):
            told.setdefault(found[1], unescape(found[2]).strip())
    return {
        "title": one_line(told.get("dc:title", ""), TITLE_LENGTH),
        "author": one_line(told.get("dc:creator", ""), NAME_LENGTH) or None,
        "description": one_line(told.get("dc:description", ""), DESCRIPTION_LENGTH) or None,
        "published": parse_date(told.get("dcterms:created") or told.get("dc:date")),
        "modified": parse_date(told.get("dcterms:modified")),
        "language": language_of([told.get("dc:language", "")]),
    }


def _about(parts: dict[str, bytes]) -> Iterator[str]:
    yield from (name for name in parts if name == "docProps/core.xml" or name.endswith(".opf"))
