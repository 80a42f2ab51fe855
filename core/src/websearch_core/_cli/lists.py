"""Commands whose input is a list, and whose output has a row for each line of it."""

from __future__ import annotations
import asyncio
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, nullcontext
from pathlib import Path
from time import monotonic
from typing import Any

import typer

from .._runtime.threads import in_thread
from .._text.quantity import quantity
from ..errors import AuthenticationError, BudgetExceeded, ConfigurationError, QuotaExhausted, WebSearchError
from .escaping import escape_line
from .output import exit_code, show_progress
from .rows import Rows

_FOR_ALL = (AuthenticationError, BudgetExceeded, ConfigurationError, QuotaExhausted)  # the other items fail, too


def write_rows(ask: Callable[..., AsyncGenerator[tuple[Any, Any]]], items: str | Sequence[str], rows: Rows) -> None:
    """Write a row for each of *items*, the lines of a file (``-`` is standard input) or a list, as it is answered.

    *ask* yields items with their answers. Exit with the code of the first error.
    """
    counts: Counter[str] = Counter()
    began, code, lines = monotonic(), 0, _read_items(items)
    total = None if items == "-" else sum(1 for _ in _read_items(items))

    async def pick() -> AsyncGenerator[str]:
        while item := await in_thread(lambda: next(lines, "")) if items == "-" else next(lines, ""):
            if rows.skip(item):
                counts["there already"] += 1
            elif same := rows.find(item):  # another spelling of it
                rows.write({**same, rows.key: item})
                report(same)
            else:
                yield item

    async def write() -> None:
        nonlocal code
        async with aclosing(ask(pick())) as answers:
            async for item, answer in answers:
                if isinstance(answer, _FOR_ALL):
                    raise answer
                code = code or (exit_code(type(answer)) if isinstance(answer, WebSearchError) else 0)
                report(rows.add(item, answer))

    def report(row: dict[str, Any]) -> None:
        counts[row["error"]["code"] if row["error"] else row["changed"]] += 1
        rate = (counts.total() - counts["there already"]) / max(monotonic() - began, 0.001)
        left = "" if total is None else f", {(total - counts.total()) / rate:.0f} s left"
        step(f"{describe()}; {rate:.1f}/s{left}")

    def describe() -> str:
        return ", ".join(f"{number} {what}" for what, number in counts.most_common()) or "nothing to do"

    with rows, show_progress("Reading" if rows.key == "url" else "Searching", total) as step:
        try:
            asyncio.run(write())
        finally:
            done = f"{quantity(counts.total(), 'row')} after {monotonic() - began:.1f} s"
            typer.echo(escape_line(f"{rows.path}: {done}: {describe()}"), err=True)
    if code:
        raise typer.Exit(code)


def _read_items(items: str | Sequence[str]) -> Iterator[str]:
    """Yield the items, without empty lines and comments."""
    source: Any = nullcontext(sys.stdin)
    if isinstance(items, str) and items != "-":
        source = Path(items).open(encoding="utf-8-sig", errors="replace")  # noqa: SIM115 - entered below
    with source as file:
        for line in file if isinstance(items, str) else items:
            if (item := line.strip()) and not item.startswith("#"):
                yield item
