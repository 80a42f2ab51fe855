"""The output of a list: one row for each input, in a JSONL file, a folder of Markdown, or a stream.

What is there already is its own record of what was done: the next run goes on after the last whole line.
"""

from __future__ import annotations
import json
import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Mapping
from hashlib import blake2b, sha256
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, BinaryIO, Literal, Self

from .._text.urls import identify
from ..errors import ConfigurationError, WebSearchError
from ..models import Page, SearchResponse
from ..render import error_as_json, page_as_json, search_as_json
from .escaping import escape_json

_SYNC = 5.0  # seconds; what a power failure may cost
_INDEX = "index.jsonl"  # in a folder: the rows, without the texts, which stand in files of their own
_LONGEST_NAME = 80  # characters of a URL in the name of a file
Key = Literal["url", "query"]


class Rows:
    """The rows of one output, which are written at once, each whole.

    Use it in a ``with`` block. An input that `skip` says is done has its row from an earlier run.

    Args:
        output: A file, a folder if it exists or ends with ``/``, or ``-`` for standard output.
        key: The field of a row that has the input.
        refresh: Write all rows again, into a file beside it that replaces the old one at the end: `find` has the old
            row of an input.

    Raises:
        ConfigurationError: The file has other lines than such rows.
        OSError: It cannot be written.
    """

    def __init__(self, output: str, key: Key = "url", *, refresh: bool = False) -> None:
        self._key: Key = key
        self.folder = Path(output) if output.endswith("/") or Path(output).is_dir() else None
        if self.folder is not None and key == "query":
            raise ConfigurationError("--output: answers of searches go to a file, such as answers.jsonl, or to -")
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / _INDEX if self.folder else Path(output)
        self._old = _Lines(path, key) if refresh and output != "-" and path.is_file() else None
        self._final = path if self._old else None
        self._new = _Lines(path.with_name(f"{path.name}.part") if self._old else None if output == "-" else path, key)
        self._done = self._new.inputs

    def skip(self, item: str) -> bool:
        """Return whether *item* has a row of an earlier run; of an item that is listed twice, each has its own."""
        if not self._done[item_id := _digest(item)]:
            return False
        self._done[item_id] -= 1
        return True

    def find(self, item: str) -> dict[str, Any] | None:
        """Return the row that *item* has in the output that is being refreshed."""
        return self._old.find(item) if self._old else None

    def find_same(self, item: str) -> dict[str, Any] | None:
        """Return the row of another spelling of *item* that was written before."""
        return self._new.find(item)

    def add(self, item: str, answer: Page | SearchResponse | WebSearchError) -> dict[str, Any]:
        """Write the row of *item*, and return it."""
        row = {self._key: item, **_describe(answer)}
        old = self.find(item)
        before = old.get("hash") if old else None
        row["changed"] = "new" if before is None else "same" if before == row.get("hash") else "changed"
        if self.folder is not None and isinstance(answer, Page):
            row["file"] = self._write_text(item, row)
            del row["content"]
        self.write(row)
        return row

    def write(self, row: Mapping[str, Any]) -> None:
        """Write a row as it is."""
        self._new.write(row)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._new.close()
        if self._old:
            self._old.close()
        if kind is None and self._final and self._new.path:
            self._new.path.replace(self._final)

    def _write_text(self, item: str, row: Mapping[str, Any]) -> str:
        """Write the text of a page into a file, whole or not at all, and return its name."""
        assert self.folder is not None
        words = re.sub(r"[^\w.]+", "-", identify(item).partition("://")[2])[:_LONGEST_NAME].strip("-.")
        name = f"{words}-{_digest(identify(item)):016x}.md"
        facts = {fact: row[fact] for fact in ("url", "title", "fetched_at", "hash")}
        head = "\n".join(f"{fact}: {json.dumps(value, ensure_ascii=False)}" for fact, value in facts.items())
        part = self.folder / f".{name}.part"
        part.write_text(f"---\n{head}\n---\n\n{row['content']}\n", "utf-8")
        part.replace(self.folder / name)
        return name


class _Lines:
    """A JSONL file, and where in it is what; standard output without a *path*."""

    def __init__(self, path: Path | None, key: Key) -> None:
        self.path, self._key = path, key
        self.inputs: Counter[int] = Counter()  # how many rows each input has from earlier runs
        self._places: dict[int, int] = {}  # where the row of a page begins: numbers only, since there may be millions
        self._file: BinaryIO = sys.stdout.buffer if path is None else path.open("ab+", buffering=0)
        self._is_file = path is not None and stat.S_ISREG(os.fstat(self._file.fileno()).st_mode)
        self._end = self._scan() if self._is_file else 0
        self._synced = monotonic()

    def find(self, item: str) -> dict[str, Any] | None:
        """Return the last row of *item*, or of another spelling of it."""
        place = self._places.get(_digest(identify(item)))
        if place is None:
            return None
        self._file.seek(place)
        with os.fdopen(os.dup(self._file.fileno()), "rb") as file:
            row: dict[str, Any] = json.loads(file.readline())
        return row

    def write(self, row: Mapping[str, Any]) -> None:
        """Append a row, or nothing of it if the disk is full."""
        line = escape_json(json.dumps(row, ensure_ascii=False)).encode() + b"\n"
        try:
            written = self._file.write(line)
            if written < len(line):  # the next attempt says why
                self._file.write(line[written:])
        except OSError:
            if self._is_file:
                self._file.truncate(self._end)
            raise
        if not self._is_file:
            self._file.flush()
            return
        self._places[_digest(identify(row[self._key]))] = self._end
        self._end += len(line)
        if monotonic() - self._synced > _SYNC:
            os.fsync(self._file.fileno())
            self._synced = monotonic()

    def close(self) -> None:
        """Write everything to the disk."""
        if self._is_file:
            os.fsync(self._file.fileno())
        if self.path is not None:
            self._file.close()

    def _scan(self) -> int:
        """Learn what is there, and cut off a half-written last line; return where the file then ends."""
        end, begin = 0, f'{{"{self._key}": '
        self._file.seek(0)
        with os.fdopen(os.dup(self._file.fileno()), "rb") as file:
            for number, line in enumerate(file, 1):
                text = line.decode("utf-8", "replace")
                is_half = not line.endswith(b"\n")
                if is_half and (number > 1 or (begin.startswith(text) or text.startswith(begin))):
                    break
                if is_half or not text.startswith(begin):
                    raise ConfigurationError(f"{self.path}, line {number}: not a row of this command")
                item = json.JSONDecoder().raw_decode(text, len(begin))[0]
                self.inputs[_digest(item)] += 1
                self._places[_digest(identify(item))] = end
                end += len(line)
        self._file.truncate(end)
        return end


def _describe(answer: Page | SearchResponse | WebSearchError) -> dict[str, Any]:
    """Return the fields of a row; ``hash`` is the same while the text of the page, or what was found, is."""
    if isinstance(answer, WebSearchError):
        return error_as_json(answer)
    data = page_as_json(answer) if isinstance(answer, Page) else search_as_json(answer)
    text = data["content"] if isinstance(answer, Page) else json.dumps([data["answer"], data["results"]])
    return {**data, "hash": sha256(text.encode("utf-8", "surrogatepass")).hexdigest()}


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
