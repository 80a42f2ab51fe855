"""Web pages as LlamaIndex documents."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Unpack

from llama_index.core.readers.base import BaseReader
from llama_index.core.schema import Document

from websearch_core import WebSearch, WebSearchError
from websearch_core.client import WebSearchArguments

from .documents import page_document


class WebPageReader(BaseReader):
    """
    Reads web pages as Markdown, from public addresses only.

    ::

        documents = WebPageReader().load_data(["https://docs.python.org/3/"])

    A document has the URL of the page, after redirects, as its id and as ``url`` in its metadata, with ``title`` and
    whatever else the page says about itself. A page that cannot be read is an error, never a document.

    Args:
        web: Whom to ask.
        max_length: Characters of a page to keep at most; all of them if left out.
        arguments: The arguments of `WebSearch`, instead of *web*.

    Raises:
        ConfigurationError: Both *web* and arguments of its own were given, or the arguments are wrong.

    """

    def __init__(
        self, *, web: WebSearch | None = None, max_length: int | None = None, **arguments: Unpack[WebSearchArguments]
    ) -> None:
        self.web: WebSearch = WebSearch.resolve(web, arguments)
        self.max_length: int = sys.maxsize if max_length is None else max_length

    def load_data(self, urls: str | Sequence[str]) -> list[Document]:
        """
        Read pages one after the other.

        Args:
            urls: Absolute http(s) URLs, or one.

        Raises:
            UnsafeURL: A URL may not be opened from here.
            ServiceError: A page cannot be read, in one of the ways that `websearch_core.errors` draws.

        """
        return list(self.lazy_load_data(urls))

    def lazy_load_data(self, urls: str | Sequence[str]) -> Iterator[Document]:
        """Read pages one after the other, each when it is asked for."""
        for url in _several(urls):
            yield page_document(self.web.read(url, max_length=self.max_length))

    async def aload_data(self, urls: str | Sequence[str]) -> list[Document]:
        """Read pages side by side on the running event loop; the first that cannot be read is raised."""
        documents = []
        for page in await self.web.aread_many(_several(urls), max_length=self.max_length):
            if isinstance(page, WebSearchError):
                raise page
            documents.append(page_document(page))
        return documents

    async def alazy_load_data(self, urls: str | Sequence[str]) -> list[Document]:
        """Do as `aload_data` does: LlamaIndex awaits an iterable here, so nothing is left to be read later."""
        return await self.aload_data(urls)


def _several(urls: str | Sequence[str]) -> Sequence[str]:
    return [urls] if isinstance(urls, str) else urls
