"""Search within the domain policy, which no query can widen."""

from __future__ import annotations

from ..errors import AllProvidersFailed, InvalidOption, UnsupportedOption
from ..flow import Flow
from ..layers._relax import find_unsupported
from ..models import SearchQuery, SearchResponse
from ..models._domains import Domains
from ..provider._ports import SearchProvider


def narrow_query(query: SearchQuery, policy: Domains) -> SearchQuery:
    """
    Return *query* within *policy*.

    Raises:
        InvalidOption: All its ``allowed_domains`` are outside.

    """
    if not policy:
        return query
    inside = policy.narrow(query.allowed_domains, query.blocked_domains)
    if inside is None:
        raise InvalidOption("allowed_domains: none of these domains may be searched here")
    return SearchQuery(**{**dict(query), "allowed_domains": inside.allowed, "blocked_domains": inside.blocked})


def search_within(provider: SearchProvider, narrowed: SearchQuery, query: SearchQuery) -> Flow[SearchResponse]:
    """
    Search for *narrowed*.

    A filter that only the policy asks for, and that the provider does not support, is not an error: the caller leaves
    out the results that are outside it anyway. The response says so.

    Args:
        provider: The provider to search with.
        narrowed: What `narrow_query` returned.
        query: The query before that.

    """
    try:
        return (yield from provider.search(narrowed))
    except (UnsupportedOption, AllProvidersFailed) as error:
        unsupported = {option for cause in find_unsupported(error) for option in cause.options}
        added = sorted(unsupported & (narrowed.requested() - query.requested()))
        if not added:
            raise
        response = yield from provider.search(narrowed.without(*added))
    note = f"{provider.name} does not support {', '.join(added)}: results outside the domain policy are left out here"
    return response.with_notes(note)
