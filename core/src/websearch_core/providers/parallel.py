"""
Parallel: search with dense extracts for agents, and the contents of pages.

https://docs.parallel.ai/api-reference/search/search
https://docs.parallel.ai/api-reference/extract/extract

The key is read from ``PARALLEL_API_KEY``. The extracts, in Markdown, become the ``content`` of a result. No paging, and
no way to end a period with ``before``. If a query has both allowed and blocked domains, the blocked ones are filtered
out here. Parallel knows only some countries; an answer for another one has a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from websearch_core.provider import (
    COUNTRIES,
    BaseUrl,
    Blocked,
    Env,
    Flow,
    FoundFile,
    Key,
    Limits,
    Page,
    PageNotFound,
    Response,
    SearchQuery,
    SearchResponse,
    Service,
    ServiceError,
    TimedOut,
    UnsupportedContent,
    as_object,
    as_objects,
    as_text,
    canonicalize,
    check_options,
    date_range,
    decode,
    find_country,
    first_heading,
    given,
    page_error,
    parse_date,
    parse_results,
    parse_usage,
    plain_text,
    post_json,
    provider,
)

_FAILURES: dict[str, type[ServiceError]] = {
    "not_found": PageNotFound,
    "timeout": TimedOut,
    "forbidden": Blocked,
    "blocked": Blocked,
    "unsupported": UnsupportedContent,
}


@provider
class Parallel:
    """
    Searches and reads with Parallel.

    Args:
        api_key: From https://platform.parallel.ai.
        base_url: Where the API is.
        mode: ``turbo`` and ``basic`` are quicker, ``advanced`` is more thorough. None is Parallel's default.
        max_chars_total: Maximum length of all extracts of a search together, in characters. None lets Parallel decide.

    """

    name = "parallel"
    label = "Parallel"
    options = frozenset({"allowed_domains", "blocked_domains", "time_range", "after", "country"})
    emulated = frozenset({"time_range"})
    countries = COUNTRIES
    limits = Limits(query_length=200)
    about = Service(
        api_urls=(
            "https://docs.parallel.ai/api-reference/search/search",
            "https://docs.parallel.ai/api-reference/extract/extract",
        ),
        signup_url="https://platform.parallel.ai",
        free_allowance="USD 5 a month",
        price="USD 5 per 1,000 searches of up to 10 results, turbo USD 1; USD 1 per 1,000 pages",
        as_of="2026-08",
    )

    api_key: Annotated[Key, Env("PARALLEL_API_KEY")]
    base_url: BaseUrl = "https://api.parallel.ai/v1"
    mode: Literal["turbo", "basic", "advanced"] | None = None
    max_chars_total: Annotated[int | None, FoundFile()] = None

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search."""
        check_options(query, self)
        payload = {**self._payload(query), **query.extra}
        body = self._body((yield post_json(self, "search", payload, headers=self._headers())), "search")
        return SearchResponse(
            query=query.text,
            results=parse_results(
                body.get("results"), self.name, snippet=_excerpts, content=_excerpts, published="publish_date"
            ),
            provider=self.name,
            notes=("parallel: there is a warning about this answer",) if body.get("warnings") else (),
            request_id=as_text(body.get("search_id")),
            usage=parse_usage(body.get("usage")),
            raw=body,
        )

    def read(self, url: str, /) -> Flow[Page]:
        """Read the page at *url*, as Markdown."""
        payload = {"urls": [canonicalize(url)], "advanced_settings": {"full_content": True}}
        response = yield post_json(self, "extract", payload, headers=self._headers(), target=url)
        body = self._body(response, "read")
        for result in as_objects(body.get("results")):
            whole = as_text(result.get("full_content"))
            if text := whole or _excerpts(result):
                return Page(
                    url=url,
                    final_url=url,
                    title=plain_text(result.get("title"))[:300] or first_heading(text),
                    content=text,
                    published=parse_date(result.get("publish_date")),
                    provider=self.name,
                    usage=parse_usage(body.get("usage")),
                    notes=() if whole else ("parallel returned only extracts of the page",),
                )
        failure = next(iter(as_objects(body.get("errors"))), {})
        what = str(failure.get("error_type")).lower()
        kind = next((kind for words, kind in _FAILURES.items() if words in what), None)
        raise page_error(self, status=failure.get("http_status_code"), kind=kind, detail=failure.get("content") or what)

    def _payload(self, query: SearchQuery) -> dict[str, Any]:
        after = date_range(query)[0]
        sources = {
            "include_domains": list(query.allowed_domains) or None,
            "exclude_domains": list(() if query.allowed_domains else query.blocked_domains) or None,
            "after_date": after and after.isoformat(),
        }
        settings = {
            "max_results": query.limit,
            "location": (find_country(query, self) or "").lower() or None,
            "source_policy": given(sources) or None,
        }
        return given({
            "objective": query.text,
            "search_queries": [query.text],
            "mode": self.mode,
            "max_chars_total": self.max_chars_total,
            "advanced_settings": given(settings) or None,
        })  # fmt: skip

    def _headers(self) -> dict[str, str]:
        return {"X-Api-Key": self.api_key.get_secret_value()}

    def _body(self, response: Response, verb: str) -> dict[str, Any]:
        return decode(response, self, verb=verb, detail=_detail)


def _excerpts(result: Mapping[str, Any]) -> str:
    excerpts = result.get("excerpts")
    return "\n\n".join(text for text in excerpts if isinstance(text, str)) if isinstance(excerpts, list) else ""


def _detail(body: Any) -> Any:
    return as_object(as_object(body).get("error")).get("message")
