"""SearchApi: the results of Google, as JSON.

A page has ten results and is one search of the plan; images are another. ``topic``
``news`` searches Google News, ``academic`` Google Scholar.
"""

from __future__ import annotations
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from websearch_core import provider as kit
from websearch_core.errors import (
    AuthenticationError,
    QuotaExhausted,
    ServiceError,
    Unavailable,
)
from websearch_core.provider import google

_ENGINES = {
    "general": "google",
    "news": "google_news",
    "academic": "google_scholar",
    "images": "google_images",
}
_IMAGES = {
    "items": "images",
    "url": "original.link",
    "page_url": "source.link",
}
_EMPTY = ("return any results", "returned any results", "no results")
_USED_UP = ("run out", "used all", "upgrade", "exceeded your", "monthly", "credits")
_KINDS: dict[str, type[ServiceError]] = {
    **dict.fromkeys(_USED_UP, QuotaExhausted),
    "api key": AuthenticationError,
}


@kit.provider
class SearchApi:
    """Searches with SearchApi.

    Args:
        api_key: From https://www.searchapi.io.
        base_url: Where the API is.
    """

    name = "searchapi"
    options: ClassVar[frozenset[str]] = kit.FILTERS | {
        "country",
        "language",
        "safe_search",
        "topic",
        "images",
        "page",
    }
    topics: ClassVar[frozenset[str]] = frozenset({"news", "academic"})
    emulated: ClassVar[frozenset[str]] = frozenset(
        {"limit", "allowed_domains", "blocked_domains"}
    )
    countries: ClassVar[Mapping[str, str]] = kit.COUNTRIES
    languages: ClassVar[Mapping[str, str]] = google.GOOGLE_RESULT_LANGUAGES
    limits: ClassVar[kit.Limits] = kit.Limits(results_per_request=10)
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=("https://www.searchapi.io/docs/google",),
        signup_url="https://www.searchapi.io/users/sign_up",
        free_allowance="100 searches once",
        as_of="2026-09",
        compared="the pages of version 1 of its API, 2026-09",
    )

    api_key: Annotated[kit.Key, kit.Env("SEARCHAPI_API_KEY")] = kit.REQUIRED
    base_url: kit.BaseUrl = "https://www.searchapi.io/api/v1"

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search, page by page until the limit is reached."""
        return (
            yield from google.search_google(
                query, self, self._ask, _find_items, images=_IMAGES
            )
        )

    find_engines = google.find_google

    def _ask(
        self, query: kit.SearchQuery, topic: str, number: int
    ) -> kit.Flow[dict[str, Any]]:
        period: Mapping[str, Any] = _write_period(query)
        if query.topic == "academic":
            period = google.google_years(query, self)
        params = {
            "q": kit.with_sites(query),
            **period,
            **google.google_filters(query, self),
            "engine": _ENGINES[topic],
            "page": number + 1 if number else None,
        }
        response = yield kit.get_json(self, "search", params, query)
        return kit.decode(
            response, self, kind=_KINDS, meanings={200: Unavailable}, nothing=_EMPTY
        )


def _write_period(query: kit.SearchQuery) -> dict[str, str | None]:
    """Return the dates of the query, in American order."""
    return {
        "time_period": f"last_{query.time_range}" if query.time_range else None,
        "time_period_min": f"{query.after:%m/%d/%Y}" if query.after else None,
        "time_period_max": f"{query.before:%m/%d/%Y}" if query.before else None,
    }


def _find_items(body: dict[str, Any], _: str) -> tuple[Any, bool | None]:
    items = body.get("organic_results")
    is_empty = "error" in body or "search_metadata" in body
    if items is None and is_empty:
        items = []  # Google found nothing
    following = kit.as_text(kit.find_value(body, "pagination.next"))
    has_next = True if following else None
    return items, has_next
