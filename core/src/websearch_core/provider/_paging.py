"""Collect the pages of results that a query needs: services return a few at a time."""

from __future__ import annotations
import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain
from typing import Any, TypeAlias, TypeVar

from .._text.urls import find_page
from ..errors import ServiceError, UnsupportedOption
from ..flow import Flow
from ..models import SearchQuery, SearchResponse, SearchResult
from ._http import check_options
from ._ports import Limits, Provider
from ._results import in_domains

# Takes the number of a page, from 0, and its size; returns what is on it, and whether
# there is another one.
PageFlow: TypeAlias = Callable[[int, int], Flow[tuple[SearchResponse, bool]]]
# a provider, whose class is not complete yet where a method is decorated
P = TypeVar("P")

_MAX_REQUESTS = 10


def page_by_page(
    fetch: Callable[[P, SearchQuery, int, int], Flow[tuple[SearchResponse, bool]]],
) -> Callable[[P, SearchQuery], Flow[SearchResponse]]:
    """Make the method ``search`` of one that fetches a single page of results, for
    `check_options` and `collect_pages`.

    ::

        @kit.page_by_page
        def search(self, query, number, size):
            response = yield kit.get_json(self, "search", {"q": query.text, ...})
            ...
            return page, has_next

    Args:
        fetch: Takes the query, the number of a page, from 0, and how many results it
            has; a flow that returns the response, and whether there is another page.
    """

    def search(provider: Any, query: SearchQuery, /) -> Flow[SearchResponse]:
        check_options(query, provider)
        return (
            yield from collect_pages(query, provider, partial(fetch, provider, query))
        )

    search.__doc__ = fetch.__doc__
    search.__qualname__ = fetch.__qualname__
    return search


def collect_pages(
    query: SearchQuery,
    provider: Provider,
    fetch: PageFlow,
    *,
    fixed: bool = False,
    limits: Limits | None = None,
    is_short: bool = False,
) -> Flow[SearchResponse]:
    """Request pages until the limit of *query* is reached, as `follow_pages` does, from
    a service that numbers its pages.

    If one page can have all results that the query asks for, and has fewer, another one
    is not paid for.

    Args:
        query: The query: its ``page`` has ``limit`` results.
        provider: Its ``limits`` say how many results one request
            (``results_per_request``) and one query (``results``) can have.
        fetch: Takes the number of a page, from 0, and how many results it has; a flow
            that returns the response, and whether there is another page.
        fixed: The service's pages always have ``results_per_request`` results.
        limits: Other limits than the provider's, for another kind of search.
        is_short: The service's pages may have fewer results than it was asked for,
            although it has more.

    Raises:
        UnsupportedOption: The page that the query names is beyond the results that the
            service has for one query.
    """
    own_limits: Limits = getattr(provider, "limits", Limits())
    limits = own_limits if limits is None else limits
    size = limits.get("results_per_request", query.limit)
    if not fixed:
        size = min(query.limit, size)
    max_results = limits.get("results", math.inf)
    start = (query.page - 1) * query.limit
    end = min(start + query.limit, max_results)
    message = f"{provider.name} returns at most {max_results} results of a query"
    if start >= max_results:
        raise UnsupportedOption(message, options=["page"], provider=provider.name)
    first, skip = divmod(start, size)
    count = int(end - start)
    is_enough = skip + count <= size  # one page can have all

    def fetch_numbered(number: int) -> Flow[tuple[SearchResponse, int | None]]:
        response, has_next = yield from fetch(number, size)
        is_full = len(response.results) >= size or is_short
        if is_enough and not is_full:
            has_next = False
        if (number + 1) * size >= max_results:
            has_next = False
        following = number + 1 if has_next else None
        return response, following

    response = yield from follow_pages(
        query, provider, fetch_numbered, first, skip=skip, count=count
    )
    if count < query.limit:
        return response.with_notes(message)
    return response


def follow_pages(
    query: SearchQuery,
    provider: Provider,
    fetch: Callable[[Any], Flow[tuple[SearchResponse, Any]]],
    first: Any,
    *,
    max_pages: int = _MAX_REQUESTS,
    skip: int = 0,
    count: int | None = None,
) -> Flow[SearchResponse]:
    """Fetch page after page until enough results inside the domain filter are there,
    and make one response of them.

    It ends before that with the last page, with a page that has nothing new, after
    *max_pages*, and when a later page fails: then the results so far, which may be paid
    for, are kept, with a note, and the response is partial. Results that occur twice
    count once. Usage and cost are added up.

    Args:
        query: The query.
        provider: The provider.
        fetch: Takes *first*, then what the page before said; a flow that returns the
            response, and what the next page is fetched with, such as its number or a
            form, or None if this is the last.
        first: What the first page is fetched with.
        max_pages: Maximum number of pages to fetch.
        skip: How many results to leave out at the beginning, for a service that cannot
            start at ``query.page``.
        count: How many results to return; by default, the limit of the query.

    Raises:
        WebSearchError: A page failed before there was any result beyond the first
            *skip*.
        UnsupportedOption: There was none in *max_pages* pages.
    """
    if count is None:
        count = query.limit
    results: dict[str, SearchResult] = {}  # by the canonical form of their URLs
    inside = 0  # how many of them are inside the domain filter
    pages: list[SearchResponse] = []
    notes: list[str] = []
    cursor = first
    while True:
        try:
            response, cursor = yield from fetch(cursor)
        except ServiceError as error:
            if inside <= skip:
                raise
            notes.append(f"{provider.name} failed on a later page ({error.code})")
            break
        pages.append(response)
        additions = _find_additions(results, response)
        results |= additions
        inside += sum(in_domains(result.url, query) for result in additions.values())
        is_enough = inside >= skip + count or cursor is None
        if is_enough or not additions:
            break
        if len(pages) == max_pages:
            if skip and inside <= skip:
                raise _make_beyond_error(provider, max_pages)
            notes.append(f"{provider.name}: stopped after {max_pages} pages of results")
            break
    return _merge(pages, take_window(results.values(), query, skip, count), notes)


def _find_additions(
    results: Mapping[str, SearchResult], response: SearchResponse
) -> dict[str, SearchResult]:
    """Return the results of a page that are on none before it, once each."""
    additions: dict[str, SearchResult] = {}
    for result in response.results:
        page = find_page(result.url)
        if page not in results:
            additions.setdefault(page, result)
    return additions


def _make_beyond_error(provider: Provider, max_pages: int) -> UnsupportedOption:
    why = f"reads at most {max_pages} pages of results, and this one is beyond them"
    return UnsupportedOption.by(provider, why, "page")


def take_window(
    results: Iterable[SearchResult], query: SearchQuery, skip: int, count: int
) -> tuple[SearchResult, ...]:
    """Return *count* results inside the filter after the first *skip*, and those
    outside, which are counted later.
    """
    window = []
    inside = 0
    for result in results:
        if in_domains(result.url, query):
            inside += 1
            if not skip < inside <= skip + count:
                continue
        window.append(result)
    return tuple(window)


def _merge(
    pages: list[SearchResponse], results: tuple[SearchResult, ...], notes: list[str]
) -> SearchResponse:
    """Return the first page with *results*, and with what all pages add, cost and
    say.
    """
    images = chain.from_iterable(page.images for page in pages)
    suggestions = chain.from_iterable(page.suggestions for page in pages)
    page_notes = chain.from_iterable(page.notes for page in pages)
    costs = [page.cost for page in pages if page.cost is not None]
    # private to users, not to us
    is_partial = bool(notes) or any(page._is_partial for page in pages)  # noqa: SLF001
    update = {
        "results": results,
        "answer": next((page.answer for page in pages if page.answer), None),
        "images": tuple(dict.fromkeys(images)),
        "suggestions": tuple(dict.fromkeys(suggestions)),
        "notes": tuple(dict.fromkeys([*page_notes, *notes])),
        "cost": sum(costs) if costs else None,
        "usage": _add_usage(pages),
    }
    return pages[0].model_copy(update=update).with_notes(partial=is_partial)


def _add_usage(pages: list[SearchResponse]) -> dict[str, float]:
    """Add up what pages consumed; of what remains, the last one says how much."""
    usage: dict[str, float] = {}
    for page in pages:
        for unit, amount in page.usage.items():
            before = 0 if unit.endswith("remaining") else usage.get(unit, 0)
            usage[unit] = before + amount
    return usage
