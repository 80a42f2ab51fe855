"""What is text already, or nearly: Markdown, plain text, JSON, CSV, XML -> Page."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator

from ..clean import clean, one_line, removed
from ..models import Page
from .charset import decode
from .fences import outside_fences

_MOST_CHARACTERS = 2_000_000
_MOST_COLUMNS = 100
_MOST_JSON = 1_000_000  # characters: an object of eight takes 200 bytes
_TABLES = {"text/csv": ",", "application/csv": ",", "text/tab-separated-values": "\t"}
_TITLE = re.compile(r"^#{1,2} +(.+)$", re.MULTILINE)
_TITLE_LENGTH = 300


def read_text(data: bytes, url: str, media_type: str, content_type: str | None = None) -> Page:
    """
    Read what is text as it stands: tables and JSON are laid out, the rest is left as it is.

    Args:
        data: The bytes.
        url: Where they came from.
        media_type: What they are.
        content_type: The value of the HTTP header, where there was one, for its charset.

    """
    text, decoding = decode(data, content_type, markup=media_type.endswith("xml"), most=_MOST_CHARACTERS + 1)
    cut = len(text) > _MOST_CHARACTERS
    text, invisible = clean(text[:_MOST_CHARACTERS])
    if media_type.endswith("json"):
        content, laid_out = _json(text)
    elif media_type in _TABLES:
        content, laid_out = _table(text, _TABLES[media_type])
    elif media_type.endswith("xml"):
        content, laid_out = _fenced(text.strip(), "xml"), None
    else:
        content, laid_out = outside_fences(text, _without_images), None
    content = content.strip("\n")
    heading = _TITLE.search(content) if media_type in {"text/plain", "text/markdown", "text/x-markdown"} else None
    notes = (
        *([decoding] if decoding else []),
        *removed(invisible),
        *([laid_out] if laid_out else []),
        *(["the text is longer than is read: this is its beginning"] if cut else []),
    )
    return Page(
        url=url,
        final_url=url,
        title=one_line(heading[1], _TITLE_LENGTH) if heading else "",
        content=content,
        content_length=len(content),
        original_length=len(content),
        truncated=cut,
        media_type=media_type,
        notes=notes,
    )


def _without_images(text: str) -> str:
    """A front end that shows the text must not fetch what it names."""
    return re.sub(r"<(?=img\b)", "&lt;", text.replace("![", "! ["), flags=re.IGNORECASE)


def _fenced(code: str, language: str) -> str:
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return f"{fence}{language}\n{code}\n{fence}" if code else ""


def _json(text: str) -> tuple[str, str | None]:
    if len(text) > _MOST_JSON:
        return _fenced(text.strip(), "json"), "the JSON is too large to be laid out: this is its text"
    laid_out = io.StringIO()
    try:
        for piece in json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(json.loads(text)):
            if laid_out.tell() > _MOST_CHARACTERS:
                return _fenced(laid_out.getvalue(), "json"), "the JSON is longer than is read: this is its beginning"
            laid_out.write(piece)
    except (ValueError, RecursionError):
        return _fenced(text.strip(), "json"), "the JSON could not be parsed: this is its text"
    return _fenced(laid_out.getvalue(), "json"), None


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
    columns = min(columns, _MOST_COLUMNS)
    if columns < 1:
        return "", None
    table = io.StringIO()
    for number, row in enumerate(_rows(text, delimiter)):
        table.write(f"| {' | '.join(_cells(row, columns))} |\n")
        if number == 0:
            table.write("|" + " --- |" * columns + "\n")
        if table.tell() > _MOST_CHARACTERS:
            return table.getvalue(), f"{columns} columns; of {count - 1} rows, the first {number}"
    return table.getvalue(), f"{count - 1} rows, {columns} columns"


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    return filter(None, csv.reader(io.StringIO(text), delimiter=delimiter))


def _cells(row: list[str], columns: int) -> list[str]:
    cells = [_without_images(" ".join(cell.split())).replace("|", "\\|") for cell in row[:columns]]
    return cells + [""] * (columns - len(cells))
