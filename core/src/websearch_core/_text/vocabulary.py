"""Words that options take and models read, in a module that is quick to import."""

from __future__ import annotations
from types import MappingProxyType
from typing import Any, Literal

Format = Literal["text", "markdown", "json"]
SafeSearch = Literal["off", "moderate", "strict"]
TimeRange = Literal["hour", "day", "week", "month", "year"]
Scope = Literal["path", "host", "domain"]  # of a crawl
Topic = Literal["general", "news", "finance", "academic", "code"]
# of a page
Kind = Literal["article", "collection", "documentation", "forum", "product"]
# what to do with what readers and buyers wrote about a page
Responses = Literal["drop", "keep"]

LINKS_LEFT_OUT = "some of its links were left out"  # a note on a page that is crawled

CITATION_INSTRUCTION = (
    "When stating facts from web search results, append the citation ID in brackets, "
    "e.g. [1]."
)

# The options of a search as other libraries call them: an error suggests ours.
OTHER_NAMES = MappingProxyType(
    {
        "max_results": "limit", "num_results": "limit", "num": "limit",
        "count": "limit", "k": "limit",
        "top_k": "limit", "similarity_top_k": "limit", "top_k_results": "limit",
        "load_max_docs": "limit",
        "include_domains": "allowed_domains", "exclude_domains": "blocked_domains",
        "timelimit": "time_range", "freshness": "time_range", "df": "time_range",
        "days": "time_range",
        "start_published_date": "after", "end_published_date": "before",
        "start_date": "after", "end_date": "before",
        "region": "country", "gl": "country", "kl": "country",
        "lang": "language", "hl": "language", "search_lang": "language",
        "safe": "safe_search", "safesearch": "safe_search", "include_images": "images",
        "contents": "read_top", "raw_content": "read_top",
    }
)  # fmt: skip

_TIME_RANGES = MappingProxyType(
    {
        "h": "hour", "d": "day", "w": "week", "m": "month", "y": "year",
        "all": None, "": None,
    }
)  # fmt: skip


def parse_time_range(value: Any) -> Any:
    """Return a range of time by its full name, None for any time, or *value* if it is
    neither.
    """
    if not isinstance(value, str):
        return value
    word = value.strip().lower()
    return _TIME_RANGES.get(word, word)
