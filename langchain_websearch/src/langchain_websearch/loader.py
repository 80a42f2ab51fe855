"""A document loader for web pages."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Unpack

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from websearch_core import Page, WebSearch, WebSearchError
from websearch_core.client import CommonArguments
from websearch_core.tools import list_urls, make_document, split_arguments, with_limit

if TYPE_CHECKING:  # it would import the parsers of pages
    from websearch_core.reading import ReadOptions

_log = logging.getLogger(__name__)


class WebPageLoader(BaseLoader):
    """
    Loads pages as Markdown, one document each.

    ::

        WebPageLoader(["https://docs.python.org/3/"]).load()

    In the metadata, ``source`` and ``url`` are the URL of the page after redirects, and ``requested_url`` is the
    requested one if it differs. An error page is never a document. The metadata depends on the page alone, so indexing
    it twice (``langchain_core.indexing.index``) does nothing the second time.

    Args:
        urls: One absolute http(s) URL, or several.
        web: The `WebSearch` to read with; or pass its arguments instead, such as ``internal`` for your own network.
        read_options: The options of each page, such as ``{"max_length": 8_000}``. By default, pages are whole. The
            metadata of a longer page has ``truncated``.
        continue_on_failure: Skip pages that cannot be read, and log a warning, instead of raising.

    Raises:
        InvalidOption: One of the options is unknown or wrong.
        ConfigurationError: The arguments are invalid, or *web* was given together with its arguments.

    """

    def __init__(
        self,
        urls: str | Sequence[str],
        *,
        web: WebSearch | None = None,
        read_options: ReadOptions | None = None,
        continue_on_failure: bool = False,
        **arguments: Unpack[CommonArguments],
    ) -> None:
        self.urls: list[str] = list_urls(urls)
        arguments, _ = split_arguments(arguments, ["read_options"])
        self.web: WebSearch = WebSearch.resolve(web, arguments)
        self.read_options: ReadOptions = with_limit(read_options)
        self.continue_on_failure: bool = continue_on_failure

    def lazy_load(self) -> Iterator[Document]:
        """
        Read the pages, each one when it is requested.

        Raises:
            UnsafeURL: A URL may not be opened from here.
            ServiceError: A page or the reading service failed.

        """
        for url in self.urls:
            (page,) = self.web.read_many([url], **self.read_options)  # `read` would start a browser
            if isinstance(page, WebSearchError):
                self._raise_or_log(page, url)
            else:
                yield _document(page)

    async def alazy_load(self) -> AsyncIterator[Document]:
        """Async version of `lazy_load`."""
        for url in self.urls:
            (page,) = await self.web.aread_many([url], **self.read_options)
            if isinstance(page, WebSearchError):
                self._raise_or_log(page, url)
            else:
                yield _document(page)

    def _raise_or_log(self, error: WebSearchError, url: str) -> None:
        if not self.continue_on_failure:
            raise error
        _log.warning("left out page %d of %d: %s", self.urls.index(url) + 1, len(self.urls), error)


def _document(page: Page) -> Document:
    made = make_document(page=page)
    return Document(id=made.id, page_content=made.text, metadata=made.metadata)
