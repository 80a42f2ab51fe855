"""``websearch search``."""

from __future__ import annotations
from functools import partial
from typing import Annotated, Any

import typer

from ..._text.vocabulary import SafeSearch, TimeRange, Topic
from ...errors import ConfigurationError
from ..arguments import (
    Form,
    Internal,
    NoCache,
    ProviderOption,
    Robots,
    Timeout,
    declare,
    open_web,
    parse_options,
)
from ..completion import complete_provider, complete_reader, complete_time_range
from ..inputs import (
    Column,
    Input,
    Output,
    Refresh,
    Retry,
    check_column,
    check_rows,
    find_items,
)
from ..output import print_response, report_errors


def search(
    *,
    query: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUERY", help="The words to search for"),
    ] = None,
    source: Input = None,
    column: Column = None,
    output: Output = None,
    refresh: Refresh = False,
    retry: Retry = False,
    provider: Annotated[
        str | None,
        declare(
            "NAME",
            "The provider; tavily,brave is a chain, asked in order; `websearch "
            "providers` lists them",
            "--provider --search-provider -p",
            complete=complete_provider,
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        declare("URL", "Base URL of the provider, if --provider names just one"),
    ] = None,
    option: ProviderOption = None,
    limit: Annotated[
        int | None,
        declare("N", "Maximum number of results; 5 unless configured", "--limit -n"),
    ] = None,
    allow_domain: Annotated[
        list[str] | None,
        declare(
            "DOMAIN", "Only results from this domain and its subdomains; repeatable"
        ),
    ] = None,
    block_domain: Annotated[
        list[str] | None,
        declare("DOMAIN", "No results from this domain and its subdomains; repeatable"),
    ] = None,
    time_range: Annotated[
        str | None,
        declare(
            TimeRange,
            "Published in the last day, week, month or year (or d, w, m, y)",
            complete=complete_time_range,
        ),
    ] = None,
    after: Annotated[
        str | None, declare("YYYY-MM-DD", "Published on or after this date")
    ] = None,
    before: Annotated[
        str | None, declare("YYYY-MM-DD", "Published on or before this date")
    ] = None,
    country: Annotated[
        str | None,
        declare("CODE", "For readers in this country (ISO 3166), such as US"),
    ] = None,
    language: Annotated[
        str | None, declare("TAG", "In this language (BCP 47), such as en or pt-BR")
    ] = None,
    topic: Annotated[
        Topic | None, declare(Topic, "What kind of pages to search; usually general")
    ] = None,
    safe_search: Annotated[
        SafeSearch | None,
        declare(SafeSearch, "How strictly to filter out adult content"),
    ] = None,
    images: Annotated[bool, typer.Option("--images", help="Also find images")] = False,
    page: Annotated[int, declare("N", "Which page of results; the first is 1")] = 1,
    read_top: Annotated[
        int,
        declare(
            "N",
            "Read the first N results, and show the passages of their pages that "
            "answer instead of their snippets",
        ),
    ] = 0,
    reader: Annotated[
        str | None,
        declare(
            "NAME",
            "Reads the pages for --read-top",
            "--reader -r",
            complete=complete_reader,
        ),
    ] = None,
    internal: Internal = None,
    timeout: Timeout = None,
    no_cache: NoCache = False,
    robots: Robots = False,
    form: Form = "text",
) -> None:
    """Search the web."""
    options: dict[str, Any] = {
        "limit": limit,
        "allowed_domains": allow_domain,
        "blocked_domains": block_domain,
        "time_range": time_range,
        "after": after,
        "before": before,
        "country": country,
        "language": language,
        "safe_search": safe_search,
        "topic": topic,
        "images": images or None,
        "page": None if page == 1 else page,
    }
    with report_errors(form):
        words = [" ".join(query)] if query else None
        items = find_items(source, words)
        check_rows(output, refresh=refresh, retry=retry)
        check_column(column, source)
        reads_pages = bool(reader or robots)
        if reads_pages and not read_top:
            which = "--reader" if reader else "--robots"
            raise ConfigurationError(
                f"{which}: also say how many results to read, with --read-top"
            )
        provider_options = parse_options(option)
        arguments: dict[str, Any] = {
            "provider": provider,
            "reader": reader,
            "base_url": base_url,
            "internal": internal,
            "timeout": timeout,
            "robots": robots or None,
        }
        is_list = bool(source or output)
        doing = "" if is_list else "Searching"
        with open_web(doing, provider_options, no_cache=no_cache, **arguments) as web:
            if is_list:
                from ..rows import Rows, write_rows

                ask = partial(web.aiter_search, read_top=read_top, **options)
                write_rows(
                    ask,
                    items,
                    Rows(output or "-", "query", refresh=refresh, retry=retry),
                    column=column,
                )
                return
            response = web.search(items[0], read_top=read_top, **options)
        print_response(response, form)
