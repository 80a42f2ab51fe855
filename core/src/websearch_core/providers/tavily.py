"""Tavily: search and page extraction for agents; ``keyless=True`` uses a small free
allowance.

``keyless=True`` is explained at https://docs.tavily.com/documentation/keyless. A
country boosts its pages but does not filter. Twenty pages are read in one request. A
site is mapped in one request, too, at most five links deep (written from tavily-python
0.8.5); a crawl then reads what that lists, which costs what Tavily's own crawl does.
"""

from __future__ import annotations
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from websearch_core import provider as kit
from websearch_core.errors import (
    QuotaExhausted,
    ServiceError,
    UnsupportedOption,
    WebSearchError,
)

# plan limit, pay-as-you-go cap
_MEANINGS: dict[int, type[ServiceError]] = {432: QuotaExhausted, 433: QuotaExhausted}
_MAX_RESULTS = 20
_TOO_MANY = f"tavily returns at most {_MAX_RESULTS} results"
_LONG_WINDOWS = {"hour", "day", "week", "month"}
# How the name of an object with an error may be written: escaped, or in UTF-16, too.
_ERROR_MARKS = (b'"error"', b"\\u00", b"\0")


@kit.provider
class Tavily:
    """Searches and reads with Tavily.

    Args:
        api_key: Starts with ``tvly-``.
        keyless: Use the free allowance without a key, even if a key is set.
        base_url: Where the API is.
        search_depth: How thoroughly to search; ``advanced`` costs double.
        extract_depth: How thoroughly to extract; ``advanced`` costs double.
        include_answer: Also request a direct answer, short (``True`` or ``basic``) or
            long; takes longer.
        include_raw_content: Also request the text of each page, as ``content`` of the
            result.
        chunks_per_source: How many passages of each page the snippet has, with
            ``search_depth="advanced"``.
        auto_parameters: Let Tavily choose the depth and more by the query; may cost
            double.
        exact_match: Only pages with the quoted phrases of the query.
        include_favicon: Also request the icon of each site, which is in ``raw``.
    """

    name = "tavily"
    options: ClassVar[frozenset[str]] = kit.FILTERS | {
        "country",
        "language",
        "topic",
        "images",
    }
    topics: ClassVar[frozenset[str]] = frozenset({"finance", "news"})
    limits: ClassVar[kit.Limits] = kit.Limits(
        results_per_request=_MAX_RESULTS, results=_MAX_RESULTS, query_length=400,
        pages_per_request=20,
        allowed_domains=300, blocked_domains=150,
    )  # fmt: skip
    countries: ClassVar[Mapping[str, str]] = kit.COUNTRY_NAMES
    languages: ClassVar[Mapping[str, str]] = kit.LANGUAGES
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=(
            "https://docs.tavily.com/documentation/api-reference/endpoint/search",
            "https://docs.tavily.com/documentation/api-reference/endpoint/extract",
            "https://docs.tavily.com/documentation/api-reference/endpoint/map",
        ),
        signup_url="https://app.tavily.com",
        free_allowance="1,000 credits a month; a small allowance without a key",
        price="about USD 0.008 a credit; a search costs 1 or 2, five pages cost 1 or 2",
        prices=(
            kit.Price(usd=0, credits=0, when={"keyless": True}),
            kit.Price(
                verb="search", usd=0.016, credits=2, when={"search_depth": "advanced"}
            ),
            kit.Price(
                verb="search", usd=0.016, credits=2, when={"auto_parameters": True}
            ),
            kit.Price(verb="search", usd=0.008, credits=1),
            kit.Price(
                verb="read",
                usd=0.016,
                credits=2,
                size=5,
                when={"extract_depth": "advanced"},
            ),
            kit.Price(verb="read", usd=0.008, credits=1, size=5),
        ),
        as_of="2026-06",
        compared="tavily-python 0.8.5, 2026-11-23",
    )

    api_key: Annotated[kit.Key | None, kit.Env("TAVILY_API_KEY")] = None
    keyless: bool = False
    base_url: kit.BaseUrl = "https://api.tavily.com"
    search_depth: Literal["basic", "advanced", "fast", "ultra-fast"] = "basic"
    extract_depth: Literal["basic", "advanced"] = "basic"
    include_answer: Annotated[
        bool | Literal["basic", "advanced"], kit.ProjectFile()
    ] = False
    include_raw_content: bool = False
    chunks_per_source: Annotated[int, Field(ge=1, le=3)] | None = None
    auto_parameters: bool = False
    exact_match: bool = False
    include_favicon: bool = False

    def __post_init__(self) -> None:
        """Require a key, unless ``keyless`` is set."""
        if self.api_key is None and not self.keyless:
            raise kit.missing_field_error(type(self), "api_key")

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search."""
        self._check_query(query)
        payload: dict[str, Any] = {
            "query": query.text,
            "max_results": min(query.limit, _MAX_RESULTS),
            # what is sent, Tavily does not choose
            "search_depth": None if self.auto_parameters else self.search_depth,
            **self._filters(query),
            "include_answer": self.include_answer,
            "include_raw_content": "markdown" if self.include_raw_content else None,
            "include_images": query.images,
            "include_image_descriptions": query.images,
            "include_usage": True,
            "chunks_per_source": self.chunks_per_source,
            "auto_parameters": self.auto_parameters,
            "exact_match": self.exact_match,
            "include_favicon": self.include_favicon,
        }
        parameters = {
            name: value for name, value in payload.items() if value not in ([], False)
        }
        response = yield self._request("search", parameters, query)
        body = self._decode(response, "search")
        return kit.parse_search(
            self,
            query,
            body,
            snippet="content",
            published="published_date",
            content="raw_content",
            answer=kit.as_text(body.get("answer")),
            images=kit.parse_images(body.get("images")),
            suggestions=tuple(kit.as_texts(body.get("follow_up_questions"))),
            notes=(_TOO_MANY,) if query.limit > _MAX_RESULTS else (),
            request_id=kit.as_text(body.get("request_id")),
            usage=kit.parse_usage(body.get("usage")),
        )

    def _check_query(self, query: kit.SearchQuery) -> None:
        kit.check_options(query, self)
        if query.country and query.topic != "general":
            why = f"knows countries in general search only, not for {query.topic}"
            raise UnsupportedOption.by(self, why, "country")
        top_level = [domain for domain in query.allowed_domains if "." not in domain]
        if top_level:
            why = f"takes no top-level domains: {', '.join(top_level)}"
            raise UnsupportedOption.by(self, why, "allowed_domains")

    def _filters(self, query: kit.SearchQuery) -> dict[str, Any]:
        return {
            "topic": query.topic,
            "time_range": query.time_range,
            "start_date": query.after and query.after.isoformat(),
            "end_date": query.before and query.before.isoformat(),
            "include_domains": list(query.allowed_domains),
            "exclude_domains": list(query.blocked_domains),
            "country": kit.find_country(query, self),
            "language": kit.find_language(query, self),
            "filter_by_language": query.language is not None,
        }

    read = kit.read_alone

    def read_many(
        self, urls: Sequence[str], /
    ) -> kit.Flow[list[kit.Page | WebSearchError]]:
        """Read up to 20 pages in one request."""
        payload = {
            "urls": [kit.serialize(url) for url in urls],
            "format": "markdown",
            "extract_depth": self.extract_depth,
            "include_usage": True,
        }
        response = yield self._request("extract", payload, target=tuple(urls))
        body = self._decode(response, "read")
        return kit.parse_pages(
            self._parse_page,
            urls,
            kit.find_records(urls, body.get("results")),
            kit.find_records(urls, body.get("failed_results")),
            usage=kit.parse_usage(body.get("usage")),
        )

    def map(self, site: kit.Site, /) -> kit.Flow[kit.Page]:
        """List the pages of a site."""
        payload = {
            "url": kit.serialize(site.url),
            "limit": site.limit,
            "max_depth": min(max(site.depth, 1), 5),
            "max_breadth": min(site.limit, 500),
            "allow_external": False,
            "include_usage": True,
        }
        response = yield self._request("map", payload, target=site.url)
        body = self._decode(response, "read")
        return kit.Page(
            url=site.url,
            links=kit.as_links(body.get("results")),
            usage=kit.parse_usage(body.get("usage")),
        )

    def _parse_page(
        self, url: str, record: dict[str, Any] | None, failure: dict[str, Any] | None
    ) -> kit.Page:
        if record:
            text = kit.as_text(record.get("raw_content"))
            return kit.parse_page(self, url, text or "")
        words = kit.as_text(kit.find_value(failure, "error"))
        reason = words or "the page is missing from the response"
        status = re.search(r"\b[45]\d\d\b", reason)
        error = kit.page_error(self, status=status and status[0], detail=reason)
        error.temporary = False  # Tavily has tried again itself
        raise error

    def _request(
        self,
        endpoint: str,
        payload: dict[str, Any],
        *query: kit.SearchQuery,
        **options: Any,
    ) -> kit.Request:
        headers = {"X-Tavily-Access-Mode": "keyless"} if self.keyless else {}
        return kit.post_json(
            self, endpoint, payload, *query, headers=headers, **options
        )

    def _decode(self, response: kit.Response, verb: str) -> dict[str, Any]:
        # The tier without a key has errors of its own, at any status.
        if any(mark in response.content for mark in _ERROR_MARKS):
            problem = kit.as_object(kit.find_value(kit.as_json(response), "error"))
            if isinstance(problem.get("code"), str):
                raise self._make_keyless_error(response, problem, verb)
        return kit.decode(response, self, verb=verb, meanings=_MEANINGS)

    def _make_keyless_error(
        self, response: kit.Response, problem: dict[str, Any], verb: str
    ) -> ServiceError:
        """Make the error of the tier without a key, whose codes say more than its
        statuses.
        """
        kind = _MEANINGS.get(response.status)
        if _is_used_up(response, problem):
            kind = QuotaExhausted
        error = kit.error_for(
            response,
            self,
            verb=verb,
            detail=problem.get("message"),
            hint="a key lifts this limit: TAVILY_API_KEY" if self.keyless else "",
            kind=kind,
        )
        wait = kit.as_number(problem.get("retry_after_seconds"))
        if wait is not None and wait >= 0:
            error.retry_after = wait
        return error


def _is_used_up(response: kit.Response, problem: dict[str, Any]) -> bool:
    """Return whether the allowance is used up: a limit of an hour or more is one."""
    code = str(problem.get("code"))
    if "cap" in code.split("_") or "quota" in code:
        return True
    return response.status == 429 and str(problem.get("window")) in _LONG_WINDOWS
