"""Perplexity Search: the ranked results behind Perplexity's answers, with long extracts
and without a written answer.

It takes either allowed or blocked domains, at most 20 of them; other blocked ones are
filtered out here. ``topic`` ``academic`` searches papers, ``finance`` filings with the
SEC.
"""

from __future__ import annotations
from collections.abc import Mapping
from datetime import date
from itertools import chain
from typing import Annotated, Any, ClassVar

from pydantic import PositiveInt

from websearch_core import provider as kit
from websearch_core.errors import AuthenticationError, QuotaExhausted, ServiceError

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
    searches_hours: ClassVar[bool] = True
    label = "Perplexity Search"
    options: ClassVar[frozenset[str]] = kit.FILTERS | {"country", "language", "topic"}
    topics: ClassVar[frozenset[str]] = frozenset(_MODES)
    countries: ClassVar[Mapping[str, str]] = kit.COUNTRIES
    languages: ClassVar[Mapping[str, str]] = kit.LANGUAGES
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

    api_key: Annotated[kit.Key, kit.Env("PERPLEXITY_API_KEY", "PPLX_API_KEY")] = (
        kit.REQUIRED
    )
    base_url: kit.BaseUrl = "https://api.perplexity.ai"
    max_tokens: Annotated[PositiveInt | None, kit.ProjectFile()] = None
    max_tokens_per_page: Annotated[PositiveInt | None, kit.ProjectFile()] = None

    @kit.page_by_page
    def search(
        self, query: kit.SearchQuery, _: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Search."""
        payload = {
            "query": query.text,
            "max_results": size,
            "max_tokens": self.max_tokens,
            "max_tokens_per_page": self.max_tokens_per_page,
            **self._filters(query),
        }
        response = yield kit.post_json(self, "search", payload, query)
        kinds = {"insufficient_quota": QuotaExhausted}
        body = kit.decode(
            response, self, meanings=_MEANINGS, kind=kinds, code="error.type"
        )
        page = kit.parse_search(
            self,
            query,
            body,
            _flatten(body.get("results")) or ...,  # without a list, there is a note
            published="date",
            request_id=kit.as_text(body.get("id")),
        )
        return page, False

    def _filters(self, query: kit.SearchQuery) -> dict[str, Any]:
        language = kit.find_language(query, self)
        # more than those are filtered out here
        blocked = [f"-{domain}" for domain in query.blocked_domains[:_MAX_DOMAINS]]
        return {
            "country": kit.find_country(query, self),
            "search_language_filter": [language] if language else None,
            "search_domain_filter": list(query.allowed_domains) or blocked or None,
            "search_recency_filter": query.time_range,
            "search_after_date_filter": _write_date(query.after),
            "search_before_date_filter": _write_date(query.before),
            "search_mode": _MODES.get(query.topic),
        }


def _write_date(day: date | None) -> str | None:
    """Return a date as Perplexity writes it: month, day and year."""
    return f"{day:%m/%d/%Y}" if day else None


def _flatten(results: Any) -> Any:
    """Return one list of results: for several queries, there may be a list for each."""
    if not isinstance(results, list):
        return results
    lists = [item for item in results if isinstance(item, list)]
    return list(chain.from_iterable(lists)) if lists else results
