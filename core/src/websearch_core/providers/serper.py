"""
Serper: the results of Google, as JSON.

https://serper.dev/playground

The key is read from ``SERPER_API_KEY``. ``topic`` ``news`` searches Google News, ``academic`` Google Scholar, which has
no time filter. A page has ten results and costs a credit; images are a separate search, and cost another. Domain
filters become ``site:`` in the query. Serper answers a wrong key with 403, and an empty account with 400.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, ClassVar

from websearch_core.errors import QuotaExhausted, ServiceError, UnsupportedOption
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
    check_options,
    collect_pages,
    decode,
    drop_none,
    find_country,
    find_language,
    parse_images,
    parse_results,
    parse_usage,
    post_json,
    provider,
    with_sites,
)
from websearch_core.provider._codes import LOWER_COUNTRIES
from websearch_core.provider._http import find_message
from websearch_core.provider._results import plain_text
from websearch_core.provider.google import GOOGLE_LANGUAGES, google_authors, google_period

_ENDPOINTS = {"general": ("search", "organic"), "news": ("news", "news"), "academic": ("scholar", "organic")}


@provider
class Serper:
    """
    Searches with Serper.

    Args:
        api_key: From https://serper.dev/api-keys.
        base_url: Where the API is.

    """

    name = "serper"
    label = "Serper"
    options: ClassVar[frozenset[str]] = frozenset({
        "allowed_domains", "blocked_domains", "time_range", "after", "before", "country", "language", "topic", "images",
        "page",
    })  # fmt: skip
    topics: ClassVar[frozenset[str]] = frozenset({"news", "academic"})
    emulated: ClassVar[frozenset[str]] = frozenset({"limit", "allowed_domains", "blocked_domains"})
    countries: ClassVar[Mapping[str, str]] = LOWER_COUNTRIES
    languages: ClassVar[Mapping[str, str]] = GOOGLE_LANGUAGES
    limits: ClassVar[Limits] = Limits(results_per_request=10)
    about: ClassVar[Service] = Service(
        api_urls=("https://serper.dev/playground",),
        signup_url="https://serper.dev/api-keys",
        free_allowance="2,500 credits once",
        price="USD 1 per 1,000 credits, less in bulk; a page of results is a credit",
        as_of="2026-08",
    )

    api_key: Annotated[Key, Env("SERPER_API_KEY")]
    base_url: BaseUrl = "https://google.serper.dev"

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search, page by page until the limit is reached."""
        check_options(query, self)
        if query.topic == "academic" and (query.time_range or query.after or query.before):
            used = [name for name in ("time_range", "after", "before") if getattr(query, name)]
            raise UnsupportedOption("serper has no time filter for papers", options=used, provider=self.name)
        images, usage = (yield from self._images(query)) if query.images else ((), {})
        found = yield from collect_pages(query, self, partial(self._page, query), fixed=True)
        total = {unit: found.usage.get(unit, 0) + usage.get(unit, 0) for unit in found.usage | usage}
        return found.model_copy(update={"images": images, "usage": total})

    def find_engines(self, _: SearchResult, /) -> tuple[str, ...]:
        """Return the search engine behind a result."""
        return ("google",)

    def _page(self, query: SearchQuery, number: int, size: int) -> Flow[tuple[SearchResponse, bool]]:
        endpoint, key = _ENDPOINTS[query.topic]
        body = self._body((yield self._request(endpoint, query, page=number + 1 if number else None)))
        items = body.get(key)
        if items is None and "searchParameters" in body:  # Google found nothing
            items = []
        response = SearchResponse(
            query=query.text,
            results=parse_results(items, self.name, url="link", published="date", author=_authors),
            provider=self.name,
            answer=_answer(as_object(body.get("answerBox"))),
            suggestions=tuple(filter(None, (plain_text(one.get("query")) for one in _related(body)))),
            usage=parse_usage(body, credits="credits"),
            raw=body,
        )
        return response, len(response.results) >= size

    def _images(self, query: SearchQuery) -> Flow[tuple[tuple[Image, ...], dict[str, float]]]:
        body = self._body((yield self._request("images", query)))
        found = parse_images(body.get("images"), url="imageUrl", description="title", page_url="link")
        return found[: query.limit], parse_usage(body, credits="credits")

    def _request(self, endpoint: str, query: SearchQuery, page: int | None = None) -> Request:
        payload = {
            "q": with_sites(query),
            "gl": find_country(query, self),
            "hl": find_language(query, self),
            "tbs": google_period(query),
            "page": page,
        }
        headers = {"X-API-KEY": self.api_key.get_secret_value()}
        return post_json(self, endpoint, {**drop_none(payload), **query.extra}, headers=headers)

    def _body(self, response: Response) -> dict[str, Any]:
        return decode(response, self, kind=_kind)


def _related(body: dict[str, Any]) -> list[dict[str, Any]]:
    return as_objects(body.get("relatedSearches"))


def _answer(box: dict[str, Any]) -> str | None:
    return plain_text(box.get("answer")) or plain_text(box.get("snippet")) or None


def _authors(result: Mapping[str, Any]) -> str | None:
    return google_authors(result.get("publicationInfo"))


def _kind(body: Any) -> type[ServiceError] | None:
    return QuotaExhausted if "credits" in (find_message(body) or "").lower() else None
