"""Ask for more results than a call wants, to choose from them."""

from __future__ import annotations

from ..models import SearchQuery, SearchResult
from ..provider._paging import take_window
from ..provider._ports import Provider
from ._layer import leaves


def deepen(query: SearchQuery, provider: Provider, depth: int) -> SearchQuery:
    """
    Return *query* for the first *depth* results, bounded by what *provider* returns for one request.

    A query for results beyond *depth* is returned as it is: its page is then that of the provider.
    """
    wanted = query.page * query.limit
    if wanted > depth:
        return query
    limits = [getattr(leaf, "limits", {}) for leaf in leaves(provider)]
    bounds = [bound[name] for bound in limits for name in ("results_per_request", "results") if name in bound]
    return query.model_copy(update={"limit": max(wanted, min([depth, *bounds])), "page": 1})


def take_page(results: tuple[SearchResult, ...], query: SearchQuery, depth: int) -> tuple[SearchResult, ...]:
    """
    Return the results that *query* wants from those of a deepened one, ranked and numbered from 1.

    Those outside its domain filter stay: they are counted later.
    """
    skip = (query.page - 1) * query.limit if query.page * query.limit <= depth else 0
    taken = take_window(results, query, skip, query.limit)
    return tuple(one.model_copy(update={"rank": n, "citation_id": n}) for n, one in enumerate(taken, 1))
