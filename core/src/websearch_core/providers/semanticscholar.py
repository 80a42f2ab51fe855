"""Semantic Scholar: a search engine for scholarly papers, with abstracts and summaries
of one sentence.

All callers without a key share a small rate and are often refused. Hyphens between
letters are sent as blanks, since words with one match nothing.
"""

from __future__ import annotations
import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from websearch_core import provider as kit

_FIELDS = (
    "title,url,abstract,tldr,authors,publicationDate,year,venue,citationCount,"
    "externalIds,openAccessPdf"
)


@kit.provider
class SemanticScholar:
    """Searches the papers that Semantic Scholar knows.

    Args:
        api_key: Optional, but requests without one are often refused.
        base_url: Where the API is.
    """

    name = "semanticscholar"
    label = "Semantic Scholar"
    key_header = "x-api-key"
    options: ClassVar[frozenset[str]] = frozenset(
        {"topic", "time_range", "after", "before", "page"}
    )
    emulated: ClassVar[frozenset[str]] = frozenset({"time_range"})  # sent as dates
    topics: ClassVar[frozenset[str]] = frozenset({"academic"})
    limits: ClassVar[kit.Limits] = kit.Limits(
        results_per_request=100, results=1000, requests_per_second=1
    )
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=("https://api.semanticscholar.org/api-docs/graph",),
        signup_url="https://www.semanticscholar.org/product/api#api-key-form",
        free_allowance="keyless, at a rate that all callers share; a request a second "
        "with a free key",
        price="free",
        prices=kit.FREE,
        as_of="2026-11",
        compared="the pages of version 1 of its API, 2026-11",
    )

    api_key: Annotated[
        kit.Key | None, kit.Env("SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY")
    ] = None
    base_url: kit.BaseUrl = "https://api.semanticscholar.org/graph/v1"

    @kit.page_by_page
    def search(
        self, query: kit.SearchQuery, number: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Search, page by page until the limit is reached."""
        params = {
            "query": re.sub(r"(?<=\w)-(?=\w)", " ", query.text),
            "limit": size,
            "offset": number * size or None,
            "fields": _FIELDS,
            "publicationDateOrYear": _write_period(query),
        }
        response = yield kit.get_json(self, "paper/search", params, query)
        if number and _is_beyond_end(response):
            return kit.SearchResponse(query=query.text, provider=self.name), False
        body = kit.decode(response, self)
        items = body.get("data")
        if body.get("total") == 0:
            items = []  # without results, it leaves out the list
        page = kit.parse_search(
            self,
            query,
            body,
            items,
            url=_find_url,
            snippet=("abstract", "tldr.text"),
            published=_find_date,
            author="authors",
        )
        return page, isinstance(body.get("next"), int)


def _write_period(query: kit.SearchQuery) -> str | None:
    first, last = kit.date_range(query)
    if first is None and last is None:
        return None
    return f"{first or ''}:{last or ''}"


def _is_beyond_end(response: kit.Response) -> bool:
    if response.status != 400:
        return False
    return b"offset is not available" in response.content


def _find_url(paper: Mapping[str, Any]) -> str | None:
    url = kit.as_text(paper.get("url"))
    number = kit.as_text(paper.get("paperId"))
    if url is None and number:
        return f"https://www.semanticscholar.org/paper/{number}"
    return url


def _find_date(paper: Mapping[str, Any]) -> Any:
    return paper.get("publicationDate") or str(paper.get("year") or "")
