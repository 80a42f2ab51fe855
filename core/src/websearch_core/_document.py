"""The text and the metadata of a document: what both wrappers make of a result and its page."""

from __future__ import annotations

from typing import Any

from .errors import WebSearchError
from .models import Page, SearchResult
from .render import page_metadata, result_metadata


def make_text(result: SearchResult, page: Page | WebSearchError | None = None) -> str:
    """Return what was read of the *page*, or else what the search said about it."""
    if isinstance(page, Page) and page.content:
        return page.content
    return result.content or result.snippet or result.title


def make_metadata(result: SearchResult | None = None, page: Page | WebSearchError | None = None) -> dict[str, Any]:
    """
    Return metadata, the same in every framework: flat plain values, nothing empty.

    The values depend on the result and the page alone, not on when they were found, so what is indexed twice stays the
    same.

    Args:
        result: The result that led to the page, if there was a search.
        page: The page, or why it could not be read; None if nobody asked for it.

    Returns:
        The facts of `page_metadata`, overridden by those of `result_metadata`; ``source``, the same as ``url``;
        ``requested_url`` if a page that nobody searched for was redirected; ``read_error``, the code of an error.

    """
    facts = page_metadata(page) if isinstance(page, Page) else {}
    facts |= result_metadata(result) if result else {}
    if isinstance(page, Page) and result is None and page.url != facts["url"]:
        facts["requested_url"] = page.url
    if isinstance(page, WebSearchError):
        facts["read_error"] = page.code
    return {"source": facts["url"], **facts}
