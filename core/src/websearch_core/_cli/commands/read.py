"""``websearch read``."""

from __future__ import annotations

from typing import Annotated

import typer

from ..._text.choices import Responses
from ...errors import ConfigurationError
from ..arguments import (
    Form,
    Internal,
    NoCache,
    ProviderOption,
    Robots,
    Timeout,
    fresh_if,
    list_words,
    parse_options,
    require_url,
    require_used,
)
from ..completion import complete_reader
from ..output import print_page, report_errors, show_progress


def read(
    *,
    url: Annotated[str, typer.Argument(metavar="URL", help="The page, an absolute http or https URL")],
    reader: Annotated[
        str | None,
        typer.Option(
            "--reader",
            "--provider",
            "-r",
            "-p",
            metavar="NAME",
            help="The reader; direct,jina is a chain, asked in order; auto is direct and then an installed browser; "
            "`websearch providers` lists them",
            autocompletion=complete_reader,
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Base URL of the reader, if --reader names just one")
    ] = None,
    option: ProviderOption = None,
    max_length: Annotated[
        int | None, typer.Option(metavar="N", help="Maximum number of characters to show; 15000 unless configured")
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Maximum number of tokens to show, estimated; with --max-length, both limits apply"
        ),
    ] = None,
    offset: Annotated[
        int, typer.Option(metavar="N", help="Start at this character: the next_offset of the previous part")
    ] = 0,
    query: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Show the passages of the whole page that answer this question")
    ] = None,
    find: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Show the places around this phrase; case, accents, spaces and emphasis are ignored"
        ),
    ] = None,
    comments: Annotated[
        Responses | None,
        typer.Option(
            metavar=list_words(Responses),
            help="Drop or keep readers' comments; by default, articles drop them and other pages keep them",
        ),
    ] = None,
    reviews: Annotated[
        Responses | None,
        typer.Option(metavar=list_words(Responses), help="Drop or keep reviews; by default, they are kept"),
    ] = None,
    internal: Internal = None,
    timeout: Timeout = None,
    no_cache: NoCache = False,
    robots: Robots = False,
    form: Form = "text",
) -> None:
    """Read a page."""
    with report_errors(form):
        require_url(url)
        given = parse_options(option)
        if base_url and (not reader or "," in reader):
            raise ConfigurationError("--base-url: also name the one reader that it is for, with --reader")
        if base_url and reader:
            from ..._registry import registered_name

            given.setdefault(registered_name(reader), {})["base_url"] = base_url
        from ...client import WebSearch
        from ...settings import Settings

        settings = Settings.load(providers=given)
        web = WebSearch(reader=reader, internal=internal, timeout=timeout, robots=robots or None, settings=settings)
        with web, show_progress("Reading"), fresh_if(no_cache):
            require_used(given, web)
            page = web.read(
                url,
                max_length=max_length,
                max_tokens=max_tokens,
                offset=offset,
                query=query,
                find=find,
                comments=comments,
                reviews=reviews,
            )
        print_page(page, form)
