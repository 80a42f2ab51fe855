"""Read formats that are text already, or nearly: plain text, JSON, CSV, XML."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator

from ..._text.invisible import one_line, removal_note, strip_invisible
from ..._text.quantity import quantity
from ...models import Page
from .._charset import decode
from .._links import MAX_LINKS, absolute
from .._markdown.fences import fence_code
from .._page import TITLE_LENGTH, make_page
from .rows import MAX_COLUMNS, lay_out

MAX_CHARACTERS = 2_000_000
_MAX_JSON_LENGTH = 1_000_000  # characters: eight of them can become an object of 200 bytes
_TABLES = {"text/csv": ",", "application/csv": ",", "text/tab-separated-values": "\t"}
_JSON_LINES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines"})
_TITLE = re.compile(r"^#{1,2} +(.+)$", re.MULTILINE)


def read_text(data: bytes, url: str, media_type: str, content_type: str | None = None) -> Page:
    """
    Read a text format: format tables and JSON, and leave the rest as it is.

    Args:
        data: The bytes of the text.
        url: Where they came from.
        media_type: Their media type.
        content_type: The value of the HTTP header, if any, for its charset.

    """
    text, decoding = decode(data, content_type, markup=media_type.endswith("xml"), most=MAX_CHARACTERS + 1)
    cut = len(text) > MAX_CHARACTERS
    text, invisible = strip_invisible(text[:MAX_CHARACTERS])
    links: tuple[str, ...] = ()
    if media_type in _JSON_LINES:
        content, note = fence_code(text.strip(), "json"), None
    elif media_type.endswith("json"):
        content, note = _json(text)
    elif media_type in _TABLES:
        content, note = _table(text, _TABLES[media_type])
    elif media_type.endswith("xml"):
        content, note = fence_code(text.strip(), "xml"), None
    else:
        content, note = text, None
        links = _addresses(text)
    heading = _TITLE.search(content) if media_type == "text/plain" else None
    notes = (
        *([decoding] if decoding else []),
        *removal_note(invisible),
        *([note] if note else []),
        *(["the text is too long to be read whole: this is its beginning"] if cut else []),
    )
    title = one_line(heading[1], TITLE_LENGTH) if heading else ""
    return make_page(url, media_type, content, title=title, truncated=cut, links=links, notes=notes)


def _addresses(text: str) -> tuple[str, ...]:
    """Return the lines of a text that is only a list of URLs, the simplest kind of sitemap."""
    found: dict[str, None] = {}
    for line in io.StringIO(text):
        address = line.strip()
        if address and len(found) < MAX_LINKS:
            if not address.startswith(("https://", "http://")) or not (link := absolute(address, address)):
                return ()
            found[link] = None
    return tuple(found)


def _json(text: str) -> tuple[str, str | None]:
    if len(text) > _MAX_JSON_LENGTH:
        return fence_code(text.strip(), "json"), "the JSON is too large to be laid out: this is its text"
    formatted = io.StringIO()
    try:
        for piece in json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(json.loads(text)):
            if formatted.tell() > MAX_CHARACTERS:
                note = "the JSON is too long to be read whole: this is its beginning"
                return fence_code(formatted.getvalue(), "json"), note
            formatted.write(piece)
    except (ValueError, RecursionError):
        return fence_code(text.strip(), "json"), "the JSON could not be parsed: this is its text"
    return fence_code(formatted.getvalue(), "json"), None


def _table(text: str, delimiter: str) -> tuple[str, str | None]:
    first = text.partition("\n")[0]
    if delimiter == "," and first.count(";") > first.count(","):
        delimiter = ";"
    columns = count = 0
    try:
        for row in _rows(text, delimiter):
            columns, count = max(columns, len(row)), count + 1
    except csv.Error:
        return text, "the table could not be parsed: this is its text"
    if columns < 1:
        return "", None
    table, written = lay_out(_rows(text, delimiter), columns, MAX_CHARACTERS)
    wide = quantity(columns, "column") if columns <= MAX_COLUMNS else f"of {columns} columns, the first {MAX_COLUMNS}"
    if written < count - 1:
        return table, f"{wide}; of {quantity(count - 1, 'row')}, the first {written}"
    return table, f"{quantity(count - 1, 'row')}, {wide}"


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    return filter(None, csv.reader(io.StringIO(text), delimiter=delimiter))
