"""Ask for more results than a call wants, to choose from them.

The first *depth* results are put in order, then the next *depth*, and so on; a page is
a part of that list. So more results never change the order of those before, and a page
begins where the page before it ended, whatever the limits of the layers inside and
outside are.
"""

from __future__ import annotations
from collections.abc import Iterable
from math import ceil

from .._text.urls import find_page
from ..models import SearchQuery, SearchResult
from ..provider._paging import take_window
from ..provider._ports import Provider
from ..provider._results import in_domains
from ._layer import leaves


def find_depth(provider: Provider, depth: int) -> int:
    """Return how many results of *provider* to put in order together: *depth*, or what
    it returns for one request.
    """
    bounds = [depth]
    for leaf in leaves(provider):
        limits = getattr(leaf, "limits", {})
        for key in ("results_per_request", "results"):
            if key in limits:
                bounds.append(limits[key])
    return min(bounds)


def deepen(query: SearchQuery, depth: int) -> SearchQuery:
    """Return *query* for everything up to the end of its page, and up to a multiple of
    *depth*.
    """
    limit = ceil(query.page * query.limit / depth) * depth
    return query.model_copy(update={"limit": limit, "page": 1})


def split(
    results: Iterable[SearchResult], query: SearchQuery
) -> tuple[list[SearchResult], list[SearchResult]]:
    """Return *results*, each page once: those inside the domain filter of *query*, and
    those outside.
    """
    distinct: dict[str, SearchResult] = {}
    for result in results:
        distinct.setdefault(find_page(result.url), result)
    inside: list[SearchResult] = []
    outside: list[SearchResult] = []
    for result in distinct.values():
        side = inside if in_domains(result.url, query) else outside
        side.append(result)
    return inside, outside


def take_page(
    results: Iterable[SearchResult], query: SearchQuery
) -> tuple[SearchResult, ...]:
    """Return the results that *query* wants, ranked and numbered from 1.

    Those outside its domain filter stay: they are counted later.
    """
    page = take_window(results, query, (query.page - 1) * query.limit, query.limit)
    return tuple(
        result.model_copy(update={"rank": rank, "citation_id": rank})
        for rank, result in enumerate(page, 1)
    )
