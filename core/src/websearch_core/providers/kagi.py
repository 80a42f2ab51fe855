"""Kagi: a search engine that its users pay for.

Version 1 of the API. ``topic`` ``news`` searches news; images are a separate search,
and cost as much as another one. Safe search is either on or off. Domain filters are a
lens, Kagi's word for a narrowed search; a region prefers its pages but does not filter.
"""

from __future__ import annotations
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar

from websearch_core import errors
from websearch_core import provider as kit
from websearch_core._text.urls import serialize
from websearch_core.models import Image
from websearch_core.provider._codes import LOWER_COUNTRIES
from websearch_core.provider._http import find_kind, unexpected_format
from websearch_core.provider._reading import find_records, read_alone
from websearch_core.provider._results import plain_text

_PAGES = 10
_FULL = 20  # results: a page with fewer is the last
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
    countries: ClassVar[Mapping[str, str]] = LOWER_COUNTRIES
    limits: ClassVar[kit.Limits] = kit.Limits(
        results_per_request=100, results=100 * _PAGES, pages_per_request=10
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

    api_key: Annotated[kit.Key, kit.Env("KAGI_API_KEY", "KAGI_API_TOKEN")]
    base_url: kit.BaseUrl = "https://kagi.com/api/v1"

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search, page by page until the limit is reached."""
        kit.check_options(query, self)
        images = (yield from self._images(query)) if query.images else ()
        found = yield from kit.collect_pages(
            query, self, partial(self._page, query), is_short=True
        )
        return found.model_copy(update={"images": images})

    read = read_alone

    def read_many(
        self, urls: Sequence[str], /
    ) -> kit.Flow[list[kit.Page | errors.WebSearchError]]:
        """Read up to ten pages in one request."""
        payload = {"pages": [{"url": serialize(url)} for url in urls]}
        response = yield kit.post_json(self, "extract", payload, target=tuple(urls))
        body = kit.decode(response, self, verb="read", kind=_KINDS)
        failures = kit.as_objects(body.get("errors") or body.get("error"))
        about = {str(failure.get("location")): failure for failure in failures}
        other = failures[0] if len(failures) == 1 else {}
        reasons = [about.get(f"pages[{n}].url", other) for n in range(len(urls))]
        return kit.parse_pages(
            self._read, urls, find_records(urls, body.get("data")), reasons
        )

    def _read(
        self, url: str, found: dict[str, Any] | None, failure: dict[str, Any]
    ) -> kit.Page:
        text = kit.as_text(kit.as_object(found).get("markdown"))
        if not text:
            code = failure.get("code")
            raise kit.page_error(
                self,
                kind=find_kind(code, _FAILURES),
                detail=failure.get("message") or code,
            )
        return kit.parse_page(self, url, text)

    def _page(
        self, query: kit.SearchQuery, number: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        workflow = "news" if query.topic == "news" else "search"
        payload = {
            **self._payload(query, workflow, size),
            "page": number + 1 if number else None,
        }
        body = yield from self._ask(payload, query)
        data, meta = body["data"], kit.as_object(body.get("meta"))
        direct = next(iter(kit.as_objects(data.get("direct_answer"))), {})
        # nothing found has none
        items = data.get(workflow) or ([] if "meta" in body else None)
        page = kit.parse_search(
            self, query, body, items, published="time", markup="html",
            answer=plain_text(direct.get("snippet"), "html") or plain_text(direct.get("title"), "html") or None,
            suggestions=tuple(filter(None, map(_suggestion, kit.as_objects(data.get("related_search"))))),
            request_id=kit.as_text(meta.get("id") or meta.get("trace")),
        )  # fmt: skip
        return page, len(page.results) >= min(size, _FULL) and number + 1 < _PAGES

    def _images(self, query: kit.SearchQuery) -> kit.Flow[tuple[Image, ...]]:
        body = yield from self._ask(self._payload(query, "images", query.limit), query)
        return kit.parse_images(
            body["data"].get("image"),
            url=("image.url", "props.image_url"),
            description=_suggestion,
            page_url="url",
        )

    def _payload(
        self, query: kit.SearchQuery, workflow: str, size: int
    ) -> dict[str, Any]:
        after = kit.date_range(query)[0] if query.time_range == "year" else query.after
        lens = {
            "sites_included": list(query.allowed_domains) or None,
            "sites_excluded": list(query.blocked_domains) or None,
            "time_relative": query.time_range if query.time_range != "year" else None,
        }
        filters = {
            "region": kit.find_country(query, self),
            "after": after and after.isoformat(),
            "before": query.before and query.before.isoformat(),
        }
        return {
            "query": query.text,
            "workflow": workflow if workflow != "search" else None,
            "limit": size,
            "lens": kit.drop_none(lens) or None,
            "filters": kit.drop_none(filters) or None,
            "safe_search": query.safe_search != "off" if query.safe_search else None,
        }

    def _ask(
        self, payload: dict[str, Any], query: kit.SearchQuery
    ) -> kit.Flow[dict[str, Any]]:
        response = yield kit.post_json(self, "search", payload, query)
        body = kit.decode(
            response, self, kind=_KINDS, meanings={200: errors.Unavailable}
        )
        if not isinstance(data := body.get("data") or {}, dict):
            raise unexpected_format(self.name)
        return {**body, "data": data}


def _suggestion(result: Mapping[str, Any]) -> str:
    return plain_text(result.get("title"), "html") or plain_text(
        kit.as_object(result.get("props")).get("question"), "html"
    )
