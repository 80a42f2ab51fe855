"""``websearch read``."""

from __future__ import annotations
import sys
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import typer

from ..._text.vocabulary import Responses
from ...errors import ConfigurationError, InvalidOption, WebSearchError
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
from ..completion import complete_reader
from ..inputs import (
    Column,
    Input,
    Output,
    Refresh,
    Retry,
    check_column,
    check_rows,
    check_url,
    find_items,
)
from ..output import print_pages, report_errors

if TYPE_CHECKING:
    from ...client import WebSearch
    from ...flow import Flow
    from ...models import Page

_STDIN = "file:///dev/stdin"


def read(
    *,
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PAGE",
            help="One or more URLs or files; - reads a document from standard input",
        ),
    ] = None,
    source: Input = None,
    column: Column = None,
    output: Output = None,
    refresh: Refresh = False,
    retry: Retry = False,
    reader: Annotated[
        str | None,
        declare(
            "NAME",
            "The reader; direct,jina is a chain, asked in order; auto is direct and "
            "then an installed browser; `websearch providers` lists them",
            "--reader --provider -r -p",
            complete=complete_reader,
        ),
    ] = None,
    base_url: Annotated[
        str | None, declare("URL", "Base URL of the reader, if --reader names just one")
    ] = None,
    option: ProviderOption = None,
    max_length: Annotated[
        int | None,
        declare("N", "Maximum number of characters to show; 15000 unless configured"),
    ] = None,
    max_tokens: Annotated[
        int | None,
        declare(
            "N",
            "Maximum number of tokens to show, estimated; with --max-length, both "
            "limits apply",
        ),
    ] = None,
    offset: Annotated[
        int,
        declare("N", "Start at this character: the next_offset of the previous part"),
    ] = 0,
    query: Annotated[
        str | None,
        declare(
            "TEXT", "Show the passages of the whole page that answer this question"
        ),
    ] = None,
    find: Annotated[
        str | None,
        declare(
            "TEXT",
            "Show the places around this phrase; case, accents, spaces and emphasis "
            "are ignored",
        ),
    ] = None,
    outline: Annotated[
        bool,
        typer.Option("--outline", help="Show the headings, with sizes and offsets"),
    ] = False,
    comments: Annotated[
        Responses | None,
        declare(
            Responses,
            "Drop or keep readers' comments; by default, articles drop them and other "
            "pages keep them",
        ),
    ] = None,
    reviews: Annotated[
        Responses | None,
        declare(Responses, "Drop or keep reviews; by default, they are kept"),
    ] = None,
    transcripts: Annotated[
        Responses | None,
        declare(
            Responses,
            "Drop or keep the transcripts of videos and episodes; by default, they are "
            "dropped",
        ),
    ] = None,
    internal: Internal = None,
    timeout: Timeout = None,
    no_cache: NoCache = False,
    robots: Robots = False,
    form: Form = "text",
) -> None:
    """Read web pages or files."""
    with report_errors(form):
        items = find_items(source, places)
        check_rows(output, refresh=refresh, retry=retry)
        check_column(column, source)
        writes_rows = bool(source or output)
        targets = [] if writes_rows else list(map(_find_target, items))
        if not source and output:
            _refuse_files(items)
        provider_options = parse_options(option)
        if base_url:
            _set_base_url(provider_options, reader, base_url)
        part: dict[str, Any] = {
            "max_length": max_length,
            "max_tokens": max_tokens,
            "offset": offset,
            "query": query,
            "find": find,
            "outline": outline,
            "comments": comments,
            "reviews": reviews,
            "transcripts": transcripts,
        }
        arguments: dict[str, Any] = {
            "reader": reader,
            "internal": internal,
            "timeout": timeout,
            "robots": robots or None,
        }
        if writes_rows:
            from ..revalidation import Revalidation
            from ..rows import Rows, write_rows

            if max_length is None and max_tokens is None:
                part["max_length"] = sys.maxsize
            # once, and only after `open_web` has checked its arguments: it may write
            open_rows = cache(lambda: Rows(output or "-", refresh=refresh, retry=retry))
            arguments["layers"] = [Revalidation(open_rows, part)]
            with open_web("", provider_options, no_cache=no_cache, **arguments) as web:
                write_rows(
                    partial(web.aiter_read, **part),
                    items,
                    open_rows(),
                    column=column,
                )
            return
        with open_web(
            "Reading", provider_options, no_cache=no_cache, **arguments
        ) as web:
            # A reader that was named gets the files, too: some read them.
            files = web if reader else _open_files(web)
            pages = _read_all(web, files, targets, part)
    print_pages(pages, form)


def _refuse_files(places: str | Sequence[str]) -> None:
    """Raise `InvalidOption` if a place is a file, or standard input."""
    for place in places:
        if place == "-" or Path(place).is_file():
            raise InvalidOption(
                f"--output: a row is for a URL, not for a file; did you mean --input "
                f"{place}?"
            )


def _set_base_url(
    options: dict[str, dict[str, Any]], reader: str | None, base_url: str
) -> None:
    """Add the base URL to the *options* of *reader*."""
    from ..._registry import registered_name

    if not reader or "," in reader:
        raise ConfigurationError(
            "--base-url: name the one reader that it is for with --reader"
        )
    options.setdefault(registered_name(reader), {})["base_url"] = base_url


class _Files:
    """Reads files, and standard input."""

    name = "file"

    def read(self, url: str, /) -> Flow[Page]:
        """Read the file at a ``file:`` URL."""
        from ...flow import Call
        from ...index._store import read_file, read_stream

        file = Path(url2pathname(urlsplit(url).path))
        if url != _STDIN:
            page: Page = yield Call(read_file, file)
            return page
        page = yield Call(read_stream, sys.stdin.buffer, file)
        if not page.content:
            raise InvalidOption("-: standard input is closed, or has no text")
        return page


def _open_files(web: WebSearch) -> WebSearch:
    from ...settings import Settings

    return type(web)(
        reader=_Files(), settings=Settings(read_options=web.settings.read_options)
    )


def _find_target(place: str) -> str:
    """Return the URL of a page, a file, or of standard input."""
    if place == "-":
        return _STDIN
    if place.lower().startswith("file:"):
        return f"file:{place[5:]}"
    if "://" not in place and Path(place).exists():
        return Path(place).resolve().as_uri()
    return check_url(place, why=f"there is no file {place!r}, and this is ")


def _read_all(
    web: WebSearch, local: WebSearch, targets: Sequence[str], part: Mapping[str, Any]
) -> list[Page | WebSearchError]:
    """Return the page or the error of each target; raise the error of a single one."""
    if len(targets) == 1:
        reader = local if targets[0].startswith("file:") else web
        return [reader.read(targets[0], **part)]
    files = [url for url in targets if url.startswith("file:")]
    urls = [url for url in targets if not url.startswith("file:")]
    pages: dict[str, Page | WebSearchError] = {}
    pages |= zip(files, local.read_many(files, **part), strict=True)
    pages |= zip(urls, web.read_many(urls, **part), strict=True)
    return [pages[url] for url in targets]
