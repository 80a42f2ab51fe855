"""Exa: search by meaning, and the contents of pages.

At most 100 results; no paging. A snippet is made of the highlights: passages of the
page that answer the query. ``text=True`` returns the text of every page too, and
``summary=True`` a summary, which costs extra. A date filter leaves out pages without a
date. If a query has both allowed and blocked domains, the blocked ones are filtered out
here.
"""

from __future__ import annotations
from collections.abc import Mapping, Sequence
from html import unescape
from typing import Annotated, Any, ClassVar, Literal

from websearch_core import errors
from websearch_core import provider as kit
from websearch_core._text.urls import serialize
from websearch_core.provider._codes import COUNTRIES
from websearch_core.provider._http import as_json, as_texts
from websearch_core.provider._reading import find_records, read_alone
from websearch_core.provider._results import as_answer

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
        type: How to search: ``neural`` by meaning; ``auto`` chooses; ``lite``,
            ``instant`` and ``fast`` are quick; the ``deep`` types take several steps
            and cost more.
        category: Search only this kind of page: ``company``, ``news``, ``publication``,
            ``personal site``, ``financial report`` or ``people``. A query's ``topic``
            takes precedence.
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
    countries: ClassVar[Mapping[str, str]] = COUNTRIES
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

    api_key: Annotated[kit.Key, kit.Env("EXA_API_KEY")]
    base_url: kit.BaseUrl = "https://api.exa.ai"
    type: Literal[
        "auto",
        "neural",
        "lite",
        "fast",
        "instant",
        "deep-lite",
        "deep",
        "deep-reasoning",
    ] = "auto"
    category: Annotated[_Category | None, kit.FoundFile()] = None
    highlights: Annotated[bool, kit.FoundFile()] = True
    text: bool = False
    summary: bool = False
    max_age_hours: int | None = None

    @kit.page_by_page
    def search(
        self, query: kit.SearchQuery, _: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Search."""
        after = kit.date_range(query)[0]
        contents = {
            "highlights": self.highlights or None,
            "text": self.text or None,
            "summary": {"query": query.text} if self.summary else None,
            "maxAgeHours": self.max_age_hours,
            "extras": {"imageLinks": 1} if query.images else None,
        }
        payload = {
            "query": query.text,
            "numResults": size,
            "type": self.type,
            "category": _CATEGORIES.get(query.topic, self.category),
            "includeDomains": list(query.allowed_domains) or None,
            "excludeDomains": list(
                () if query.allowed_domains else query.blocked_domains
            )
            or None,
            "startPublishedDate": f"{after}T00:00:00.000Z" if after else None,
            "endPublishedDate": f"{query.before}T23:59:59.999Z"
            if query.before
            else None,
            "userLocation": kit.find_country(query, self),
            "moderation": query.safe_search in {"moderate", "strict"} or None,
            "contents": kit.drop_none(contents) or None,
        }
        response = yield kit.post_json(self, "search", payload, query)
        body = kit.decode(response, self, kind=_KINDS, code="tag")
        unread = [
            one
            for one in kit.as_objects(body.get("statuses"))
            if one.get("status") == "error"
        ]
        found = kit.parse_search(
            self, query, body, snippet=_snippet, content=_content,
            published="publishedDate", markup="entities",
            answer=as_answer(kit.as_object(body.get("output")).get("content")),
            images=_images(body.get("results")) if query.images else (),
            request_id=kit.as_text(body.get("requestId")),
            cost=_cost(body),
        )  # fmt: skip
        if unread:
            missing = (
                f"exa could not read {len(unread)} of the pages, whose text is missing"
            )
            found = found.with_notes(missing, partial=True)
        return found, False

    read = read_alone

    def read_many(
        self, urls: Sequence[str], /
    ) -> kit.Flow[list[kit.Page | errors.WebSearchError]]:
        """Read up to 20 pages in one request."""
        payload = {
            "urls": list(map(serialize, urls)),
            "text": True,
            "maxAgeHours": self.max_age_hours,
        }
        response = yield kit.post_json(self, "contents", payload, target=tuple(urls))
        problem = kit.as_object(as_json(response)) if response.status >= 400 else {}
        # it is the pages', not the service's
        if kind := _FAILURES.get(str(problem.get("tag"))):
            raise kit.page_error(self, kind=kind, detail=problem.get("error"))
        body = kit.decode(response, self, verb="read", kind=_KINDS, code="tag")
        results, failures = (
            find_records(urls, body.get("results")),
            find_records(urls, body.get("statuses"), key="id"),
        )
        return kit.parse_pages(self._read, urls, results, failures, cost=_cost(body))

    def _read(
        self, url: str, found: dict[str, Any] | None, status: dict[str, Any] | None
    ) -> kit.Page:
        if found is None:  # its failure is a status in a successful answer
            failure = kit.as_object(kit.as_object(status).get("error"))
            kind = _FAILURES.get(str(failure.get("tag")))
            raise kit.page_error(
                self,
                status=failure.get("httpStatusCode"),
                kind=kind,
                detail=failure.get("tag"),
            )
        return kit.parse_page(
            self,
            url,
            _content(found) or "",
            title=found.get("title"),
            final_url=found.get("url"),
            author=found.get("author"),
            published=found.get("publishedDate"),
        )


def _content(result: Mapping[str, Any]) -> str | None:
    """Return the text of a page, which has the entities of its HTML."""
    return kit.as_text(unescape(kit.as_text(result.get("text")) or ""))


def _snippet(result: Any) -> str:
    return (
        " … ".join(as_texts(result.get("highlights")))
        or kit.as_text(result.get("summary"))
        or (kit.as_text(result.get("text")) or "")[:500]
    )


def _images(items: Any) -> tuple[Any, ...]:
    found = [
        {"url": image, "title": item.get("title"), "page": item.get("url")}
        for item in kit.as_objects(items)
        for image in [
            item.get("image"),
            *(kit.as_object(item.get("extras")).get("imageLinks") or []),
        ]
    ]
    return kit.parse_images(found, description="title", page_url="page")


def _cost(body: dict[str, Any]) -> float | None:
    return kit.as_number(kit.as_object(body.get("costDollars")).get("total"))
