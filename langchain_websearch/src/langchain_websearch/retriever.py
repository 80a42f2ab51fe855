"""A retriever that searches the web."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import BaseDocumentTransformer, Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables.config import run_in_executor
from pydantic import ConfigDict, Field, field_validator

from websearch_core import Page, SearchQuery, SearchResult, WebSearch, WebSearchError
from websearch_core._text.choices import Extent
from websearch_core._text.suggestion import check_names
from websearch_core.client import CommonArguments
from websearch_core.errors import InvalidOption
from websearch_core.models import SearchOptions
from websearch_core.tools._document import make_metadata, make_text

from ._progress import areport, report
from ._resolve import resolve_web

if TYPE_CHECKING:  # it would import the parsers of pages
    from websearch_core.reading import ReadOptions


class RetrieverOptions(CommonArguments, total=False):
    """The arguments of the retriever besides ``web``."""

    k: int
    content: Extent
    max_length: int | None
    text_splitter: BaseDocumentTransformer | None
    search_options: SearchOptions
    tags: list[str] | None
    metadata: dict[str, Any] | None
    name: str | None


class WebSearchRetriever(BaseRetriever):
    """
    Retrieves from the web.

    ::

        retriever = WebSearchRetriever(provider="tavily", k=3, content="passages")
        retriever.invoke("rotate a key")
        await retriever.ainvoke("rotate a key", k=10)

    Each document has the URL as its ``id``. Its metadata has, if known, ``source`` and ``url`` (the same), ``title``,
    ``score``, ``published`` (ISO 8601), ``provider`` and ``citation_id``. They are plain values and depend only on the
    results, so indexing the same results twice does nothing the second time. The run gets the events of
    `websearch_core.events` as custom events, such as ``websearch.wait``.

    Args:
        web: The `WebSearch` to search with; or pass its arguments instead.
        k: Maximum number of documents; ``invoke(query, k=...)`` overrides it.
        content: The text of a document: the ``snippet`` of the search; the ``passages`` of the page that answer the
            query, or all of a page that is short enough; or the whole ``page``. Pages are read concurrently. One that
            cannot be read keeps its snippet, and its metadata has the code of the error as ``read_error``.
        max_length: Maximum number of characters per page. By default, passages have the limit of the `WebSearch`,
            15,000 characters, and a page has none. The metadata of a page that is cut has ``truncated``.
        text_splitter: Splits the documents, such as a ``RecursiveCharacterTextSplitter``. Each part has the metadata of
            its document, and an ``id`` that ends in ``#1``, ``#2`` and so on.
        search_options: More fields of `SearchQuery` for every search, such as ``{"time_range": "week"}``.

    Raises:
        ConfigurationError: The arguments are invalid, or *web* was given together with its arguments.

    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    web: WebSearch = Field(exclude=True)
    k: int = Field(default=5, ge=1)
    content: Extent = "snippet"
    max_length: int | None = Field(default=None, ge=1)
    text_splitter: BaseDocumentTransformer | None = Field(default=None, exclude=True)
    search_options: dict[str, Any] = Field(default_factory=dict)

    def __init__(self, *, web: WebSearch | None = None, **options: Unpack[RetrieverOptions]) -> None:
        super().__init__(**resolve_web(type(self), web, options))
        self.web.check_options(self.search_options)

    @field_validator("search_options")
    @classmethod
    def _check_search_options(cls, options: dict[str, Any]) -> dict[str, Any]:
        """Reject wrong options now rather than in the first search."""
        if {"limit", "max_results"} & set(options):
            raise ValueError("the limit is called k here")
        SearchQuery.of("any", **options)
        return options

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None, **unknown: object
    ) -> list[Document]:
        _check_arguments(unknown)
        with report(run_manager):
            results = self.web.search(query, limit=self._limit(k), **self.search_options).results
            pages = self.web.read_many(self._urls(results), **self._part(query))
        return self._split(_make_documents(results, pages))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None, **unknown: object
    ) -> list[Document]:
        _check_arguments(unknown)
        async with areport(run_manager):
            results = (await self.web.asearch(query, limit=self._limit(k), **self.search_options)).results
            pages = await self.web.aread_many(self._urls(results), **self._part(query))
        documents = _make_documents(results, pages)
        return await run_in_executor(None, self._split, documents) if self.text_splitter else documents

    def _limit(self, k: int | None) -> int:
        return self.k if k is None else k

    def _urls(self, results: Sequence[SearchResult]) -> list[str]:
        return [] if self.content == "snippet" else [result.url for result in results]

    def _part(self, query: str) -> ReadOptions:
        if self.content == "page":
            return {"max_length": self.max_length or sys.maxsize}
        return {"query": query, "max_length": self.max_length}

    def _split(self, documents: list[Document]) -> list[Document]:
        if self.text_splitter is None:
            return documents
        parts: list[Document] = []
        for document in documents:
            for n, part in enumerate(self.text_splitter.transform_documents([document]), 1):
                parts.append(part.model_copy(update={"id": f"{document.id}#{n}"}))
        return parts


def _check_arguments(unknown: Mapping[str, object]) -> None:
    """Reject what `invoke` was given besides ``k``."""
    check_names(unknown, ("k",), InvalidOption, {"limit": "k", "max_results": "k"})


def _make_documents(results: Sequence[SearchResult], pages: Sequence[Page | WebSearchError]) -> list[Document]:
    return [
        Document(id=result.url, page_content=make_text(result, page), metadata=make_metadata(result, page))
        for result, page in zip_longest(results, pages)
    ]
