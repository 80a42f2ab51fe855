"""
Tavily: search made for agents, and extraction of pages.

https://docs.tavily.com/documentation/api-reference/endpoint/search
https://docs.tavily.com/documentation/api-reference/endpoint/extract

The key is read from ``TAVILY_API_KEY``. ``keyless=True`` uses the free allowance for callers without one, by address
and rather small (https://docs.tavily.com/documentation/keyless). At most 20 results; no paging; a country gives its
pages more weight and is no filter. ``search_depth="advanced"`` finds much better and costs two credits instead of one.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from ..countries import ENGLISH
from ..errors import QuotaExhausted, ServiceError, Unavailable, UnsupportedOption
from ..flow import Flow, Request, Response
from ..models import Page, SearchQuery, SearchResponse
from ..provider import BaseUrl, Env, Key, missing, provider
from ..results import found
from ..service import answer, check_options, failure, rows, table, word

_MEANINGS: dict[int, type[ServiceError]] = {432: QuotaExhausted, 433: QuotaExhausted}  # plan limit, pay-as-you-go cap
_MOST = 20


@provider
class Tavily:
    """
    Searches and reads with Tavily.

    Args:
        api_key: Starts with ``tvly-``.
        keyless: Do without a key, within the free allowance, even if there is one.
        base_url: Where the API is.
        search_depth: How hard to search; ``advanced`` costs double.
        extract_depth: How hard to read; ``advanced`` costs double.
        include_answer: Ask for a direct answer as well; takes longer.

    """

    name = "tavily"
    options = frozenset({
        "allowed_domains", "blocked_domains", "time_range", "after", "before", "country", "topic",
    })  # fmt: skip

    api_key: Annotated[Key | None, Env("TAVILY_API_KEY")] = None
    keyless: bool = False
    base_url: BaseUrl = "https://api.tavily.com"
    search_depth: Literal["basic", "advanced", "fast", "ultra-fast"] = "basic"
    extract_depth: Literal["basic", "advanced"] = "basic"
    include_answer: bool = False

    def __post_init__(self) -> None:
        """Either a key, or none on purpose."""
        if self.api_key is None and not self.keyless:
            raise missing(type(self), "api_key")

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search."""
        check_options(query, self)
        body = self._body((yield self._search_request(query)), "search")
        return SearchResponse(
            query=query.text,
            results=found(body.get("results"), self.name, snippet="content", published="published_date"),
            provider=self.name,
            answer=word(body.get("answer")),
            notes=(f"tavily gives {_MOST} results at most",) if query.limit > _MOST else (),
            request_id=word(body.get("request_id")),
        )

    def read(self, url: str, /) -> Flow[Page]:
        """Read the page at *url*, as Markdown."""
        wishes = {"urls": [url], "format": "markdown", "extract_depth": self.extract_depth}
        body = self._body((yield self._request("extract", wishes, target=url)), "read")
        for result in rows(body.get("results")):
            text = result.get("raw_content")
            if isinstance(text, str):
                return Page(url=url, final_url=url, title=_heading(text), content=text, provider=self.name)
        reasons = [str(failed.get("error", "")) for failed in rows(body.get("failed_results"))]
        error = Unavailable(
            f"tavily read failed: {(reasons or ['the page is missing from the answer'])[0][:200]}", provider=self.name
        )
        error.temporary = False
        raise error

    def _search_request(self, query: SearchQuery) -> Request:
        wishes: dict[str, Any] = {
            "query": query.text,
            "max_results": min(query.limit, _MOST),
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
        asked = {name: value for name, value in wishes.items() if value not in (None, [], False)}
        return self._request("search", {**asked, **query.extra})

    def _request(self, endpoint: str, wishes: dict[str, Any], target: str | None = None) -> Request:
        if self.keyless or self.api_key is None:
            headers = {"X-Tavily-Access-Mode": "keyless"}
        else:
            headers = {"Authorization": f"Bearer {self.api_key.get_secret_value()}"}
        return Request(method="POST", url=f"{self.base_url}/{endpoint}", json=wishes, headers=headers, target=target)

    def _body(self, response: Response, verb: str) -> dict[str, Any]:
        if response.status == 429 and (cap := _cap(response)):
            error = failure(response, self, verb=verb, detail=cap.get("message"), kind=QuotaExhausted)
            wait = cap.get("retry_after_seconds")
            error.retry_after = float(wait) if isinstance(wait, int | float) and wait >= 0 else error.retry_after
            raise error
        return answer(response, self, verb=verb, meanings=_MEANINGS, detail=_detail)


def _country(query: SearchQuery) -> str | None:
    if query.country is None:
        return None
    if query.topic != "general" or query.country not in ENGLISH:
        raise UnsupportedOption(f"tavily does not know {query.country} for {query.topic} search", options=["country"])
    return ENGLISH[query.country]


def _cap(response: Response) -> dict[str, Any] | None:
    """The keyless tier has an envelope of its own: ``{"error": {"code": "daily_cap_reached", ...}}``."""
    try:
        problem = table(table(response.json()).get("error"))
    except (ValueError, RecursionError):
        return None
    return problem if str(problem.get("code")).endswith("cap_reached") else None


def _detail(body: Any) -> Any:
    """``{"detail": {"error": "..."}}``, or a list of what is wrong with the parameters."""
    detail = table(body).get("detail")
    for problem in rows(detail):
        return problem.get("msg")
    return table(detail).get("error") or detail


def _heading(markdown: str) -> str:
    """The first heading: Tavily tells no title."""
    heading = re.search(r"^#{1,6} +(.+?) *#*$", markdown, re.MULTILINE)
    return heading[1][:300] if heading else ""
