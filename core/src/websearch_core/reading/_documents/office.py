"""Read Office documents and e-books: Word, PowerPoint and EPUB with markitdown,
workbooks with openpyxl.

markitdown builds every cell of a sheet before it writes the first one. A sheet with a
single cell in its last corner has seventeen billion cells, so workbooks are streamed
instead. The libraries belong to the extra ``office``.

A few kilobytes can unpack to gigabytes, or to XML that takes minutes to convert. So
only text is unpacked, within limits, and longer text is cut where it remains XML.
Pictures, fonts and the like stay as empty parts, so that converters do not miss them.
"""

from __future__ import annotations
import codecs
import re
import zipfile
from datetime import date, datetime, time
from io import BytesIO
from typing import Any, NamedTuple
from xml.sax.saxutils import unescape

from ..._text.dates import parse_date
from ..._text.invisible import one_line, removal_note, strip_invisible
from ..._text.quantity import quantity
from ...errors import UnsupportedContent
from ...models import Page
from .._markdown.table import write_rows
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
    make_page,
)
from .text import TOO_LONG

_MAX_TAGS = 250_000  # the converters take thirty microseconds for each
_MAX_SHEET_TAGS = 1_000_000  # more, since workbooks are read as a stream
# including empty cells before others, of which a row can have sixteen thousand
_MAX_CELLS = 2_000_000
_MAX_CHARACTERS = 1_000_000
_SLIDE = re.compile(r"^<!-- Slide number: (\d{1,6}) -->$", re.MULTILINE)
_FACT = re.compile(
    r"<(dc:title|dc:creator|dc:description|dcterms:created|dcterms:modified|dc:date|dc:language)\b[^>]{0,300}>([^<]{1,5000})"
)
# Of archives.
_MAX_PARTS = 5_000
_MAX_SIZE = 16 * 2**20  # bytes of XML in the archive
# bytes of text of a document or sheet; only the beginning of a longer one is read
_MAX_MAIN_SIZE = 8 * 2**20
_MAX_DEPTH = 100  # nested elements: converters take time quadratic in the depth
_MAX_TAG_LENGTH = 20_000  # bytes
_TEXTS = (".xml", ".rels", ".opf", ".ncx", ".xhtml", ".html", ".htm", "mimetype")
_MAIN = re.compile(r"word/document\d*\.xml|xl/worksheets/[^/]+\.xml")
_DECLARATION = re.compile(
    rb"""\s{0,100}<\?xml\s(?:[^<>]{0,500}?encoding\s{0,9}=\s{0,9}["']([\w.-]{1,40}))?[^<>]{0,500}?\?>"""
)
# encodings in which the byte of < is never a part of another character
_CONTAINS_ASCII = re.compile(
    r"utf-?8|(?:us-)?ascii|iso-8859-(?:1[013-6]|[1-9])|windows-125[0-8]|koi8-[ru]|gb2312|gbk|gb18030|big5|euc-(?:jp|kr)"
    r"|shift_jis",
    re.IGNORECASE,
)
_TAG = re.compile(rb"<(/?)([^<>!?/\s]++)[^<>]*?(/?)>")
_LONG_TAG = re.compile(rb"<[^<>]{%d}" % _MAX_TAG_LENGTH)


def read_office(document: Document) -> Page:
    """Read a document: its headings, paragraphs, lists, tables and links. Needs the
    extra ``office``.
    """
    media_type = document.media_type
    unpacked = unpack(
        document.data, media_type, _MAX_SHEET_TAGS if media_type == XLSX else _MAX_TAGS
    )
    cut = unpacked.cut
    notes: list[str] = []
    try:
        if media_type == XLSX:
            text, notes, rows_cut = _read_sheets(unpacked.packed(), _MAX_CHARACTERS)
            cut = cut or rows_cut
        else:
            text = _convert(unpacked, media_type)
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        # a damaged file fails in as many ways as there are elements in it
        raise UnsupportedContent(
            f"{media_type} that is damaged: {type(error).__name__}"
        ) from error
    cut = cut or len(text) > _MAX_CHARACTERS
    text, invisible = strip_invisible(text[:_MAX_CHARACTERS])
    facts = _read_metadata(unpacked.parts)
    notes += [*removal_note(invisible), *([TOO_LONG] if cut else [])]
    return make_page(
        document.url, media_type, text, truncated=cut, notes=tuple(notes), **facts
    )


def _read_sheets(archive: BytesIO, most: int) -> tuple[str, list[str], bool]:
    """Write the visible sheets of a workbook, each under a heading with its name: about
    *most* characters.

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
                f"sheet {number}: {'the first ' * cut}{quantity(written, 'row')}, "
                f"{quantity(columns, 'column')}"
            )
    if hidden := sum(sheet.sheet_state != "visible" for sheet in book.worksheets):
        notes.append(f"{quantity(hidden, 'hidden sheet')} left out")
    return "\n\n".join(texts), notes, cut


def _rows(sheet: Any, room: int, most: int) -> tuple[list[list[str]], int]:
    """Return the rows and columns that are not empty, up to *most* characters, and how
    many cells may still be read.

    The number is negative if cells were left out. Many cells can share one long text,
    so each is cut as it is read.
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
    """Call one converter of markitdown directly: its main class loads a model to guess
    the type, which we know.
    """
    from markitdown import StreamInfo
    from markitdown.converters import DocxConverter, EpubConverter, PptxConverter

    read: set[str] = set()  # chapters

    if not hasattr(EpubConverter, "_resolve_manifest_href"):
        raise ImportError("this markitdown reads a chapter as often as a book names it")

    class OnceConverter(EpubConverter):
        """Reads each chapter once, however often the book refers to it."""

        def _resolve_manifest_href(
            self, href: str, base_path: str, zip_names: set[str]
        ) -> str:
            found: str = super()._resolve_manifest_href(href, base_path, zip_names)
            if found in read:
                return ""
            read.add(found)
            return found

    converters: dict[str, Any] = {
        DOCX: DocxConverter,
        PPTX: PptxConverter,
        EPUB: OnceConverter,
    }
    archive = unpacked.packed()
    if media_type == PPTX:
        archive = _show_once(archive)
    text: str = (
        converters[media_type]()
        .convert(archive, StreamInfo(mimetype=media_type))
        .markdown
    )
    # slides like the pages of a PDF: numbered headings, with the titles below
    if media_type == PPTX:
        text = _SLIDE.sub(
            r"## Slide \1\n", re.sub(r"^# ", "### ", text, flags=re.MULTILINE)
        )
    return text


def _show_once(archive: BytesIO) -> BytesIO:
    """Return a presentation that shows each slide once: a few bytes show it again, and
    each time is converted.
    """
    from pptx import Presentation

    deck = Presentation(archive)
    listed = deck.slides.element
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
    for name in (
        name for name in parts if name == "docProps/core.xml" or name.endswith(".opf")
    ):
        for found in _FACT.finditer(parts[name][:100_000].decode("utf-8", "replace")):
            stated.setdefault(found[1], unescape(found[2]).strip())
    return {
        "title": one_line(stated.get("dc:title", ""), TITLE_LENGTH),
        "author": one_line(stated.get("dc:creator", ""), NAME_LENGTH) or None,
        "description": one_line(stated.get("dc:description", ""), DESCRIPTION_LENGTH)
        or None,
        "published": parse_date(stated.get("dcterms:created") or stated.get("dc:date")),
        "modified": parse_date(stated.get("dcterms:modified")),
        "language": language_of([stated.get("dc:language", "")]),
    }


class Unpacked(NamedTuple):
    """The parts of an archive by name, and whether some of them were cut."""

    parts: dict[str, bytes]
    cut: bool = False

    def packed(self) -> BytesIO:
        """Return the parts as an archive."""
        stream = BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
            for name, content in self.parts.items():
                archive.writestr(name, content)
        stream.seek(0)
        return stream


def unpack(data: bytes, media_type: str, max_tags: int) -> Unpacked:
    """Unpack the parts of an archive that are text, with at most *max_tags* tags
    together. One that is damaged, encrypted or too large is an `UnsupportedContent`,
    which names its *media_type*.
    """
    if data.count(b"PK\x01\x02") > _MAX_PARTS:
        raise UnsupportedContent(f"{media_type} with more than {_MAX_PARTS} parts")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            refusal = _find_refusal(archive.infolist())
            parts = (
                {}
                if refusal
                else {
                    part.filename: _read_part(archive, part)
                    for part in archive.infolist()
                }
            )
    except MemoryError:  # says nothing about the file
        raise
    except Exception as error:  # zipfile raises more than it documents
        raise UnsupportedContent(
            f"{media_type} that is damaged: {type(error).__name__}"
        ) from error
    if refusal:
        raise UnsupportedContent(f"{media_type} {refusal}")
    cut = False
    # parts that can be cut come last
    for part in sorted(parts, key=lambda part: _MAIN.fullmatch(part) is not None):
        is_whole = len(parts[part]) < _MAX_MAIN_SIZE or not _MAIN.fullmatch(part)
        content = parts[part] = _as_utf8(parts[part], media_type)
        kept, tags = _cut_xml(content, max_tags, is_whole=is_whole)
        max_tags -= tags
        if kept is not content:
            if not _MAIN.fullmatch(part):
                raise UnsupportedContent(
                    f"{media_type} that is too large or too deeply nested to be read"
                )
            parts[part] = kept
            cut = True
    return Unpacked(parts, cut)


def _find_refusal(parts: list[zipfile.ZipInfo]) -> str:
    """Return why not to unpack the parts, if so. Declared sizes are safe: zipfile reads
    no more of a part.
    """
    if min((part.header_offset for part in parts), default=1):
        return (
            "that is damaged: its directory is missing, or is that of a file inside it"
        )
    if any(part.flag_bits & 1 for part in parts):
        return "that is encrypted: it opens with a password only"
    if any(
        part.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
        for part in parts
    ):
        return "with an unsupported compression method"
    if sum(min(part.file_size, _max_size(part)) for part in parts) > _MAX_SIZE:
        return f"with more than {_MAX_SIZE // 2**20} MiB of text"
    return ""


def _max_size(part: zipfile.ZipInfo) -> int:
    """Return the most bytes of a part to unpack: all if its beginning alone is useless,
    within `_find_refusal`.
    """
    if _MAIN.fullmatch(part.filename):
        return _MAX_MAIN_SIZE
    return part.file_size if part.filename.lower().endswith(_TEXTS) else 0


def _read_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    with archive.open(part) as stream:
        return stream.read(_max_size(part))


def _as_utf8(content: bytes, media_type: str) -> bytes:
    """Return XML in UTF-8 that declares no other encoding: tags are counted in bytes,
    as the parser must see them.

    XML in an encoding in which these files do not come is `UnsupportedContent`.
    """
    wide = "utf-16" if content[:2] in {b"\xff\xfe", b"\xfe\xff"} else ""
    # a sign < without a mark of the order of bytes
    if not wide and b"\0" in content[:2]:
        wide = "utf-16-be" if content[:1] == b"\0" else "utf-16-le"
    if wide:
        content = content.decode(wide, "replace").encode()
    content = content.removeprefix(codecs.BOM_UTF8)
    encoding = "utf-8"
    if declaration := _DECLARATION.match(content):
        content = content[declaration.end() :]
        encoding = declaration[1].decode() if declaration[1] and not wide else encoding
    if not _CONTAINS_ASCII.fullmatch(encoding) or re.match(rb"\s*+<\?xml\s", content):
        raise UnsupportedContent(f"{media_type} in the encoding {encoding}")
    return content.decode(encoding, "replace").encode()


def _cut_xml(content: bytes, max_tags: int, *, is_whole: bool) -> tuple[bytes, int]:
    """Cut XML that is too long, or already cut, after a tag, and close the open
    elements.

    Returns the XML, the same object if there is nothing to cut, and its number of tags.
    """
    too_long = _LONG_TAG.search(content)
    stop = too_long.start() if too_long else len(content)
    opened: list[bytes] = []
    tags = end = 0
    for tag in _TAG.finditer(content, 0, stop):
        opens = not (tag[1] or tag[3])
        if tags == max_tags or (opens and len(opened) == _MAX_DEPTH):
            break
        if opens:
            opened.append(tag[2])
        elif tag[1]:
            del opened[-1:]
        tags, end = tags + 1, tag.end()
    else:
        if not too_long and is_whole:
            return content, tags
    return content[:end] + b"".join(b"</%s>" % name for name in reversed(opened)), tags
