"""The ports: what a provider must be.

A provider is any object with a ``name`` that can search, read pages, or both; it
inherits nothing. More attributes are optional: ``options``, the fields of a query that
it supports besides ``text``, ``limit`` and ``extra``; ``topics``, the values of
``topic`` that it supports besides ``general``; ``emulated``, those of its options that
the service has no parameter for (with ``limit``: it takes more requests); ``countries``
and ``languages``, the codes that the service knows; ``limits``; ``key_header`` or
``key_parameter``, where `post_json` puts the key; ``about``, a `Service`;
``needs_network = False``; ``opens_pages = True`` for a reader that fetches pages
itself; ``helps_after``, the errors of the readers before it in a chain after which it
is worth asking, if not after all; a method ``problem() -> str | None`` that says why it
cannot be used yet; for a reader whose service maps sites, a method ``map(site) ->
Flow[Page]``, which returns a page with links to the pages of a `Site`; and, if its
results are those of other search engines, a method ``find_engines(result)`` that
returns the names of the engines behind a `SearchResult`, so that each votes only once
when results are fused. Layers (`Retry`, `Fallback`, ...) wrap providers and are
providers themselves: see `websearch_core.layers.Layer`.
"""

from __future__ import annotations
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import (
    Any,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypedDict,
    TypeGuard,
    overload,
)
from urllib.parse import urlsplit

from .._text.vocabulary import Scope
from ..errors import ConfigurationError, WebSearchError
from ..flow import Flow
from ..models import Page, SearchQuery, SearchResponse

Role = Literal["search", "read"]

# Options of a query that mostly come together.
FILTERS: frozenset[str] = frozenset(
    {"allowed_domains", "blocked_domains", "time_range", "after", "before"}
)


class Limits(TypedDict, total=False):
    """The limits that a service documents; others are left out.

    Args:
        results_per_request: Maximum number of results of one request.
        results: Maximum number of results of one query, over all its pages.
        query_length: Maximum length of a query, in characters.
        query_words: Maximum length of a query, in words.
        allowed_domains: Maximum number of the domains that a query may name.
        blocked_domains: The same for those that it leaves out.
        pages_per_request: Maximum number of pages that one call of
            `BatchReader.read_many` can have.
        requests_per_second: Maximum number of requests in a second, such as 0.5, for
            every plan and every key.
        concurrent: Maximum number of requests at a time, in the same way.
    """

    results_per_request: int
    results: int
    query_length: int
    query_words: int
    allowed_domains: int
    blocked_domains: int
    pages_per_request: int
    requests_per_second: float
    concurrent: int


@dataclass(frozen=True, kw_only=True)
class Price:
    """What a call costs by the list of prices of a service, as a program needs it.

    Only prices that the service publishes; leave out what is not known. What the
    service says it charged wins.

    Args:
        verb: What it is the price of; None for both.
        usd: US dollars; None if that is not known, as for a service that sells credits
            by subscription.
        credits: Credits of the service; None if it has none.
        size: How many results or pages the price pays for: a call for more pays it
            again. 0: for any number.
        by_request: Each HTTP request costs that much, instead of a call.
        when: The options of the provider that this is the price for, such as
            ``{"search_depth": "advanced"}``. The first price that fits counts.
    """

    verb: Literal["search", "read"] | None = None
    usd: float | None = None
    credits: float | None = None
    size: int = 0
    by_request: bool = False
    when: Mapping[str, Any] = field(default_factory=dict, hash=False)


FREE = (Price(usd=0, credits=0),)


@dataclass(frozen=True, kw_only=True)
class Service:
    """Facts about a service, as the class attribute ``about`` of a provider.

    They are the service's own claims. Prices and allowances change: `as_of` says when
    they were true.

    Args:
        api_urls: The pages that document its API.
        signup_url: Where to get a key.
        free_allowance: What costs nothing: ``1,000 credits a month``, ``keyless: 20
            pages a minute``.
        price: The list price: ``USD 5 per 1,000 requests``.
        prices: The same for programs, which estimate by it what a call will cost; empty
            if that is not known.
        as_of: When allowance and prices were true: ``2026-09``.
        compared: What our parameters were compared with, and when: the SDK, ``exa-py
            2.28.0, 2026-11-23``, or ``the pages of its API, 2026-11``, those in
            *api_urls*.
        terms: What its terms say about results: storing, showing, automated use.
    """

    api_urls: tuple[str, ...] = ()
    signup_url: str = ""
    free_allowance: str = ""
    price: str = ""
    prices: tuple[Price, ...] = ()
    as_of: str = ""
    compared: str = ""
    terms: str = ""


class Site(NamedTuple):
    """A web site to crawl or map, and how far: the options of `WebSearch.crawl`."""

    url: str
    limit: int
    depth: int
    scope: Scope
    sitemaps: bool
    include: tuple[str, ...] = ()  # patterns of paths
    exclude: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """The path that all of a site in the scope ``path`` has: that of its start,
        without the name of a file.
        """
        path = urlsplit(self.url).path
        name = path.rpartition("/")[2]
        ending = name.rpartition(".")[2]
        if "." in name and ending.isidentifier():
            path = path.removesuffix(name)
        return path.rstrip("/") + "/"


class SearchProvider(Protocol):
    """Finds pages."""

    @property
    def name(self) -> str:
        """The name by which users choose it."""
        ...

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Start a search.

        Returns:
            A flow that returns the results.

        Raises:
            UnsupportedOption: The service does not support an option of the query.
            ServiceError: The service failed.
        """
        ...


class PageReader(Protocol):
    """Turns a URL into text."""

    @property
    def name(self) -> str:
        """The name by which users choose it."""
        ...

    def read(self, url: str, /) -> Flow[Page]:
        """Start to read the page at *url*.

        Returns:
            A flow that returns the whole page; the caller cuts out the part it needs.

        Raises:
            UnsafeURL: The URL may not be opened.
            ServiceError: The page or the reading service failed.
        """
        ...


class BatchReader(PageReader, Protocol):
    """A reader whose service reads many pages in one request; the method is optional
    for readers.
    """

    def read_many(self, urls: Sequence[str], /) -> Flow[list[Page | WebSearchError]]:
        """Start to read the pages at *urls*, which are at most
        ``limits["pages_per_request"]``, each only once.

        The flow returns, for each URL in order, the whole page or its error; it raises
        one if none was read.
        """
        ...


Provider: TypeAlias = SearchProvider | PageReader


class _Sender(Protocol):
    @property
    def build_request(self) -> Callable[..., Any]:
        """Builds a request object of the client's own library."""
        ...

    @property
    def send(self) -> Callable[..., Any]:
        """Sends a request."""
        ...


class HTTPClient(_Sender, Protocol):
    """A blocking client for services: an ``httpx.Client`` or an ``httpx2.Client``."""

    def close(self) -> None:
        """Close the connections."""
        ...


class AsyncHTTPClient(_Sender, Protocol):
    """An async client for services: an ``httpx.AsyncClient`` or an
    ``httpx2.AsyncClient``.
    """

    async def aclose(self) -> None:
        """Close the connections."""
        ...


@overload
def can(provider: object, role: Literal["search"]) -> TypeGuard[SearchProvider]: ...
@overload
def can(provider: object, role: Literal["read"]) -> TypeGuard[PageReader]: ...
@overload
def can(provider: object, role: Role) -> bool: ...
def can(provider: object, role: Role) -> bool:
    """Return whether a provider, or a provider class, has the method for *role*."""
    return callable(getattr(provider, role, None))


def needs_network(provider: object) -> bool:
    """Return whether a provider uses the network; the default is that it does."""
    return bool(getattr(provider, "needs_network", True))


def opens_pages(provider: object) -> bool:
    """Return whether a provider fetches pages itself, so that its failures are those of
    their sites.
    """
    return bool(getattr(provider, "opens_pages", False))


def helps_after(provider: object) -> tuple[type[WebSearchError], ...]:
    """Return the errors of others after which a provider is worth asking; empty for all
    of them.
    """
    kinds: tuple[type[WebSearchError], ...] = getattr(provider, "helps_after", ())
    return kinds


def check_port(provider: object) -> None:
    """Check, as far as possible without calling it, that *provider* is one, with a name
    and no ``async def``.
    """
    kind = provider.__name__ if isinstance(provider, type) else type(provider).__name__
    if isinstance(provider, type):
        raise ConfigurationError(
            f"{kind} is a class: give an instance of it, {kind}(...)"
        )
    name = getattr(provider, "name", None)
    if not isinstance(name, str):
        hint = ""
        if inspect.isroutine(provider):
            hint = (
                "; to search with it, write websearch_core.provider.from_function("
                '"my-search", search=...)'
            )
        raise ConfigurationError(f"{kind} is not a provider: it has no name{hint}")
    for role in ("search", "read"):
        method = getattr(provider, role, None)
        if inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method):
            raise ConfigurationError(
                f"{name}.{role} is an async def, and must be a generator: write `def "
                f"{role}(...)` and in it "
                f"`answer = yield Call(fetch, ...)`, where fetch may be async; or make "
                f"the provider with "
                f"websearch_core.provider.from_function({name!r}, {role}=fetch)"
            )
