"""Make a provider from plain functions."""

from __future__ import annotations
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from ..errors import (
    ConfigurationError,
    ServiceError,
    TimedOut,
    Unavailable,
    WebSearchError,
)
from ..flow import Call, Flow
from ..models import Page, SearchQuery, SearchResponse, SearchResult
from ._declare import T
from ._ports import PageReader, Provider, SearchProvider

if TYPE_CHECKING:
    from .._net.guard import Guard

Found: TypeAlias = SearchResponse | Iterable[SearchResult | Mapping[str, Any]]
SearchFunction: TypeAlias = Callable[[SearchQuery], Found | Awaitable[Found]]
ReadFunction: TypeAlias = Callable[[str], Page | str | Awaitable[Page | str]]


@dataclass(eq=False, repr=False)
class _Function:
    name: str
    options: frozenset[str]
    _guard: Guard
    _search: SearchFunction | None
    _read: ReadFunction | None

    def __repr__(self) -> str:
        return f"from_function({self.name!r})"

    def _ask(
        self, verb: str, function: Callable[[Any], Any], argument: Any
    ) -> Flow[Any]:
        try:
            answer = yield Call(function, argument)
            # lambdas, partials and callable objects may hide that they are async
            if inspect.isawaitable(answer):
                answer = yield Call(_await, answer)
        except WebSearchError:
            raise
        except Exception as error:
            kind = ServiceError
            if isinstance(error, TimeoutError):
                kind = TimedOut
            elif isinstance(error, ConnectionError):
                kind = Unavailable
            # Its message is left out: it may contain a key.
            raise kind(
                f"{self.name} {verb} failed: {type(error).__name__}", provider=self.name
            ) from error
        return answer


class _Searches(_Function):
    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        from ._http import check_options

        check_options(query, self)
        assert self._search is not None
        answer = yield from self._ask("search", self._search, query)
        if isinstance(answer, SearchResponse):
            return answer.model_copy(
                update={"query": query.text, "provider": self.name}
            )
        results: list[SearchResult] = []
        for item in _take_items(answer, self.name):
            results += _as_results(item, self.name)
        return SearchResponse(
            query=query.text, results=tuple(results), provider=self.name
        )


class _Reads(_Function):
    def read(self, url: str, /) -> Flow[Page]:
        assert self._read is not None
        self._guard.check(url)
        answer = yield from self._ask("read", self._read, url)
        if isinstance(answer, str):
            answer = Page(
                url=url, final_url=url, content=answer, media_type="text/markdown"
            )
        if not isinstance(answer, Page):
            raise _wrong_type(self.name, "read", "a Page or a text", answer)
        return answer.model_copy(update={"url": url, "provider": self.name})


class FunctionProvider(_Searches, _Reads):
    """A provider that searches and reads with functions; `from_function` makes it."""


@overload
def from_function(
    name: str, *, search: SearchFunction, options: AbstractSet[str] = ...
) -> SearchProvider: ...


@overload
def from_function(
    name: str, *, read: ReadFunction, internal: Sequence[str] = ...
) -> PageReader: ...


@overload
def from_function(
    name: str,
    *,
    search: SearchFunction,
    read: ReadFunction,
    options: AbstractSet[str] = ...,
    internal: Sequence[str] = ...,
) -> FunctionProvider: ...


def from_function(
    name: str,
    *,
    search: SearchFunction | None = None,
    read: ReadFunction | None = None,
    options: AbstractSet[str] = frozenset(),
    internal: Sequence[str] = (),
) -> Provider:
    """Make a provider from plain functions, such as calls to a vendor's SDK. Each may
    block or be async.

    ::

        def search(query):
            hits = client.find(query.text)
            return [{"title": hit.name, "url": hit.link} for hit in hits]

        web = WebSearch(from_function("harbour", search=search))

    A blocking function runs in a thread, so it does not block the event loop. After the
    timeout its result is no longer awaited, but it keeps running. It opens its own
    connections, which the guard cannot see: the guard checks the URL before *read* is
    called, and nothing after that. Give *read* only functions that let a service open
    the page.

    Args:
        name: The name of the provider.
        search: Takes a `SearchQuery` and returns a `SearchResponse`, or results: each a
            `SearchResult`, or a mapping with ``url``, ``title``, ``snippet``, ``score``
            and ``published``; only ``url`` is required.
        read: Takes a URL and returns a `Page`, or its text as Markdown.
        options: The fields of `SearchQuery` that *search* supports; a query with others
            is refused.
        internal: Non-public networks and origins whose URLs *read* may get, as for
            `WebSearch`.

    Raises:
        ConfigurationError: No function was given, an option is not a field of a query,
            or *internal* is invalid.
    """
    from .._net.guard import Guard

    if not name or not isinstance(name, str):
        raise ConfigurationError("from_function: give the provider a name")
    if not all(function is None or callable(function) for function in (search, read)):
        raise ConfigurationError(
            f"from_function({name!r}): search and read have to be functions"
        )
    if search is None and read is None:
        raise ConfigurationError(f"from_function({name!r}): give search, read, or both")
    unknown = sorted(set(options) - set(SearchQuery.model_fields))
    if unknown:
        raise ConfigurationError(
            f"from_function({name!r}): not a field of SearchQuery: {', '.join(unknown)}"
        )
    kind: type[_Searches | _Reads] = FunctionProvider
    if search is None:
        kind = _Reads
    elif read is None:
        kind = _Searches
    return kind(name, frozenset(options), Guard.allowing(internal), search, read)


async def _await(answer: Awaitable[T]) -> T:
    return await answer


def _as_results(
    item: SearchResult | Mapping[str, Any], name: str
) -> list[SearchResult]:
    """Return an item as a result of the provider *name*; none if its URL is none."""
    from ._results import parse_results

    if isinstance(item, SearchResult):
        return [item.model_copy(update={"provider": name})]
    return list(parse_results([dict(item)], name))


def _take_items(answer: Any, name: str) -> list[Any]:
    if isinstance(answer, str | bytes | Mapping) or not isinstance(answer, Iterable):
        raise _wrong_type(
            name, "search", "a SearchResponse or a list of results", answer
        )
    items = list(answer)
    for item in items:
        if not isinstance(item, SearchResult | Mapping):
            raise _wrong_type(name, "search", "results", item)
    return items


def _wrong_type(name: str, verb: str, types: str, answer: Any) -> ServiceError:
    return ServiceError(
        f"{name} {verb} failed: the function must return {types}, not "
        f"{type(answer).__name__}",
        provider=name,
    )
