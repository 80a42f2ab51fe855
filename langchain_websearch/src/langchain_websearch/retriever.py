"""A retriever that searches the web."""

from __future__ import annotations
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import BaseDocumentTransformer, Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables.config import run_in_executor
from pydantic import ConfigDict, Field

from websearch_core import WebSearch
from websearch_core.client import CommonArguments
from websearch_core.errors import InvalidOption
from websearch_core.models import SearchOptions
from websearch_core.tools import (
    ContentMode,
    OptionMapping,
    PlainDocument,
    Retrieval,
    make_web,
    show_arguments,
    split_arguments,
)

from ._progress import areport, report

if TYPE_CHECKING:  # it would import the parsers of pages
    from websearch_core.reading import ReadOptions


class RetrieverOptions(CommonArguments, total=False):
    """The arguments of the retriever besides ``web``."""

    k: int
    content: ContentMode
    search_options: SearchOptions | None
    read_options: ReadOptions | None
    text_splitter: BaseDocumentTransformer | None
    tags: list[str] | None
    metadata: dict[str, Any] | None
    name: str | None


class WebSearchRetriever(BaseRetriever):
    """Retrieves documents from the web.

    ::

        retriever = WebSearchRetriever(provider="tavily", k=3, content="passages")
        retriever.invoke("rotate a key")
        await retriever.ainvoke("rotate a key", k=10)

    Each document has the URL as its ``id``. Its metadata has, if known, ``source`` and
    ``url`` (the same), ``title``, ``score``, ``published`` (ISO 8601) and ``provider``.
    They are plain values and depend only on the results, so indexing the same results
    twice does nothing the second time, and equal pages are equal documents. The run
    gets the events of `websearch_core.events` as custom events, such as
    ``websearch.wait``.

    Args:
        web: The `WebSearch` to search with; or pass its arguments instead.
        k: Maximum number of documents; ``invoke(query, k=...)`` overrides it.
        content: The text of a document: the ``snippet`` of the search; the ``passages``
            of the page that answer the query, or all of a page that is short enough; or
            the whole ``page``. Pages are read concurrently. If one cannot be read, its
            document keeps the snippet, and the metadata has the code of the error as
            ``read_error``.
        search_options: More options of every search, such as ``{"time_range":
            "week"}``.
        read_options: The options of every page, such as ``{"max_length": 8_000}``. By
            default, passages have the limit of the `WebSearch`, 15,000 characters, and
            a page has none. The metadata of a page that is cut has ``truncated``.
        text_splitter: Splits the documents, such as a
            ``RecursiveCharacterTextSplitter``. Each part has the metadata of its
            document, and an ``id`` that ends in ``#1``, ``#2`` and so on.

    Raises:
        InvalidOption: One of the options is unknown or wrong.
        ConfigurationError: An argument is invalid, or *web* is combined with arguments
            of `WebSearch`.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", arbitrary_types_allowed=True
    )

    web: WebSearch = Field(exclude=True)
    k: int = Field(default=5, ge=1)
    content: ContentMode = "snippet"
    search_options: OptionMapping = Field(default_factory=dict)
    read_options: OptionMapping = Field(default_factory=dict)
    text_splitter: BaseDocumentTransformer | None = Field(default=None, exclude=True)

    @show_arguments(make_web)
    @show_arguments(Retrieval)
    def __init__(
        self, *, web: WebSearch | None = None, **options: Unpack[RetrieverOptions]
    ) -> None:
        fields = type(self).model_fields.keys() - {"web"}
        arguments, own = split_arguments(options, fields)
        for name in ("search_options", "read_options"):
            own[name] = own.get(name) or {}
        super().__init__(**{"web": make_web(web, fields, **arguments), **own})
        self._retrieval  # noqa: B018 - refuse wrong options now rather than in the first search

    @property
    def _retrieval(self) -> Retrieval:
        return Retrieval(
            self.web, self.k, self.content, self.search_options, self.read_options
        )

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        **others: object,
    ) -> list[Document]:
        _refuse(others)
        with report(run_manager):
            results = self._retrieval.retrieve(query, k)
        return self._split(results)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        **others: object,
    ) -> list[Document]:
        _refuse(others)
        async with areport(run_manager):
            results = await self._retrieval.aretrieve(query, k)
        if self.text_splitter is None:
            return self._split(results)
        return await run_in_executor(None, self._split, results)

    def _split(self, results: list[PlainDocument]) -> list[Document]:
        """Return the results as documents, or as the parts of these."""
        documents = [
            Document(id=result.id, page_content=result.text, metadata=result.metadata)
            for result in results
        ]
        if self.text_splitter is None:
            return documents
        parts: list[Document] = []
        for document in documents:
            split = self.text_splitter.transform_documents([document])
            for number, part in enumerate(split, 1):
                name = f"{document.id}#{number}"
                parts.append(part.model_copy(update={"id": name}))
        return parts


def _refuse(others: Mapping[str, object]) -> None:
    """Raise `InvalidOption` for an argument of `invoke` other than ``k``."""
    for name in others:
        hint = "invoke takes only k; pass other options to the constructor"
        if name in {"limit", "max_results"}:
            hint = "write k=..."
        raise InvalidOption(f"unknown argument: {name}; {hint}")
