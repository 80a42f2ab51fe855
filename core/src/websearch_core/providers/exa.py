"""Exa: search by meaning, and the contents of pages.

A snippet is made of the highlights: passages of the page that answer the query. A date
filter leaves out pages without a date.
"""

from __future__ import annotations
from collections.abc import Mapping, Sequence
from html import unescape
from typing import Annotated, Any, ClassVar, Literal

from websearch_core import errors
from websearch_core import provider as kit
from websearch_core.models import Image

_SNIPPET_LENGTH = 500  # characters of a text that is the snippet
_CATEGORIES = {"news": "news", "finance": "financial report", "academic": "publication"}
_Category = Literal[
    "company", "news", "publication", "personal site", "financial report", "people"
]
_KINDS: dict[str, type[errors.ServiceError]] = {
    **dict.fromkeys(
        ("no_more_credits", "api_key_budget_exceeded", "team_budget_exceeded"),
        errors.QuotaExhausted,
    ),
    **dict.fromkeys(("prohibited_content", "content_filter_error"), errors.BadRequest),
}
_FAILURES: dict[str, type[errors.ServiceError]] = {
    "CRAWL_NOT_FOUND": errors.PageNotFound,
    "UNSUPPORTED_URL": errors.UnsupportedContent,
    **dict.fromkeys(("CRAWL_TIMEOUT", "CRAWL_LIVECRAWL_TIMEOUT"), errors.TimedOut),
    **dict.fromkeys(("SOURCE_NOT_AVAILABLE", "ROBOTS_FILTER_FAILED"), errors.Blocked),
    **dict.fromkeys(("FETCH_DOCUMENT_ERROR", "NO_CONTENT_FOUND"), errors.Unavailable),
}


@kit.provider
class Exa:
    """Searches and reads with Exa.

    Args:
        api_key: From https://dashboard.exa.ai/api-keys.
        base_url: Where the API is.
        type: How to search: ``neural`` by meaning; ``auto`` chooses; ``lite`` is quick;
            the ``deep`` types take several steps and cost more.
        category: Search only ``company``, ``news``, ``publication``, ``personal site``,
            ``financial report`` or ``people``. A query's ``topic`` takes precedence.
        highlights: Return passages that answer the query.
        text: Return the text of each page, as Markdown.
        summary: Return a summary of each page; costs extra.
        max_age_hours: Fetch a page again if Exa's copy is older than this: 0 always, -1
            never. None lets Exa decide.
    """

    name = "exa"
    key_header = "X-Api-Key"
    options: ClassVar[frozenset[str]] = kit.FILTERS | {
        "country",
        "safe_search",
        "topic",
        "images",
    }
    topics: ClassVar[frozenset[str]] = frozenset(_CATEGORIES)
    emulated: ClassVar[frozenset[str]] = frozenset({"time_range"})
    countries: ClassVar[Mapping[str, str]] = kit.COUNTRIES
    limits: ClassVar[kit.Limits] = kit.Limits(
        results_per_request=100,
        results=100,
        pages_per_request=20,
        requests_per_second=10,
    )
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=(
            "https://exa.ai/docs/reference/search",
            "https://exa.ai/docs/reference/get-contents",
        ),
        signup_url="https://dashboard.exa.ai/api-keys",
        free_allowance="USD 20 once, and USD 10 a month",
        price="USD 7 per 1,000 searches of up to 10 results, USD 1 per 1,000 pages",
        prices=(
            kit.Price(verb="search", usd=0.007, size=10),
            kit.Price(verb="read", usd=0.001, size=1),
        ),
        as_of="2026-11",
        compared="exa-py 2.28.0, 2026-11-23",
    )

    api_key: Annotated[kit.Key, kit.Env("EXA_API_KEY")] = kit.REQUIRED
    base_url: kit.BaseUrl = "https://api.exa.ai"
    type: Literal["auto", "neural", "lite", "deep-lite", "deep"] = "auto"
    category: Annotated[_Category | None, kit.ProjectFile()] = None
    highlights: Annotated[bool, kit.ProjectFile()] = True
    text: bool = False
    summary: bool = False
    max_age_hours: int | None = None

    @kit.page_by_page
    def search(
        self, query: kit.SearchQuery, _: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Search."""
        payload = {
            "query": query.text,
            "numResults": size,
            "type": self.type,
            "category": _CATEGORIES.get(query.topic, self.category),
            **self._filters(query),
            "contents": self._contents(query) or None,
        }
        response = yield kit.post_json(self, "search", payload, query)
        body = kit.decode(response, self, kind=_KINDS, code="tag")
        page = kit.parse_search(
            self,
            query,
            body,
            snippet=_find_snippet,
            content=_find_text,
            published="publishedDate",
            markup="entities",
            answer=kit.find_value(body, "output.content"),
            images=_find_images(body.get("results")) if query.images else (),
            request_id=kit.as_text(body.get("requestId")),
            cost=_find_cost(body),
        )
        statuses = kit.as_objects(body.get("statuses"))
        failures = [status for status in statuses if status.get("status") == "error"]
        if failures:
            count = len(failures)
            note = f"exa could not read {count} of the pages, whose text is missing"
            page = page.with_notes(note, partial=True)
        return page, False

    def _filters(self, query: kit.SearchQuery) -> dict[str, Any]:
        """Return the filters of a query; of domains, Exa takes one list."""
        filters: dict[str, Any] = {"userLocation": kit.find_country(query, self)}
        if query.allowed_domains:
            filters["includeDomains"] = list(query.allowed_domains)
        elif query.blocked_domains:
            filters["excludeDomains"] = list(query.blocked_domains)
        after, _ = kit.date_range(query)
        if after:
            filters["startPublishedDate"] = f"{after}T00:00:00.000Z"
        if query.before:
            filters["endPublishedDate"] = f"{query.before}T23:59:59.999Z"
        if query.safe_search in {"moderate", "strict"}:
            filters["moderation"] = True
        return filters

    def _contents(self, query: kit.SearchQuery) -> dict[str, Any]:
        """Return what to tell about each page."""
        contents = {
            "highlights": self.highlights or None,
            "text": self.text or None,
            "summary": {"query": query.text} if self.summary else None,
            "maxAgeHours": kit.find_max_age(self.max_age_hours, 3600),
            "extras": {"imageLinks": 1} if query.images else None,
        }
        return kit.drop_none(contents)

    read = kit.read_alone

    def read_many(
        self, urls: Sequence[str], /
    ) -> kit.Flow[list[kit.Page | errors.WebSearchError]]:
        """Read up to 20 pages in one request."""
        payload = {
            "urls": [kit.serialize(url) for url in urls],
            "text": True,
            "maxAgeHours": kit.find_max_age(self.max_age_hours, 3600),
        }
        response = yield kit.post_json(self, "contents", payload, target=tuple(urls))
        if response.status >= 400:
            problem = kit.as_object(kit.as_json(response))
            kind = _FAILURES.get(str(problem.get("tag")))
            if kind:  # it is the pages' failure, not the service's
                raise kit.page_error(self, kind=kind, detail=problem.get("error"))
        body = kit.decode(response, self, verb="read", kind=_KINDS, code="tag")
        return kit.parse_pages(
            self._parse_page,
            urls,
            kit.find_records(urls, body.get("results")),
            kit.find_records(urls, body.get("statuses"), key="id"),
            cost=_find_cost(body),
        )

    def _parse_page(
        self, url: str, record: dict[str, Any] | None, status: dict[str, Any] | None
    ) -> kit.Page:
        if record is None:  # its failure is a status in a successful answer
            failure = kit.as_object(kit.find_value(status, "error"))
            raise kit.page_error(
                self,
                status=failure.get("httpStatusCode"),
                kind=_FAILURES.get(str(failure.get("tag"))),
                detail=failure.get("tag"),
            )
        return kit.parse_page(
            self,
            url,
            _find_text(record) or "",
            title=record.get("title"),
            final_url=record.get("url"),
            author=record.get("author"),
            published=record.get("publishedDate"),
        )


def _find_text(result: Mapping[str, Any]) -> str | None:
    """Return the text of a page, which has the entities of its HTML."""
    return kit.as_text(unescape(kit.as_text(result.get("text")) or ""))


def _find_snippet(result: Mapping[str, Any]) -> str:
    highlights = " … ".join(kit.as_texts(result.get("highlights")))
    summary = highlights or kit.as_text(result.get("summary"))
    if summary:
        return summary
    return (kit.as_text(result.get("text")) or "")[:_SNIPPET_LENGTH]


def _find_images(results: Any) -> tuple[Image, ...]:
    images = []
    for result in kit.as_objects(results):
        links = kit.find_value(result, "extras.imageLinks")
        urls = links if isinstance(links, list) else []
        for url in [result.get("image"), *urls]:
            page = result.get("url")
            images.append({"url": url, "title": result.get("title"), "page": page})
    return kit.parse_images(images, description="title", page_url="page")


def _find_cost(body: dict[str, Any]) -> float | None:
    return kit.as_number(kit.find_value(body, "costDollars.total"))
