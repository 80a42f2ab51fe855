"""Kagi: a search engine that its users pay for.

Images are a separate search, and cost as much as another one. Safe search is either on
or off. A country prefers its pages but does not filter.
"""

from __future__ import annotations
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar

from websearch_core import errors
from websearch_core import provider as kit
from websearch_core.models import Image

_MAX_PAGES = 10
_FULL_PAGE = 20  # results: a page with fewer is the last
_KINDS: dict[str, type[errors.ServiceError]] = {
    **dict.fromkeys(("insufficient credit", "usage limit"), errors.QuotaExhausted),
    "unauthorized": errors.AuthenticationError,
}
_FAILURES: dict[str, type[errors.ServiceError]] = {
    "timeout": errors.TimedOut,
    "not_found": errors.PageNotFound,
}


@kit.provider
class Kagi:
    """Searches and reads with Kagi.

    Args:
        api_key: From https://kagi.com/api/keys.
        base_url: Where the API is.
    """

    name = "kagi"
    options: ClassVar[frozenset[str]] = kit.FILTERS | {
        "country",
        "safe_search",
        "topic",
        "images",
        "page",
    }
    emulated: ClassVar[frozenset[str]] = frozenset({"limit"})
    countries: ClassVar[Mapping[str, str]] = kit.LOWER_COUNTRIES
    limits: ClassVar[kit.Limits] = kit.Limits(
        results_per_request=100, results=100 * _MAX_PAGES, pages_per_request=10
    )
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=(
            "https://help.kagi.com/kagi/api/search.html",
            "https://github.com/kagisearch/kagi-openapi-python",
        ),
        signup_url="https://kagi.com/api",
        price="USD 12 per 1,000 searches",
        as_of="2026-09",
        compared="the pages of version 1 of its API, 2026-09",
    )

    api_key: Annotated[kit.Key, kit.Env("KAGI_API_KEY", "KAGI_API_TOKEN")] = (
        kit.REQUIRED
    )
    base_url: kit.BaseUrl = "https://kagi.com/api/v1"

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search, page by page until the limit is reached."""
        kit.check_options(query, self)
        images: tuple[Image, ...] = ()
        if query.images:
            images = yield from self._search_images(query)
        response = yield from kit.collect_pages(
            query, self, partial(self._fetch, query), is_short=True
        )
        return response.model_copy(update={"images": images})

    read = kit.read_alone

    def read_many(
        self, urls: Sequence[str], /
    ) -> kit.Flow[list[kit.Page | errors.WebSearchError]]:
        """Read up to ten pages in one request."""
        payload = {"pages": [{"url": kit.serialize(url)} for url in urls]}
        response = yield kit.post_json(self, "extract", payload, target=tuple(urls))
        body = kit.decode(response, self, verb="read", kind=_KINDS)
        records = kit.find_records(urls, body.get("data"))
        return kit.parse_pages(
            self._parse_page, urls, records, _find_failures(body, len(urls))
        )

    def _parse_page(
        self, url: str, record: dict[str, Any] | None, failure: dict[str, Any]
    ) -> kit.Page:
        text = kit.as_text(kit.find_value(record, "markdown"))
        if text:
            return kit.parse_page(self, url, text)
        code = failure.get("code")
        raise kit.page_error(
            self,
            kind=kit.find_kind(code, _FAILURES),
            detail=failure.get("message") or code,
        )

    def _fetch(
        self, query: kit.SearchQuery, number: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Return a page of results, and whether there is another."""
        workflow = "news" if query.topic == "news" else "search"
        payload = self._payload(query, workflow, size)
        payload["page"] = number + 1 if number else None
        body = yield from self._ask(payload, query)
        data = body["data"]
        items = data.get(workflow) or None
        if items is None and "meta" in body:
            items = []  # without results, it leaves out the list
        count = len(kit.as_objects(items))
        if number == 0 and isinstance(items, list):
            items = [*kit.as_objects(data.get("direct_answer")), *items]
        page = kit.parse_search(
            self,
            query,
            body,
            items,
            published="time",
            markup="html",
            answer=_find_answer(data),
            suggestions=_find_suggestions(data),
            request_id=_find_id(body),
        )
        if number + 1 >= _MAX_PAGES:
            return page, False
        return page, count >= min(size, _FULL_PAGE)

    def _search_images(self, query: kit.SearchQuery) -> kit.Flow[tuple[Image, ...]]:
        payload = self._payload(query, "images", query.limit)
        body = yield from self._ask(payload, query)
        return kit.parse_images(
            body["data"].get("image"),
            url=("image.url", "props.image_url"),
            description=_find_title,
            page_url="url",
        )

    def _payload(
        self, query: kit.SearchQuery, workflow: str, size: int
    ) -> dict[str, Any]:
        time_range: str | None = query.time_range
        after = query.after
        if time_range == "year":  # a lens knows shorter periods only
            time_range = None
            after, _ = kit.date_range(query)
        lens = {
            "sites_included": list(query.allowed_domains) or None,
            "sites_excluded": list(query.blocked_domains) or None,
            "time_relative": time_range,
        }
        filters = {
            "region": kit.find_country(query, self),
            "after": after and after.isoformat(),
            "before": query.before and query.before.isoformat(),
        }
        payload = {
            "query": query.text,
            "workflow": workflow if workflow != "search" else None,
            "limit": size,
            "lens": kit.drop_none(lens) or None,
            "filters": kit.drop_none(filters) or None,
        }
        if query.safe_search:
            payload["safe_search"] = query.safe_search != "off"
        return payload

    def _ask(
        self, payload: dict[str, Any], query: kit.SearchQuery
    ) -> kit.Flow[dict[str, Any]]:
        """Return the answer to a search, in which ``data`` is an object."""
        response = yield kit.post_json(self, "search", payload, query)
        body = kit.decode(
            response, self, kind=_KINDS, meanings={200: errors.Unavailable}
        )
        data = body.get("data") or {}
        if not isinstance(data, dict):
            raise kit.unexpected_format(self.name)
        return {**body, "data": data}


def _find_failures(body: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return the failure of each page, in order, or an empty object: it has its page's
    place as ``location``. A single one without a place may be any page's.
    """
    failures = kit.as_objects(body.get("errors") or body.get("error"))
    by_place = {str(failure.get("location")): failure for failure in failures}
    other = failures[0] if len(failures) == 1 else {}
    return [by_place.get(f"pages[{place}].url", other) for place in range(count)]


def _find_answer(data: dict[str, Any]) -> str | None:
    answers = kit.as_objects(data.get("direct_answer"))
    answer = next(iter(answers), {})
    snippet = kit.plain_text(answer.get("snippet"), "html")
    return snippet or kit.plain_text(answer.get("title"), "html") or None


def _find_suggestions(data: dict[str, Any]) -> tuple[str, ...]:
    searches = kit.as_objects(data.get("related_search"))
    return tuple(filter(None, map(_find_title, searches)))


def _find_id(body: dict[str, Any]) -> str | None:
    meta = kit.as_object(body.get("meta"))
    return kit.as_text(meta.get("id") or meta.get("trace"))


def _find_title(result: Mapping[str, Any]) -> str:
    title = kit.plain_text(result.get("title"), "html")
    return title or kit.plain_text(kit.find_value(result, "props.question"), "html")
