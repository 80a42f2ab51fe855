"""Linkup: web search for agents, and pages as Markdown.

Results have neither a date nor a score.
"""

from __future__ import annotations
from typing import Annotated, Any, ClassVar, Literal

from websearch_core import provider as kit
from websearch_core.errors import (
    QuotaExhausted,
    ServiceError,
    TooLarge,
    Unavailable,
    UnsupportedContent,
)

_NOTHING = "SEARCH_QUERY_NO_RESULT"
_KINDS: dict[str, type[ServiceError]] = dict.fromkeys(
    ("insufficient_funds_credits", "exceed_budget_limit"), QuotaExhausted
)
_FAILURES: dict[str, type[ServiceError]] = {
    "FETCH_ERROR": Unavailable,
    "FETCH_TARGET_UNREACHABLE": Unavailable,
    "FETCH_RESPONSE_TOO_LARGE": TooLarge,
    "FETCH_UNSUPPORTED_CONTENT_TYPE": UnsupportedContent,
    "FETCH_URL_IS_FILE": UnsupportedContent,
}


@kit.provider
class Linkup:
    """Searches and reads with Linkup.

    Args:
        api_key: From https://app.linkup.so.
        base_url: Where the API is.
        depth: ``fast`` takes keywords, ``standard`` any text; ``deep`` takes several
            steps, and costs ten times more.
        include_answer: Return an answer with its sources, instead of search results;
            costs slightly more.
        render_js: Run the scripts of a page before reading it; costs five times as
            much.
    """

    name = "linkup"
    options: ClassVar[frozenset[str]] = kit.FILTERS | {"images"}
    emulated: ClassVar[frozenset[str]] = frozenset({"time_range"})
    limits: ClassVar[kit.Limits] = kit.Limits(
        allowed_domains=100, requests_per_second=10
    )
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=(
            "https://docs.linkup.so/pages/documentation/api-reference/endpoint/post-search",
            "https://docs.linkup.so/pages/documentation/api-reference/endpoint/post-fetch",
        ),
        signup_url="https://app.linkup.so",
        free_allowance="USD 20 a month for eligible accounts",
        price="USD 5 per 1,000 searches, USD 50 deep; USD 1 per 1,000 pages",
        prices=(
            kit.Price(verb="search", usd=0.05, when={"depth": "deep"}),
            kit.Price(verb="search", usd=0.005, when={"include_answer": False}),
            kit.Price(verb="read", usd=0.005, size=1, when={"render_js": True}),
            kit.Price(verb="read", usd=0.001, size=1),
        ),
        as_of="2026-10",
        compared="linkup-sdk 0.24.0, 2026-11-23",
    )

    api_key: Annotated[kit.Key, kit.Env("LINKUP_API_KEY")] = kit.REQUIRED
    base_url: kit.BaseUrl = "https://api.linkup.so/v1"
    depth: Literal["flash", "fast", "standard", "deep"] = "standard"
    include_answer: bool = False
    render_js: bool = False

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search."""
        kit.check_options(query, self)
        after, _ = kit.date_range(query)
        params = {
            "q": query.text,
            "depth": self.depth,
            "outputType": "sourcedAnswer" if self.include_answer else "searchResults",
            "maxResults": query.limit,
            "includeDomains": list(query.allowed_domains) or None,
            "excludeDomains": list(query.blocked_domains) or None,
            "fromDate": after and after.isoformat(),
            "toDate": query.before and query.before.isoformat(),
            "includeImages": query.images or None,
        }
        payload = kit.with_extra(params, query)
        response = yield kit.post_json(self, "search", payload)
        problem = kit.as_json(response) if response.status == 400 else None
        if _find_code(problem) == _NOTHING:
            return kit.SearchResponse(query=query.text, provider=self.name, raw=problem)
        if payload["outputType"] == "structured":
            return self._parse_structured(query, payload, response)
        body = self._decode(response)
        return self._parse(query, body, body)

    def _parse_structured(
        self, query: kit.SearchQuery, payload: dict[str, Any], response: kit.Response
    ) -> kit.SearchResponse:
        """Parse an object of the caller's own schema, which may have any words.

        With its sources, it is ``data`` in the answer; without them, it is the answer.
        """
        body = self._decode(response, nothing=[""])
        has_sources = payload.get("includeSources") is True
        answer = body.get("data") if has_sources else body
        parts = {"answer": answer, "sources": body.get("sources") or []}
        return self._parse(query, body, parts)

    def _parse(
        self, query: kit.SearchQuery, raw: dict[str, Any], body: dict[str, Any]
    ) -> kit.SearchResponse:
        path = "sources" if "sources" in body else "results"
        items, notes = kit.take_results(body, self.name, path)
        images = [item for item in kit.as_objects(items) if item.get("type") == "image"]
        return kit.parse_search(
            self,
            query,
            raw,
            [item for item in items if item not in images],
            title="name",
            snippet=("content", "snippet"),
            published="date",
            markup="entities",
            answer=body.get("answer"),
            images=kit.parse_images(images, description="name"),
            notes=notes,
        )

    def read(self, url: str, /) -> kit.Flow[kit.Page]:
        """Read the page at *url*, as Markdown."""
        payload = {"url": kit.serialize(url), "renderJs": self.render_js or None}
        response = yield kit.post_json(self, "fetch", payload, target=url)
        problem = kit.as_json(response) if response.status >= 400 else None
        kind = _FAILURES.get(_find_code(problem))
        if kind:
            raise kit.page_error(self, kind=kind, detail=_join_reasons(problem))
        body = self._decode(response, verb="read")
        return kit.parse_page(
            self, url, body.get("markdown"), media_type=body.get("contentType")
        )

    def _decode(self, response: kit.Response, **options: Any) -> dict[str, Any]:
        return kit.decode(
            response,
            self,
            detail=_join_reasons,
            kind=_KINDS,
            code="error.code",
            **options,
        )


def _find_code(body: Any) -> str:
    return str(kit.find_value(body, "error.code"))


def _join_reasons(body: Any) -> str:
    """Return the message with the reasons in it: ``Validation failed: q must not be
    empty``.
    """
    details = kit.as_objects(kit.find_value(body, "error.details"))
    reasons = [kit.as_text(detail.get("message")) for detail in details]
    return ": ".join(filter(None, [kit.find_message(body), *reasons]))
