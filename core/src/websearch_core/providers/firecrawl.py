"""Firecrawl: web search and scraping, as a service or on your own server.

Your own server needs no key: set ``base_url``. The address of a page is then checked
here first. Firecrawl answers with a copy of a page that is up to two days old unless
``max_age`` says otherwise. A crawl reads what ``/map`` lists of a site (written from
firecrawl-py 4.55.0), and costs a credit more than Firecrawl's own.
"""

from __future__ import annotations
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import NonNegativeInt

from websearch_core import errors
from websearch_core import provider as kit
from websearch_core.provider.google import google_period

_CATEGORIES = {"academic": "research", "code": "developer"}
# by the words of the error, or its code
_KINDS: dict[str, type[errors.ServiceError]] = {
    "keyless": errors.QuotaExhausted,
    "scrape_timeout": errors.TimedOut,
    "scrape_unsupported_file_error": errors.UnsupportedContent,
    "antibot_error": errors.Blocked,
    "unsupported_site": errors.Blocked,
    "do not support this site": errors.Blocked,
    "third_party_data_not_found": errors.PageNotFound,
}


@kit.provider
class Firecrawl:
    """Searches and reads with Firecrawl.

    Args:
        api_key: Starts with ``fc-``.
        keyless: Use the free allowance without a key, even if a key is set.
        base_url: Where the server is.
        category: Search only ``developer`` (issues, documentation), ``gov``, files of
            type ``pdf``, or about fourteen sites for ``research``. A query's ``topic``
            takes precedence.
        location: Search as from this place, such as ``San Francisco,California,United
            States``.
        scrape: Also scrape every result, for its text; costs a credit a page.
        only_main_content: Leave out navigation, headers and footers of a page.
        max_age: Fetch a page again if the copy is older than this, in milliseconds; 0
            always. None is two days.
        headers: Headers to send to the sites of pages that are read.
        wait_for: Wait before reading a page, in milliseconds.
    """

    name = "firecrawl"
    options: ClassVar[frozenset[str]] = kit.FILTERS | {
        "country",
        "safe_search",
        "topic",
        "images",
    }
    topics: ClassVar[frozenset[str]] = frozenset({"news", *_CATEGORIES})
    countries: ClassVar[Mapping[str, str]] = kit.COUNTRIES
    limits: ClassVar[kit.Limits] = kit.Limits(
        results_per_request=100, results=100, query_length=500
    )
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=(
            "https://docs.firecrawl.dev/api-reference/endpoint/search",
            "https://docs.firecrawl.dev/api-reference/endpoint/scrape",
            "https://docs.firecrawl.dev/api-reference/endpoint/map",
        ),
        signup_url="https://www.firecrawl.dev/app/api-keys",
        free_allowance="1,000 credits a month; keyless: a daily allowance per address",
        price="2 credits for 10 results, 1 credit a page; 3,000 credits for USD 16 a "
        "month",
        prices=(
            kit.Price(usd=0, credits=0, when={"keyless": True}),
            kit.Price(verb="search", credits=12, size=10, when={"scrape": True}),
            kit.Price(verb="search", credits=2, size=10),
            kit.Price(verb="read", credits=1, size=1),
        ),
        as_of="2026-08",
        compared="firecrawl-py 4.55.0, 2026-11-23",
    )

    api_key: Annotated[kit.Key | None, kit.Env("FIRECRAWL_API_KEY")] = None
    keyless: bool = False
    base_url: Annotated[kit.BaseUrl, kit.Env("FIRECRAWL_API_URL")] = (
        "https://api.firecrawl.dev"
    )
    category: Annotated[
        Literal["developer", "gov", "pdf", "research"] | None, kit.ProjectFile()
    ] = None
    location: Annotated[str | None, kit.ProjectFile()] = None
    scrape: bool = False
    only_main_content: Annotated[bool, kit.ProjectFile()] = True
    max_age: NonNegativeInt | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    wait_for: NonNegativeInt | None = None

    def __post_init__(self) -> None:
        """Require a key for the vendor's server, unless ``keyless`` is set."""
        has_key = self.api_key is not None or self.keyless
        if not has_key and kit.is_vendor(self):
            raise kit.missing_field_error(type(self), "api_key")

    @kit.page_by_page
    def search(
        self, query: kit.SearchQuery, _: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Search."""
        section = "news" if query.topic == "news" else "web"
        category = _CATEGORIES.get(query.topic, self.category)
        params = {
            "query": query.text,
            "limit": size,
            "sources": [section, "images"] if query.images else [section],
            "categories": [category] if category else None,
            **self._filters(query),
            "location": self.location,
            "scrapeOptions": {"formats": ["markdown"]} if self.scrape else None,
        }
        payload = kit.with_extra(params, query)
        if isinstance(payload.get("tbs"), list):
            payload["tbs"] = ",".join(payload["tbs"])
        body = self._decode((yield self._request("search", payload)), "search")
        return self._parse(query, body, section), False

    def _filters(self, query: kit.SearchQuery) -> dict[str, Any]:
        """Return the filters of a query; of domains, Firecrawl takes one list."""
        filters: dict[str, Any] = {
            "tbs": google_period(query),
            "country": kit.find_country(query, self),
        }
        if query.allowed_domains:
            filters["includeDomains"] = list(query.allowed_domains)
        elif query.blocked_domains:
            filters["excludeDomains"] = list(query.blocked_domains)
        if query.safe_search in {"moderate", "strict"}:
            filters["safe"] = True
        return filters

    def _parse(
        self, query: kit.SearchQuery, body: dict[str, Any], section: str
    ) -> kit.SearchResponse:
        data = body.get("data")
        items = data  # version 1 of the API has the list there
        if isinstance(data, dict):
            items = data.get(section) or []
        return kit.parse_search(
            self,
            query,
            body,
            items,
            title=("title", "metadata.title"),
            url=("url", "metadata.url", "metadata.sourceURL"),
            snippet=("description", "snippet", "metadata.description"),
            content="markdown",
            published=("date", "metadata.publishedTime"),
            images=kit.parse_images(
                kit.find_value(data, "images"),
                url="imageUrl",
                description="title",
                page_url="url",
            ),
            notes=_note_warning(body),
            request_id=kit.as_text(body.get("id")),
            usage=kit.parse_usage(body, credits="creditsUsed"),
        )

    def read(self, url: str, /) -> kit.Flow[kit.Page]:
        """Read the page at *url*, as Markdown."""
        payload = {
            "url": kit.serialize(url),
            "formats": ["markdown", "links"],
            "maxAge": kit.find_max_age(self.max_age, 0.001),
            "onlyMainContent": self.only_main_content,
            "headers": dict(self.headers) or None,
            "waitFor": self.wait_for,
        }
        response = yield self._request("scrape", payload, target=url)
        data = kit.as_object(self._decode(response, "read").get("data"))
        metadata = kit.as_object(data.get("metadata"))
        about = {name: _take_first(value) for name, value in metadata.items()}
        status = kit.as_number(about.get("statusCode"))
        if status and status >= 400:
            raise kit.page_error(self, status=status, detail=about.get("error"))
        return kit.parse_page(
            self,
            url,
            data.get("markdown"),
            title=about.get("title") or about.get("ogTitle"),
            final_url=about.get("url"),
            media_type=about.get("contentType"),
            language=kit.as_text(about.get("language")),
            author=about.get("author"),
            published=about.get("publishedTime") or about.get("article:published_time"),
            modified=about.get("modifiedTime") or about.get("article:modified_time"),
            description=about.get("description") or about.get("ogDescription"),
            site_name=about.get("ogSiteName"),
            links=kit.as_links(data.get("links")),
            status=int(status) if status else None,
            usage=kit.parse_usage(about, credits="creditsUsed"),
            notes=_note_warning(data),
        )

    def map(self, site: kit.Site, /) -> kit.Flow[kit.Page]:
        """List the pages of a site."""
        payload = {
            "url": kit.serialize(site.url),
            "limit": site.limit,
            "includeSubdomains": site.scope == "domain",
            "sitemap": "include" if site.sitemaps else "skip",
        }
        response = yield self._request("map", payload, target=site.url)
        body = self._decode(response, "read")
        links = [link.get("url") for link in kit.as_objects(body.get("links"))]
        return kit.Page(
            url=site.url,
            links=kit.as_links(links),
            usage=kit.parse_usage(body, credits="creditsUsed"),
        )

    def _request(
        self, endpoint: str, payload: dict[str, Any], target: str | None = None
    ) -> kit.Request:
        path = endpoint if self.base_url.endswith("/v2") else f"v2/{endpoint}"
        return kit.post_json(self, path, payload, target=target)

    def _decode(self, response: kit.Response, verb: str) -> dict[str, Any]:
        if verb == "read" and response.status >= 500:
            problem = kit.as_object(kit.as_json(response))
            # the failure is the page's, not the service's
            if str(problem.get("code")).startswith("SCRAPE_"):
                raise self._make_page_error(problem)
        try:
            body = kit.decode(
                response,
                self,
                verb=verb,
                kind=_classify_error,
                meanings={200: errors.Unavailable},
            )
        except errors.RateLimited as error:
            wait = re.search(r"retry after (\d{1,6}) ?s", error.detail or "")
            if wait and error.retry_after is None:
                error.retry_after = float(wait[1])
            raise
        if body.get("success") is False:
            raise self._make_page_error(body)
        return body

    def _make_page_error(self, body: dict[str, Any]) -> errors.ServiceError:
        kind = _classify_error(body)
        return kit.page_error(self, kind=kind, detail=body.get("error"))


def _classify_error(body: Any) -> type[errors.ServiceError] | None:
    problem = kit.as_object(body)
    return kit.find_kind(f"{problem.get('error')} {problem.get('code')}", _KINDS)


def _note_warning(record: dict[str, Any]) -> tuple[str, ...]:
    """Return our own note for a warning: its text may come from the page."""
    if kit.as_text(record.get("warning")) is None:
        return ()
    return ("firecrawl: there is a warning about this response",)


def _take_first(value: Any) -> Any:
    """Return the first of several values in a list: Firecrawl repeats what a page says
    twice.
    """
    if isinstance(value, list) and value:
        return value[0]
    return value
