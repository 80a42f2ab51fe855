"""Documents: what every framework makes of a result and its page."""

from __future__ import annotations
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar, overload

from .._text.urls import identify, is_web_url
from ..errors import WebSearchError
from ..models import Page, SearchResult

T = TypeVar("T")
Put: TypeAlias = Callable[[T, Page | WebSearchError], T]


class PlainDocument(NamedTuple):
    """A document, without a framework.

    Args:
        id: The URL of the result, or of the page after redirects.
        text: What was read of the page, or else what the search said about it.
        metadata: Flat plain values, the same in every framework.
    """

    id: str
    text: str
    metadata: dict[str, Any]

    def with_metadata(self, **more: object) -> PlainDocument:
        """Return the document with *more* metadata."""
        return self._replace(metadata={**self.metadata, **more})


@overload
def make_document(result: SearchResult, page: Page | WebSearchError | None = None) -> PlainDocument: ...


@overload
def make_document(result: None = None, *, page: Page) -> PlainDocument: ...


def make_document(result: SearchResult | None = None, page: Page | WebSearchError | None = None) -> PlainDocument:
    """Make a document from a result, its page, or both.

    It depends on the result and the page alone, not on when they were found, so what is indexed twice stays the same.

    Args:
        result: The result that led to the page, if there was a search.
        page: The page, or why it could not be read; None if it was not requested.

    Returns:
        The document. Its metadata has the facts of `page_metadata`, overridden by those of `result_metadata`;
        ``source``, the same as ``url``; ``requested_url`` if a page that nobody searched for was redirected;
        ``read_error``, the code of an error.
    """
    from ..render import page_metadata, result_metadata  # imported here: making a tool does not need it

    facts = page_metadata(page) if isinstance(page, Page) else {}
    facts |= result_metadata(result) if result else {}
    text = page.content if isinstance(page, Page) else ""
    if isinstance(page, Page) and result is None and page.url != facts["url"]:
        facts["requested_url"] = page.url
    if isinstance(page, WebSearchError):
        facts["read_error"] = page.code
    if result is not None:
        text = text or result.content or result.snippet or result.title
    return PlainDocument(facts["url"], text, {"source": facts["url"], **facts})


def find_source(metadata: Mapping[str, Any]) -> str | None:
    """Return the URL of the page that a document with this *metadata* is from, without its fragment; or None."""
    urls = (metadata.get(name) for name in ("source", "url"))
    return next((url.partition("#")[0] for url in urls if isinstance(url, str) and is_web_url(url)), None)


def put_pages(
    documents: Sequence[T], urls: Sequence[str | None], pages: Sequence[Page | WebSearchError], put: Put[T]
) -> list[T]:
    """Put what was read of pages into documents. Of several from one page, which would say the same, the first stays.

    The *documents* are sorted, best first; the *urls* are what `find_source` returned for each. *pages* are those of
    the documents that have a URL, or their errors, and *put* returns a document with its page, or with its error.
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
