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
import stat
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, nullcontext, suppress
from hashlib import blake2b
from io import TextIOWrapper
from pathlib import Path
from shutil import copymode
from time import monotonic
from types import TracebackType
from typing import Any, BinaryIO, Self

import typer

from .. import errors
from .._runtime.threads import in_thread
from .._text.escaping import escape_json, escape_line
from .._text.quantity import quantity
from .._text.urls import identify
from ..layers._caching.http import UNCHANGED, Validators
from ..models import Page, SearchResponse
from ..render import row_as_json
from .output import exit_code, show_progress

# what stands before that of a row
_ERROR = re.compile(', "(?:status": "error", "error|refresh_error)": (?={)')
_STATUSES = {
    kind.code: exit_code(kind)
    for name in errors.__all__
    if hasattr(kind := getattr(errors, name), "locate")
}
# After these, the other items fail, too.
_FOR_ALL = (
    errors.AuthenticationError,
    errors.BudgetExceeded,
    errors.ConfigurationError,
    errors.QuotaExhausted,
)
_INDEX = "index.jsonl"  # in a folder: the rows, whose texts stand in files of their own
# what a crawl goes on with
_RECALLED = ("url", "final_url", "title", "content", "canonical_url", "links")
_FACTS = ("url", "title", "fetched_at", "hash")  # at the top of such a file


class Rows:
    """The rows of one output, in a ``with`` block. Each is written at once, or not at
    all.

    The *output* is a file, a folder if it exists or ends with ``/``, or ``-`` for
    standard output; the field *key* of a row has the input. A *refresh* writes all rows
    again, beside the output, and replaces it at the end; ``old`` has the rows of
    before. A file with other lines than such rows is a `ConfigurationError`. Rows that
    are broken are left out; with *retry*, those with a temporary error, too.
    """

    def __init__(
        self,
        output: str,
        key: str = "url",
        *,
        refresh: bool = False,
        retry: bool = False,
    ) -> None:
        self.key = key
        self.folder = (
            Path(output) if output.endswith("/") or Path(output).is_dir() else None
        )
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        self.path = self.folder / _INDEX if self.folder else Path(output)
        self.old = Rows(output, key) if refresh and self.path.is_file() else None
        place = self.path.resolve()  # what a link leads to
        self._part = place.with_name(f"{place.name}.part") if self.old else place
        self._file: BinaryIO = (
            sys.stdout.buffer if output == "-" else self._part.open("ab+", buffering=0)
        )
        self._is_kept = output != "-" and stat.S_ISREG(
            os.fstat(self._file.fileno()).st_mode
        )
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
        try:
            self._end = self._scan(retry=retry) if self._is_kept else 0
            if self.old:
                copymode(self.path, self._part)
        except BaseException:
            self._file.close()
            raise

    def skip(self, item: str) -> bool:
        """Return whether *item* has its row from an earlier run; if it is listed twice,
        it has two.
        """
        if is_done := self._done[_digest(item)] > 0:
            self._done[_digest(item)] -= 1
            self.counts["there already"] += 1
        return is_done

    def find(self, item: str) -> dict[str, Any] | None:
        """Return the last row of *item*, or of a URL with the same canonical form."""
        offset = self._offsets.get(_digest(identify(item)))
        if offset is None:
            return None
        with self._part.open("rb") as file:
            file.seek(offset)
            row: dict[str, Any] = json.loads(file.readline())
        return row

    def recall(self, url: str) -> Page:
        """Return what the row of *url* says of its page, with its text."""
        row = self.find(url) or {}
        if self.folder and (file := self.folder / row.get("file", "")).is_file():
            row["content"] = file.read_text("utf-8").partition("\n---\n\n")[2][:-1]
        return Page.model_validate(
            {"url": url} | {name: row[name] for name in _RECALLED if row.get(name)}
        )

    def __iter__(self) -> Iterator[dict[str, Any]]:
        with self._part.open("rb") as file:
            yield from map(json.loads, file)

    def find_validators(self, url: str, options: str) -> Validators | None:
        """Return those of the old row of *url*, if it was read with the same
        *options*.
        """
        old = self.old.find(url) if self.old else None
        # there are none, or somebody has edited the row
        with suppress(KeyError, TypeError, ValueError):
            return (
                Validators.model_validate(old["validators"][options]) if old else None
            )
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
        old, said = (
            (self.old.find(item) if self.old else None) or {},
            row_as_json(answer),
        )
        is_lost = getattr(answer, "temporary", False) and old.get("status") == "success"
        if old and (is_lost or getattr(answer, "status", None) == UNCHANGED):
            old.pop("refresh_error", None)
            now = (
                {"refresh_error": said["error"]}
                if is_lost
                else {"fetched_at": said["fetched_at"]}
            )
            row = {
                self.key: item,
                **now,
                **old,
                **now,
                self.key: item,
                "changed": "same",
            }
            self.write(row)
            return row
        row = {self.key: item, **said, self.key: item}
        same = self._validators.pop(identify(item), None) or (
            self.find(item) or {}
        ).get("validators")
        row |= {"validators": same} if same else {}
        before, after = old.get("hash"), row.get("hash")  # an error has none
        row["changed"] = after and (
            "new" if before is None else "same" if after == before else "changed"
        )
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
            self._offsets[_digest(identify(row[self.key]))] = self._end
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
        if self._file is not sys.stdout.buffer:
            self._file.close()
        if self.old:
            self.old.__exit__(kind, error, None)
            if kind is None and self.folder:
                for name in {row.get("file", "") for row in self.old} - {
                    "",
                    *(row.get("file", "") for row in self),
                }:
                    (self.folder / Path(name).name).unlink(missing_ok=True)
            if kind is None:
                self._part.replace(self.path.resolve())

    def _note(self, error: Mapping[str, Any] | None) -> None:
        self.errors |= (
            {(error.get("code", ""), bool(error.get("temporary"))): None}
            if error
            else {}
        )

    def _write_text(self, folder: Path, row: Mapping[str, Any]) -> str:
        """Write the text of a page into a file, whole or not at all, and return its
        name.
        """
        page = identify(row["url"])
        words = re.sub(r"[^\w.]+", "-", page.partition("://")[2])[:80].strip("-.")
        name = f"{words}-{_digest(page):016x}.md"
        facts = "".join(
            f"{fact}: {json.dumps(row[fact], ensure_ascii=False)}\n" for fact in _FACTS
        )
        part = folder / f".{name}.part"
        part.write_text(
            f"---\n{facts}---\n\n{row['content']}\n", "utf-8", "backslashreplace"
        )
        part.replace(folder / name)
        return name

    def _scan(self, *, retry: bool) -> int:
        """Learn what is there, and cut off a half-written last line; return where the
        file then ends.
        """
        end, begin, left_out, decode = (
            0,
            f'{{"{self.key}": ',
            set[int](),
            json.JSONDecoder().raw_decode,
        )
        with self._part.open("rb") as file:
            for number, line in enumerate(file, 1):
                text, item, found, error = (
                    line.decode("utf-8", "replace").rstrip("\0"),
                    None,
                    None,
                    dict[str, Any](),
                )
                if text.startswith(begin) or begin.startswith(text):
                    if not text.endswith("\n"):
                        break
                    with suppress(ValueError, RecursionError):
                        item, at = decode(text, len(begin))
                        error = (
                            decode(text, found.end())[0]
                            if (found := _ERROR.match(text, at))
                            else {}
                        )
                if not isinstance(item, str):
                    raise errors.ConfigurationError(
                        f"{self.path}, line {number}: not a row of this command: name "
                        f"another"
                    )
                is_broken = not text.rstrip().endswith("}") or "\0" in text
                if is_broken or (
                    retry and found and "status" in found[0] and error.get("temporary")
                ):
                    left_out.add(number)
                    continue
                self._note(error)
                self._done[_digest(item)] += 1
                self._offsets[_digest(identify(item))] = end
                end += len(line)
        if left_out:
            rest = self._part.with_name(f"{self._part.name}.rest")
            with self._part.open("rb") as file, rest.open("wb") as new:
                copymode(self._part, rest)
                new.writelines(
                    line
                    for number, line in enumerate(file, 1)
                    if number not in left_out
                )
            self._file.close()
            self._file = rest.replace(self._part).open("ab+", buffering=0)
        self._file.truncate(end)
        return end


def _digest(text: str) -> int:
    return int.from_bytes(
        blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).digest(), "big"
    )


def write_rows(
    ask: Callable[..., AsyncGenerator[tuple[Any, Any]]],
    items: str | Sequence[str],
    rows: Rows,
) -> None:
    """Write a row for each of *items*, the lines of a file (``-`` is standard input) or
    a list, as it is answered.

    *ask* yields items with their answers. Exit with the code of the first error in the
    output.
    """
    counts, began, lines = rows.counts, monotonic(), _read_items(items)
    # a pipe, which is read once
    is_live = items == "-" or (isinstance(items, str) and not Path(items).is_file())
    total = None if is_live else sum(1 for _ in _read_items(items))

    async def pick() -> AsyncGenerator[str]:
        while (
            item := await in_thread(lambda: next(lines, ""))
            if is_live
            else next(lines, "")
        ):
            if rows.skip(item):
                continue
            if same := rows.find(item):  # another spelling of it
                rows.write({**same, rows.key: item})
                report(same)
            else:
                yield item

    async def write() -> None:
        async with aclosing(ask(pick())) as answers:
            async for item, answer in answers:
                if isinstance(answer, _FOR_ALL):
                    raise answer
                report(rows.add(item, answer))

    def report(row: dict[str, Any]) -> None:
        kept = row.get("refresh_error")
        counts[
            f"kept ({kept['code']})"
            if kept
            else row["error"]["code"]
            if row["error"]
            else row["changed"]
        ] += 1
        rate = (counts.total() - counts["there already"]) / max(
            monotonic() - began, 0.001
        )
        left = (
            "" if total is None else f", {(total - counts.total()) / rate:.0f} s left"
        )
        step(f"{describe()}; {rate:.1f}/s{left}")

    def describe() -> str:
        return ", ".join(f"{number} {what}" for what, number in counts.most_common())

    listed = (
        Path("/dev/stdin" if items == "-" else items)
        if isinstance(items, str)
        else None
    )
    with (
        rows,
        show_progress("Reading" if rows.key == "url" else "Searching", total) as step,
    ):
        if (
            listed
            and listed.exists()
            and rows.path.exists()
            and listed.samefile(rows.path)
        ):
            raise errors.InvalidOption(
                "--output: this is the list itself, which would never end; name "
                "another file"
            )
        try:
            asyncio.run(write())
            if rows.old and not counts:
                raise errors.InvalidOption(
                    "--refresh: the list is empty, and would leave nothing of the "
                    "output"
                )
        finally:
            done = (
                f"{quantity(counts.total(), 'row')} after {monotonic() - began:.1f} s"
            )
            typer.echo(
                escape_line(
                    ": ".join(filter(None, [str(rows.path), done, describe()]))
                ),
                err=True,
            )
    if rows.errors:
        raise typer.Exit(_STATUSES.get(next(iter(rows.errors))[0], 1))


def _read_items(items: str | Sequence[str]) -> Iterator[str]:
    """Yield the items, without empty lines and comments."""
    source: Any = nullcontext(items)
    if isinstance(items, str):
        file = sys.stdin.buffer if items == "-" else Path(items).open("rb")  # noqa: SIM115 - closed below
        source = TextIOWrapper(file, encoding="utf-8-sig", errors="replace")
    with source as lines:
        for line in lines:
            if (item := line.strip()) and not item.startswith("#"):
                yield item
