"""``websearch read``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import typer

from ..._text.choices import Responses
from ...errors import ConfigurationError, WebSearchError
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
from ..output import print_pages, report_errors, show_progress

if TYPE_CHECKING:
    from ...client import WebSearch
    from ...flow import Flow
    from ...models import Page

_STDIN = "file:///dev/stdin"


def read(
    *,
    places: Annotated[
        list[str],
        typer.Argument(metavar="PAGE", help="URLs, files, or - for one document from standard input; several at once"),
    ],
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
    """Read pages of the web, or files."""
    with report_errors(form):
        targets = [_find_target(place) for place in places]
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
        local = None if reader else WebSearch(reader=_Files(), settings=Settings(read_options=settings.read_options))
        part = {"max_length": max_length, "max_tokens": max_tokens, "offset": offset, "query": query, "find": find}
        part |= {"comments": comments, "reviews": reviews}
        with web, show_progress("Reading"), fresh_if(no_cache):
            require_used(given, web)
            pages = _read_all(web, local or web, targets, part)
    print_pages(pages, form)


class _Files:
    """Reads files, and standard input."""

    name = "file"

    def read(self, url: str, /) -> Flow[Page]:
        """Read the file at a ``file:`` URL."""
        from ...flow import Call

        page: Page = yield Call(_read_file, url)
        return page


def _read_file(url: str) -> Page:
    from ...index._folder import read_file, read_stream

    file = Path(url2pathname(urlsplit(url).path))
    return read_stream(sys.stdin.buffer, file) if url == _STDIN else read_file(file)


def _find_target(place: str) -> str:
    """Return the URL of a page, a file, or of standard input."""
    if place == "-":
        return _STDIN
    if "://" not in place and Path(place).exists():
        return Path(place).resolve().as_uri()
    if not place.lower().startswith("file:"):
        require_url(place)
    return place


def _read_all(
    web: WebSearch, local: WebSearch, targets: Sequence[str], part: Mapping[str, Any]
) -> list[Page | WebSearchError]:
    if len(targets) == 1:
        return [(local if targets[0].startswith("file:") else web).read(targets[0], **part)]
    pages: dict[str, Page | WebSearchError] = {}
    for reader, urls in (
        (local, [url for url in targets if url.startswith("file:")]),
        (web, [url for url in targets if not url.startswith("file:")]),
    ):
        pages |= dict(zip(urls, reader.read_many(urls, **part), strict=True))
    return [pages[url] for url in targets]
