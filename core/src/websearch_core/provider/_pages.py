"""Collect results over several pages of a service, in the same way for every provider."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import ServiceError
from ..flow import Flow
from ..models import Image, SearchQuery, SearchResponse, SearchResult
from ._ports import Limits, Provider
from ._results import in_domains


@dataclass(frozen=True, kw_only=True)
class Batch:
    """
    One page of a service's results.

    Args:
        response: What is on it.
        following: What the next page is fetched with, such as its number; None if this is the last.

    """

    response: SearchResponse
    following: Any = None


def search_pages(
    query: SearchQuery,
    provider: Provider,
    fetch: Callable[[Any], Flow[Batch]],
    first: Any = 1,
    *,
    max_pages: int,
    skip: int = 0,
) -> Flow[SearchResponse]:
    """
    Fetch pages until ``query.limit`` results inside the domain filter are found, and make one response of them.

    It ends before that with the last page, with a page that has nothing new, after *max_pages*, and when a later page
    fails: then the results so far are kept, with a note. Duplicates are left out. Usage and cost are added up.

    Args:
        query: The query.
        provider: The provider. If its ``limits`` are lower than the query's, a note says so.
        fetch: Fetches one page; it is given *first*, then the ``following`` of the page before.
        first: What the first page is fetched with.
        max_pages: Maximum number of pages to fetch.
        skip: How many results to leave out at the beginning, for a service that cannot start at ``query.page``.

    Raises:
        WebSearchError: The first page failed, or a later one before there was any result.

    """
    found: dict[str, SearchResult] = {}
    batches: list[SearchResponse] = []
    notes: list[str] = []
    end, inside, cursor = skip + query.limit, 0, first
    while True:
        try:
            batch = yield from fetch(cursor)
        except ServiceError as error:
            if not inside:
                raise
            notes.append(f"{provider.name} failed on a later page ({error.code})")
            break
        batches.append(batch.response)
        new = {result.url: result for result in batch.response.results[::-1] if result.url not in found}
        found |= dict(reversed(new.items()))
        inside += sum(in_domains(url, query) for url in new)
        cursor = batch.following
        if inside >= end or cursor is None or not new:
            break
        if len(batches) == max_pages:
            notes.append(f"{provider.name}: stopped after {max_pages} pages of results")
            break
    limits: Limits = getattr(provider, "limits", Limits())
    if (most := limits.get("results", query.limit)) < query.limit:
        notes = [f"{provider.name} returns at most {most} results"]
    return _merge(batches, _window(list(found.values()), query, skip), notes)


def _window(results: list[SearchResult], query: SearchQuery, skip: int) -> tuple[SearchResult, ...]:
    """Return *limit* results inside the filter after the first *skip*, and those outside, which are counted later."""
    kept, inside = [], 0
    for result in results:
        if in_domains(result.url, query):
            inside += 1
            if not skip < inside <= skip + query.limit:
                continue
        kept.append(result)
    return tuple(kept)


def _merge(batches: list[SearchResponse], results: tuple[SearchResult, ...], notes: list[str]) -> SearchResponse:
    """Return the first response with what the others add."""
    images: dict[str, Image] = {}
    usage: dict[str, float] = {}
    for batch in batches:
        images |= {image.url: image for image in batch.images if image.url not in images}
        for unit, number in batch.usage.items():
            usage[unit] = usage.get(unit, 0) + number
    costs = [batch.cost for batch in batches if batch.cost is not None]
    return batches[0].model_copy(
        update={
            "results": results,
            "answer": next((batch.answer for batch in batches if batch.answer), None),
            "images": tuple(images.values()),
            "suggestions": tuple(dict.fromkeys(text for batch in batches for text in batch.suggestions)),
            "notes": tuple(dict.fromkeys([*(note for batch in batches for note in batch.notes), *notes])),
            "cost": sum(costs) if costs else None,
            "usage": usage,
        }
    )
