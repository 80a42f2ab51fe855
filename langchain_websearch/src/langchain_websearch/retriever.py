"""A retriever that asks the web."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Unpack

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, field_validator

from websearch_core import Page, SearchQuery, SearchResult, WebSearch, WebSearchError
from websearch_core.client import WebSearchArguments
from websearch_core.models import SearchOptions
from websearch_core.render import result_metadata

from ._resolve import resolve_web


class RetrieverOptions(WebSearchArguments, total=False):
    """What the retriever takes besides ``web``."""

    k: int
    read_pages: bool
    max_length: int | None
    search_options: SearchOptions
    tags: list[str] | None
    metadata: dict[str, Any] | None
    name: str | None


class WebSearchRetriever(BaseRetriever):
    """
    Retrieves from the web.

    ::

        retriever = WebSearchRetriever(provider="tavily", k=3, read_pages=True)
        retriever.invoke("rotate a key")
        await retriever.ainvoke("rotate a key", k=10)

    Each document has the URL as its ``id`` and in its metadata, as far as they are known, ``source`` and ``url`` (the
    same), ``title``, ``score``, ``published`` (ISO 8601), ``provider`` and ``citation_id``: plain values, the same each
    time the web answers the same, so that indexing twice does no work twice.

    Args:
        web: The `WebSearch` to search with; or else the arguments of one.
        k: How many documents, at most; ``invoke(query, k=...)`` overrules it.
        read_pages: Return the text of the pages instead of snippets. A page that cannot be read keeps its snippet, and
            its metadata names the reason as ``read_error``, by its code.
        max_length: Characters of each page, at most; 15,000 unless set otherwise. Of a page that is longer, the
            passages that answer the query best are kept, and its metadata say ``truncated``.
        search_options: What else to ask of every search, such as ``{"time_range": "week"}``: fields of `SearchQuery`.

    Raises:
        ConfigurationError: The arguments are wrong, or both kinds were given.

    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    web: WebSearch = Field(exclude=True)
    k: int = Field(default=5, ge=1)
    read_pages: bool = False
    max_length: int | None = Field(default=None, ge=1)
    search_options: dict[str, Any] = Field(default_factory=dict)

    def __init__(self, *, web: WebSearch | None = None, **options: Unpack[RetrieverOptions]) -> None:
        super().__init__(**resolve_web(web, options))

    @field_validator("search_options")
    @classmethod
    def _sensible(cls, options: dict[str, Any]) -> dict[str, Any]:
        """What is misspelt is told now rather than with the first search."""
        if "limit" in options:
            raise ValueError("the limit is called k here")
        SearchQuery.of("any", **options)
        return options

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain passes it
        k: int | None = None,
    ) -> list[Document]:
        results = self.web.search(query, limit=self._limit(k), **self.search_options).results
        if not self.read_pages:
            return [_document(result) for result in results]
        urls = [result.url for result in results]
        pages = self.web.read_many(urls, query=query, max_length=self.max_length)
        return _documents(results, pages)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain passes it
        k: int | None = None,
    ) -> list[Document]:
        results = (await self.web.asearch(query, limit=self._limit(k), **self.search_options)).results
        if not self.read_pages:
            return [_document(result) for result in results]
        urls = [result.url for result in results]
        pages = await self.web.aread_many(urls, query=query, max_length=self.max_length)
        return _documents(results, pages)

    def _limit(self, k: int | None) -> int:
        return self.k if k is None else k


def _documents(results: Sequence[SearchResult], pages: Sequence[Page | WebSearchError]) -> list[Document]:
    return [_read(_document(result), page) for result, page in zip(results, pages, strict=True)]


def _document(result: SearchResult) -> Document:
    metadata = {"source": result.url, **result_metadata(result)}
    return Document(id=result.url, page_content=result.snippet, metadata=metadata)


def _read(document: Document, page: Page | WebSearchError) -> Document:
    if isinstance(page, WebSearchError):
        document.metadata["read_error"] = page.code
    else:
        document.page_content = page.content
        document.metadata["truncated"] = page.truncated
    return document
