"""
Tavily: search and page extraction for agents; ``keyless=True`` uses a small free allowance.

https://docs.tavily.com/documentation/api-reference/endpoint/search
https://docs.tavily.com/documentation/api-reference/endpoint/extract

The key is read from ``TAVILY_API_KEY``. ``keyless=True`` uses the small free allowance per address for callers without
a key (https://docs.tavily.com/documentation/keyless). At most 20 results; no paging; a country boosts its pages but
does not filter. ``search_depth="advanced"`` gives much better results and costs two credits instead of one.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from websearch_core.provider import (
    COUNTRY_NAMES,
    BaseUrl,
    Env,
    Flow,
    FoundFile,
    Key,
    Limits,
    Page,
    QuotaExhausted,
    Request,
    Response,
    SearchQuery,
    SearchResponse,
    ServiceError,
    Unavailable,
    UnsupportedOption,
    as_object,
    as_objects,
    as_text,
    canonicalize,
    check_options,
    decode,
    error_for,
    is_vendor,
    missing_field_error,
    parse_results,
    provider,
    redact,
)

_MEANINGS: dict[int, type[ServiceError]] = {432: QuotaExhausted, 433: QuotaExhausted}  # plan limit, pay-as-you-go cap
_MAX_RESULTS = 20


@provider
class Tavily:
    """
    Searches and reads with Tavily.

    Args:
        api_key: Starts with ``tvly-``.
        keyless: Use the free allowance without a key, even if a key is set.
        base_url: Where the API is.
        search_depth: How thoroughly to search; ``advanced`` costs double.
        extract_depth: How thoroughly to extract; ``advanced`` costs double.
        include_answer: Also request a direct answer; takes longer.

    """

    name = "tavily"
    label = "Tavily"
    options = frozenset({
        "allowed_domains", "blocked_domains", "time_range", "after", "before", "country", "topic",
    })  # fmt: skip
    limits = Limits(results_per_request=_MAX_RESULTS, results=_MAX_RESULTS, query_length=400)

    api_key: Annotated[Key | None, Env("TAVILY_API_KEY")] = None
    keyless: bool = False
    base_url: BaseUrl = "https://api.tavily.com"
    search_depth: Literal["basic", "advanced", "fast", "ultra-fast"] = "basic"
    extract_depth: Literal["basic", "advanced"] = "basic"
    include_answer: Annotated[bool, FoundFile()] = False

    def __post_init__(self) -> None:
        """Require a key, unless ``keyless`` says to do without."""
        if self.api_key is None and not self.keyless:
            raise missing_field_error(type(self), "api_key")

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search."""
        check_options(query, self)
        body = self._body((yield self._search_request(query)), "search")
        return SearchResponse(
            query=query.text,
            results=parse_results(body.get("results"), self.name, snippet="content", published="published_date"),
            provider=self.name,
            answer=as_text(body.get("answer")),
            notes=(f"tavily returns at most {_MAX_RESULTS} results",) if query.limit > _MAX_RESULTS else (),
            request_id=as_text(body.get("request_id")),
        )

    def read(self, url: str, /) -> Flow[Page]:
        """Read the page at *url*, as Markdown."""
        # Canonical, so that a model cannot leak data in the way it spells a URL that it may open.
        payload = {"urls": [canonicalize(url)], "format": "markdown", "extract_depth": self.extract_depth}
        body = self._body((yield self._request("extract", payload, target=url)), "read")
        for result in as_objects(body.get("results")):
            text = result.get("raw_content")
            if isinstance(text, str):
                return Page(url=url, final_url=url, title=_heading(text), content=text, provider=self.name)
        failed = as_objects(body.get("failed_results"))
        reason = "it could not read the page" if failed else "the page is missing from the answer"
        words = redact(str(failed[0].get("error", "")), self) if failed else None
        error = Unavailable(f"tavily read failed: {reason}", provider=self.name, detail=words)
        error.temporary = False
        raise error

    def _search_request(self, query: SearchQuery) -> Request:
        payload: dict[str, Any] = {
            "query": query.text,
            "max_results": min(query.limit, _MAX_RESULTS),
            "search_depth": self.search_depth,
            "topic": query.topic,
            "time_range": query.time_range,
            "start_date": query.after and query.after.isoformat(),
            "end_date": query.before and query.before.isoformat(),
            "include_domains": list(query.allowed_domains),
            "exclude_domains": list(query.blocked_domains),
            "country": _country(query),
            "include_answer": self.include_answer,
        }
        given = {name: value for name, value in payload.items() if value not in (None, [], False)}
        return self._request("search", {**given, **query.extra})

    def _request(self, endpoint: str, payload: dict[str, Any], target: str | None = None) -> Request:
        if self.keyless or self.api_key is None:
            headers = {"X-Tavily-Access-Mode": "keyless"}
        else:
            headers = {"Authorization": f"Bearer {self.api_key.get_secret_value()}"}
        return Request(
            method="POST",
            url=f"{self.base_url}/{endpoint}",
            json=payload,
            headers=headers,
            target=target,
            judge_target=target is not None and not is_vendor(self),
        )

    def _body(self, response: Response, verb: str) -> dict[str, Any]:
        if response.status == 429 and (cap := _cap(response)):
            error = error_for(response, self, verb=verb, detail=cap.get("message"), kind=QuotaExhausted)
            wait = cap.get("retry_after_seconds")
            error.retry_after = float(wait) if isinstance(wait, int | float) and wait >= 0 else error.retry_after
            raise error
        return decode(response, self, verb=verb, meanings=_MEANINGS, detail=_detail)


def _country(query: SearchQuery) -> str | None:
    if query.country is None:
        return None
    if query.topic != "general" or query.country not in COUNTRY_NAMES:
        raise UnsupportedOption(f"tavily does not know {query.country} for {query.topic} search", options=["country"])
    return COUNTRY_NAMES[query.country]


def _cap(response: Response) -> dict[str, Any] | None:
    """Return the error of the keyless tier: ``{"error": {"code": "daily_cap_reached", ...}}``."""
    try:
        problem = as_object(as_object(response.json()).get("error"))
    except (ValueError, RecursionError):
        return None
    return problem if str(problem.get("code")).endswith("cap_reached") else None


def _detail(body: Any) -> Any:
    """Return the message: ``{"detail": {"error": "..."}}``, or the first in a list of invalid parameters."""
    detail = as_object(body).get("detail")
    for problem in as_objects(detail):
        return problem.get("msg")
    return as_object(detail).get("error") or detail


def _heading(markdown: str) -> str:
    """Return the first heading: Tavily returns no title."""
    heading = re.search(r"^#{1,6} +(.+?) *#*$", markdown, re.MULTILINE)
    return heading[1][:300] if heading else ""
