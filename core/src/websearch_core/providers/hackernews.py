"""Hacker News: stories and comments of the forum for programmers and founders, searched
by Algolia.

Works without a key. A story that has no URL of its own, and a comment, lead to their
page on Hacker News. The score of a result is its points. Algolia returns at most 1000
results of a query; a shared address may send 10,000 requests an hour.
"""

from __future__ import annotations
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, ClassVar, Literal

from websearch_core import provider as kit
from websearch_core.provider._dates import midnight

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
    kind: Annotated[Literal["story", "comment", "any"], kit.FoundFile()] = "story"
    sort: Annotated[Literal["relevance", "date"], kit.FoundFile()] = "relevance"

    @kit.page_by_page
    def search(
        self, query: kit.SearchQuery, number: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Search, page by page until the limit is reached."""
        first, last = kit.date_range(query)
        bounds = [f"created_at_i>={midnight(first)}"] if first else []
        bounds += [f"created_at_i<{midnight(last + timedelta(days=1))}"] if last else []
        params = {
            "query": query.text,
            "tags": _TAGS[self.kind],
            "hitsPerPage": size,
            "page": number or None,
            "numericFilters": bounds or None,
        }
        path = "search_by_date" if self.sort == "date" else "search"
        body = kit.decode(
            (yield kit.get_json(self, path, params, query, join=",")), self
        )
        page = kit.parse_search(
            self, query, body, body.get("hits"), title=("title", "story_title"),
            url=_url, snippet=_text,
            score="points", published="created_at", snippet_length=600, markup="html",
        )  # fmt: skip
        pages = body.get("nbPages")
        return page, isinstance(pages, int) and number + 1 < pages


def _url(hit: Mapping[str, Any]) -> Any:
    return kit.as_text(hit.get("url")) or (
        f"https://news.ycombinator.com/item?id={hit['objectID']}"
        if hit.get("objectID")
        else None
    )


def _text(hit: Mapping[str, Any]) -> Any:
    """Return the text of a story or comment; of a story that only links, how it was
    received.
    """
    if text := kit.as_text(hit.get("story_text")) or kit.as_text(
        hit.get("comment_text")
    ):
        return text
    counts = ((hit.get("points"), "points"), (hit.get("num_comments"), "comments"))
    return ", ".join(
        f"{count} {what}" for count, what in counts if isinstance(count, int)
    )
