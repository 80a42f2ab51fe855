"""
Brave Search: an independent index of the web.

https://api-dashboard.search.brave.com/app/documentation/web-search/get-started

Needs a key, from ``BRAVE_API_KEY`` or ``BRAVE_SEARCH_API_KEY``. Domain filters are sent as an inline Goggle. A page has
20 results; a larger limit requests more pages, up to ten. Brave answers a wrong key with 422, and both "too fast" and
"out of quota" with 429; the body distinguishes them. Its terms forbid keeping results beyond transient use.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from math import ceil
from typing import Annotated, Any

from websearch_core.provider import (
    AuthenticationError,
    BaseUrl,
    Blocked,
    Env,
    Flow,
    Key,
    Limits,
    QuotaExhausted,
    Request,
    Response,
    SearchQuery,
    SearchResponse,
    SearchResult,
    ServiceError,
    UnsupportedOption,
    as_object,
    as_objects,
    as_text,
    check_options,
    decode_json,
    error_for,
    parse_results,
    provider,
)

_FRESHNESS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
_LANGUAGES = {"ja": "jp", "no": "nb", "pt": "pt-pt", "zh": "zh-hans", "zh-cn": "zh-hans", "zh-tw": "zh-hant"}
_REGIONAL = {"en-gb", "pt-br", "pt-pt", "zh-hans", "zh-hant"}
_PAGE = 20
_LAST_PAGE = 9


@provider
class Brave:
    """
    Searches with Brave.

    Args:
        api_key: Subscription token.
        base_url: Where the API is.

    """

    name = "brave"
    label = "Brave Search"
    options = frozenset({
        "allowed_domains", "blocked_domains", "time_range", "after", "before", "country", "language", "safe_search",
        "topic", "page",
    })  # fmt: skip
    limits = Limits(results_per_request=_PAGE, results=_PAGE * (_LAST_PAGE + 1), query_length=400, query_words=50)
    terms_forbid_recording = "its terms do not allow keeping its results"

    api_key: Annotated[Key, Env("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")]
    base_url: BaseUrl = "https://api.search.brave.com/res/v1"

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search, page by page until the limit is reached."""
        check_options(query, self)
        pages = ceil(query.limit / _PAGE)
        first = (query.page - 1) * pages
        if first > _LAST_PAGE:
            raise UnsupportedOption(f"brave has {_LAST_PAGE + 1} pages of {_PAGE} results", options=["page"])
        results: list[SearchResult] = []
        notes: list[str] = []
        altered: str | None = None
        for page in range(first, min(first + pages, _LAST_PAGE + 1)):
            response = yield self._request(query, count=ceil(query.limit / pages), page=page)
            try:
                body = self._body(response)
            except ServiceError as error:
                if not results:
                    raise
                notes.append(f"brave failed on a later page ({error.code})")  # the results so far are paid for
                break
            results += parse_results(self._items(body), self.name, snippet="description", published="page_age")
            about = as_object(body.get("query"))
            altered = as_text(about.get("altered")) or altered
            if not about.get("more_results_available"):
                break
        if altered:
            notes.append("brave corrected the spelling of the query: see suggestions")
        return SearchResponse(
            query=query.text,
            results=tuple(results),
            provider=self.name,
            suggestions=(altered,) if altered else (),
            notes=tuple(notes),
        )

    def _request(self, query: SearchQuery, *, count: int, page: int) -> Request:
        params = {
            "q": query.text,
            "count": count,
            "offset": page or None,
            "country": query.country,
            "search_lang": _language(query.language),
            "safesearch": query.safe_search,
            "freshness": _freshness(query),
            "goggles": _goggle(query),
            "result_filter": "web" if query.topic == "general" else None,
            "text_decorations": "false",
            **query.extra,
        }
        return Request(
            url=f"{self.base_url}/{'news' if query.topic == 'news' else 'web'}/search",
            params={name: value for name, value in params.items() if value is not None},
            headers={"X-Subscription-Token": self.api_key.get_secret_value(), "Accept": "application/json"},
        )

    def _body(self, response: Response) -> dict[str, Any]:
        if response.status != 200:
            raise self._error_for(response)
        return decode_json(response, self)

    def _items(self, body: dict[str, Any]) -> Any:
        """Return the list of results: news are at the top level, and ``web`` is absent if it has no results."""
        if body.get("type") == "search" and body.get("web") is None:
            return []
        section = body.get("web", body)
        return section.get("results") if isinstance(section, dict) else None

    def _error_for(self, response: Response) -> ServiceError:
        try:
            body = as_object(response.json())
        except (ValueError, RecursionError):  # from its firewall, not its API
            return error_for(response, self, meanings={403: Blocked})
        problem = as_object(body.get("error")) or next(iter(as_objects(body.get("errors"))), {})
        code, meta = problem.get("code"), as_object(problem.get("meta"))
        kind: type[ServiceError] | None = None
        if code in {"SUBSCRIPTION_TOKEN_INVALID", "SUBSCRIPTION_NOT_FOUND"} or "subscription-token" in str(meta):
            kind = AuthenticationError
        elif code == "QUOTA_LIMITED" or _is_used_up(meta):
            kind = QuotaExhausted
        error = error_for(response, self, detail=problem.get("detail"), kind=kind)
        if error.temporary and error.retry_after is None:
            error.retry_after = _seconds_to_reset(response)
        return error


def _language(tag: str | None) -> str | None:
    if tag is None:
        return None
    tag = tag.lower()
    return _LANGUAGES.get(tag) or (tag if tag in _REGIONAL else _LANGUAGES.get(tag[:2], tag.partition("-")[0]))


def _freshness(query: SearchQuery) -> str | None:
    if query.after or query.before:
        return f"{query.after or date(1970, 1, 1)}to{query.before or datetime.now(UTC).date()}"
    return _FRESHNESS[query.time_range] if query.time_range else None


def _goggle(query: SearchQuery) -> str | None:
    """Return the domain filters as a Goggle: https://search.brave.com/help/goggles."""
    rules = [f"$discard,site={domain}" for domain in query.blocked_domains]
    if query.allowed_domains:
        rules += ["$discard", *(f"$boost,site={domain}" for domain in query.allowed_domains)]
    return "\n".join(rules) or None


def _is_used_up(meta: dict[str, Any]) -> bool:
    """Return whether the quota is used up; a quota of zero means that there is no quota."""
    limit, current = meta.get("quota_limit"), meta.get("quota_current")
    return isinstance(limit, int) and isinstance(current, int) and current >= limit > 0


def _seconds_to_reset(response: Response) -> float | None:
    """Return the seconds until the shortest window resets: the first in ``X-RateLimit-Reset: 1, 389223``."""
    first = response.headers.get("x-ratelimit-reset", "").partition(",")[0].strip()
    return float(first) if first.isdecimal() and first.isascii() else None
