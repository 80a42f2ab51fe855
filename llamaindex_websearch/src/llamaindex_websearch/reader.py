"""Web pages as LlamaIndex documents."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Unpack

from llama_index.core.readers.base import BaseReader
from llama_index.core.schema import Document

from websearch_core import WebSearch, WebSearchError
from websearch_core.client import CommonArguments
from websearch_core.client._arguments import as_urls

from .documents import page_document
from .events import report


class WebPageReader(BaseReader):
    """
    Reads web pages as Markdown, from public addresses only.

    ::

        documents = WebPageReader().load_data(["https://docs.python.org/3/"])

    A document has the URL of the page, after redirects, as its id. Its metadata has ``url``, ``title`` and everything
    else known about the page. A page that cannot be read is an error, never a document.

    Args:
        web: The `WebSearch` to read with.
        max_length: Maximum number of characters per page; None for whole pages.
        arguments: The arguments of `WebSearch`, instead of *web*.

    Raises:
        ConfigurationError: The arguments are invalid, or *web* was given together with its arguments.

    """

    def __init__(
        self, *, web: WebSearch | None = None, max_length: int | None = None, **arguments: Unpack[CommonArguments]
    ) -> None:
        self.web: WebSearch = WebSearch.resolve(web, arguments)
        self.max_length: int = sys.maxsize if max_length is None else max_length

    def load_data(self, urls: str | Sequence[str]) -> list[Document]:
        """
        Read pages one after the other.

        Args:
            urls: One absolute http(s) URL, or several.

        Raises:
            UnsafeURL: A URL may not be opened from here.
            ServiceError: A page cannot be read; the subclasses are in `websearch_core.errors`.

        """
        return list(self.lazy_load_data(urls))

    def lazy_load_data(self, urls: str | Sequence[str]) -> Iterator[Document]:
        """Read pages one after the other, each one when it is requested."""
        for url in _as_list(urls):
            with report():
                page = self.web.read(url, max_length=self.max_length)
            yield page_document(page)

    async def aload_data(self, urls: str | Sequence[str]) -> list[Document]:
        """Read pages in parallel on the running event loop; raise the error of the first that cannot be read."""
        documents = []
        with report():
            pages = await self.web.aread_many(_as_list(urls), max_length=self.max_length)
        for page in pages:
            if isinstance(page, WebSearchError):
                raise page
            documents.append(page_document(page))
        return documents

    async def alazy_load_data(self, urls: str | Sequence[str]) -> list[Document]:
        """Same as `aload_data`: LlamaIndex awaits an iterable here, so the pages cannot be read lazily."""
        return await self.aload_data(urls)


def _as_list(urls: str | Sequence[str]) -> Sequence[str]:
    return [urls] if isinstance(urls, str) else as_urls(urls)
