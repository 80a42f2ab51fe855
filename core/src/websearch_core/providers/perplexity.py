"""Perplexity Search: the ranked results behind Perplexity's answers, with long extracts
and without a written answer.

At most 20 results; no paging. Perplexity takes either allowed or blocked domains, at
most 20 of them; other blocked ones are filtered out here. ``topic`` ``academic``
searches papers, ``finance`` filings with the SEC. `max_tokens_per_page` sets how long
the extracts are.
"""

from __future__ import annotations
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import PositiveInt

from websearch_core import provider as kit
from websearch_core.errors import AuthenticationError, QuotaExhausted, ServiceError
from websearch_core.provider._codes import COUNTRIES, LANGUAGES

_MAX_DOMAINS = 20
_MODES = {"academic": "academic", "finance": "sec"}
# a key from before there was this API
_MEANINGS: dict[int, type[ServiceError]] = {451: AuthenticationError}


@kit.provider
class Perplexity:
    """Searches with Perplexity.

    Args:
        api_key: Starts with ``pplx-``.
        base_url: Where the API is.
        max_tokens: Maximum length of all extracts together, in tokens.
        max_tokens_per_page: Maximum length of the extracts of one page, in tokens.
    """

    name = "perplexity"
    label = "Perplexity Search"
    options: ClassVar[frozenset[str]] = kit.FILTERS | {"country", "language", "topic"}
    topics: ClassVar[frozenset[str]] = frozenset(_MODES)
    countries: ClassVar[Mapping[str, str]] = COUNTRIES
    languages: ClassVar[Mapping[str, str]] = LANGUAGES
    limits: ClassVar[kit.Limits] = kit.Limits(
        results_per_request=20, results=20, allowed_domains=_MAX_DOMAINS
    )
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=(
            "https://docs.perplexity.ai/api-reference/search-post",
            "https://docs.perplexity.ai/guides/search-guide",
        ),
        signup_url="https://www.perplexity.ai/account/api",
        price="USD 5 per 1,000 requests",
        prices=(kit.Price(usd=0.005, by_request=True),),
        as_of="2026-10",
        compared="perplexityai 0.46.1, 2026-11-23",
    )

    api_key: Annotated[kit.Key, kit.Env("PERPLEXITY_API_KEY", "PPLX_API_KEY")]
    base_url: kit.BaseUrl = "https://api.perplexity.ai"
    max_tokens: Annotated[PositiveInt | None, kit.FoundFile()] = None
    max_tokens_per_page: Annotated[PositiveInt | None, kit.FoundFile()] = None

    @kit.page_by_page
    def search(
        self, query: kit.SearchQuery, _: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Search."""
        language = kit.find_language(query, self)
        # the others are filtered out here
        blocked = [f"-{domain}" for domain in query.blocked_domains[:_MAX_DOMAINS]]
        payload = {
            "query": query.text,
            "max_results": size,
            "max_tokens": self.max_tokens,
            "max_tokens_per_page": self.max_tokens_per_page,
            "country": kit.find_country(query, self),
            "search_language_filter": [language] if language else None,
            "search_domain_filter": list(query.allowed_domains) or blocked or None,
            "search_recency_filter": query.time_range,
            "search_after_date_filter": f"{query.after:%m/%d/%Y}"
            if query.after
            else None,
            "search_before_date_filter": f"{query.before:%m/%d/%Y}"
            if query.before
            else None,
            "search_mode": _MODES.get(query.topic),
        }
        response = yield kit.post_json(self, "search", payload, query)
        kinds = {"insufficient_quota": QuotaExhausted}
        body = kit.decode(
            response, self, meanings=_MEANINGS, kind=kinds, code="error.type"
        )
        items = _flatten(body.get("results")) or ...  # without a list, there is a note
        request_id = kit.as_text(body.get("id"))
        return kit.parse_search(
            self, query, body, items, published="date", request_id=request_id
        ), False


def _flatten(results: Any) -> Any:
    """Return one list of results: for several queries, there may be a list for each."""
    if isinstance(results, list) and any(isinstance(item, list) for item in results):
        return [item for items in results if isinstance(items, list) for item in items]
    return results
