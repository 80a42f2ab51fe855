"""Commands whose input is a list, and whose output has a row for each line of it."""

from __future__ import annotations
import asyncio
import io
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from time import monotonic
from typing import Any, TextIO

import typer

from .._runtime.threads import in_thread
from .._text.quantity import quantity
from ..errors import AuthenticationError, BudgetExceeded, ConfigurationError, QuotaExhausted, WebSearchError
from .escaping import escape_line
from .output import exit_code, show_progress
from .rows import Rows

_FOR_ALL = (AuthenticationError, BudgetExceeded, ConfigurationError, QuotaExhausted)  # the other lines fail, too


def write_rows(
    ask: Callable[[Any], AsyncGenerator[tuple[str, Any]]],
    items: str | Sequence[str],
    output: str | None,
    *,
    key: str = "url",
    refresh: bool = False,
    gets_rows: bool = False,
) -> None:
    """Write a row to *output* for each of *items* as it is answered; exit with the code of the first error.

    Args:
        ask: Yields items with their answers.
        items: The lines of a file, ``-`` for standard input; or a list of them.
        output: The output of `Rows`; by default standard output.
        key: The field of a row that has the item.
        refresh: As for `Rows`.
        gets_rows: Whether *ask* finds its own items, and gets the `Rows` instead.
    """
    total = None if items == "-" else sum(1 for _ in _find_lines(_open(items)))
    lines, output = _open(items), output or "-"
    doing = "Reading" if key == "url" else "Searching"
    with Rows(output, key, refresh=refresh) as rows, show_progress(doing, total) as step:
        tally = _Tally(total, step)

        async def pick() -> AsyncGenerator[str]:
            while line := await in_thread(lines.readline) if lines is sys.stdin else lines.readline():
                for item in _find_lines([line]):
                    if rows.skip(item):
                        tally.kept += 1
                    elif same := rows.find(item):  # another spelling of it
                        rows.write({**same, key: item})
                        tally.count(same)
                    else:
                        yield item

        async def write() -> None:
            async with aclosing(ask(rows if gets_rows else pick())) as answers:
                async for item, answer in answers:
                    if isinstance(answer, _FOR_ALL):
                        raise answer
                    tally.code = tally.code or (exit_code(type(answer)) if isinstance(answer, WebSearchError) else 0)
                    tally.count(rows.add(item, answer))

        try:
            asyncio.run(write())
        finally:
            typer.echo(escape_line(tally.describe(output)), err=True)
    if tally.code:
        raise typer.Exit(tally.code)


class _Tally:
    """What was done, and how it went."""

    def __init__(self, total: int | None, step: Callable[[str], None]) -> None:
        self.kept = self.code = 0
        self._total, self._step, self._began = total, step, monotonic()
        self._failures: Counter[str] = Counter()
        self._changes: Counter[str] = Counter()

    def count(self, row: Mapping[str, Any]) -> None:
        """Count a row, and show how far it is."""
        if row["error"]:
            self._failures[row["error"]["code"]] += 1
        else:
            self._changes[row["changed"]] += 1
        done, seconds = self._failures.total() + self._changes.total(), monotonic() - self._began
        left = ""
        if self._total is not None:
            left = f", {(self._total - self.kept - done) * seconds / done / 60:.0f} min left"
        self._step(f"{self._describe_failures()}{done / max(seconds, 0.001):.1f}/s{left}")

    def describe(self, output: str) -> str:
        """Return a summary in a line."""
        done = self._failures.total() + self._changes.total()
        changes = ", ".join(f"{number} {what}" for what, number in sorted(self._changes.items()))
        parts = [changes, self._describe_failures().rstrip("; "), f"{self.kept} there already" if self.kept else ""]
        shown = "; ".join(filter(None, parts))
        return (
            f"{quantity(done, 'row')} in {monotonic() - self._began:.1f} s to {output}{f': {shown}' if shown else ''}"
        )

    def _describe_failures(self) -> str:
        codes = ", ".join(f"{code} {number}" for code, number in self._failures.most_common())
        return f"{self._failures.total()} failed ({codes}); " if codes else ""


def _open(items: str | Sequence[str]) -> TextIO:
    if not isinstance(items, str):
        return io.StringIO("\n".join(items))
    return sys.stdin if items == "-" else Path(items).open(encoding="utf-8-sig", errors="replace")


def _find_lines(lines: Any) -> Any:
    """Yield what stands in *lines*, without empty ones and comments."""
    return (item for line in lines if (item := line.strip()) and not item.startswith("#"))
