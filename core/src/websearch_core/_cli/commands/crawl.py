"""``websearch crawl``."""

from __future__ import annotations
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import cache
from typing import Annotated, Any

import typer

from ..._text.vocabulary import Scope
from ...errors import InvalidOption, Unavailable
from ..arguments import Internal, NoCache, Timeout, declare, open_web
from ..completion import complete_reader
from ..inputs import Output, Refresh, check_rows
from ..output import print_line, report_errors


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

    far: Any = {"limit": limit, "depth": depth, "scope": scope, "sitemaps": sitemaps}
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
    }
    arguments |= {"internal": internal, "timeout": timeout}
    with (
        report_errors("text"),
        open_web(
            "Listing" if only_urls else "", {}, no_cache=no_cache, **arguments
        ) as web,
    ):
        if only_urls and (output or refresh):
            raise InvalidOption(
                "--output and --refresh: not with --list, which prints URLs: write > "
                "FILE"
            )
        check_rows(output, refresh=refresh)
        if only_urls:
            crawl = Crawl(web, starts, far, only_urls=True)
            for url in crawl.list_urls(crawl.rows()):
                print_line(url)
            raise typer.Exit(min(crawl.failed, 1))
        crawl = Crawl(
            web,
            starts,
            far | part,
            find_known=lambda url: rows().recall(url) if rows().skip(url) else None,
        )

        async def ask(_: object) -> AsyncGenerator[tuple[str, Any]]:
            async with aclosing(crawl.arows()) as pages:
                async for url, page in pages:
                    if not rows().skip(url):  # a start is read each time
                        yield url, page
            rows().errors |= {("unavailable", True): None} if crawl.failed else {}
            if any(is_temporary for _, is_temporary in rows().errors):
                for row in rows().old or ():
                    if row.get("status") == "success" and not rows().find(row["url"]):
                        yield (
                            row["url"],
                            Unavailable(
                                "not asked for: what leads to it may have failed"
                            ),
                        )
            if crawl.left:
                typer.echo(
                    f"{crawl.left} more pages were found: raise --limit", err=True
                )

        write_rows(ask, "-", rows())
