"""
Kagi: a search engine that its users pay for.

https://help.kagi.com/kagi/api/search.html
https://github.com/kagisearch/kagi-openapi-python

The key is read from ``KAGI_API_KEY`` or ``KAGI_API_TOKEN``. Version 1 of the API. ``topic`` ``news`` searches news;
images are a separate search, and cost as much as another one. Safe search is either on or off. Domain filters are a
lens, Kagi's word for a narrowed search; a region prefers its pages but does not filter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar

from websearch_core._text.urls import serialize
from websearch_core.errors import (
    AuthenticationError,
    PageNotFound,
    QuotaExhausted,
    ServiceError,
    TimedOut,
    Unavailable,
    WebSearchError,
)
from websearch_core.provider import (
    BaseUrl,
    Env,
    Flow,
    Image,
    Key,
    Limits,
    Page,
    Request,
    Response,
    SearchQuery,
    SearchResponse,
    Service,
    as_object,
    as_objects,
    as_text,
    check_options,
    check_pages,
    collect_pages,
    date_range,
    decode,
    drop_none,
    error_for,
    find_country,
    page_error,
    parse_images,
    parse_results,
    post_json,
    provider,
)
from websearch_core.provider._codes import LOWER_COUNTRIES
from websearch_core.provider._http import find_message, unexpected_format
from websearch_core.provider._reading import find_records, first_heading, read_alone
from websearch_core.provider._requests import bearer
from websearch_core.provider._results import plain_text

_PAGES = 10
_FULL = 20  # results: a page with fewer is the last


@provider
class Kagi:
    """
    Searches and reads with Kagi.

    Args:
        api_key: From https://kagi.com/api/keys.
        base_url: Where the API is.

    """

    name = "kagi"
    label = "Kagi"
    options: ClassVar[frozenset[str]] = frozenset({
        "allowed_domains", "blocked_domains", "time_range", "after", "before", "country", "safe_search", "topic",
        "images", "page",
    })  # fmt: skip
    emulated: ClassVar[frozenset[str]] = frozenset({"limit"})
    countries: ClassVar[Mapping[str, str]] = LOWER_COUNTRIES
    limits: ClassVar[Limits] = Limits(results_per_request=100, results=100 * _PAGES, pages_per_request=10)
    about: ClassVar[Service] = Service(
        api_urls=("https://help.kagi.com/kagi/api/search.html",),
        signup_url="https://kagi.com/api",
        price="USD 12 per 1,000 searches",
        as_of="2026-09",
    )

    api_key: Annotated[Key, Env("KAGI_API_KEY", "KAGI_API_TOKEN")]
    base_url: BaseUrl = "https://kagi.com/api/v1"

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search, page by page until the limit is reached."""
        check_options(query, self)
        images = (yield from self._images(query)) if query.images else ()
        found = yield from collect_pages(query, self, partial(self._page, query))
        return found.model_copy(update={"images": images})

    def read(self, url: str, /) -> Flow[Page]:
        """Read the page at *url*, as Markdown."""
        return (yield from read_alone(self, url))

    def read_many(self, urls: Sequence[str], /) -> Flow[list[Page | WebSearchError]]:
        """Read up to ten pages in one request."""
        sent = [serialize(url) for url in urls]
        payload = {"pages": [{"url": url} for url in sent]}
        response = yield post_json(self, "extract", payload, headers=bearer(self.api_key), target=tuple(urls))
        body = decode(response, self, verb="read", kind=_kind)
        failures = as_objects(body.get("errors") or body.get("error"))
        about = {str(failure.get("location")): failure for failure in failures}
        other = failures[0] if len(failures) == 1 else {}
        pages = [
            self._read(url, as_text(as_object(found).get("markdown")), about.get(f"pages[{n}].url", other))
            for n, (url, found) in enumerate(zip(urls, find_records(sent, body.get("data")), strict=True))
        ]
        return check_pages(self, pages)

    def _read(self, url: str, text: str | None, failure: dict[str, Any]) -> Page | ServiceError:
        if text:
            return Page(url=url, final_url=url, title=first_heading(text), content=text, provider=self.name)
        code = str(failure.get("code"))
        kind = TimedOut if "timeout" in code else PageNotFound if "not_found" in code else None
        return page_error(self, kind=kind, detail=failure.get("message") or failure.get("code"))

    def _page(self, query: SearchQuery, number: int, size: int) -> Flow[tuple[SearchResponse, bool]]:
        workflow = "news" if query.topic == "news" else "search"
        payload = {**self._payload(query, workflow, size), **drop_none({"page": number + 1 if number else None})}
        body = self._body((yield self._request({**payload, **query.extra})))
        data = body["data"]
        direct = next(iter(as_objects(data.get("direct_answer"))), {})
        page = SearchResponse(
            query=query.text,
            results=parse_results(data.get(workflow) or [], self.name, published="time"),
            provider=self.name,
            answer=plain_text(direct.get("snippet")) or plain_text(direct.get("title")) or None,
            suggestions=tuple(filter(None, map(_suggestion, as_objects(data.get("related_search"))))),
            request_id=as_text(as_object(body.get("meta")).get("id") or as_object(body.get("meta")).get("trace")),
            raw=body,
        )
        return page, len(page.results) >= min(size, _FULL) and number + 1 < _PAGES

    def _images(self, query: SearchQuery) -> Flow[tuple[Image, ...]]:
        payload = {**self._payload(query, "images", query.limit), **query.extra}
        body = self._body((yield self._request(payload)))
        return parse_images(body["data"].get("image"), url=_image_url, description="title", page_url="url")

    def _payload(self, query: SearchQuery, workflow: str, size: int) -> dict[str, Any]:
        after = date_range(query)[0] if query.time_range == "year" else query.after
        lens = {
            "sites_included": list(query.allowed_domains) or None,
            "sites_excluded": list(query.blocked_domains) or None,
            "time_relative": query.time_range if query.time_range != "year" else None,
        }
        filters = {
            "region": find_country(query, self),
            "after": after and after.isoformat(),
            "before": query.before and query.before.isoformat(),
        }
        payload = {
            "query": query.text,
            "workflow": workflow if workflow != "search" else None,
            "limit": size,
            "lens": drop_none(lens) or None,
            "filters": drop_none(filters) or None,
        }
        safe = {"safe_search": query.safe_search != "off"} if query.safe_search else {}
        return {**drop_none(payload), **safe}

    def _request(self, payload: dict[str, Any]) -> Request:
        return post_json(self, "search", payload, headers=bearer(self.api_key))

    def _body(self, response: Response) -> dict[str, Any]:
        body = decode(response, self, kind=_kind)
        if not isinstance(body.get("data"), dict):
            if body.get("error"):
                raise error_for(response, self, detail=find_message(body), kind=_kind(body) or Unavailable)
            if body.get("data") is not None or "meta" not in body:
                raise unexpected_format(self.name)
            body = {**body, "data": {}}
        return body


def _image_url(result: Mapping[str, Any]) -> Any:
    return as_object(result.get("image")).get("url") or as_object(result.get("props")).get("image_url")


def _suggestion(result: Mapping[str, Any]) -> str:
    return plain_text(result.get("title")) or plain_text(as_object(result.get("props")).get("question"))


def _kind(body: Any) -> type[ServiceError] | None:
    words = (find_message(body) or "").lower()
    if "insufficient credit" in words or "usage limit" in words:
        return QuotaExhausted
    return AuthenticationError if "unauthorized" in words else None
