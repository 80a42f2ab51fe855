"""Collect the pages of results that a query needs: services return a few at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..errors import ServiceError, UnsupportedOption
from ..flow import Flow
from ..models import SearchQuery, SearchResponse, SearchResult
from ._ports import Limits, Provider

# Takes the number of a page, from 0, and its size; returns what is on it, and whether there is another one.
PageFlow: TypeAlias = Callable[[int, int], Flow[tuple[SearchResponse, bool]]]

_MAX_REQUESTS = 10


def collect_pages(
    query: SearchQuery, provider: Provider, fetch: PageFlow, *, fixed: bool = False
) -> Flow[SearchResponse]:
    """
    Request pages until the limit of *query* is reached or there are no more; results that occur twice count once.

    A failure on a later page keeps the results so far, which may be paid for, with a note.

    Args:
        query: The query: its ``page`` has ``limit`` results.
        provider: Its ``limits`` say how many results one request (``results_per_request``) and one query (``results``)
            can have.
        fetch: Takes the number of a page, from 0, and how many results it has; a flow that returns the response, and
            whether there is another page.
        fixed: The service's pages always have ``results_per_request`` results.

    Raises:
        UnsupportedOption: The page that the query names is beyond the results that the service has for one query.

    """
    limits: Limits = getattr(provider, "limits", Limits())
    most, largest = limits.get("results"), limits.get("results_per_request", query.limit)
    size = largest if fixed else min(query.limit, largest)
    start = (query.page - 1) * query.limit
    if most is not None and start >= most:
        message = f"{provider.name} returns at most {most} results of a query"
        raise UnsupportedOption(message, options=["page"], provider=provider.name)
    end = start + query.limit if most is None else min(start + query.limit, most)
    first, skip = divmod(start, size)
    pages: list[SearchResponse] = []
    found: dict[str, SearchResult] = {}
    notes: list[str] = []
    if end < start + query.limit:
        notes.append(f"{provider.name} returns at most {most} results of a query")
    for number in range(first, first + _MAX_REQUESTS):
        try:
            page, more = yield from fetch(number, size)
        except ServiceError as error:
            if not pages:
                raise
            notes.append(f"{provider.name} failed on a later page ({error.code})")
            break
        pages.append(page)
        before = len(found)
        for result in page.results:
            found.setdefault(result.url, result)
        if not more or len(found) == before or first * size + len(found) >= end:
            break
    results = tuple(found.values())[skip : skip + end - start]
    return _merge(pages, results).with_notes(*notes)


def _merge(pages: list[SearchResponse], results: tuple[SearchResult, ...]) -> SearchResponse:
    """Return the first page with *results*, and with what all pages cost and say."""
    usage: dict[str, float] = {}
    for page in pages:
        for unit, amount in page.usage.items():
            usage[unit] = amount if unit.endswith("remaining") else usage.get(unit, 0) + amount
    costs = [page.cost for page in pages if page.cost is not None]
    return pages[0].model_copy(
        update={
            "results": results,
            "images": tuple(dict.fromkeys(image for page in pages for image in page.images)),
            "suggestions": tuple(dict.fromkeys(one for page in pages for one in page.suggestions)),
            "notes": tuple(dict.fromkeys(note for page in pages for note in page.notes)),
            "cost": sum(costs) if costs else None,
            "usage": usage,
        }
    )
