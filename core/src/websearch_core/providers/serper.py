"""Serper: the results of Google, as JSON.

A page has ten results and costs a credit; images cost another. ``topic`` ``news``
searches Google News, ``academic`` Google Scholar, which has no time filter.
"""

from __future__ import annotations
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from websearch_core import provider as kit
from websearch_core.errors import QuotaExhausted, UnsupportedOption
from websearch_core.provider.google import (
    GOOGLE_LANGUAGES,
    find_google,
    google_period,
    search_google,
)

_PERIOD = ("time_range", "after", "before")
_IMAGES = {"items": "images", "url": "imageUrl", "page_url": "link"}
_ENDPOINTS = {
    "general": "search",
    "news": "news",
    "academic": "scholar",
    "images": "images",
}


@kit.provider
class Serper:
    """Searches with Serper.

    Args:
        api_key: From https://serper.dev/api-keys.
        base_url: Where the API is.
    """

    name = "serper"
    key_header = "X-API-KEY"
    searches_hours: ClassVar[bool] = True
    options: ClassVar[frozenset[str]] = kit.FILTERS | {
        "country",
        "language",
        "topic",
        "images",
        "page",
    }
    topics: ClassVar[frozenset[str]] = frozenset({"news", "academic"})
    emulated: ClassVar[frozenset[str]] = frozenset(
        {"limit", "allowed_domains", "blocked_domains"}
    )
    countries: ClassVar[Mapping[str, str]] = kit.LOWER_COUNTRIES
    languages: ClassVar[Mapping[str, str]] = GOOGLE_LANGUAGES
    limits: ClassVar[kit.Limits] = kit.Limits(results_per_request=10)
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=("https://serper.dev/playground",),
        signup_url="https://serper.dev/api-keys",
        free_allowance="2,500 credits once",
        price="USD 1 per 1,000 credits, less in bulk; a page of results is a credit",
        as_of="2026-08",
        compared="its playground, 2026-08",
    )

    api_key: Annotated[kit.Key, kit.Env("SERPER_API_KEY")] = kit.REQUIRED
    base_url: kit.BaseUrl = "https://google.serper.dev"

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search, page by page until the limit is reached."""
        dates = [name for name in _PERIOD if getattr(query, name)]
        if query.topic == "academic" and dates:
            raise UnsupportedOption.by(self, "has no time filter for papers", *dates)
        return (
            yield from search_google(
                query, self, self._ask, _find_items, images=_IMAGES
            )
        )

    find_engines = find_google

    def _ask(
        self, query: kit.SearchQuery, topic: str, number: int
    ) -> kit.Flow[dict[str, Any]]:
        payload = {
            "q": kit.with_sites(query),
            "gl": kit.find_country(query, self),
            "hl": kit.find_language(query, self),
            "tbs": google_period(query),
            "page": number + 1 if number else None,
        }
        response = yield kit.post_json(
            self, _ENDPOINTS[topic], payload, query, join=","
        )
        return kit.decode(response, self, kind={"credits": QuotaExhausted})


def _find_items(body: dict[str, Any], topic: str) -> tuple[Any, bool | None]:
    section = "news" if topic == "news" else "organic"
    items = body.get(section)
    if items is None and "searchParameters" in body:
        items = []  # nothing was found
    return items, None
