"""
The ports: what a provider must be.

A provider is any object with a ``name`` that can search, read pages, or both; nothing is inherited. Three more
attributes are for those who need them: ``options``, the fields of a query that it supports beyond ``text``, ``limit``
and ``extra``; ``needs_network = False``; and a method ``problem() -> str | None`` that says why it cannot be used yet.
Layers (`Retry`, `Fallback`, ...) hold providers and are providers: see `websearch_core.layers.Layer`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, TypeGuard, overload

from ..errors import ConfigurationError
from ..flow import Flow
from ..models import Page, SearchQuery, SearchResponse

Role = Literal["search", "read"]


class Limits(TypedDict, total=False):
    """
    What a service documents about its limits; what it does not document is left out.

    Args:
        results_per_request: The most results that one request returns.
        results: The most results for one query, all pages together.
        query_length: Characters of the longest query.
        query_words: Words of the longest query.

    """

    results_per_request: int
    results: int
    query_length: int
    query_words: int


class SearchProvider(Protocol):
    """Finds pages."""

    @property
    def name(self) -> str:
        """The name that users choose it by."""
        ...

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """
        Begin to search.

        Returns:
            A flow that ends with what was found.

        Raises:
            UnsupportedOption: The service does not support an option of the query.
            ServiceError: The service failed.

        """
        ...


class PageReader(Protocol):
    """Turns a URL into text."""

    @property
    def name(self) -> str:
        """The name that users choose it by."""
        ...

    def read(self, url: str, /) -> Flow[Page]:
        """
        Begin to read the page at *url*.

        Returns:
            A flow that ends with the whole page; the caller cuts out the part it needs.

        Raises:
            UnsafeURL: The URL may not be opened.
            ServiceError: The page or the reading service failed.

        """
        ...


Provider: TypeAlias = SearchProvider | PageReader


class HTTPClient(Protocol):
    """A blocking client for services: an ``httpx.Client`` or an ``httpx2.Client``."""

    @property
    def build_request(self) -> Callable[..., Any]:
        """Make a request of the client's own library."""
        ...

    @property
    def send(self) -> Callable[..., Any]:
        """Send it."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


class AsyncHTTPClient(Protocol):
    """An async client for services: an ``httpx.AsyncClient`` or an ``httpx2.AsyncClient``."""

    @property
    def build_request(self) -> Callable[..., Any]:
        """Make a request of the client's own library."""
        ...

    @property
    def send(self) -> Callable[..., Any]:
        """Send it."""
        ...

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
    """Tell whether a provider, or a class of providers, has the method for *role*."""
    return callable(getattr(provider, role, None))


def needs_network(provider: object) -> bool:
    """Tell whether a provider reaches over the network, as all do that do not say otherwise."""
    return bool(getattr(provider, "needs_network", True))


def check_port(provider: object) -> None:
    """
    Make sure that *provider* is one, as far as that can be seen without asking it anything.

    Raises:
        ConfigurationError: It has no name, or a method of it is an ``async def``.

    """
    kind = provider.__name__ if isinstance(provider, type) else type(provider).__name__
    if isinstance(provider, type):
        raise ConfigurationError(f"{kind} is a class: give an instance of it, {kind}(...)")
    name = getattr(provider, "name", None)
    if not isinstance(name, str):
        raise ConfigurationError(f"{kind} is not a provider: it has no name")
    for role in ("search", "read"):
        method = getattr(provider, role, None)
        if inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method):
            raise ConfigurationError(
                f"{name}.{role} is an async def, and must be a generator: write `def {role}(...)` and in it "
                f"`answer = yield Call(fetch, ...)`, where fetch may be async; or make the provider with "
                f"websearch_core.provider.from_function({name!r}, {role}=fetch)"
            )
