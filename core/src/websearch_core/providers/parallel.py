"""Parallel: search with dense extracts for agents, and the contents of pages.

The extracts, in Markdown, become the ``content`` of a result. Parallel knows only some
countries; an answer for another one has a note.
"""

from __future__ import annotations
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from websearch_core import provider as kit
from websearch_core.errors import (
    Blocked,
    PageNotFound,
    ServiceError,
    TimedOut,
    UnsupportedContent,
    WebSearchError,
)

_MAX_QUERY_LENGTH = 200  # of a search; the objective may be longer
_WARNING = "parallel: there is a warning about this response"
_ONLY_EXTRACTS = "parallel returned only extracts of the page"
_FAILURES: dict[str, type[ServiceError]] = {
    "not_found": PageNotFound,
    "timeout": TimedOut,
    "forbidden": Blocked,
    "blocked": Blocked,
    "unsupported": UnsupportedContent,
}


@kit.provider
class Parallel:
    """Searches and reads with Parallel.

    Args:
        api_key: From https://platform.parallel.ai.
        base_url: Where the API is.
        mode: ``turbo``, ``fast`` and ``basic`` are quicker, ``advanced`` is more
            thorough. None is Parallel's default.
        max_chars_total: Maximum length of all extracts of a search together, in
            characters. None lets Parallel decide.
    """

    name = "parallel"
    key_header = "X-Api-Key"
    options: ClassVar[frozenset[str]] = kit.FILTERS - {"before"} | {"country"}
    emulated: ClassVar[frozenset[str]] = frozenset({"time_range"})
    countries: ClassVar[Mapping[str, str]] = kit.LOWER_COUNTRIES
    limits: ClassVar[kit.Limits] = kit.Limits(query_length=5000, pages_per_request=20)
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=(
            "https://docs.parallel.ai/api-reference/search/search",
            "https://docs.parallel.ai/api-reference/extract/extract",
        ),
        signup_url="https://platform.parallel.ai",
        free_allowance="USD 5 a month",
        price="USD 5 per 1,000 searches of up to 10 results, turbo and fast USD 1; USD "
        "1 per 1,000 pages",
        prices=(
            kit.Price(verb="search", usd=0.001, size=10, when={"mode": "turbo"}),
            kit.Price(verb="search", usd=0.001, size=10, when={"mode": "fast"}),
            kit.Price(verb="search", usd=0.005, size=10),
            kit.Price(verb="read", usd=0.001, size=1),
        ),
        as_of="2026-08",
        compared="parallel-web 1.3.7, 2026-11-23",
    )

    api_key: Annotated[kit.Key, kit.Env("PARALLEL_API_KEY")] = kit.REQUIRED
    base_url: kit.BaseUrl = "https://api.parallel.ai/v1"
    mode: Literal["turbo", "fast", "basic", "advanced"] | None = None
    max_chars_total: Annotated[int | None, kit.ProjectFile()] = None

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search."""
        kit.check_options(query, self)
        settings = {
            "max_results": query.limit,
            "location": kit.find_country(query, self),
            "source_policy": _choose_sources(query) or None,
        }
        payload = {
            "objective": query.text,
            "search_queries": [_shorten(query.text)],
            "mode": self.mode,
            "max_chars_total": self.max_chars_total,
            "advanced_settings": kit.drop_none(settings) or None,
        }
        response = yield kit.post_json(self, "search", payload, query)
        body = kit.decode(response, self)
        return kit.parse_search(
            self,
            query,
            body,
            snippet=_join_excerpts,
            content=_join_excerpts,
            published="publish_date",
            notes=(_WARNING,) if body.get("warnings") else (),
            request_id=kit.as_text(body.get("search_id")),
            usage=kit.parse_usage(body.get("usage")),
        )

    read = kit.read_alone

    def read_many(
        self, urls: Sequence[str], /
    ) -> kit.Flow[list[kit.Page | WebSearchError]]:
        """Read up to 20 pages in one request."""
        payload = {
            "urls": [kit.serialize(url) for url in urls],
            "advanced_settings": {"full_content": True},
        }
        response = yield kit.post_json(self, "extract", payload, target=tuple(urls))
        body = kit.decode(response, self, verb="read")
        return kit.parse_pages(
            self._parse_page,
            urls,
            kit.find_records(urls, body.get("results")),
            kit.find_records(urls, body.get("errors")),
            usage=kit.parse_usage(body.get("usage")),
        )

    def _parse_page(
        self, url: str, record: dict[str, Any] | None, failure: dict[str, Any] | None
    ) -> kit.Page:
        if record is None:
            raise self._make_page_error(kit.as_object(failure))
        text = kit.as_text(record.get("full_content"))
        return kit.parse_page(
            self,
            url,
            text or _join_excerpts(record),
            title=record.get("title"),
            published=record.get("publish_date"),
            notes=() if text else (_ONLY_EXTRACTS,),
        )

    def _make_page_error(self, failure: dict[str, Any]) -> ServiceError:
        words = failure.get("error_type")
        return kit.page_error(
            self,
            status=failure.get("http_status_code"),
            kind=kit.find_kind(words, _FAILURES),
            detail=failure.get("content") or words,
        )


def _choose_sources(query: kit.SearchQuery) -> dict[str, Any]:
    """Return the filters of domains and dates; of domains, Parallel takes one list."""
    after, _ = kit.date_range(query)
    sources: dict[str, Any] = {}
    if query.allowed_domains:
        sources["include_domains"] = list(query.allowed_domains)
    elif query.blocked_domains:
        sources["exclude_domains"] = list(query.blocked_domains)
    if after:
        sources["after_date"] = after.isoformat()
    return sources


def _shorten(text: str) -> str:
    """Return the first words of *text*, as many as a query may have; the objective has
    all of them.
    """
    if len(text) <= _MAX_QUERY_LENGTH:
        return text
    beginning = text[:_MAX_QUERY_LENGTH]
    return beginning.rpartition(" ")[0] or beginning


def _join_excerpts(result: Mapping[str, Any]) -> str:
    return "\n\n".join(kit.as_texts(result.get("excerpts")))
