"""
Google Programmable Search: the Custom Search JSON API, which ends on 1 January 2027.

https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list
https://developers.google.com/custom-search/v1/overview

For those who still have it: Google gives it to no new customers, and closes it for all on 2027-01-01. Every answer says
so in its notes. The same code then works with another provider: ``serpapi``, ``searchapi`` and ``serper`` have Google's
results, ``brave`` and ``mojeek`` their own.

The key is read from ``GOOGLE_API_KEY``; ``cx``, the ID of the search engine, from ``GOOGLE_CSE_ID`` or
``GOOGLE_SEARCH_ENGINE_ID``. A page has ten results and is one query of the daily allowance; a query has at most a
hundred. Images are a separate search and take one query more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from websearch_core.provider import (
    COUNTRIES,
    GOOGLE_RESULT_LANGUAGES,
    AuthenticationError,
    BaseUrl,
    Env,
    Flow,
    Image,
    Key,
    Limits,
    QuotaExhausted,
    RateLimited,
    Request,
    Response,
    SearchQuery,
    SearchResponse,
    Service,
    ServiceError,
    as_object,
    as_objects,
    as_text,
    check_options,
    collect_pages,
    decode,
    given,
    google_filters,
    parse_images,
    parse_results,
    provider,
    with_sites,
)

_END = "Google closes this API on 2027-01-01: choose another provider before that"
_KEY_REASONS = {"keyInvalid", "API_KEY_INVALID", "accessNotConfigured", "forbidden"}


@provider
class Google:
    """
    Searches with your Programmable Search Engine, until 2027-01-01.

    Args:
        api_key: From the Google Cloud console.
        cx: ID of the search engine.
        base_url: Where the API is.

    """

    name = "google"
    label = "Google Programmable Search"
    options: ClassVar[frozenset[str]] = frozenset({
        "allowed_domains", "blocked_domains", "time_range", "after", "before", "country", "language", "safe_search",
        "images", "page",
    })  # fmt: skip
    emulated: ClassVar[frozenset[str]] = frozenset({"limit", "allowed_domains", "blocked_domains"})
    countries: ClassVar[Mapping[str, str]] = COUNTRIES
    languages: ClassVar[Mapping[str, str]] = GOOGLE_RESULT_LANGUAGES
    limits: ClassVar[Limits] = Limits(results_per_request=10, results=100)
    about: ClassVar[Service] = Service(
        api_urls=("https://developers.google.com/custom-search/v1/overview",),
        free_allowance="100 queries a day",
        price="USD 5 per 1,000 queries; closed to new customers, ends on 2027-01-01",
        as_of="2026-09",
    )

    api_key: Annotated[Key, Env("GOOGLE_API_KEY")]
    cx: Annotated[str, Env("GOOGLE_CSE_ID", "GOOGLE_SEARCH_ENGINE_ID")]
    base_url: BaseUrl = "https://customsearch.googleapis.com/customsearch/v1"

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search, page by page until the limit is reached."""
        check_options(query, self)
        images: tuple[Image, ...] = ()
        if query.images:
            body = self._body((yield self._request(query, size=10, searchType="image")))
            images = parse_images(_items(body), url="link", description="title", page_url=_context)[: query.limit]

        def fetch(number: int, size: int) -> Flow[tuple[SearchResponse, bool]]:
            start = number * size + 1
            body = self._body((yield self._request(query, size=size, start=start if number else None)))
            spelling = as_text(as_object(body.get("spelling")).get("correctedQuery"))
            page = SearchResponse(
                query=query.text,
                results=parse_results(
                    _items(body),
                    self.name,
                    title=lambda item: item.get("htmlTitle") or item.get("title"),
                    url="link",
                    snippet=lambda item: item.get("htmlSnippet") or item.get("snippet"),
                    published=lambda item: _meta(item, "article:published_time", "date", "pubdate"),
                    author=lambda item: _meta(item, "author"),
                    snippet_length=600,
                ),
                provider=self.name,
                images=images,
                suggestions=(spelling,) if spelling else (),
                notes=(_END,),
                raw=body,
            )
            return page, bool(as_objects(as_object(body.get("queries")).get("nextPage")))

        return (yield from collect_pages(query, self, fetch))

    def _request(self, query: SearchQuery, *, size: int, **more: Any) -> Request:
        days = [f"{day:%Y%m%d}" if day else "" for day in (query.after, query.before)]
        params = {
            "cx": self.cx,
            "q": with_sites(query),
            "num": size,
            "dateRestrict": f"{query.time_range[0]}1" if query.time_range else None,
            "sort": f"date:r:{':'.join(days)}" if any(days) else None,
            **google_filters(query, self),
            **more,
            **query.extra,
        }
        headers = {"X-Goog-Api-Key": self.api_key.get_secret_value()}
        return Request(url=self.base_url, params=given(params), headers=headers)

    def _body(self, response: Response) -> dict[str, Any]:
        body = decode(response, self, kind=_kind)
        if "items" not in body and "searchInformation" not in body and "queries" not in body:
            return {"items": None}
        return body


def _items(body: dict[str, Any]) -> Any:
    """Return the results: the list is left out if it is empty."""
    return body.get("items", [])


def _error(body: Any) -> dict[str, Any]:
    return as_object(as_object(body).get("error"))


def _kind(body: Any) -> type[ServiceError] | None:
    """Return what an error means: 403 and 429 stand for a wrong key, a pace that is too fast, and a used-up day."""
    error = _error(body)
    reasons = {str(one.get("reason")) for name in ("errors", "details") for one in as_objects(error.get(name))}
    words = str(error.get("message")).lower()
    if reasons & {"dailyLimitExceeded", "quotaExceeded"} or "per day" in words or "daily limit" in words:
        return QuotaExhausted
    if reasons & {"rateLimitExceeded", "userRateLimitExceeded"}:
        return RateLimited
    return AuthenticationError if reasons & _KEY_REASONS or "api key not valid" in words else None


def _meta(item: Mapping[str, Any], *names: str) -> str | None:
    """Return the first of these tags of the page, as far as Google passes them on."""
    tags = next(iter(as_objects(as_object(item.get("pagemap")).get("metatags"))), {})
    return next(filter(None, (as_text(tags.get(name)) for name in names)), None)


def _context(item: Mapping[str, Any]) -> Any:
    return as_object(item.get("image")).get("contextLink")
