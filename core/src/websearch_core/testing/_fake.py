"""A web for tests."""

from __future__ import annotations
import copy
import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, ClassVar, TypeAlias, TypeVar, get_args
from unittest.mock import patch

from pydantic import ValidationError

from .._text.urls import serialize
from ..errors import ConfigurationError, NeedsBrowser, PageNotFound, WebSearchError
from ..flow import Call, Flow, Sleep
from ..models import (
    Page,
    SearchQuery,
    SearchResponse,
    SearchResult,
    Topic,
    describe_problems,
)
from ..provider._ports import Price, Service

Results: TypeAlias = "SearchResponse | Sequence[SearchResult | Mapping[str, Any]]"
Failure: TypeAlias = "WebSearchError | None"
T = TypeVar("T")

_HTML = re.compile(r"\s*<(!doctype|!--|\??[a-z][a-z0-9]*[\s/>])", re.IGNORECASE)
_HEADING = re.compile(r"^# +(.+)$", re.MULTILINE)


@dataclass(eq=False)
class FakeWeb:
    """A web for tests: a provider that searches and reads what you give it, and
    remembers the queries and URLs.

    ::

        kelp = "https://sea.example/kelp"
        web = FakeWeb(
            results=[{"title": "Kelp", "url": kelp, "snippet": "A brown alga."}],
            pages={kelp: "<title>Kelp</title><p>Kelp is a brown alga of cold seas."},
            errors={
                "storm": RateLimited("too fast", retry_after=7),
                "https://sea.example/lost/*": Unavailable("down"),
            },
        )
        WebSearch(web).search("kelp")

    Everything else is real: domain filters, limits, retries, the time limit, passages,
    the texts of the tools. It accepts every option of a query; those that only a
    service can honour, such as ``time_range``, change nothing.

    Args:
        results: What a search finds: results, or mappings with ``url`` and other fields
            of `SearchResult`, or a whole `SearchResponse`. Or one of these for each
            query: a mapping whose keys are queries, or patterns such as ``"tide *"``;
            other queries find nothing.
        pages: The text of each page, by its URL: Markdown, HTML, bytes (HTML, PDF, ...)
            or a `Page`. HTML and bytes go through the real reader, and one that is
            empty without its scripts raises `NeedsBrowser`. Any other URL raises
            `PageNotFound`.
        errors: What a query, a URL, or those that match a pattern raise. A list is used
            up, one item a request, where None is a success: ``[RateLimited("too fast"),
            None]`` fails once.
        delay: Seconds that every answer takes.
        name: Its name as a provider.

    Attributes:
        queries: The text of each search, in order; a retry is a search of its own.
        searches: The whole queries, with their options.
        urls: The URL of each page that was read, in order.
    """

    about: ClassVar[Service] = Service(prices=(Price(usd=0, credits=0),))
    options: ClassVar[frozenset[str]] = frozenset(SearchQuery.model_fields) - {
        "text",
        "limit",
        "extra",
        "unsupported",
    }
    topics: ClassVar[frozenset[str]] = frozenset(get_args(Topic))

    results: Results | Mapping[str, Results] = ()
    pages: MutableMapping[str, str | bytes | Page] = field(default_factory=dict)
    errors: MutableMapping[str, Failure | list[Failure]] = field(default_factory=dict)
    delay: float = 0.0
    name: str = "fake"
    queries: list[str] = field(default_factory=list, init=False)
    searches: list[SearchQuery] = field(default_factory=list, init=False)
    urls: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        choices: Iterable[Results]
        if isinstance(self.results, Mapping):
            choices = self.results.values()
        else:
            choices = (self.results,)
        for results in choices:
            # reject wrong results now rather than in a search
            self._respond(SearchQuery(text="any"), results)

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Find the results."""
        self.queries.append(query.text)
        self.searches.append(query)
        yield Sleep(self.delay)
        # what stands for sending, so that layers treat it as such
        yield Call(self._fail, query.text)
        results: Results | None
        if isinstance(self.results, Mapping):
            results = _look_up(query.text, self.results)
        else:
            results = self.results
        return self._respond(query, results or ())

    def read(self, url: str, /) -> Flow[Page]:
        """Read the page at *url*."""
        serialize(url)
        self.urls.append(url)
        yield Sleep(self.delay)
        self._fail(url)
        if url not in self.pages:
            raise PageNotFound(
                f"{self.name} read failed: 404 Not Found",
                provider=self.name,
                status=404,
            )
        page: Page = yield Call(_read_page, self.name, url, self.pages[url])
        return page.model_copy(
            update={
                "url": url,
                "final_url": page.final_url or url,
                "provider": self.name,
            }
        )

    @contextmanager
    def replace_providers(self) -> Iterator[FakeWeb]:
        """Be every provider that is chosen by name, or by default, in this block.

        So code that makes its own ``WebSearch("tavily")`` can be tested as it is, if it
        does so inside the block. Objects that are passed as providers stay what they
        are.
        """
        with patch(
            "websearch_core.client._selection.build_provider", lambda *_, **__: self
        ):
            yield self

    def _fail(self, text: str) -> None:
        """Raise the error for a query or a URL, if it has one."""
        error = _look_up(text, self.errors)
        if isinstance(error, list):
            error = error.pop(0) if error else None
        if error is None:
            return
        if not isinstance(error, Exception):
            raise ConfigurationError(
                f"FakeWeb: errors: must be exceptions, or lists of them, not {error!r}"
            )
        # raising an exception twice would add to its traceback
        raise copy.copy(error)

    def _respond(self, query: SearchQuery, results: Results) -> SearchResponse:
        if isinstance(results, SearchResponse):
            return results.model_copy(
                update={"query": query.text, "provider": results.provider or self.name}
            )
        if isinstance(results, Exception):
            raise ConfigurationError(
                f'FakeWeb: results: write errors={{"*": {type(results).__name__}(...)}}'
            )
        return SearchResponse(
            query=query.text,
            results=tuple(map(self._make_result, results)),
            provider=self.name,
        )

    def _make_result(self, result: SearchResult | Mapping[str, Any]) -> SearchResult:
        if isinstance(result, SearchResult):
            return result.model_copy(update={"provider": result.provider or self.name})
        if not isinstance(result, Mapping):
            raise ConfigurationError(
                f"FakeWeb: results: must be mappings or SearchResult, not "
                f"{type(result).__name__}"
            )
        try:
            return SearchResult(
                **{"title": result.get("url"), "provider": self.name, **result}
            )
        except ValidationError as error:
            raise ConfigurationError(
                "FakeWeb: results: "
                f"{describe_problems(error, SearchResult.model_fields)}"
            ) from error


def _look_up(text: str, table: Mapping[str, T]) -> T | None:
    """Return the value of *text*, or of the first pattern that matches it."""
    if text in table:
        return table[text]
    for pattern, value in table.items():
        if fnmatchcase(text, pattern):
            return value
    return None


def _read_page(name: str, url: str, page: str | bytes | Page) -> Page:
    if isinstance(page, Page):
        return page
    if not isinstance(page, str | bytes):
        raise ConfigurationError(
            f"FakeWeb: pages: must be text, bytes or Page, not {type(page).__name__}"
        )
    if isinstance(page, bytes):
        return _parse_page(name, url, page, None)
    if _HTML.match(page):
        return _parse_page(name, url, page.encode(), "text/html; charset=utf-8")
    heading = _HEADING.search(page)
    return Page(
        url=url,
        title=heading[1] if heading else "",
        content=page,
        content_length=len(page),
        original_length=len(page),
        media_type="text/markdown",
    )


def _parse_page(name: str, url: str, source: bytes, media_type: str | None) -> Page:
    from ..provider._obstacles import needs_scripts
    from ..reading import read_bytes  # imports the parsers

    page = read_bytes(source, url, media_type)
    if page.media_type == "text/html" and needs_scripts(page.content, source):
        raise NeedsBrowser(
            f"{name} read failed: the page has no content without running its scripts",
            provider=name,
            status=200,
        )
    return page
