"""``websearch crawl``."""

from __future__ import annotations
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..._text.vocabulary import Scope
from ...errors import InvalidOption, Unavailable
from ..arguments import Internal, NoCache, Timeout, declare, open_web
from ..completion import complete_reader
from ..inputs import Output, Refresh, check_rows, check_url
from ..output import print_line, report_errors

if TYPE_CHECKING:
    from ...client._crawl import Crawl
    from ...models import Page
    from ..rows import Rows


def crawl(
    *,
    starts: Annotated[
        list[str],
        typer.Argument(metavar="URL", help="Where to begin; several sites at once"),
    ],
    output: Output = None,
    refresh: Refresh = False,
    only_urls: Annotated[
        bool,
        typer.Option("--list", help="Print URLs alone, and read no more than needed"),
    ] = False,
    limit: Annotated[
        int | None, declare("N", "Pages of each site; 200, or 5000 with --list")
    ] = None,
    depth: Annotated[
        int | None, declare("N", "Links from the start; 10, or 1 with --list")
    ] = None,
    scope: Annotated[
        Scope, declare(Scope, "What of the start all pages have")
    ] = "path",
    include: Annotated[
        list[str] | None,
        declare("PATTERN", "Read only pages with such a path: '/guide/*'; repeatable"),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        declare("PATTERN", "Leave out pages with such a path: '*/print'; repeatable"),
    ] = None,
    sitemaps: Annotated[
        bool, typer.Option(help="Begin with sitemaps and llms.txt, too")
    ] = True,
    reader: Annotated[
        str | None,
        declare("NAME", "The reader", "--reader -r", complete=complete_reader),
    ] = None,
    internal: Internal = None,
    timeout: Timeout = None,
    no_cache: NoCache = False,
) -> None:
    """Read the pages of sites that robots.txt allows: a row for each."""
    from ...client._crawl import Crawl, identify_crawled
    from ..revalidation import Revalidation
    from ..rows import Rows, write_rows

    far: Any = {
        "limit": limit,
        "depth": depth,
        "scope": scope,
        "include": include,
        "exclude": exclude,
        "sitemaps": sitemaps,
    }
    part: Any = {"max_length": sys.maxsize}
    # only when all arguments are right
    rows = cache(
        lambda: Rows(
            output or "-", refresh=refresh, retry=True, find_key=identify_crawled
        )
    )
    arguments: Any = {
        "layers": [] if only_urls else [Revalidation(rows, part)],
        "reader": reader,
        "internal": internal,
        "timeout": timeout,
    }
    doing = "Listing" if only_urls else ""
    with (
        report_errors("text"),
        open_web(doing, {}, no_cache=no_cache, **arguments) as web,
    ):
        has_output = bool(output or refresh)
        if only_urls and has_output:
            raise InvalidOption(
                "--output and --refresh: not with --list, which prints URLs: write > "
                "FILE"
            )
        check_rows(output, refresh=refresh)
        urls = list(map(check_url, starts))
        if only_urls:
            crawl = Crawl(web, urls, far, only_urls=True)
            for url in crawl.list_urls(crawl.rows()):
                print_line(url)
            raise typer.Exit(min(crawl.failed, 1))

        def look_up(url: str) -> Page | None:
            return rows().recall(url) if rows().skip(url) else None

        crawl = Crawl(web, urls, far | part, look_up=look_up)
        write_rows(lambda _: _crawl_pages(crawl, rows()), "-", rows())


async def _crawl_pages(crawl: Crawl, rows: Rows) -> AsyncGenerator[tuple[str, Any]]:
    """Yield the pages of a crawl, and the error of those that it may have missed."""
    async with aclosing(crawl.arows()) as pages:
        async for url, page in pages:
            if not rows.skip(url):  # a start is read each time
                yield url, page
    if crawl.failed:
        rows.errors["unavailable", True] = None
    if any(is_temporary for _, is_temporary in rows.errors):
        for url in _find_unasked(rows):
            yield (
                url,
                Unavailable("not asked for: what leads to it may have failed"),
            )
    if crawl.left:
        typer.echo(f"{crawl.left} more pages were found: raise --limit", err=True)


def _find_unasked(rows: Rows) -> Iterator[str]:
    """Yield the pages that have a row from before, and none of this run."""
    for row in rows.old or ():
        if row.get("status") == "success" and not rows.find(row["url"]):
            yield row["url"]
