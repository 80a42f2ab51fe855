"""Read Office documents and e-books: Word, PowerPoint and EPUB with markitdown, workbooks with openpyxl.

markitdown builds every cell of a sheet before it writes the first one. A sheet with a single cell in its last corner
has seventeen billion cells, so workbooks are streamed instead. The libraries belong to the extra ``office``.
"""

from __future__ import annotations
import re
from datetime import date, datetime, time
from io import BytesIO
from typing import Any
from xml.sax.saxutils import unescape

from ..._text.dates import parse_date
from ..._text.invisible import one_line, removal_note, strip_invisible
from ..._text.quantity import quantity
from ...errors import UnsupportedContent
from ...models import Page
from .._markdown.table import write_rows
from .._page import DESCRIPTION_LENGTH, NAME_LENGTH, TITLE_LENGTH, language_of, make_page
from .._types import DOCX, EPUB, PPTX, XLSX, Document
from .archive import Unpacked, unpack
from .text import TOO_LONG

_MAX_TAGS = 250_000  # the converters take thirty microseconds for each
_MAX_SHEET_TAGS = 1_000_000  # more, since workbooks are read as a stream
_MAX_CELLS = 2_000_000  # including empty cells before others, of which a row can have sixteen thousand
_MAX_CHARACTERS = 1_000_000
_SLIDE = re.compile(r"^<!-- Slide number: (\d{1,6}) -->$", re.MULTILINE)
_FACT = re.compile(
    r"<(dc:title|dc:creator|dc:description|dcterms:created|dcterms:modified|dc:date|dc:language)\b[^>]{0,300}>([^<]{1,5000})"
)


def read_office(document: Document) -> Page:
    """Read a document: its headings, paragraphs, lists, tables and links. Needs the extra ``office``."""
    media_type = document.media_type
    unpacked = unpack(document.data, media_type, _MAX_SHEET_TAGS if media_type == XLSX else _MAX_TAGS)
    cut = unpacked.cut
    notes: list[str] = []
    try:
        if media_type == XLSX:
            text, notes, rows_cut = _read_sheets(unpacked.packed(), _MAX_CHARACTERS)
            cut = cut or rows_cut
        else:
            text = _convert(unpacked, media_type)
    except ImportError:
        raise
    except Exception as error:  # a damaged file fails in as many ways as there are elements in it
        raise UnsupportedContent(f"{media_type} that is damaged: {type(error).__name__}") from error
    cut = cut or len(text) > _MAX_CHARACTERS
    text, invisible = strip_invisible(text[:_MAX_CHARACTERS])
    facts = _read_metadata(unpacked.parts)
    notes += [*removal_note(invisible), *([TOO_LONG] if cut else [])]
    return make_page(document.url, media_type, text, truncated=cut, notes=tuple(notes), **facts)


def _read_sheets(archive: BytesIO, most: int) -> tuple[str, list[str], bool]:
    """Write the visible sheets of a workbook, each under a heading with its name: about *most* characters.

    Returns the text, notes on the sheets, and whether something is missing.
    """
    from openpyxl import load_workbook

    book = load_workbook(archive, read_only=True, data_only=True, keep_links=False)
    texts: list[str] = []
    notes: list[str] = []
    cells = _MAX_CELLS
    cut = False
    for number, sheet in enumerate(book.worksheets, start=1):
        if sheet.sheet_state == "visible" and not cut:
            title = one_line(str(sheet.title), TITLE_LENGTH)
            rows, cells = _rows(sheet, cells, most)
            columns = max(map(len, rows), default=0)
            table, written = write_rows(rows, columns, most)
            most -= len(table)
            texts.append(f"## {title}\n\n{table}".strip())
            cut = cells < 0 or written < len(rows) - 1
            notes.append(
                f"sheet {number}: {'the first ' * cut}{quantity(written, 'row')}, {quantity(columns, 'column')}"
            )
    if hidden := sum(sheet.sheet_state != "visible" for sheet in book.worksheets):
        notes.append(f"{quantity(hidden, 'hidden sheet')} left out")
    return "\n\n".join(texts), notes, cut


def _rows(sheet: Any, room: int, most: int) -> tuple[list[list[str]], int]:
    """Return the rows and columns that are not empty, up to *most* characters, and how many cells may still be read.

    The number is negative if cells were left out. Many cells can share one long text, so each is cut as it is read.
    """
    rows: list[list[str]] = []
    sheet.reset_dimensions()  # the size that a sheet declares may be wrong
    for values in sheet.iter_rows(values_only=True):
        room -= 1 + len(values)
        if room < 0:
            break
        row: list[str] = []
        for value in values:
            text = _format(value)
            row.append(text[:most])
            most -= len(text)
            if most < 0:
                room, most = -1, 0
                break
        while row and not row[-1]:
            row.pop()
        if row:
            rows.append(row)
        if room < 0:
            break
    used = sorted({n for row in rows for n, cell in enumerate(row) if cell})
    return [[row[n] if n < len(row) else "" for n in used] for row in rows], room


def _format(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _convert(unpacked: Unpacked, media_type: str) -> str:
    """Call one converter of markitdown directly: its main class loads a model to guess the type, which we know."""
    from markitdown import StreamInfo
    from markitdown.converters import DocxConverter, EpubConverter, PptxConverter

    read: set[str] = set()  # chapters

    class OnceConverter(EpubConverter):
        """Reads each chapter once, however often the book refers to it."""

        def _resolve_manifest_href(self, href: str, base_path: str, zip_names: set[str]) -> str:
            found: str = super()._resolve_manifest_href(href, base_path, zip_names)
            if found in read:
                return ""
            read.add(found)
            return found

    converters: dict[str, Any] = {DOCX: DocxConverter, PPTX: PptxConverter, EPUB: OnceConverter}
    archive = unpacked.packed()
    if media_type == PPTX:
        archive = _show_once(archive)
    text: str = converters[media_type]().convert(archive, StreamInfo(mimetype=media_type)).markdown
    if media_type == PPTX:  # slides like the pages of a PDF: numbered headings, with the titles below
        text = _SLIDE.sub(r"## Slide \1\n", re.sub(r"^# ", "### ", text, flags=re.MULTILINE))
    return text


def _show_once(archive: BytesIO) -> BytesIO:
    """Return a presentation that shows each slide once: a few bytes show it again, and each time is converted."""
    from pptx import Presentation

    deck = Presentation(archive)
    listed = deck.slides._sldIdLst  # noqa: SLF001 - the only way to remove one from the list
    shown = {deck.part.related_part(entry.rId): entry for entry in reversed(listed)}
    first = set(shown.values())
    if len(first) < len(listed):
        for entry in [entry for entry in listed if entry not in first]:
            listed.remove(entry)
        archive = BytesIO()
        deck.save(archive)
    archive.seek(0)
    return archive


def _read_metadata(parts: dict[str, bytes]) -> dict[str, Any]:
    stated: dict[str, str] = {}
    for name in (name for name in parts if name == "docProps/core.xml" or name.endswith(".opf")):
        for found in _FACT.finditer(parts[name][:100_000].decode("utf-8", "replace")):
            stated.setdefault(found[1], unescape(found[2]).strip())
    return {
        "title": one_line(stated.get("dc:title", ""), TITLE_LENGTH),
        "author": one_line(stated.get("dc:creator", ""), NAME_LENGTH) or None,
        "description": one_line(stated.get("dc:description", ""), DESCRIPTION_LENGTH) or None,
        "published": parse_date(stated.get("dcterms:created") or stated.get("dc:date")),
        "modified": parse_date(stated.get("dcterms:modified")),
        "language": language_of([stated.get("dc:language", "")]),
    }
