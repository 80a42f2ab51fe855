"""
SerpApi: the results of Google, as JSON.

https://serpapi.com/search-api
https://serpapi.com/api-status-and-error-codes

The key is read from ``SERPAPI_API_KEY``, ``SERPAPI_KEY`` or ``SERP_API_KEY``. SerpApi takes it only in the URL. A page
has ten results and is one search of the plan; ``topic`` ``news`` searches Google News, ``academic`` Google Scholar.
Images are a separate search, and count as one. Domain filters become ``site:`` in the query. An answer without
results has an ``error`` text, which is not a failure; 429 means a used-up plan or too many requests an hour, depending
on its text.
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
from websearch_core.provider.google import (
    GOOGLE_RESULT_LANGUAGES,
    google_answer,
    google_authors,
    google_filters,
    google_period,
    google_years,
)

_NEWS = {"engine": "google", "tbm": "nws"}
_TOPICS = {"general": {"engine": "google"}, "news": _NEWS, "academic": {"engine": "google_scholar"}}
_SECTIONS = {"news": "news_results"}
_EMPTY = "returned any results"


@provider
class SerpApi:
    """
    Searches with SerpApi.

    Args:
        api_key: From https://serpapi.com/manage-api-key.
        base_url: Where the API is.

    """

    name = "serpapi"
    label = "SerpApi"
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
        api_urls=("https://serpapi.com/search-api",),
        signup_url="https://serpapi.com/users/sign_up",
        free_allowance="250 searches a month",
        price="USD 75 per 5,000 searches a month",
        as_of="2026-09",
    )

    api_key: Annotated[Key, Env("SERPAPI_API_KEY", "SERPAPI_KEY", "SERP_API_KEY")]
    base_url: BaseUrl = "https://serpapi.com"

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search, page by page until the limit is reached."""
        check_options(query, self)
        images: tuple[Image, ...] = ()
        if query.images:
            body = self._body((yield self._request(query, {"engine": "google_images"})))
            items = body.get("images_results")
            images = parse_images(items, url="original", description="title", page_url="link")[: query.limit]

        def fetch(number: int, size: int) -> Flow[tuple[SearchResponse, bool]]:
            start = {"start": number * size} if number else {}
            body = self._body((yield self._request(query, {**_TOPICS[query.topic], **start})))
            items = body.get(_SECTIONS.get(query.topic, "organic_results"))
            if items is None and (as_text(body.get("error")) or "search_information" in body):  # Google found nothing
                items = []
            page = SearchResponse(
                query=query.text,
                results=parse_results(items, self.name, url="link", published=_date, author=_authors),
                provider=self.name,
                answer=google_answer(body),
                images=images,
                suggestions=_suggestions(body),
                request_id=as_text(as_object(body.get("search_metadata")).get("id")),
                raw=body,
            )
            return page, as_text(as_object(body.get("serpapi_pagination")).get("next")) is not None

        return (yield from collect_pages(query, self, fetch, fixed=True))

    def find_engines(self, _: SearchResult, /) -> tuple[str, ...]:
        """Return the search engine behind a result."""
        return ("google",)

    def _request(self, query: SearchQuery, more: Mapping[str, Any]) -> Request:
        params = {
            "q": with_sites(query),
            **(google_years(query, self) if query.topic == "academic" else {"tbs": google_period(query)}),
            **google_filters(query, self),
            **more,
            **query.extra,
        }
        secret = {"api_key": self.api_key.get_secret_value()}
        return Request(url=f"{self.base_url}/search.json", params=drop_none(params), secret_params=secret)

    def _body(self, response: Response) -> dict[str, Any]:
        body = decode(response, self, kind=_kind)
        problem = as_text(body.get("error"))
        failed = as_object(body.get("search_metadata")).get("status") == "Error"
        if failed or (problem and _EMPTY not in problem):
            raise error_for(response, self, detail=problem, kind=_kind(body) or Unavailable)
        return body


def _kind(body: Any) -> type[ServiceError] | None:
    words = str(as_object(body).get("error")).lower()
    if "run out" in words or "upgrade" in words:
        return QuotaExhausted
    return AuthenticationError if "api key" in words else None


def _suggestions(body: dict[str, Any]) -> tuple[str, ...]:
    fixed = as_text(as_object(body.get("search_information")).get("spelling_fix"))
    related = (as_text(one.get("query")) for one in as_objects(body.get("related_searches")))
    return tuple(filter(None, [fixed, *related]))


def _date(item: Mapping[str, Any]) -> Any:
    return item.get("iso_date") or item.get("published_at") or item.get("date")


def _authors(item: Mapping[str, Any]) -> Any:
    """Return the authors of a paper: a list of those with a profile, or those in its summary, as `google_authors`."""
    info = as_object(item.get("publication_info"))
    return info.get("authors") or google_authors(info.get("summary"))
