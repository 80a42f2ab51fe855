"""A retriever that searches the web."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Unpack

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, field_validator

from websearch_core import Page, SearchQuery, SearchResult, WebSearch, WebSearchError
from websearch_core._text.suggestion import check_names
from websearch_core.client import WebSearchArguments
from websearch_core.errors import InvalidOption
from websearch_core.models import SearchOptions
from websearch_core.render import result_metadata

from ._resolve import resolve_web


class RetrieverOptions(WebSearchArguments, total=False):
    """The arguments of the retriever besides ``web``."""

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

    Each document has the URL as its ``id``. Its metadata has, if known, ``source`` and ``url`` (the same), ``title``,
    ``score``, ``published`` (ISO 8601), ``provider`` and ``citation_id``. They are plain values and depend only on the
    results, so indexing the same results twice does nothing the second time.

    Args:
        web: The `WebSearch` to search with; or pass its arguments instead.
        k: Maximum number of documents; ``invoke(query, k=...)`` overrides it.
        read_pages: Return the text of the pages instead of snippets. A page that cannot be read keeps its snippet, and
            its metadata has the code of the error as ``read_error``.
        max_length: Maximum number of characters per page; 15,000 unless set otherwise. Of a longer page, the passages
            that answer the query best are kept, and its metadata has ``truncated``.
        search_options: More fields of `SearchQuery` for every search, such as ``{"time_range": "week"}``.

    Raises:
        ConfigurationError: The arguments are invalid, or *web* was given together with its arguments.

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
    def _check_search_options(cls, options: dict[str, Any]) -> dict[str, Any]:
        """Reject wrong options now rather than in the first search."""
        if {"limit", "max_results"} & set(options):
            raise ValueError("the limit is called k here")
        SearchQuery.of("any", **options)
        return options

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain passes it
        k: int | None = None,
        **unknown: object,
    ) -> list[Document]:
        _check_arguments(unknown)
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
        **unknown: object,
    ) -> list[Document]:
        _check_arguments(unknown)
        results = (await self.web.asearch(query, limit=self._limit(k), **self.search_options)).results
        if not self.read_pages:
            return [_document(result) for result in results]
        urls = [result.url for result in results]
        pages = await self.web.aread_many(urls, query=query, max_length=self.max_length)
        return _documents(results, pages)

    def _limit(self, k: int | None) -> int:
        return self.k if k is None else k


def _check_arguments(unknown: Mapping[str, object]) -> None:
    """Reject what `invoke` was given besides ``k``."""
    check_names(unknown, ("k",), InvalidOption, {"limit": "k", "max_results": "k"})


def _documents(results: Sequence[SearchResult], pages: Sequence[Page | WebSearchError]) -> list[Document]:
    return [_add_page(_document(result), page) for result, page in zip(results, pages, strict=True)]


def _document(result: SearchResult) -> Document:
    metadata = {"source": result.url, **result_metadata(result)}
    return Document(id=result.url, page_content=result.snippet, metadata=metadata)


def _add_page(document: Document, page: Page | WebSearchError) -> Document:
    if isinstance(page, WebSearchError):
        document.metadata["read_error"] = page.code
    else:
        document.page_content = page.content
        document.metadata["truncated"] = page.truncated
    return document
