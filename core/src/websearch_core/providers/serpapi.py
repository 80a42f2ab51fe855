"""SerpApi: the results of Google, as JSON.

A page has ten results and is one search of the plan; images are another. ``topic``
``news`` searches Google News, ``academic`` Google Scholar. ``engine`` searches Bing or
DuckDuckGo instead, one page, with no other options than domains. It takes the key only
in the URL.
"""

from __future__ import annotations
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from websearch_core import provider as kit
from websearch_core.errors import (
    AuthenticationError,
    QuotaExhausted,
    ServiceError,
    Unavailable,
    UnsupportedOption,
)
from websearch_core.provider import google

_ENGINES = {
    "news": {"engine": "google", "tbm": "nws"},
    "academic": {"engine": "google_scholar"},
    "images": {"engine": "google_images"},
}
_OTHERS = {"bing", "duckduckgo"}  # engines that are not Google's
_DOMAINS = {"allowed_domains", "blocked_domains"}
_IMAGES = {"items": "images_results", "url": "original", "page_url": "link"}
_EMPTY = "returned any results"
_KINDS: dict[str, type[ServiceError]] = {
    "run out": QuotaExhausted, "upgrade": QuotaExhausted,
    "api key": AuthenticationError,
}  # fmt: skip


@kit.provider
class SerpApi:
    """Searches with SerpApi.

    Args:
        api_key: From https://serpapi.com/manage-api-key.
        base_url: Where the API is.
        engine: What to search with; ``google_light`` is faster, and has less besides
            the results.
        location: Search Google as from this place, such as ``Austin, Texas, United
            States``.
    """

    name = "serpapi"
    searches_hours: ClassVar[bool] = True
    key_parameter = "api_key"
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
        api_urls=(
            "https://serpapi.com/search-api",
            "https://serpapi.com/api-status-and-error-codes",
        ),
        signup_url="https://serpapi.com/users/sign_up",
        free_allowance="250 searches a month",
        price="USD 75 per 5,000 searches a month",
        as_of="2026-09",
        compared="the pages of its API, 2026-09",
    )

    api_key: Annotated[
        kit.Key, kit.Env("SERPAPI_API_KEY", "SERPAPI_KEY", "SERP_API_KEY")
    ] = kit.REQUIRED
    base_url: kit.BaseUrl = "https://serpapi.com"
    engine: Annotated[
        Literal["google", "google_light", "bing", "duckduckgo"], kit.ProjectFile()
    ] = "google"
    location: Annotated[str | None, kit.ProjectFile()] = None

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search, page by page until the limit is reached."""
        options = sorted(query.requested() - _DOMAINS)
        if options and self.engine in _OTHERS:
            why = f"does not support {', '.join(options)} with {self.engine}"
            raise UnsupportedOption.by(self, why, *options)
        return (
            yield from google.search_google(
                query, self, self._ask, self._find_items, images=_IMAGES
            )
        )

    def find_engines(self, _: kit.SearchResult, /) -> tuple[str, ...]:
        """Return the search engine behind a result."""
        return (self.engine.removesuffix("_light"),)

    def _ask(
        self, query: kit.SearchQuery, topic: str, number: int
    ) -> kit.Flow[dict[str, Any]]:
        period: dict[str, Any] = {"tbs": google.google_period(query)}
        if query.topic == "academic":
            period = {**google.google_years(query, self)}
        has_places = self.engine not in _OTHERS and topic != "academic"
        params = {
            "q": kit.with_sites(query),
            **period,
            **google.google_filters(query, self),
            **_ENGINES.get(topic, {"engine": self.engine}),
            "location": self.location if has_places else None,
            "start": number * 10 or None,  # a page has ten
        }
        response = yield kit.get_json(self, "search.json", params, query, join=",")
        body = kit.decode(
            response, self, kind=_KINDS, meanings={200: Unavailable}, nothing=[_EMPTY]
        )
        if kit.find_value(body, "search_metadata.status") == "Error":
            raise kit.error_for(
                response, self, detail=body.get("error"), kind=Unavailable
            )
        return body

    def _find_items(self, body: dict[str, Any], topic: str) -> tuple[Any, bool]:
        section = "news_results" if topic == "news" else "organic_results"
        items = body.get(section)
        is_empty = kit.as_text(body.get("error")) or "search_information" in body
        if items is None and is_empty:
            items = []  # nothing was found
        following = kit.as_text(kit.find_value(body, "serpapi_pagination.next"))
        return items, following is not None and self.engine not in _OTHERS
