"""Read formats that are text already, or nearly: plain text, source code, JSON, CSV,
XML.
"""

from __future__ import annotations
import csv
import json
import re
from collections.abc import Iterator
from io import StringIO

from ..._text.invisible import one_line, removal_note, strip_invisible
from ..._text.quantity import quantity
from ...models import Page
from .._charset import decode
from .._links import MAX_LINKS, absolute
from .._markdown.fences import LANGUAGES, fence_code
from .._markdown.sanitizer import sanitize
from .._markdown.table import MOST_COLUMNS, write_rows
from .._types import TITLE_LENGTH, Document, make_page, path_of

MAX_CHARACTERS = 2_000_000
# characters: eight of them can become an object of 200 bytes
_MAX_JSON_LENGTH = 1_000_000
_TABLES = {"text/csv": ",", "application/csv": ",", "text/tab-separated-values": "\t"}
_JSON_LINES = frozenset(
    {
        "application/x-ndjson",
        "application/ndjson",
        "application/jsonl",
        "application/x-jsonlines",
    }
)
# Languages by the endings of files and in media types. Without those that servers run
# to write any text.
_SOURCES = (LANGUAGES - {"php"}) | frozenset(
    "bat bzl cc cfg cjs cmake conf cs csv cxx dockerfile ecmascript env ex exs f90 "
    "gradle h hh hpp hs hxx ics ipynb jl "
    "jsonl kt lock log m mjs mk ml ndjson patch plist pm properties proto ps1 py pyi "
    "pyx rs sbt sol svg tcl tex tf "
    "tsv vb vcf vtt vue wat xsd xsl zsh".split()
)
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{},:]|[^\s\[\]{},:"]++')
_TITLE = re.compile(r"^#{1,2} +(\w.*)$", re.MULTILINE)
# A line that looks like a heading, next to another line: a comment.
_COMMENT = re.compile(
    r"^ {0,3}#{1,6}[ \t].*\n[ \t]*\S|\S[ \t]*\n {0,3}#{1,6}[ \t]", re.MULTILINE
)
_STATEMENT = re.compile(
    r"[ \t]*+(?:(?:class|const|def|export|from|function|import|let|package|return|set|use|using|var)[ \t][^.]*+$"
    r"|[\w.\[\]\"'$-]{1,60}[ \t]*[:+-]?=|[\w.$]{1,60}\(.*\)$|.*[;{}]$)"
)
TOO_LONG = "the text is too long to be read whole: this is its beginning"
_STATEMENTS = 0.25  # share of the lines that make a text code
_SAMPLE_LENGTH = 20_000  # characters


def read_text(document: Document) -> Page:
    """Read a text format: lay out tables and JSON, and leave the rest as it is, in a
    code block unless it is prose.
    """
    url, media_type = document.url, document.media_type
    text, cut, notes = decode_text(document, markup=media_type.endswith("xml"))
    heading: re.Match[str] | None = None
    note: str | None = None
    written_in = _language(url, media_type)
    if media_type.endswith("json") and media_type not in _JSON_LINES:
        content, note = _json(text)
    elif media_type in _TABLES:
        content, note = _table(text, _TABLES[media_type])
    elif media_type != "text/plain" or written_in or not _is_prose(text):
        content = _fence(text, written_in)
    else:
        content, heading = text, _TITLE.search(text)
    notes += (note,) if note else ()
    title = one_line(heading[1], TITLE_LENGTH) if heading else ""
    return make_page(
        url,
        media_type,
        content,
        title=title,
        truncated=cut,
        links=_addresses(text),
        notes=notes,
    )


def decode_text(
    document: Document, *, markup: bool, most: int = MAX_CHARACTERS
) -> tuple[str, bool, tuple[str, ...]]:
    """Return the text of a document without invisible characters, whether it was cut,
    and notes on it.
    """
    text, decoding = decode(
        document.data, document.content_type, markup=markup, most=most + 1
    )
    cut = len(text) > most
    text, invisible = strip_invisible(text[:most])
    return (
        text,
        cut,
        (
            *filter(None, [decoding]),
            *removal_note(invisible),
            *([TOO_LONG] if cut else []),
        ),
    )


def _language(url: str, media_type: str) -> str:
    """Return the language of a source file, by its type or else its name; empty if
    neither says.
    """
    if media_type != "text/plain":
        name = (
            "json"
            if media_type in _JSON_LINES
            else re.split(r"[/+]", media_type)[-1].removeprefix("x-")
        )
        return name if name in _SOURCES else ""
    name = path_of(url).rpartition("/")[2]
    ending = name.rpartition(".")[2]
    return (
        ending
        if ending in _SOURCES and ("." in name or ending.endswith("file"))
        else ""
    )


def _is_prose(text: str) -> bool:
    """Return whether a plain text stays what it is if it is shown as Markdown, and is
    not code.
    """
    if (
        text.startswith(("#!", "/*", "//", '"""'))
        or _COMMENT.search(text)
        or sanitize(text).text != text
    ):
        return False
    lines = [
        line
        for line in text[:_SAMPLE_LENGTH].split("\n")
        if line.strip() and not line.startswith("#")
    ]
    return sum(map(bool, map(_STATEMENT.match, lines))) <= _STATEMENTS * len(lines)


def _fence(text: str, written_in: str) -> str:
    return fence_code(text.removesuffix("\n"), written_in) if text.strip() else ""


def _addresses(text: str) -> tuple[str, ...]:
    """Return the lines of a text that is only a list of URLs, the simplest kind of
    sitemap.
    """
    found: dict[str, None] = {}
    for line in StringIO(text):
        address = line.strip()
        if address and len(found) < MAX_LINKS:
            if not address.startswith(("https://", "http://")) or not (
                link := absolute(address, address)
            ):
                return ()
            found[link] = None
    return tuple(found)


def _json(text: str) -> tuple[str, str | None]:
    """Indent JSON by its tokens, because a parser would change numbers and lose keys
    that occur twice.
    """
    if len(text) > _MAX_JSON_LENGTH:
        return _fence(
            text, "json"
        ), "the JSON is too large to be laid out: this is its text"
    try:
        json.loads(text, parse_int=len, parse_float=len)  # numbers of any length
    except (ValueError, RecursionError):
        return _fence(text, "json"), "the JSON could not be parsed: this is its text"
    out = StringIO()
    depth, before = 0, ""
    for found in _JSON_TOKEN.finditer(text):
        sign = found[0]
        if sign in "]}":
            depth -= 1
        if (
            (before in "[{" and sign not in "]}")
            or before == ","
            or (sign in "]}" and before not in "[{")
        ):
            out.write(f"\n{'  ' * depth}" if before else "")
        out.write(
            f"{sign} " if sign == ":" else _readable(sign) if "\\" in sign else sign
        )
        if sign in "[{":
            depth += 1
        before = sign
        if out.tell() > MAX_CHARACTERS:
            return _fence(
                out.getvalue(), "json"
            ), "the JSON is too long to be read whole: this is its beginning"
    return _fence(out.getvalue(), "json"), None


def _readable(string: str) -> str:
    """Return a JSON string with its characters instead of escapes, unless they are
    invisible.
    """
    written = json.dumps(json.loads(string, strict=False), ensure_ascii=False)
    return written if strip_invisible(written)[0] == written else string


def _table(text: str, delimiter: str) -> tuple[str, str | None]:
    first = text.partition("\n")[0]
    if delimiter == "," and first.count(";") > first.count(","):
        delimiter = ";"
    columns = count = 0
    try:
        for row in _rows(text, delimiter):
            columns, count = max(columns, len(row)), count + 1
    except csv.Error:
        return _fence(text, "csv"), "the table could not be parsed: this is its text"
    if columns < 1:
        return "", None
    table, written = write_rows(_rows(text, delimiter), columns, MAX_CHARACTERS)
    if sanitize(table).text != table:
        return _fence(
            text, "csv"
        ), "the table has cells that Markdown would change: this is its text"
    wide = (
        quantity(columns, "column")
        if columns <= MOST_COLUMNS
        else f"of {columns} columns, the first {MOST_COLUMNS}"
    )
    if written < count - 1:
        return table, f"{wide}; of {quantity(count - 1, 'row')}, the first {written}"
    return table, f"{quantity(count - 1, 'row')}, {wide}"


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    return filter(None, csv.reader(StringIO(text), delimiter=delimiter))
