"""Web pages as LlamaIndex documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Unpack

from llama_index.core.readers.base import BaseReader
from llama_index.core.schema import Document

from websearch_core import WebSearch, WebSearchError
from websearch_core.client import CommonArguments
from websearch_core.tools import list_urls, make_document, split_arguments, with_limit

from .documents import as_document
from .events import report

if TYPE_CHECKING:  # it would import the parsers of pages
    from websearch_core.reading import ReadOptions


class WebPageReader(BaseReader):
    """
    Reads web pages as Markdown, from public addresses only.

    ::

        documents = WebPageReader().load_data(["https://docs.python.org/3/"])

    A document has the URL of the page, after redirects, as its id. Its metadata has ``url``, ``title`` and everything
    else known about the page. A page that cannot be read is an error, never a document.

    Args:
        web: The `WebSearch` to read with.
        read_options: The options of each page, such as ``{"max_length": 8_000}``. By default, pages are whole.
        arguments: The arguments of `WebSearch`, instead of *web*.

    Raises:
        InvalidOption: One of the options is unknown or wrong.
        ConfigurationError: The arguments are invalid, or *web* was given together with its arguments.

    """

    def __init__(
        self,
        *,
        web: WebSearch | None = None,
        read_options: ReadOptions | None = None,
        **arguments: Unpack[CommonArguments],
    ) -> None:
        arguments, _ = split_arguments(arguments, ["read_options"])
        self.web: WebSearch = WebSearch.resolve(web, arguments)
        self.read_options: ReadOptions = with_limit(read_options)

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
        for url in list_urls(urls):
            with report():
                (page,) = self.web.read_many([url], **self.read_options)  # `read` would start a browser
            if isinstance(page, WebSearchError):
                raise page
            yield as_document(make_document(page=page))

    async def aload_data(self, urls: str | Sequence[str]) -> list[Document]:
        """Read pages in parallel on the running event loop; raise the error of the first that cannot be read."""
        documents = []
        with report():
            pages = await self.web.aread_many(list_urls(urls), **self.read_options)
        for page in pages:
            if isinstance(page, WebSearchError):
                raise page
            documents.append(as_document(make_document(page=page)))
        return documents

    async def alazy_load_data(self, urls: str | Sequence[str]) -> list[Document]:
        """Same as `aload_data`: LlamaIndex awaits an iterable here, so the pages cannot be read lazily."""
        return await self.aload_data(urls)
