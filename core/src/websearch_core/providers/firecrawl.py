"""
Firecrawl: web search and scraping, as a service or on your own server.

https://docs.firecrawl.dev/api-reference/endpoint/search
https://docs.firecrawl.dev/api-reference/endpoint/scrape

The key is read from ``FIRECRAWL_API_KEY``. ``keyless=True`` uses the small free allowance per address for callers
without a key. Your own server needs none: set ``base_url`` (``FIRECRAWL_API_URL``). It may run inside your
network, so the address of a page is then checked here first. At most 100 results; no paging. If a query has both
allowed and blocked domains, the blocked ones are filtered out here. Firecrawl answers with a copy of a page that is up
to two days old unless `max_age` says otherwise, and reports a missing page as a success; here it is an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, ClassVar

from pydantic import NonNegativeInt

from websearch_core._text.urls import is_web_url, serialize
from websearch_core.errors import (
    Blocked,
    PageNotFound,
    QuotaExhausted,
    RateLimited,
    ServiceError,
    TimedOut,
    Unavailable,
    UnsupportedContent,
)
from websearch_core.provider import (
    BaseUrl,
    Env,
    Flow,
    FoundFile,
    Key,
    Limits,
    Page,
    Price,
    Request,
    Response,
    SearchQuery,
    SearchResponse,
    Service,
    as_number,
    as_object,
    as_text,
    check_options,
    check_text,
    collect_pages,
    decode,
    drop_none,
    error_for,
    find_country,
    is_vendor,
    page_error,
    parse_date,
    parse_images,
    parse_results,
    parse_usage,
    post_json,
    provider,
)
from websearch_core.provider._codes import COUNTRIES
from websearch_core.provider._declare import missing_field_error
from websearch_core.provider._http import unexpected_format
from websearch_core.provider._reading import as_links
from websearch_core.provider._requests import bearer
from websearch_core.provider._results import plain_text
from websearch_core.provider.google import google_period

_MAX_RESULTS = 100
_CATEGORIES = {"academic": ["research"], "code": ["github"]}
_FAILURES: dict[str, type[ServiceError]] = {
    "SCRAPE_TIMEOUT": TimedOut,
    "SCRAPE_UNSUPPORTED_FILE_ERROR": UnsupportedContent,
    "SCRAPE_PDF_ANTIBOT_ERROR": Blocked,
    "SCRAPE_DOCUMENT_ANTIBOT_ERROR": Blocked,
    "UNSUPPORTED_SITE": Blocked,
    "THIRD_PARTY_DATA_NOT_FOUND": PageNotFound,
}


@provider
class Firecrawl:
    """
    Searches and reads with Firecrawl.

    Args:
        api_key: Starts with ``fc-``.
        keyless: Use the free allowance without a key, even if a key is set.
        base_url: Where the server is.
        scrape: Also scrape every result, for its text; costs a credit a page.
        only_main_content: Leave out navigation, headers and footers of a page.
        max_age: Fetch a page again if the copy is older than this, in milliseconds; 0 always. None is two days.

    """

    name = "firecrawl"
    label = "Firecrawl"
    options: ClassVar[frozenset[str]] = frozenset({
        "allowed_domains", "blocked_domains", "time_range", "after", "before", "country", "safe_search", "topic",
        "images",
    })  # fmt: skip
    topics: ClassVar[frozenset[str]] = frozenset({"news", *_CATEGORIES})
    countries: ClassVar[Mapping[str, str]] = COUNTRIES
    limits: ClassVar[Limits] = Limits(results_per_request=_MAX_RESULTS, results=_MAX_RESULTS, query_length=500)
    about: ClassVar[Service] = Service(
        api_urls=(
            "https://docs.firecrawl.dev/api-reference/endpoint/search",
            "https://docs.firecrawl.dev/api-reference/endpoint/scrape",
        ),
        signup_url="https://www.firecrawl.dev/app/api-keys",
        free_allowance="1,000 credits a month; keyless: a daily allowance per address",
        price="2 credits for 10 results, 1 credit a page; 3,000 credits for USD 16 a month",
        prices=(
            Price(usd=0, credits=0, when={"keyless": True}),
            Price(verb="search", credits=12, size=10, when={"scrape": True}),
            Price(verb="search", credits=2, size=10),
            Price(verb="read", credits=1, size=1),
        ),
        as_of="2026-08",
    )

    api_key: Annotated[Key | None, Env("FIRECRAWL_API_KEY")] = None
    keyless: bool = False
    base_url: Annotated[BaseUrl, Env("FIRECRAWL_API_URL")] = "https://api.firecrawl.dev"
    scrape: bool = False
    only_main_content: Annotated[bool, FoundFile()] = True
    max_age: NonNegativeInt | None = None

    def __post_init__(self) -> None:
        """Require a key for the vendor's server, unless ``keyless`` is set."""
        if self.api_key is None and not self.keyless and is_vendor(self):
            raise missing_field_error(type(self), "api_key")

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search."""
        check_options(query, self)
        return (yield from collect_pages(query, self, partial(self._page, query)))

    def _page(self, query: SearchQuery, _: int, size: int) -> Flow[tuple[SearchResponse, bool]]:
        payload = {**self._payload(query, size), **query.extra}
        body = self._body((yield self._request("search", payload)), "search")
        data = body.get("data")
        section = "news" if query.topic == "news" else "web"
        items = (data.get(section) or []) if isinstance(data, dict) else data  # version 1 of the API returns a list
        found = SearchResponse(
            query=query.text,
            results=parse_results(
                items, self.name, title=_title, url=_url, snippet=_snippet, content="markdown", published=_date
            ),
            provider=self.name,
            images=parse_images(as_object(data).get("images"), url="imageUrl", description="title", page_url="url"),
            notes=_warning(body),
            request_id=as_text(body.get("id")),
            usage=parse_usage(body, credits="creditsUsed"),
            raw=body,
        )
        return found, False

    def read(self, url: str, /) -> Flow[Page]:
        """Read the page at *url*, as Markdown."""
        payload = drop_none({"url": serialize(url), "formats": ["markdown", "links"], "maxAge": self.max_age})
        payload["onlyMainContent"] = self.only_main_content
        body = self._body((yield self._request("scrape", payload, target=url)), "read")
        data = as_object(body.get("data"))
        about = {name: _first(value) for name, value in as_object(data.get("metadata")).items()}
        status = as_number(about.get("statusCode"))
        if status and status >= 400:
            raise page_error(self, status=status, detail=about.get("error"))
        text = data.get("markdown")
        if not isinstance(text, str):
            raise unexpected_format(self.name, "read")
        check_text(self, plain_text(about.get("title")), text)
        final = as_text(about.get("url")) or url
        return Page(
            url=url,
            final_url=final if is_web_url(final) else url,
            title=plain_text(about.get("title") or about.get("ogTitle"))[:300],
            content=text,
            media_type=str(about.get("contentType") or "").partition(";")[0].strip(),
            language=as_text(about.get("language")),
            author=plain_text(about.get("author")) or None,
            published=parse_date(about.get("publishedTime") or about.get("article:published_time")),
            modified=parse_date(about.get("modifiedTime") or about.get("article:modified_time")),
            description=plain_text(about.get("description") or about.get("ogDescription"))[:1000] or None,
            site_name=plain_text(about.get("ogSiteName")) or None,
            links=as_links(data.get("links")),
            status=int(status) if status else None,
            provider=self.name,
            usage=parse_usage(about, credits="creditsUsed"),
            notes=_warning(data),
        )

    def _payload(self, query: SearchQuery, size: int) -> dict[str, Any]:
        return drop_none({
            "query": query.text,
            "limit": size,
            "sources": ["news" if query.topic == "news" else "web", *(["images"] if query.images else [])],
            "categories": _CATEGORIES.get(query.topic),
            "includeDomains": list(query.allowed_domains) or None,
            "excludeDomains": list(() if query.allowed_domains else query.blocked_domains) or None,
            "tbs": google_period(query),
            "country": find_country(query, self),
            "safe": query.safe_search in {"moderate", "strict"} or None,
            "scrapeOptions": {"formats": ["markdown"]} if self.scrape else None,
        })  # fmt: skip

    def _request(self, endpoint: str, payload: dict[str, Any], target: str | None = None) -> Request:
        headers = bearer(self.api_key) if self.api_key and not self.keyless else {}
        path = endpoint if self.base_url.endswith("/v2") else f"v2/{endpoint}"
        return post_json(self, path, payload, headers=headers, target=target)

    def _body(self, response: Response, verb: str) -> dict[str, Any]:
        if verb == "read" and response.status >= 500 and (problem := _page_problem(response)):
            raise page_error(self, kind=_kind(problem), detail=problem.get("error"))
        try:
            body = decode(response, self, verb=verb, kind=_kind)
        except RateLimited as error:
            wait = re.search(r"retry after (\d{1,6}) ?s", error.detail or "")
            if wait and error.retry_after is None:
                error.retry_after = float(wait[1])
            raise
        if body.get("success") is not False:
            return body
        if verb == "read":
            raise page_error(self, kind=_kind(body), detail=body.get("error"))
        raise error_for(response, self, kind=_kind(body) or Unavailable, detail=body.get("error"))


def _kind(body: Any) -> type[ServiceError] | None:
    problem = as_object(body)
    words = str(problem.get("error"))
    if "keyless" in words:
        return QuotaExhausted
    return _FAILURES.get(str(problem.get("code") or words)) or (
        Blocked if "do not support this site" in words else None
    )


def _page_problem(response: Response) -> dict[str, Any] | None:
    """Return the body of a failure that is the page's, not the service's: its code begins with ``SCRAPE_``."""
    try:
        body = as_object(response.json())
    except (ValueError, RecursionError):
        return None
    return body if str(body.get("code")).startswith("SCRAPE_") else None


def _first(value: Any) -> Any:
    """Return the first of several values: a page may have a meta tag twice."""
    return value[0] if isinstance(value, list) and value else value


def _warning(record: dict[str, Any]) -> tuple[str, ...]:
    """Return our own note for a warning: its text may come from the page."""
    return ("firecrawl: there is a warning about this answer",) if as_text(record.get("warning")) else ()


def _about(result: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _first(value) for name, value in as_object(result.get("metadata")).items()}


def _url(result: Mapping[str, Any]) -> Any:
    return result.get("url") or _about(result).get("url") or _about(result).get("sourceURL")


def _title(result: Mapping[str, Any]) -> Any:
    return result.get("title") or _about(result).get("title")


def _snippet(result: Mapping[str, Any]) -> Any:
    return result.get("description") or result.get("snippet") or _about(result).get("description")


def _date(result: Mapping[str, Any]) -> Any:
    return result.get("date") or _about(result).get("publishedTime")
