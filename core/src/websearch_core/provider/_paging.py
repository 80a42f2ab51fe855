"""Collect the pages of results that a query needs: services return a few at a time."""

from __future__ import annotations
from collections.abc import Callable, Iterable
from functools import partial
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

    Args:
        fetch: Takes the query, the number of a page, from 0, and how many results it
            has; a flow that returns the response, and whether there is another page.
    """

    def search(provider: Any, query: SearchQuery, /) -> Flow[SearchResponse]:
        check_options(query, provider)
        return (
            yield from collect_pages(query, provider, partial(fetch, provider, query))
        )

    search.__doc__, search.__qualname__ = fetch.__doc__, fetch.__qualname__
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
    known: Limits = getattr(provider, "limits", Limits()) if limits is None else limits
    most, largest = known.get("results"), known.get("results_per_request", query.limit)
    size = largest if fixed else min(query.limit, largest)
    start = (query.page - 1) * query.limit
    message = f"{provider.name} returns at most {most} results of a query"
    if most is not None and start >= most:
        raise UnsupportedOption(message, options=["page"], provider=provider.name)
    end = start + query.limit if most is None else min(start + query.limit, most)
    first, skip = divmod(start, size)

    def one(number: int) -> Flow[tuple[SearchResponse, int | None]]:
        response, more = yield from fetch(number, size)
        has_next = more and (most is None or (number + 1) * size < most)
        if skip + end - start <= size and len(response.results) < size and not is_short:
            has_next = False
        return response, number + 1 if has_next else None

    found = yield from follow_pages(
        query, provider, one, first, skip=skip, count=end - start
    )
    return found.with_notes(message) if end < start + query.limit else found


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
    """Fetch page after page until enough results inside the domain filter are found,
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
    count = query.limit if count is None else count
    found: dict[str, SearchResult] = {}
    pages: list[SearchResponse] = []
    notes: list[str] = []
    inside, cursor = 0, first
    while True:
        try:
            response, following = yield from fetch(cursor)
        except ServiceError as error:
            if inside <= skip:
                raise
            notes.append(f"{provider.name} failed on a later page ({error.code})")
            break
        pages.append(response)
        cursor, before = following, len(found)
        for result in response.results:
            if (page := find_page(result.url)) not in found:
                found[page] = result
                inside += in_domains(result.url, query)
        if inside >= skip + count or cursor is None or len(found) == before:
            break
        if len(pages) == max_pages:
            if skip and inside <= skip:
                message = (
                    f"{provider.name} reads at most {max_pages} pages of results, and "
                    f"this one is beyond them"
                )
                raise UnsupportedOption(
                    message, options=["page"], provider=provider.name
                )
            notes.append(f"{provider.name}: stopped after {max_pages} pages of results")
            break
    return _merge(pages, take_window(found.values(), query, skip, count), notes)


def take_window(
    results: Iterable[SearchResult], query: SearchQuery, skip: int, count: int
) -> tuple[SearchResult, ...]:
    """Return *count* results inside the filter after the first *skip*, and those
    outside, which are counted later.
    """
    kept, inside = [], 0
    for result in results:
        if in_domains(result.url, query):
            inside += 1
            if not skip < inside <= skip + count:
                continue
        kept.append(result)
    return tuple(kept)


def _merge(
    pages: list[SearchResponse], results: tuple[SearchResult, ...], notes: list[str]
) -> SearchResponse:
    """Return the first page with *results*, and with what all pages add, cost and
    say.
    """
    usage: dict[str, float] = {}
    for page in pages:
        for unit, amount in page.usage.items():
            usage[unit] = (
                amount if unit.endswith("remaining") else usage.get(unit, 0) + amount
            )
    costs = [page.cost for page in pages if page.cost is not None]
    partial = bool(notes) or any(page._is_partial for page in pages)  # noqa: SLF001 - private to users, not to us
    update = {
        "results": results,
        "answer": next((page.answer for page in pages if page.answer), None),
        "images": tuple(
            dict.fromkeys(image for page in pages for image in page.images)
        ),
        "suggestions": tuple(
            dict.fromkeys(one for page in pages for one in page.suggestions)
        ),
        "notes": tuple(
            dict.fromkeys([*(note for page in pages for note in page.notes), *notes])
        ),
        "cost": sum(costs) if costs else None,
        "usage": usage,
    }
    return pages[0].model_copy(update=update).with_notes(partial=partial)
