"""Read the lists that commands take: text with an item in each line, JSON Lines, a
table, or the rows of another command; also compressed, or in UTF-16 as Windows writes
it.
"""

from __future__ import annotations
import codecs
import csv
import gzip
import json
import sys
from collections.abc import Iterator, Sequence
from io import BufferedReader, TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import InvalidOption

_GZIP = b"\x1f\x8b"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SAMPLE = 4096  # bytes
_TABLES = {".csv": ",", ".tsv": "\t"}


def read_items(
    items: str | Sequence[str], key: str, column: str | None = None
) -> Iterator[str]:
    """Yield the items, without empty lines and comments.

    *items* is a list, or the name of a file; ``-`` is standard input. In JSON and in a
    table, an item is the value of *column*, or else of *key*. Raise `InvalidOption` if
    the file cannot be read as one.
    """
    if not isinstance(items, str):
        yield from filter(None, map(_find_item, items))
        return
    file: BinaryIO = sys.stdin.buffer
    if items != "-":
        file = Path(items).open("rb")  # noqa: SIM115 - closed below
    try:
        with file, _decode(file) as lines:
            yield from _read(lines, Path(items).name, key, column)
    except UnicodeDecodeError:
        raise _refuse("it is not text in UTF-8 or UTF-16") from None
    except (EOFError, gzip.BadGzipFile, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise _refuse("its end is missing, or it is not compressed by gzip") from None


def _decode(file: Any) -> TextIOWrapper:
    stream = file if isinstance(file, BufferedReader) else BufferedReader(file)
    if stream.peek(2)[:2] == _GZIP:
        unpacked: Any = gzip.GzipFile(fileobj=stream)
        stream = BufferedReader(unpacked)
    head = stream.peek(_SAMPLE)[:_SAMPLE]
    encoding = "utf-8-sig"
    if head.startswith(_UTF16):
        encoding = "utf-16"
    elif b"\0" in head:
        raise _refuse("it is not text")
    return TextIOWrapper(stream, encoding=encoding, newline=None)


def _read(
    lines: Iterator[str], name: str, key: str, column: str | None
) -> Iterator[str]:
    first = next((line for line in lines if line.strip()), "")
    lines = chain([first], lines)
    name = name.lower().removesuffix(".gz")
    delimiter = _TABLES.get(Path(name).suffix)
    if first.lstrip().startswith("{"):
        for line in lines:
            yield from _read_row(line, key, column)
    elif delimiter or column:
        yield from _read_table(lines, delimiter or _guess_delimiter(first), column, key)
    else:
        yield from filter(None, map(_find_item, lines))


def _find_item(line: str) -> str:
    """Return the item of a line; empty if it has none."""
    item = line.strip()
    return "" if item.startswith("#") else item


def _read_row(line: str, key: str, column: str | None) -> Iterator[str]:
    """Yield the item of a line of JSON; of a row of ``search``, its results."""
    if not line.strip():
        return
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise _refuse("it begins like JSON Lines, and has a line that is not") from None
    if not isinstance(row, dict):
        raise _refuse("it begins like JSON Lines, and has a line that is no object")
    name = column or key
    results = row.get("results")
    if name not in row and isinstance(results, list):
        for result in results:
            yield str(result[name])
        return
    if row.get(name) is None:
        raise _refuse(f"a row has no {name!r}: name another --column")
    yield str(row[name])


def _read_table(
    lines: Iterator[str], delimiter: str, column: str | None, key: str
) -> Iterator[str]:
    table = csv.DictReader(lines, delimiter=delimiter)
    name = column or key
    if name not in (table.fieldnames or ()):
        columns = ", ".join(table.fieldnames or ())
        raise _refuse(f"it has no column {name!r}: name a --column of {columns}")
    for row in table:
        item = (row[name] or "").strip()
        if item:
            yield item


def _guess_delimiter(header: str) -> str:
    return max(",;\t", key=header.count)


def _refuse(why: str) -> InvalidOption:
    return InvalidOption(f"--input: this is no list that can be read: {why}")
