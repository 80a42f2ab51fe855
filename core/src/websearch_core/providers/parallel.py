"""Parallel: search with dense extracts for agents, and the contents of pages.

The extracts, in Markdown, become the ``content`` of a result. No paging, and no way to
end a period with ``before``. If a query has both allowed and blocked domains, the
blocked ones are filtered out here. Parallel knows only some countries; an answer for
another one has a note.
"""

from __future__ import annotations
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from websearch_core import provider as kit
from websearch_core._text.urls import serialize
from websearch_core.errors import (
    Blocked,
    PageNotFound,
    ServiceError,
    TimedOut,
    UnsupportedContent,
    WebSearchError,
)
from websearch_core.provider._codes import LOWER_COUNTRIES
from websearch_core.provider._http import as_texts, find_kind
from websearch_core.provider._reading import find_records, read_alone

_QUERY_LENGTH = 200
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
    countries: ClassVar[Mapping[str, str]] = LOWER_COUNTRIES
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

    api_key: Annotated[kit.Key, kit.Env("PARALLEL_API_KEY")]
    base_url: kit.BaseUrl = "https://api.parallel.ai/v1"
    mode: Literal["turbo", "fast", "basic", "advanced"] | None = None
    max_chars_total: Annotated[int | None, kit.FoundFile()] = None

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search."""
        kit.check_options(query, self)
        after = kit.date_range(query)[0]
        sources = {
            "include_domains": list(query.allowed_domains) or None,
            "exclude_domains": list(
                () if query.allowed_domains else query.blocked_domains
            )
            or None,
            "after_date": after and after.isoformat(),
        }
        settings = {
            "max_results": query.limit,
            "location": kit.find_country(query, self),
            "source_policy": kit.drop_none(sources) or None,
        }
        payload = {
            "objective": query.text,
            "search_queries": [_shorten(query.text)],
            "mode": self.mode,
            "max_chars_total": self.max_chars_total,
            "advanced_settings": kit.drop_none(settings) or None,
        }
        body = kit.decode((yield kit.post_json(self, "search", payload, query)), self)
        return kit.parse_search(
            self, query, body, snippet=_excerpts, content=_excerpts,
            published="publish_date",
            notes=("parallel: there is a warning about this answer",) if body.get("warnings") else (),
            request_id=kit.as_text(body.get("search_id")),
            usage=kit.parse_usage(body.get("usage")),
        )  # fmt: skip

    read = read_alone

    def read_many(
        self, urls: Sequence[str], /
    ) -> kit.Flow[list[kit.Page | WebSearchError]]:
        """Read up to 20 pages in one request."""
        payload = {
            "urls": list(map(serialize, urls)),
            "advanced_settings": {"full_content": True},
        }
        response = yield kit.post_json(self, "extract", payload, target=tuple(urls))
        body = kit.decode(response, self, verb="read")
        results, failures = (
            find_records(urls, body.get("results")),
            find_records(urls, body.get("errors")),
        )
        return kit.parse_pages(
            self._read,
            urls,
            results,
            failures,
            usage=kit.parse_usage(body.get("usage")),
        )

    def _read(
        self, url: str, found: dict[str, Any] | None, failure: dict[str, Any] | None
    ) -> kit.Page:
        if found is None:
            what = kit.as_object(failure)
            words = what.get("error_type")
            kind = find_kind(words, _FAILURES)
            raise kit.page_error(
                self,
                status=what.get("http_status_code"),
                kind=kind,
                detail=what.get("content") or words,
            )
        whole = kit.as_text(found.get("full_content"))
        return kit.parse_page(
            self,
            url,
            whole or _excerpts(found),
            title=found.get("title"),
            published=found.get("publish_date"),
            notes=() if whole else ("parallel returned only extracts of the page",),
        )


def _shorten(text: str) -> str:
    """Return the first words of *text*, as many as a query may have; the objective has
    all of them.
    """
    if len(text) <= _QUERY_LENGTH:
        return text
    return text[:_QUERY_LENGTH].rpartition(" ")[0] or text[:_QUERY_LENGTH]


def _excerpts(result: Mapping[str, Any]) -> str:
    return "\n\n".join(as_texts(result.get("excerpts")))
