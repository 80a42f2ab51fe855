"""``websearch usage``."""

from __future__ import annotations
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from ...errors import InvalidOption
from ..arguments import TextOrJson, declare
from ..completion import complete_name
from ..output import print_json, print_line, print_table, report_errors

if TYPE_CHECKING:
    from ...layers._amounts import Amount
    from ...layers._usage import Usage

By = Literal["day", "provider", "tenant"]
# day, provider and tenant; those that are added up are empty
_Row = tuple[str, str, str]


def usage(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PROVIDER",
            help="Only these providers",
            autocompletion=complete_name,
        ),
    ] = None,
    since: Annotated[
        str | None,
        declare("YYYY-MM-DD", "The first day to count, in UTC; by default, all days"),
    ] = None,
    by: Annotated[
        By | None, declare(By, "Add up all of a day, a provider or a tenant")
    ] = None,
    path: Annotated[
        Path | None,
        declare(
            "FILE",
            "The usage file; by default that of the settings, or websearch/usage.db in "
            "your data folder",
        ),
    ] = None,
    form: TextOrJson = "text",
) -> None:
    """Show what calls have used: calls, credits and dollars.

    A budget counts them. Costs are what the services said they charged, else estimates
    by their lists of prices.
    """
    with report_errors(form):
        from ...layers import Budget
        from ...layers._amounts import Amount
        from ...settings import Settings

        budget = Budget(usage_file=path)
        if path is None:
            options = Settings.load().layer_options("budget")
            places = {
                name: options[name].value
                for name in ("usage_file", "shared")
                if name in options
            }
            budget = Budget(**places)
        file = budget.find_store()
        entries = file.read(_parse_day(since))
        if names:
            entries = [entry for entry in entries if entry.provider in names]
        rows = _add_up(entries, by)
        total = sum((entry.amount for entry in entries), Amount())
        if form == "json":
            print_json({
                "path": str(file.path),
                "usage": [_as_json(row, amount) for row, amount in rows.items()],
                "total": _as_json(None, total),
            })  # fmt: skip
        elif not rows:
            print_line(f"Nothing is counted in {file.path}")
            print_line("Set a budget, such as WEB_SEARCH_BUDGET='1 USD/day'.")
        else:
            _print(rows, total)


def _parse_day(since: str | None) -> date | None:
    try:
        return date.fromisoformat(since) if since else None
    except ValueError:
        raise InvalidOption("--since: must be a day such as 2026-11-01") from None


def _add_up(entries: list[Usage], by: By | None) -> dict[_Row, Amount]:
    rows: dict[_Row, Amount] = {}
    for entry in entries:
        row = _find_row(entry, by)
        rows[row] = rows[row] + entry.amount if row in rows else entry.amount
    return rows


def _find_row(entry: Usage, by: By | None) -> _Row:
    """Return the row that an entry is counted in."""
    if by == "day":
        return entry.day, "", ""
    if by == "provider":
        return "", entry.provider, ""
    if by == "tenant":
        return "", "", entry.tenant
    return entry.day, entry.provider, entry.tenant


def _as_json(row: _Row | None, amount: Amount) -> dict[str, Any]:
    from ...layers._amounts import MILLION

    where = {
        name: value
        for name, value in zip(get_args(By), row or (), strict=False)
        if value
    }
    figures = {
        "calls": amount.calls // MILLION,
        "credits": amount.credits / MILLION,
        "usd": amount.usd / MILLION,
    }
    return {**where, **figures}


def _print(rows: dict[_Row, Amount], total: Amount) -> None:
    from ...layers._amounts import format_amount

    def show(amount: Amount) -> list[str]:
        return [
            format_amount(amount.of(unit), unit).partition(" ")[0]
            for unit in ("calls", "credits", "usd")
        ]

    indexes = _find_columns(rows) or [2]
    columns = [get_args(By)[index] for index in indexes]
    lines = []
    for row, amount in rows.items():
        cells = [row[index] for index in indexes]
        lines.append([*cells, *show(amount)])
    lines.append(["total", *[""] * (len(indexes) - 1), *show(total)])
    print_table([*columns, "calls", "credits", "USD"], lines)


def _find_columns(rows: Iterable[_Row]) -> list[int]:
    """Return the columns in which a row has a text."""
    columns = enumerate(zip(*rows, strict=True))
    return [index for index, cells in columns if any(cells)]
