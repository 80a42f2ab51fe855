"""Hacker News: stories and comments of the forum for programmers and founders, searched
by Algolia.

A comment, and a story that has no URL of its own, lead to their page on Hacker News.
The score of a result is its points.
"""

from __future__ import annotations
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, ClassVar, Literal

from websearch_core import provider as kit

_TAGS = {"story": "story", "comment": "comment", "any": "(story,comment)"}


@kit.provider
class HackerNews:
    """Searches Hacker News.

    Args:
        base_url: Where the API is.
        kind: What to search: stories, comments, or any of them.
        sort: The most relevant first, or the newest.
    """

    name = "hackernews"
    label = "Hacker News"
    options: ClassVar[frozenset[str]] = frozenset(
        {"time_range", "after", "before", "page"}
    )
    emulated: ClassVar[frozenset[str]] = frozenset({"time_range"})  # sent as dates
    limits: ClassVar[kit.Limits] = kit.Limits(results_per_request=100, results=1000)
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=("https://hn.algolia.com/api",),
        free_allowance="keyless: 10,000 requests an hour from one address",
        price="free",
        prices=kit.FREE,
        as_of="2026-11",
        compared="the pages of version 1 of its API, 2026-11",
    )

    base_url: kit.BaseUrl = "https://hn.algolia.com/api/v1"
    kind: Annotated[Literal["story", "comment", "any"], kit.ProjectFile()] = "story"
    sort: Annotated[Literal["relevance", "date"], kit.ProjectFile()] = "relevance"

    @kit.page_by_page
    def search(
        self, query: kit.SearchQuery, number: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Search, page by page until the limit is reached."""
        params = {
            "query": query.text,
            "tags": _TAGS[self.kind],
            "hitsPerPage": size,
            "page": number or None,
            "numericFilters": _write_period(query) or None,
        }
        endpoint = "search_by_date" if self.sort == "date" else "search"
        request = kit.get_json(self, endpoint, params, query, join=",")
        body = kit.decode((yield request), self)
        page = kit.parse_search(
            self,
            query,
            body,
            body.get("hits"),
            title=("title", "story_title"),
            url=_find_url,
            snippet=_find_snippet,
            score="points",
            published="created_at",
            snippet_length=600,
            markup="html",
        )
        pages = body.get("nbPages")
        return page, isinstance(pages, int) and number + 1 < pages


def _write_period(query: kit.SearchQuery) -> list[str]:
    first, last = kit.date_range(query)
    bounds = []
    if first:
        bounds.append(f"created_at_i>={kit.midnight(first)}")
    if last:
        bounds.append(f"created_at_i<{kit.midnight(last + timedelta(days=1))}")
    return bounds


def _find_url(hit: Mapping[str, Any]) -> str | None:
    """Return what a story links to; what links nowhere is discussed on its own page."""
    url = kit.as_text(hit.get("url"))
    if url is None and hit.get("objectID"):
        return f"https://news.ycombinator.com/item?id={hit['objectID']}"
    return url


def _find_snippet(hit: Mapping[str, Any]) -> str:
    """Return the text of a story or comment; of a story that only links, how it was
    received.
    """
    text = kit.as_text(hit.get("story_text")) or kit.as_text(hit.get("comment_text"))
    if text:
        return text
    counts = {"points": hit.get("points"), "comments": hit.get("num_comments")}
    return ", ".join(
        f"{count} {unit}" for unit, count in counts.items() if isinstance(count, int)
    )
