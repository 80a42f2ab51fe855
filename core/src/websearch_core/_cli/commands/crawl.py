"""``websearch crawl``."""

from __future__ import annotations
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any

import typer

from ..._text.vocabulary import Scope
from ...errors import InvalidOption
from ..arguments import Internal, NoCache, Timeout, declare, open_web
from ..completion import complete_reader
from ..inputs import Output
from ..output import print_line, report_errors

_KNOWN = ("url", "final_url", "title", "content", "canonical_url", "links")  # of a page that was read before


def crawl(
    *,
    starts: Annotated[list[str], typer.Argument(metavar="URL", help="Where to begin; several sites at once")],
    output: Output = None,
    only_urls: Annotated[bool, typer.Option("--list", help="Print URLs alone, and read no more than needed")] = False,
    limit: Annotated[int | None, declare("N", "Pages of each site; 200, or 5000 with --list")] = None,
    depth: Annotated[int | None, declare("N", "Links from the start; 10, or 1 with --list")] = None,
    scope: Annotated[Scope, declare(Scope, "What of the start all pages have")] = "path",
    sitemaps: Annotated[bool, typer.Option(help="Begin with sitemaps and llms.txt, too")] = True,
    reader: Annotated[str | None, declare("NAME", "The reader", "--reader -r", complete=complete_reader)] = None,
    internal: Internal = None,
    timeout: Timeout = None,
    no_cache: NoCache = False,
) -> None:
    """Read the pages of sites that robots.txt allows: a row for each."""
    far: Any = {"limit": limit, "depth": depth, "scope": scope, "sitemaps": sitemaps}
    arguments = {"reader": reader, "internal": internal, "timeout": timeout}
    with report_errors("text"), open_web("Listing" if only_urls else "", {}, no_cache=no_cache, **arguments) as web:
        if only_urls and output:
            raise InvalidOption("--output: not with --list, which prints URLs: write > FILE")
        if only_urls:
            for url in web.map(starts, **far):
                print_line(url)
            return
        from ...client._crawl import Crawl
        from ...models import Page
        from ..rows import Rows, write_rows

        rows = Rows(output or "-")

        def find_known(url: str) -> Page | None:
            row = rows.find(url) if rows.skip(url) else None
            return Page(**{name: row[name] for name in _KNOWN if row.get(name)}) if row else None

        crawl = Crawl(web, starts, {**far, "max_length": sys.maxsize}, find_known=find_known)

        async def ask(_: object) -> AsyncGenerator[tuple[str, Any]]:
            async with aclosing(crawl.arows()) as pages:
                async for url, page in pages:
                    if not rows.skip(url):  # a start is read each time
                        yield url, page
            if crawl.left:
                typer.echo(f"{crawl.left} more pages were found: raise --limit", err=True)

        write_rows(ask, "-", rows)
