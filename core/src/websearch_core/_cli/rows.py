"""Lists as input, and their output: a JSONL file, a folder of Markdown, or a stream,
with one row for each input.

What is there is the record of what was done: the next run goes on after its last whole
line.
"""

from __future__ import annotations
import asyncio
import json
import os
import re
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from shutil import copymode
from time import monotonic, time
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, Self

import typer
from pydantic import BaseModel, ConfigDict, ValidationError

from .. import errors
from .._runtime.clock import now
from .._runtime.owners import check_links
from .._runtime.threads import in_thread
from .._text.escaping import escape_json, escape_line
from .._text.quantity import quantity
from .._text.urls import identify
from ..layers._caching.http import UNCHANGED, Validators
from ..models import Page, SearchResponse
from ..render import row_as_json
from .lists import read_items
from .output import exit_code, show_progress
from .outputs import (
    find_mode,
    is_regular,
    open_to_append,
    open_to_read,
    read_text,
    replacing,
)

# what stands before that of a row
_ERROR = re.compile(', "(?:status": "error", "error|refresh_error)": (?={)')
_PUBLIC = [getattr(errors, name) for name in errors.__all__]
_STATUSES = {kind.code: exit_code(kind) for kind in _PUBLIC if hasattr(kind, "locate")}
# After these, the other items fail, too.
_FOR_ALL = (
    errors.AuthenticationError,
    errors.BudgetExceeded,
    errors.ConfigurationError,
    errors.QuotaExhausted,
)
_PART = ".part"  # after the name of a file that a refresh writes, until its end
_MAX_PAUSE = 86_400.0  # seconds; then an interrupted refresh starts over
_INDEX = "index.jsonl"  # in a folder: the rows, whose texts stand in files of their own
# what a crawl goes on with
_RECALLED = ("url", "final_url", "title", "content", "canonical_url", "links")
_FACTS = ("url", "title", "fetched_at", "hash")  # at the top of such a file


class _Error(BaseModel):
    model_config = ConfigDict(extra="allow")

    code: str
    temporary: bool = False


class _Row(BaseModel):
    """What we use of a row that stands in the output. Who wrote it is not known."""

    model_config = ConfigDict(extra="allow")

    status: str | None = None
    error: _Error | None = None
    refresh_error: _Error | None = None
    file: str | None = None
    hash: str | None = None
    changed: str | None = None
    fetched_at: str | None = None


class _Ends(NamedTuple):
    """What is read of a row that may be long."""

    item: str  # the input
    error: dict[str, Any]  # empty if there is none
    is_final: bool  # whether the error is the answer


class Rows:
    """The rows of one output, in a ``with`` block. Each is written at once, or not at
    all.

    The *output* is a file, a folder if it exists or ends with ``/``, or ``-`` for
    standard output; the field *key* of a row has the input. A *refresh* writes all rows
    again, beside the output, and replaces it at the end; ``old`` has the rows of
    before. A file with other lines than such rows is a `ConfigurationError`. Rows that
    are broken are left out; with *retry*, those with a temporary error, too.

    A refresh that was interrupted goes on, unless its last row is older than a day. At
    its end, only inputs of this run have a row. *find_key* returns what is the same for
    all spellings of an input that is found, and not listed: its row keeps the first
    spelling.
    """

    def __init__(
        self,
        output: str,
        key: str = "url",
        *,
        refresh: bool = False,
        retry: bool = False,
        find_key: Callable[[str], str] | None = None,
    ) -> None:
        self.key = key
        self._find_key = find_key
        self.folder: Path | None = None
        if output.endswith("/") or Path(output).is_dir():
            self.folder = Path(output)
            self.folder.mkdir(parents=True, exist_ok=True)
        self.path = self.folder / _INDEX if self.folder else Path(output)
        if self.folder is None and output != "-":
            if self.path.suffix.lower() == ".gz":
                raise errors.InvalidOption(
                    "--output: rows are added to the file, so it cannot be compressed: "
                    f"name {self.path.stem}, and compress it at the end"
                )
            check_links(self.path)
        self.old: Rows | None = None
        if refresh and self.path.is_file():
            self.old = Rows(output, key, find_key=find_key)
        # The user named a file, which may be a link; nobody named what is in a folder.
        self._place = self.path if self.folder else self.path.resolve()
        self._part = self._place
        if self.old:
            self._part = self._place.with_name(f"{self._place.name}{_PART}")
        self._file: BinaryIO = sys.stdout.buffer
        self._is_kept = False
        # of pages whose rows come next
        self._validators: dict[str, dict[str, Any]] = {}
        # how many rows each input has from earlier runs
        self._done: Counter[int] = Counter()
        # where the row of a page begins: numbers only, since there may be millions
        self._offsets: dict[int, int] = {}
        # of rows in this run: what became of them
        self.counts: Counter[str] = Counter()
        # the codes of those in rows, in order; whether temporary
        self.errors: dict[tuple[str, bool], None] = {}
        self._end = 0
        try:
            if output != "-":
                self._open()
            if self._is_kept:
                self._end = self._scan(retry=retry)
            if self.old:
                copymode(self.path, self._part)
        except BaseException:
            self._close()
            raise

    def _open(self) -> None:
        if self.old and _is_given_up(self._part):
            self._part.unlink()
        self._file = open_to_append(self._part)
        self._is_kept = is_regular(self._file)
        if self.folder and not self._is_kept:
            raise errors.ConfigurationError(f"{self.path} is not a regular file")

    def _close(self) -> None:
        if self._file is not sys.stdout.buffer:
            self._file.close()
        if self.old:
            self.old._close()  # noqa: SLF001 - another of the same

    def skip(self, item: str) -> bool:
        """Return whether *item* has its row from an earlier run; if it is listed twice,
        it has two.
        """
        digest = self._digest_input(item)
        is_done = self._done[digest] > 0
        if is_done:
            self._done[digest] -= 1
            self.counts["there already"] += 1
        return is_done

    def _digest_input(self, item: str) -> int:
        """Return what counts the rows of an input: as it is listed, if it is."""
        key = self._find_key(item) if self._find_key else item
        return _digest(key)

    def _digest_page(self, item: str) -> int:
        find_key = self._find_key or identify
        return _digest(find_key(item))

    def find(self, item: str) -> dict[str, Any] | None:
        """Return the last row of *item*, or of a URL with the same canonical form."""
        offset = self._offsets.get(self._digest_page(item))
        if offset is None:
            return None
        with open_to_read(self._part) as file:
            file.seek(offset)
            return self._parse(file.readline())

    def recall(self, url: str) -> Page:
        """Return what the row of *url* says of its page, with its text.

        If somebody has edited the row, that may be nothing.
        """
        row = self.find(url) or {}
        text = None
        if self.folder and row.get("file"):
            if self.old:
                text = read_text(self.folder / f"{row['file']}{_PART}")
            if text is None:
                text = read_text(self.folder / row["file"])
        if text is not None:
            row["content"] = text.partition("\n---\n\n")[2][:-1]
        facts = {name: row[name] for name in _RECALLED if row.get(name)}
        try:
            return Page.model_validate({"url": url, **facts})
        except ValidationError:
            return Page(url=url, final_url=url, title="", content="")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        with open_to_read(self._part) as file:
            for line in file:
                row = self._parse(line)
                if row is not None:
                    yield row

    def _parse(self, line: bytes) -> dict[str, Any] | None:
        """Return a row; None if it is none that we could have written."""
        try:
            row = json.loads(line)
            _Row.model_validate(row)
            own_file = _name_file(str(row[self.key]))
        except (ValueError, RecursionError, KeyError):
            return None
        if row.get("file", own_file) != own_file:
            return None
        return dict(row)

    def find_validators(self, url: str, options: str) -> Validators | None:
        """Return those of the old row of *url*, if it was read with the same
        *options*.
        """
        old = self.old.find(url) if self.old else None
        # there are none, or somebody has edited the row
        with suppress(KeyError, TypeError, ValueError):
            return Validators.model_validate((old or {})["validators"][options])
        return None

    def keep_validators(
        self, url: str, options: str, validators: Validators | None
    ) -> None:
        """Write *validators* into the next row of *url*."""
        if validators:
            self._validators[identify(url)] = {
                options: validators.model_dump(exclude_defaults=True)
            }

    def add(
        self, item: str, answer: Page | SearchResponse | errors.WebSearchError
    ) -> dict[str, Any]:
        """Write the row of *item*, and return it. Its ``changed`` says what is new to
        the old rows.

        An old row with an answer stays if there is none now, but may be one later:
        ``refresh_error`` says why.
        """
        old = self.old.find(item) if self.old else None
        if self._find_key and old:
            item = old.get(self.key, item)
        row = {self.key: item, **row_as_json(answer), self.key: item}
        if isinstance(answer, errors.WebSearchError):
            # as pages have it: when it failed
            row["fetched_at"] = now().isoformat().replace("+00:00", "Z")
        facts = _find_fresh_facts(old, answer, row)
        if old and facts:
            old.pop("refresh_error", None)
            # at the beginning, where the next run looks for an error
            row = {self.key: item, **facts, **old, **facts, self.key: item}
            row["changed"] = "same"
            self.write(row)
            return row
        validators = self._validators.pop(identify(item), None)
        if not validators:
            earlier = self.find(item) or {}
            validators = earlier.get("validators")
        if validators:
            row["validators"] = validators
        row["changed"] = _describe_change(old, row)
        if self.folder is not None and isinstance(answer, Page):
            row["file"] = self._write_text(self.folder, row)
            del row["content"]
        self.write(row)
        return row

    def write(self, row: Mapping[str, Any]) -> None:
        """Write a row as it is."""
        self._note(row.get("refresh_error") or row.get("error"))
        line = escape_json(json.dumps(row, ensure_ascii=False)).encode() + b"\n"
        # a disk that is full takes a part first; the next run cuts that off
        while line:
            line = line[self._file.write(line) :]
        self._file.flush()
        if self._is_kept:
            self._offsets[self._digest_page(row[self.key])] = self._end
            self._end = self._file.tell()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        _: TracebackType | None,
    ) -> None:
        if self._is_kept:
            os.fsync(self._file.fileno())
        self._close()
        if self.old and kind is None:
            self._replace(self.old)

    def _replace(self, old: Rows) -> None:
        """Put the new rows in the place of the old ones, and their texts."""
        dropped = self._drop_unlisted()
        if self.folder:
            names = {str(row["file"]) for row in self if row.get("file")}
            before = {str(row["file"]) for row in old if row.get("file")}
            for name in (before | dropped) - names:
                (self.folder / name).unlink(missing_ok=True)
                (self.folder / f"{name}{_PART}").unlink(missing_ok=True)
            for name in names:
                with suppress(FileNotFoundError):  # its text is the same
                    (self.folder / f"{name}{_PART}").replace(self.folder / name)
        self._part.replace(self._place)

    def _drop_unlisted(self) -> set[str]:
        """Leave out the rows that an interrupted refresh wrote for inputs that this run
        did not have; return the names of their files.
        """
        left = +self._done
        numbers = set[int]()
        files = set[str]()
        with open_to_read(self._part) as file:
            for number, line in enumerate(file, 1):
                row = self._parse(line)
                if row is None:
                    continue
                digest = self._digest_input(str(row[self.key]))
                if not left[digest]:
                    continue
                left[digest] -= 1
                numbers.add(number)
                files.add(str(row.get("file") or ""))
        if numbers:
            self._file = open_to_append(self._part)
            self._leave_out(numbers)
            self._file.close()
        return files - {""}

    def _note(self, error: Mapping[str, Any] | None) -> None:
        if error:
            is_temporary = bool(error.get("temporary"))
            self.errors[str(error.get("code", "")), is_temporary] = None

    def _write_text(self, folder: Path, row: Mapping[str, Any]) -> str:
        """Write the text of a page into a file, whole or not at all, and return its
        name.
        """
        name = _name_file(row[self.key])
        place = folder / name
        if self.old:
            place = folder / f"{name}{_PART}"
        facts = "".join(
            f"{fact}: {json.dumps(row[fact], ensure_ascii=False)}\n" for fact in _FACTS
        )
        text = f"---\n{facts}---\n\n{row['content']}\n"
        with replacing(place) as file:
            file.write(text.encode("utf-8", "backslashreplace"))
        return name

    def _scan(self, *, retry: bool) -> int:
        """Learn what is there, and cut off a half-written last line; return where the
        file then ends.
        """
        end = 0
        left_out = set[int]()
        with open_to_read(self._part) as file:
            for number, line in enumerate(file, 1):
                text = line.decode("utf-8", "replace").rstrip("\0")
                is_half = not text.endswith("\n")
                if is_half and self._may_be_a_row(text):
                    break
                ends = self._read_ends(text)
                if ends is None:
                    raise errors.ConfigurationError(
                        f"{self.path}, line {number}: not a row of this command: name "
                        f"another"
                    )
                is_broken = not text.rstrip().endswith("}") or "\0" in text
                may_succeed = retry and ends.is_final and ends.error.get("temporary")
                if is_broken or may_succeed:
                    left_out.add(number)
                    continue
                self._note(ends.error)
                self._done[self._digest_input(ends.item)] += 1
                self._offsets[self._digest_page(ends.item)] = end
                end += len(line)
        if left_out:
            self._leave_out(left_out)
        self._file.truncate(end)
        return end

    def _may_be_a_row(self, text: str) -> bool:
        begin = f'{{"{self.key}": '
        return text.startswith(begin) or begin.startswith(text)

    def _read_ends(self, text: str) -> _Ends | None:
        """Return the input and the error of a row; None if it is none.

        The rest of the row, which may be long, is not parsed.
        """
        begin = f'{{"{self.key}": '
        decode = json.JSONDecoder().raw_decode
        if not text.startswith(begin):
            return None
        try:
            item, place = decode(text, len(begin))
        except (ValueError, RecursionError):
            return None
        if not isinstance(item, str):
            return None
        mark = _ERROR.match(text, place)
        if mark is None:
            return _Ends(item, {}, is_final=False)
        try:
            error, _ = decode(text, mark.end())
        except (ValueError, RecursionError):
            error = {}
        return _Ends(item, error, is_final="status" in mark[0])

    def _leave_out(self, numbers: set[int]) -> None:
        """Write the file again without the lines of these *numbers*."""
        mode = find_mode(self._file)
        with open_to_read(self._part) as file, replacing(self._part, mode) as rest:
            for number, line in enumerate(file, 1):
                if number not in numbers:
                    rest.write(line)
        self._file.close()
        self._file = open_to_append(self._part)


def _find_fresh_facts(
    old: Mapping[str, Any] | None, answer: object, row: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what is new if the *old* row stays; nothing if it does not."""
    has_page = old is not None and old.get("status") == "success"
    if has_page and getattr(answer, "temporary", False):
        return {"refresh_error": {**row["error"], "fetched_at": row["fetched_at"]}}
    if getattr(answer, "status", None) == UNCHANGED:
        return {"fetched_at": row["fetched_at"]}
    return {}


def _describe_change(
    old: Mapping[str, Any] | None, row: Mapping[str, Any]
) -> str | None:
    """Return what is new in a row; None for an error, which has no hash."""
    before = old.get("hash") if old else None
    after: str | None = row.get("hash")
    if not after:
        return None
    if before is None:
        return "new"
    return "same" if after == before else "changed"


def _is_given_up(part: Path) -> bool:
    """Return whether the rows of an interrupted refresh are too old to go on with."""
    try:
        age = time() - part.stat().st_mtime
    except FileNotFoundError:
        return False
    return age > _MAX_PAUSE


def _name_file(item: str) -> str:
    """Return the name of the file with the text of a page."""
    page = identify(item)
    words = re.sub(r"[^\w.]+", "-", page.partition("://")[2])[:80].strip("-.")
    return f"{words}-{_digest(page):016x}.md"


def _digest(text: str) -> int:
    return int.from_bytes(
        blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).digest(), "big"
    )


def write_rows(
    ask: Callable[..., AsyncGenerator[tuple[Any, Any]]],
    items: str | Sequence[str],
    rows: Rows,
    *,
    column: str | None = None,
) -> None:
    """Write a row for each of *items*, a list or a file of them (see `read_items`), as
    it is answered.

    *ask* yields items with their answers. Exit with the code of the first error in the
    output.
    """
    lines = read_items(items, rows.key, column)
    # a pipe, which is read once
    is_live = items == "-" or (isinstance(items, str) and not Path(items).is_file())
    total = None if is_live else sum(1 for _ in read_items(items, rows.key, column))

    async def write() -> None:
        picks = _pick(lines, rows, progress, is_live=is_live)
        async with aclosing(ask(picks)) as answers:
            async for item, answer in answers:
                if isinstance(answer, _FOR_ALL):
                    raise answer
                progress.report(rows.add(item, answer))

    doing = "Reading" if rows.key == "url" else "Searching"
    began = monotonic()
    with rows, show_progress(doing, total) as step:
        if isinstance(items, str):
            _refuse_list_itself(items, rows.path)
        progress = _Progress(rows.counts, began, total, step)
        try:
            asyncio.run(write())
            if rows.old and not rows.counts:
                raise errors.InvalidOption(
                    "--refresh: the list is empty, and would leave nothing of the "
                    "output"
                )
        finally:
            progress.print_summary(rows.path)
    if rows.errors:
        code, _ = next(iter(rows.errors))
        raise typer.Exit(_STATUSES.get(code, 1))


@dataclass(frozen=True)
class _Progress:
    """Says how far a run is."""

    counts: Counter[str]
    began: float
    total: int | None  # how many inputs there are, if that is clear
    step: Callable[[str], None]

    def report(self, row: dict[str, Any]) -> None:
        self.counts[_describe_outcome(row)] += 1
        number = self.counts.total() - self.counts["there already"]
        rate = number / max(monotonic() - self.began, 0.001)
        left = ""
        if self.total is not None:
            left = f", {(self.total - self.counts.total()) / rate:.0f} s left"
        self.step(f"{self._describe()}; {rate:.1f}/s{left}")

    def print_summary(self, path: Path) -> None:
        seconds = monotonic() - self.began
        done = f"{quantity(self.counts.total(), 'row')} after {seconds:.1f} s"
        summary = ": ".join(filter(None, [str(path), done, self._describe()]))
        typer.echo(escape_line(summary), err=True)

    def _describe(self) -> str:
        counts = self.counts.most_common()
        return ", ".join(f"{number} {what}" for what, number in counts)


async def _pick(
    items: Iterator[str], rows: Rows, progress: _Progress, *, is_live: bool
) -> AsyncGenerator[str]:
    """Yield the items that have no row yet, also not under another spelling."""
    while True:
        if is_live:
            item = await in_thread(lambda: next(items, ""))
        else:
            item = next(items, "")
        if not item:
            return
        if rows.skip(item):
            continue
        row = rows.find(item)
        if row:
            rows.write({**row, rows.key: item})
            progress.report(row)
        else:
            yield item


def _refuse_list_itself(source: str, output: Path) -> None:
    """Raise `InvalidOption` if the list would be written into itself."""
    path = Path(source)
    if source == "-":
        path = Path("/dev/stdin")
    if not path.exists() or not output.exists():
        return
    if path.samefile(output):
        raise errors.InvalidOption(
            "--output: this is the list itself, which would never end; name another "
            "file"
        )


def _describe_outcome(row: Mapping[str, Any]) -> str:
    """Return what became of an input, in a word."""
    lost = row.get("refresh_error")
    if lost:
        return f"kept ({lost['code']})"
    error = row.get("error")
    if error:
        return str(error["code"])
    return str(row.get("changed") or "same")
