"""Put the passages of pages in place of snippets, for any retriever."""

from __future__ import annotations
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import ConfigDict, Field

from websearch_core import Page, WebSearch, WebSearchError
from websearch_core.client import CommonArguments
from websearch_core.tools import OptionMapping, Passages, make_web, show_arguments

from ._progress import areport, report

if TYPE_CHECKING:  # it would import the parsers of pages
    from websearch_core.reading import ReadOptions


class WebPageCompressor(BaseDocumentCompressor):
    """Replaces the text of each document with the passages of its web page that answer
    the query.

    ::

        ContextualCompressionRetriever(
            base_compressor=WebPageCompressor(), base_retriever=retriever
        )

    The URL of a page is the ``source`` or ``url`` in the metadata of its document;
    documents without one stay as they are. Pages are read concurrently. If several
    documents are from one page, such as the chunks of a vector store, only the first
    stays. A document whose page cannot be read, or has no such passage, keeps its text;
    its metadata has the code of an error as ``read_error``. The run of the retriever
    around it gets the events of `websearch_core.events` as custom events, such as
    ``websearch.read_end``.

    Args:
        web: The `WebSearch` to read with; or pass its arguments instead.
        read_options: The options of each page; by default ``{"max_length": 1_500}``.

    Raises:
        InvalidOption: One of the options is unknown or wrong.
        ConfigurationError: An argument is invalid, or *web* is combined with arguments
            of `WebSearch`.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", arbitrary_types_allowed=True
    )

    web: WebSearch = Field(exclude=True)
    read_options: OptionMapping = Field(default_factory=dict)

    @show_arguments(make_web)
    def __init__(
        self,
        *,
        web: WebSearch | None = None,
        read_options: ReadOptions | None = None,
        **arguments: Unpack[CommonArguments],
    ) -> None:
        web = make_web(web, ("read_options",), **arguments)
        passages = Passages(web, read_options)
        values: dict[str, Any] = {
            "web": passages.web,
            "read_options": passages.read_options or {},
        }
        super().__init__(**values)

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None = None,
    ) -> list[Document]:
        """Return the documents with the passages for *query*."""
        metadata = [document.metadata for document in documents]
        with report(callbacks):
            return Passages(self.web, self.read_options).replace(
                documents, metadata, query, _replace_text
            )

    async def acompress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None = None,
    ) -> list[Document]:
        """Do the same on the running event loop."""
        metadata = [document.metadata for document in documents]
        async with areport(callbacks):
            return await Passages(self.web, self.read_options).areplace(
                documents, metadata, query, _replace_text
            )


def _replace_text(document: Document, page: Page | WebSearchError) -> Document:
    if isinstance(page, WebSearchError):
        return document.model_copy(
            update={"metadata": {**document.metadata, "read_error": page.code}}
        )
    if not page.content:
        return document
    return document.model_copy(update={"page_content": page.content})
