"""
SearchApi: the results of Google, as JSON.

https://www.searchapi.io/docs/google

The key is read from ``SEARCHAPI_API_KEY``. A page has ten results and is one search of the plan; ``topic`` ``news``
searches Google News, ``academic`` Google Scholar. Images are a separate search, and count as one. Domain filters
become ``site:`` in the query. An answer without results has an ``error`` text, which is not a failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from websearch_core.errors import AuthenticationError, QuotaExhausted, ServiceError, Unavailable
from websearch_core.provider import (
    BaseUrl,
    Env,
    Flow,
    Image,
    Key,
    Limits,
    Request,
    Response,
    SearchQuery,
    SearchResponse,
    SearchResult,
    Service,
    as_object,
    as_objects,
    as_text,
    check_options,
    collect_pages,
    decode,
    drop_none,
    error_for,
    parse_images,
    parse_results,
    provider,
    with_sites,
)
from websearch_core.provider._codes import COUNTRIES
from websearch_core.provider._requests import bearer
from websearch_core.provider.google import (
    GOOGLE_RESULT_LANGUAGES,
    google_answer,
    google_authors,
    google_filters,
    google_years,
)

_ENGINES = {"general": "google", "news": "google_news", "academic": "google_scholar"}
_EMPTY = ("return any results", "returned any results", "no results")
_USED_UP = ("run out", "used all", "upgrade", "exceeded your", "monthly", "credits")


@provider
class SearchApi:
    """
    Searches with SearchApi.

    Args:
        api_key: From https://www.searchapi.io.
        base_url: Where the API is.

    """

    name = "searchapi"
    label = "SearchApi"
    options: ClassVar[frozenset[str]] = frozenset({
        "allowed_domains", "blocked_domains", "time_range", "after", "before", "country", "language", "safe_search",
        "topic", "images", "page",
    })  # fmt: skip
    topics: ClassVar[frozenset[str]] = frozenset({"news", "academic"})
    emulated: ClassVar[frozenset[str]] = frozenset({"limit", "allowed_domains", "blocked_domains"})
    countries: ClassVar[Mapping[str, str]] = COUNTRIES
    languages: ClassVar[Mapping[str, str]] = GOOGLE_RESULT_LANGUAGES
    limits: ClassVar[Limits] = Limits(results_per_request=10)
    about: ClassVar[Service] = Service(
        api_urls=("https://www.searchapi.io/docs/google",),
        signup_url="https://www.searchapi.io/users/sign_up",
        free_allowance="100 searches once",
        as_of="2026-09",
    )

    api_key: Annotated[Key, Env("SEARCHAPI_API_KEY")]
    base_url: BaseUrl = "https://www.searchapi.io/api/v1"

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search, page by page until the limit is reached."""
        check_options(query, self)
        images: tuple[Image, ...] = ()
        if query.images:
            body = self._body((yield self._request(query, {"engine": "google_images"})))
            images = parse_images(body.get("images"), url=_original, description="title", page_url=_source)
            images = images[: query.limit]

        def fetch(number: int, size: int) -> Flow[tuple[SearchResponse, bool]]:
            page_number = {"page": number + 1} if number else {}
            body = self._body((yield self._request(query, {"engine": _ENGINES[query.topic], **page_number})))
            items = body.get("organic_results")
            if items is None and ("error" in body or "search_metadata" in body):  # Google found nothing
                items = []
            results = parse_results(items, self.name, url="link", published=_date, author=_authors)
            related = (as_text(one.get("query")) for one in as_objects(body.get("related_searches")))
            page = SearchResponse(
                query=query.text,
                results=results,
                provider=self.name,
                answer=google_answer(body),
                images=images,
                suggestions=tuple(filter(None, related)),
                request_id=as_text(as_object(body.get("search_metadata")).get("id")),
                raw=body,
            )
            following = as_text(as_object(body.get("pagination")).get("next"))
            return page, following is not None or len(results) >= size

        return (yield from collect_pages(query, self, fetch, fixed=True))

    def find_engines(self, _: SearchResult, /) -> tuple[str, ...]:
        """Return the search engine behind a result."""
        return ("google",)

    def _request(self, query: SearchQuery, more: Mapping[str, Any]) -> Request:
        params = {
            "q": with_sites(query),
            **self._period(query),
            **google_filters(query, self),
            **more,
            **query.extra,
        }
        return Request(url=f"{self.base_url}/search", params=drop_none(params), headers=bearer(self.api_key))

    def _period(self, query: SearchQuery) -> dict[str, Any]:
        """Return the dates of the query, in American order."""
        if query.topic == "academic":
            return google_years(query, self)
        return {
            "time_period": f"last_{query.time_range}" if query.time_range else None,
            "time_period_min": f"{query.after:%m/%d/%Y}" if query.after else None,
            "time_period_max": f"{query.before:%m/%d/%Y}" if query.before else None,
        }

    def _body(self, response: Response) -> dict[str, Any]:
        body = decode(response, self, kind=_kind)
        problem = as_text(body.get("error"))
        if problem and not any(words in problem.lower() for words in _EMPTY):
            raise error_for(response, self, detail=problem, kind=_kind(body) or Unavailable)
        return body


def _kind(body: Any) -> type[ServiceError] | None:
    words = str(as_object(body).get("error")).lower()
    if any(part in words for part in _USED_UP):
        return QuotaExhausted
    return AuthenticationError if "api key" in words else None


def _date(item: Mapping[str, Any]) -> Any:
    return item.get("iso_date") or item.get("date")


def _authors(item: Mapping[str, Any]) -> Any:
    return item.get("authors") or google_authors(item.get("publication"))


def _original(image: Mapping[str, Any]) -> Any:
    return as_object(image.get("original")).get("link")


def _source(image: Mapping[str, Any]) -> Any:
    return as_object(image.get("source")).get("link")
