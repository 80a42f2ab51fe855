"""The text and the metadata of a document: what both wrappers make of a result and its page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from .._text.urls import identify, is_web_url
from ..errors import WebSearchError
from ..models import Page, SearchResult
from ..render import page_metadata, result_metadata

T = TypeVar("T")


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


def find_source(metadata: Mapping[str, Any]) -> str | None:
    """Return the URL of the page that a document with this *metadata* is from, without its fragment; or None."""
    urls = (metadata.get(name) for name in ("source", "url"))
    return next((url.partition("#")[0] for url in urls if isinstance(url, str) and is_web_url(url)), None)


def put_pages(
    documents: Sequence[T],
    urls: Sequence[str | None],
    pages: Sequence[Page | WebSearchError],
    put: Callable[[T, Page | WebSearchError], T],
) -> list[T]:
    """
    Put what was read of pages into documents. Of several from one page, the first stays: they would all say the same.

    Args:
        documents: The documents, best first.
        urls: What `find_source` returned for each.
        pages: The pages of the documents that have a URL, or their errors.
        put: Returns a document with the text of its page, or with its error.

    """
    waiting, seen, kept = iter(pages), set[str](), list[T]()
    for document, url in zip(documents, urls, strict=True):
        page = next(waiting) if url else None
        if isinstance(page, Page) and page.content:
            key = identify(page.final_url or page.url)
            if key in seen:
                continue
            seen.add(key)
        kept.append(document if page is None else put(document, page))
    return kept
