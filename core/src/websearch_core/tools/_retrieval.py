"""What retrievers and loaders share: search, read the pages, and make documents from
them.
"""

from __future__ import annotations
import logging
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from itertools import starmap, zip_longest
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
    overload,
)

from .. import errors
from .._runtime.scope import scope
from .._text.urls import identify, is_web_url
from ..client._arguments import (
    CALL_OPTIONS,
    PASSAGE_LENGTH,
    check_number,
    check_urls,
    merge_options,
)
from ..errors import InvalidOption, WebSearchError
from ..models import Page, SearchResult
from ._fixed import FixedOptions, check_read_options, check_search_options

if TYPE_CHECKING:
    from ..client import WebSearch
    from ..reading import ReadOptions

T = TypeVar("T")
_log = logging.getLogger(__name__)
# Other pages would fail, too.
_FOR_ALL = (
    errors.AuthenticationError,
    errors.BudgetExceeded,
    errors.ConfigurationError,
    errors.QuotaExhausted,
)
_NO_WORD = "the page contains no word of the query: this is its beginning"
ContentMode: TypeAlias = Literal["snippet", "passages", "page"]
OnError: TypeAlias = Literal["raise", "skip"]
Put: TypeAlias = Callable[[T, Page | WebSearchError], T]


class PlainDocument(NamedTuple):
    """A document, without a framework.

    Args:
        id: The URL of the result, or of the page after redirects.
        text: What was read of the page, or else what the search said about it.
        metadata: Flat plain values, the same in every framework.
    """

    id: str
    text: str
    metadata: dict[str, Any]

    def with_metadata(self, **more: object) -> PlainDocument:
        """Return the document with *more* metadata."""
        return self._replace(metadata={**self.metadata, **more})


@overload
def make_document(
    result: SearchResult, page: Page | WebSearchError | None = None
) -> PlainDocument: ...


@overload
def make_document(result: None = None, *, page: Page) -> PlainDocument: ...


def make_document(
    result: SearchResult | None = None, page: Page | WebSearchError | None = None
) -> PlainDocument:
    """Make a document from a result, its page, or both.

    It depends on the result and the page alone, not on when they were found, so what is
    indexed twice stays the same.

    Args:
        result: The result that led to the page, if there was a search.
        page: The page, or why it could not be read; None if it was not requested.

    Returns:
        The document. Its metadata has the facts of `page_metadata`, overridden by those
            of `result_metadata`;
        ``source``, the same as ``url``; ``requested_url`` if a page that nobody
            searched for was redirected;
        ``read_error``, the code of an error.
    """
    # imported here: making a tool does not need it
    from ..render import page_metadata, result_metadata

    facts: dict[str, Any] = {}
    text = ""
    if isinstance(page, Page):
        facts = page_metadata(page)
        text = page.content
        if result is None and page.url != facts["url"]:
            facts["requested_url"] = page.url
    if result is not None:
        facts.update(result_metadata(result))
        text = text or result.content or result.snippet or result.title
    if isinstance(page, WebSearchError):
        facts["read_error"] = page.code
    return PlainDocument(facts["url"], text, {"source": facts["url"], **facts})


def find_source(metadata: Mapping[str, Any]) -> str | None:
    """Return the URL of the page that a document with this *metadata* is from, without
    its fragment; or None.
    """
    for name in ("source", "url"):
        url = metadata.get(name)
        if isinstance(url, str) and is_web_url(url):
            return url.partition("#")[0]
    return None


def put_pages(
    documents: Sequence[T],
    urls: Sequence[str | None],
    pages: Sequence[Page | WebSearchError],
    put: Put[T],
) -> list[T]:
    """Put what was read of pages into documents. Of several from one page, which would
    say the same, the first stays.

    The *documents* are sorted, best first; the *urls* are what `find_source` returned
    for each. *pages* are those of the documents that have a URL, or their errors, and
    *put* returns a document with its page, or with its error.
    """
    next_pages = iter(pages)
    seen: set[str] = set()
    distinct: list[T] = []
    for document, url in zip(documents, urls, strict=True):
        page = next(next_pages) if url else None
        if isinstance(page, Page) and page.content:
            key = identify(page.final_url or page.url)
            if key in seen:
                continue
            seen.add(key)
        if page is not None:
            document = put(document, page)  # noqa: PLW2901 - the same one, with its page
        distinct.append(document)
    return distinct


@dataclass(frozen=True)
class Retrieval:
    """A search that returns documents.

    Args:
        web: The `WebSearch` to search and read with.
        k: Maximum number of documents.
        content: The text of a document: the ``snippet`` of the search; the ``passages``
            of the page that answer the query, or all of a page that is short enough; or
            the whole ``page``. Pages are read concurrently. One that cannot be read
            keeps its snippet, and its metadata has the code of the error as
            ``read_error``; of one without a word of the query, passages are its
            beginning, and ``read_note`` says so.
        search_options: More options of each search.
        read_options: The options of each page. Without a limit, passages have that of
            the `WebSearch`, and a page has none.

    Raises:
        InvalidOption: An argument is wrong.
    """

    web: WebSearch
    k: int = 5
    content: ContentMode = "snippet"
    search_options: Mapping[str, Any] | None = field(default_factory=dict)
    read_options: ReadOptions | Mapping[str, Any] | None = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse wrong options now rather than in the first search."""
        check_number("k", self.k, 1, InvalidOption)
        if self.content not in get_args(ContentMode):
            raise InvalidOption(
                f"content: {self.content!r} is not one of "
                f"{', '.join(get_args(ContentMode))}"
            )
        FixedOptions(
            check_search_options(self.search_options, limit="k")
        ).check_support(self.web)
        check_read_options(self.read_options, refused=CALL_OPTIONS)

    def retrieve(self, query: str, k: int | None = None) -> list[PlainDocument]:
        """Return the documents for *query*, at most *k*.

        Raises:
            WebSearchError: The search failed, as `WebSearch.search` explains.
        """
        results = self.web.search(query, **self._options(k)).results
        with scope(marks_offsets=False):
            pages = self.web.read_many(self._urls(results), **self._part(query))
        return list(starmap(self._make_document, zip_longest(results, pages)))

    async def aretrieve(self, query: str, k: int | None = None) -> list[PlainDocument]:
        """Do the same as `retrieve` on the running event loop."""
        results = (await self.web.asearch(query, **self._options(k))).results
        urls = self._urls(results)
        with scope(marks_offsets=False):
            pages = await self.web.aread_many(urls, **self._part(query))
        return list(starmap(self._make_document, zip_longest(results, pages)))

    def _options(self, k: int | None) -> dict[str, Any]:
        return merge_options({"limit": k}, {"limit": self.k}, self.search_options or {})

    def _urls(self, results: Sequence[SearchResult]) -> list[str]:
        return [] if self.content == "snippet" else [result.url for result in results]

    def _make_document(
        self, result: SearchResult, page: Page | WebSearchError | None
    ) -> PlainDocument:
        document = make_document(result, page)
        # of one search: with it, equal pages would be different documents
        document.metadata.pop("citation_id", None)
        if self.content != "passages" or not isinstance(page, Page):
            return document
        if not page.content or page.passages:
            return document
        return document.with_metadata(read_note=_NO_WORD)

    def _part(self, query: str) -> ReadOptions:
        if self.content == "page":
            return _with_limit(self.read_options)
        part = merge_options({"query": query}, self.read_options or {})
        return cast("ReadOptions", part)


@dataclass(frozen=True)
class Passages:
    """Replaces the texts of documents by the passages of their pages that answer a
    query.

    Args:
        web: The `WebSearch` to read with.
        read_options: The options of each page; without a limit, a text has at most
            1,500 characters.

    Raises:
        InvalidOption: One of the options is unknown or wrong.
    """

    web: WebSearch
    read_options: ReadOptions | Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Refuse wrong options now rather than in the first call."""
        check_read_options(self.read_options, refused=CALL_OPTIONS)

    def replace(
        self,
        documents: Sequence[T],
        metadata: Sequence[Mapping[str, Any]],
        query: str,
        put: Put[T],
    ) -> list[T]:
        """Replace the texts; pages are read concurrently, and of several documents from
        one page, the first stays.

        Args:
            documents: The documents, best first.
            metadata: That of each: its ``source`` or ``url`` is the page. Without one,
                a document stays as it is.
            query: What the passages should answer.
            put: Returns a document with the text of its page, or with the error that it
                could not be read.
        """
        urls = list(map(find_source, metadata))
        with scope(marks_offsets=False):
            pages = self.web.read_many(filter(None, urls), **self._part(query))
        return put_pages(documents, urls, pages, put)

    async def areplace(
        self,
        documents: Sequence[T],
        metadata: Sequence[Mapping[str, Any]],
        query: str,
        put: Put[T],
    ) -> list[T]:
        """Do the same as `replace` on the running event loop."""
        urls = list(map(find_source, metadata))
        with scope(marks_offsets=False):
            pages = await self.web.aread_many(filter(None, urls), **self._part(query))
        return put_pages(documents, urls, pages, put)

    def _part(self, query: str) -> ReadOptions:
        return {**_with_limit(self.read_options, PASSAGE_LENGTH), "query": query}


@dataclass(frozen=True)
class Loading:
    """Loads pages as documents, some ahead of those that were requested.

    Args:
        web: The `WebSearch` to read with.
        read_options: The options of each page. Without a limit, pages are whole.
        on_error: What to do about a page that cannot be read: ``raise`` its error,
            after the pages before it; or ``skip`` it, and log a warning with its URL. A
            wrong key, a used-up budget and the like are raised in either case: no other
            page could be read.
        crawl: Load the pages of the sites that begin at the URLs: True, or options of
            `WebSearch.crawl`.

    Raises:
        InvalidOption: An argument is wrong.
    """

    web: WebSearch
    read_options: ReadOptions | Mapping[str, Any] | None = None
    on_error: OnError = "raise"
    crawl: Mapping[str, Any] | bool = False

    def __post_init__(self) -> None:
        """Refuse wrong options now rather than with the first page."""
        if self.on_error not in get_args(OnError):
            raise InvalidOption(
                f"on_error: {self.on_error!r} is not one of "
                f"{', '.join(get_args(OnError))}"
            )
        _with_limit(self.read_options)

    def load(self, urls: str | Sequence[str]) -> Iterator[PlainDocument]:
        """Load pages.

        Args:
            urls: One absolute http(s) URL, or several.

        Raises:
            InvalidOption: It is neither.
            WebSearchError: As *on_error* says.
        """
        read = self._choose(self.web.crawl, self.web.iter_read)
        for _, page in read(list_urls(urls)):
            yield from self._make(page)

    async def aload(self, urls: str | Sequence[str]) -> AsyncIterator[PlainDocument]:
        """Do the same as `load` on the running event loop."""
        read = self._choose(self.web.acrawl, self.web.aiter_read)
        async with aclosing(read(list_urls(urls))) as pages:
            async for _, page in pages:
                for document in self._make(page):
                    yield document

    def _choose(
        self, crawl: Callable[..., T], read: Callable[..., T]
    ) -> Callable[..., T]:
        part = _with_limit(self.read_options)
        if self.crawl is False:
            return partial(read, in_order=True, **part)
        far = self.crawl if isinstance(self.crawl, Mapping) else {}
        return partial(crawl, **part, **far)

    def _make(self, page: Page | WebSearchError) -> Iterator[PlainDocument]:
        if not isinstance(page, WebSearchError):
            yield make_document(page=page)
        elif self.on_error == "raise" or isinstance(page, _FOR_ALL):
            raise page
        else:
            _log.warning("left out a page: %s", page)


def _with_limit(
    options: ReadOptions | Mapping[str, Any] | None, max_length: int = sys.maxsize
) -> ReadOptions:
    """Return checked ``read_options``, with a limit in characters, unless they have
    one; whole pages by default.
    """
    checked = check_read_options(options)
    return cast("ReadOptions", merge_options(checked, {"max_length": max_length}))


def list_urls(urls: str | Sequence[str]) -> list[str]:
    """Return one URL, or several, as a list; raise `InvalidOption` if it is neither."""
    return [urls] if isinstance(urls, str) else list(check_urls(urls))
