"""``websearch index``."""

from __future__ import annotations
import dataclasses
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeGuard

import typer

from ..._text.quantity import quantity
from ..._text.urls import complete_url
from ...errors import ConfigurationError, DisallowedByRobots, WebSearchError
from ..arguments import Internal, TextOrJson, declare
from ..output import print_json, print_line, report_errors, show_progress

if TYPE_CHECKING:
    from ...index import Index, Report
    from ...models import Page


_MAX_ALIKE = 5  # lines with one reason; more are one line


def index(
    *,
    places: Annotated[
        list[str],
        typer.Argument(metavar="PATH_OR_URL", help="Files, folders, or web sites"),
    ],
    path: Annotated[
        Path | None,
        declare(
            "FILE",
            "The index file; by default that of WEB_SEARCH_INDEX, of the settings, or "
            "websearch/index.db in your "
            "data folder",
        ),
    ] = None,
    max_pages: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="Maximum number of pages to request from one site"
        ),
    ] = 200,
    internal: Internal = None,
    form: TextOrJson = "text",
) -> None:
    """Index folders and web sites for the provider 'local'.

    A site is crawled along its links, within the origin of the URL and as far as its
    robots.txt allows.
    """
    with report_errors(form):
        from ...client._selection import build_provider
        from ...settings import Settings

        local = build_provider("local", Settings.load(), path=path)
        reports = []
        for place in places:
            steps = max_pages if _is_site(place) else None
            with show_progress(f"Indexing {place}", steps) as report_step:
                report = _add(place, local, max_pages, internal, report_step)
            reports.append(report)
            if form == "text":
                _print_report(place, report, local.index)
        if form == "json":
            pairs = zip(places, map(dataclasses.asdict, reports), strict=True)
            print_json(
                {
                    "path": str(local.path),
                    "places": [{"place": place, **report} for place, report in pairs],
                }
            )
        if any(map(_has_failed, reports)):
            raise typer.Exit(1)


def _has_failed(report: Report) -> bool:
    """Return whether there was something to index, and nothing of it could be read."""
    return bool(report.skipped) and not report.added + report.unchanged


def _add(
    place: str,
    local: Any,
    max_pages: int,
    internal: list[str] | None,
    report_step: Callable[[str], None],
) -> Report:
    if _is_site(place):
        return _add_site(place, local, max_pages, internal, report_step)
    url = complete_url(place)
    if url and not Path(place).exists():
        raise ConfigurationError(
            f"{place}: no such file or folder; did you mean {url}?"
        )
    report: Report = local.index.add_folder(Path(place), report_step)
    return report


def _add_site(
    place: str,
    local: Any,
    max_pages: int,
    internal: list[str] | None,
    report_step: Callable[[str], None],
) -> Report:
    from ...client import WebSearch
    from ...client._crawl import Crawl

    with WebSearch(local, reader="direct", internal=internal) as web:
        crawl = Crawl(
            web, place, {"limit": max_pages, "scope": "host", "max_length": sys.maxsize}
        )
        with closing(crawl.rows()) as rows:
            first_rows = [*islice(rows, 2)]
            start = first_rows[0][1]
            if _is_failure(start) and len(first_rows) == 1:  # and no sitemap has more
                raise start
            pages = chain(first_rows, rows)
            report: Report = local.index.add_pages(pages, report_step)
        return dataclasses.replace(report, left=crawl.left)


def _is_failure(answer: Page | WebSearchError) -> TypeGuard[WebSearchError]:
    """Return whether a start has failed; one that robots.txt closes is skipped."""
    if isinstance(answer, DisallowedByRobots):
        return False
    return isinstance(answer, WebSearchError)


def _is_site(place: str) -> bool:
    return place.lower().startswith(("http://", "https://"))


def _print_report(place: str, report: Report, index: Index) -> None:
    counts = (
        f"{quantity(report.added, 'page')} added, {report.unchanged} unchanged, "
        f"{report.removed} removed"
    )
    print_line(f"{place}: {counts}, {len(report.skipped)} skipped, in {index.path}")
    reasons: dict[str, list[str]] = {}
    for skipped in report.skipped:
        reasons.setdefault(skipped.why, []).append(skipped.what)
    for why, names in reasons.items():
        if len(names) > _MAX_ALIKE:
            others = quantity(len(names) - 1, "other")
            print_line(f"  skipped {names[0]} and {others}: {why}")
            continue
        for name in names:
            print_line(f"  skipped {name}: {why}")
    if report.left:
        print_line(
            f"  {quantity(report.left, 'more link')} not followed: raise --max-pages"
        )
