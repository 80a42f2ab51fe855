"""Read formats that are text already, or nearly: plain text, source code, JSON, CSV,
XML.
"""

from __future__ import annotations
import csv
import json
import re
from collections.abc import Iterator, Mapping
from io import StringIO
from typing import Any, NamedTuple

from ..._text.invisible import one_line, removal_note, strip_invisible
from ..._text.quantity import quantity
from ...models import Page
from .._charset import decode
from .._links import MAX_LINKS, absolute
from .._markdown.fences import LANGUAGES, fence_code
from .._markdown.sanitizer import sanitize
from .._markdown.table import MOST_COLUMNS, write_rows
from .._types import TITLE_LENGTH, Document, path_of

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
    r"[ \t]*+(?:(?:class|const|def|export|from|function|import|let|package|return|set"
    r"|use|using|var)[ \t][^.]*+$"
    r"|[\w.\[\]\"'$-]{1,60}[ \t]*[:+-]?=|[\w.$]{1,60}\(.*\)$|.*[;{}]$)"
)
TOO_LONG = "the text is too long to be read whole: this is its beginning"
_STATEMENTS = 0.25  # share of the lines that make a text code
_SAMPLE_LENGTH = 20_000  # characters


def read_text(document: Document) -> Page:
    """Read a text format: lay out tables and JSON, and leave the rest as it is.

    What is left as it is stands in a code block unless it is prose.
    """
    media_type = document.media_type
    decoded = decode_text(document, markup=media_type.endswith("xml"))
    text = decoded.text
    title = ""
    note: str | None = None
    language = _language(document.url, media_type)
    may_be_prose = media_type == "text/plain" and not language
    if media_type.endswith("json") and media_type not in _JSON_LINES:
        content, note = _json(text)
    elif media_type in _TABLES:
        content, note = _table(text, _TABLES[media_type])
    elif may_be_prose and _is_prose(text):
        content = text
        heading = _TITLE.search(text)
        title = one_line(heading[1], TITLE_LENGTH) if heading else ""
    else:
        content = _fence(text, language)
    return document.to_page(
        content,
        title=title,
        truncated=decoded.cut,
        links=_addresses(text),
        notes=(*decoded.notes, *filter(None, [note])),
    )


class DecodedText(NamedTuple):
    """The text without invisible characters, whether it was cut, and notes on it."""

    text: str
    cut: bool
    notes: tuple[str, ...]


def decode_text(
    document: Document, *, markup: bool, limit: int = MAX_CHARACTERS
) -> DecodedText:
    """Decode at most *limit* characters of a document."""
    text, decoding = decode(
        document.data, document.content_type, markup=markup, limit=limit + 1
    )
    cut = len(text) > limit
    text, invisible = strip_invisible(text[:limit])
    notes = [*filter(None, [decoding]), *removal_note(invisible)]
    if cut:
        notes.append(TOO_LONG)
    return DecodedText(text, cut, tuple(notes))


def note_hidden(count: int, thing: str) -> tuple[str, ...]:
    """Return a note on how many hidden things were left out, if any were."""
    if not count:
        return ()
    return (f"{quantity(count, thing)} left out",)


def load_object(text: str) -> dict[str, Any]:
    """Parse an object of JSON; {} if the text is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if isinstance(value, dict):
        return value
    return {}


def objects_in(value: object) -> list[dict[str, Any]]:
    """Return the objects in a list, none if the value is no list."""
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, dict)]


def text_in(thing: Mapping[str, Any], name: str) -> str:
    """Return the text that a thing has under a name, empty if it has none."""
    value = thing.get(name)
    if isinstance(value, str):
        return value.strip()
    return ""


def _language(url: str, media_type: str) -> str:
    """Return the language of a source file, by its type or else its name.

    Empty if neither says.
    """
    if media_type in _JSON_LINES:
        return "json"
    if media_type != "text/plain":
        name = re.split(r"[/+]", media_type)[-1].removeprefix("x-")
        if name not in _SOURCES:
            return ""
        return name
    name = path_of(url).rpartition("/")[2]
    ending = name.rpartition(".")[2]
    is_whole = "." in name or ending.endswith("file")
    if ending in _SOURCES and is_whole:
        return ending
    return ""


def _is_prose(text: str) -> bool:
    """Return whether a plain text is no code, and reads the same as Markdown."""
    if text.startswith(("#!", "/*", "//", '"""')) or _COMMENT.search(text):
        return False
    if sanitize(text).text != text:
        return False
    lines = [line for line in text[:_SAMPLE_LENGTH].split("\n") if line.strip()]
    lines = [line for line in lines if not line.startswith("#")]
    return sum(map(bool, map(_STATEMENT.match, lines))) <= _STATEMENTS * len(lines)


def _fence(text: str, language: str) -> str:
    if not text.strip():
        return ""
    return fence_code(text.removesuffix("\n"), language)


def _addresses(text: str) -> tuple[str, ...]:
    """Return the lines of a text that is only a list of URLs.

    It is the simplest kind of sitemap.
    """
    links: dict[str, None] = {}
    for line in StringIO(text):
        address = line.strip()
        if len(links) == MAX_LINKS:
            break
        if not address:
            continue
        is_web = address.startswith(("https://", "http://"))
        link = absolute(address, address) if is_web else None
        if not link:
            return ()
        links[link] = None
    return tuple(links)


def _json(text: str) -> tuple[str, str | None]:
    """Indent JSON, and return it with a note on what went wrong.

    By its tokens, because a parser would change numbers and lose keys that occur twice.
    """
    if len(text) > _MAX_JSON_LENGTH:
        note = "the JSON is too large to be laid out: this is its text"
        return _fence(text, "json"), note
    try:
        json.loads(text, parse_int=len, parse_float=len)  # numbers of any length
    except (ValueError, RecursionError):
        return _fence(text, "json"), "the JSON could not be parsed: this is its text"
    out = StringIO()
    depth = 0
    before = ""  # the sign before
    for match in _JSON_TOKEN.finditer(text):
        sign = match[0]
        closes = sign in "]}"
        depth -= closes
        if before and _parts_lines(before, closes=closes):
            out.write(f"\n{'  ' * depth}")
        out.write(_readable(sign))
        if sign == ":":
            out.write(" ")
        depth += sign in "[{"
        before = sign
        if out.tell() > MAX_CHARACTERS:
            note = "the JSON is too long to be read whole: this is its beginning"
            return _fence(out.getvalue(), "json"), note
    return _fence(out.getvalue(), "json"), None


def _parts_lines(before: str, *, closes: bool) -> bool:
    """Return whether a line ends between the token *before* and the next one."""
    if before in "[{":
        return not closes  # else the list or object is empty
    return closes or before == ","


def _readable(token: str) -> str:
    """Return a string of JSON with its characters instead of escapes.

    Unless they are invisible; other tokens stay as they are.
    """
    if "\\" not in token:
        return token
    written = json.dumps(json.loads(token, strict=False), ensure_ascii=False)
    if strip_invisible(written)[0] == written:
        return written
    return token


def _table(text: str, delimiter: str) -> tuple[str, str | None]:
    first = text.partition("\n")[0]
    if delimiter == "," and first.count(";") > first.count(","):
        delimiter = ";"
    columns = 0
    count = -1  # of rows, without that of the names
    try:
        for row in _rows(text, delimiter):
            columns = max(columns, len(row))
            count += 1
    except csv.Error:
        return _fence(text, "csv"), "the table could not be parsed: this is its text"
    if columns < 1:
        return "", None
    table, written = write_rows(_rows(text, delimiter), columns, MAX_CHARACTERS)
    if sanitize(table).text != table:
        note = "the table has cells that Markdown would change: this is its text"
        return _fence(text, "csv"), note
    width = quantity(columns, "column")
    if columns > MOST_COLUMNS:
        width = f"of {columns} columns, the first {MOST_COLUMNS}"
    rows = quantity(count, "row")
    if written < count:
        return table, f"{width}; of {rows}, the first {written}"
    return table, f"{rows}, {width}"


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    return filter(None, csv.reader(StringIO(text), delimiter=delimiter))
