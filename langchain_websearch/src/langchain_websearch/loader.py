"""A document loader for pages of the web."""

from __future__ import annotations

import logging
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Unpack

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from websearch_core import Page, WebSearch, WebSearchError
from websearch_core.client import WebSearchArguments
from websearch_core.render import page_metadata

_log = logging.getLogger(__name__)


class WebPageLoader(BaseLoader):
    """
    Loads pages as Markdown, one document each.

    ::

        WebPageLoader(["https://docs.python.org/3/"]).load()

    The ``source`` in the metadata is where the page was found, after redirects; ``url`` is what was asked for. An
    error page is never a document.

    Args:
        urls: Absolute http(s) URLs, or one.
        web: The `WebSearch` to read with; or else the arguments of one, such as ``allow`` for pages of your network.
        max_length: Characters of each page, at most; the whole page if left out. The metadata of a page that is longer
            says ``truncated``.
        continue_on_failure: Leave out pages that cannot be read, with a warning in the log, instead of raising.

    Raises:
        ConfigurationError: The arguments are wrong, or both kinds were given.

    """

    def __init__(
        self,
        urls: str | Sequence[str],
        *,
        web: WebSearch | None = None,
        max_length: int | None = None,
        continue_on_failure: bool = False,
        **arguments: Unpack[WebSearchArguments],
    ) -> None:
        self.urls: list[str] = [urls] if isinstance(urls, str) else list(urls)
        self.web: WebSearch = WebSearch.resolve(web, arguments)
        self.max_length: int = sys.maxsize if max_length is None else max_length
        self.continue_on_failure: bool = continue_on_failure

    def lazy_load(self) -> Iterator[Document]:
        """
        Read the pages, each when it is asked for.

        Raises:
            UnsafeURL: A URL may not be opened from here.
            ServiceError: A page or the reading service failed.

        """
        for url in self.urls:
            try:
                page = self.web.read(url, max_length=self.max_length)
            except WebSearchError as error:
                self._put_up_with(error, url)
            else:
                yield _document(page)

    async def alazy_load(self) -> AsyncIterator[Document]:
        """Do as `lazy_load` does, on the running event loop."""
        for url in self.urls:
            try:
                page = await self.web.aread(url, max_length=self.max_length)
            except WebSearchError as error:
                self._put_up_with(error, url)
            else:
                yield _document(page)

    def _put_up_with(self, error: WebSearchError, url: str) -> None:
        if not self.continue_on_failure:
            raise error
        _log.warning("left out page %d of %d: %s", self.urls.index(url) + 1, len(self.urls), error)


def _document(page: Page) -> Document:
    facts = page_metadata(page)
    return Document(
        id=facts["url"], page_content=page.content, metadata={**facts, "source": facts["url"], "url": page.url}
    )
