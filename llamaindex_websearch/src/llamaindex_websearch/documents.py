"""Results and pages as LlamaIndex documents."""

from __future__ import annotations
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, overload

from llama_index.core.schema import (
    DEFAULT_TEXT_NODE_TMPL,
    Document,
    MetadataMode,
    TextNode,
)
from pydantic import Field, PrivateAttr, RootModel

from websearch_core import Page
from websearch_core.render import fenced
from websearch_core.tools import Output, PlainDocument, make_document

# Metadata that models are not shown.
LLM_EXCLUDED = [
    "citation_id",
    "language",
    "media_type",
    "next_offset",
    "provider",
    "read",
    "read_error",
    "requested_url",
    "score",
    "source",
    "truncated",
]
EMBED_EXCLUDED = [*LLM_EXCLUDED, "published", "read_note", "url"]

_PLAIN = DEFAULT_TEXT_NODE_TMPL


class ToolDocuments(RootModel[list[Document]]):
    """A tool's documents; as a string, the text for the model.

    LlamaIndex shows a model the string of what a function returns. Of a ``list`` of
    documents, it would show their bare texts instead: without title, URL and number,
    and not marked as data from the web.

    Args:
        documents: The documents.
        text: The text, with every title and URL, and with what does not belong to a
            single document: notes, a direct answer, or that nothing was found.
        artifact: The facts about it.
    """

    _text: str = PrivateAttr()
    _artifact: Mapping[str, Any] = PrivateAttr()

    def __init__(
        self,
        documents: Iterable[Document],
        text: str,
        artifact: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        super().__init__(list(documents))
        self._text = text
        self._artifact = dict(artifact)

    @classmethod
    def of(cls, output: Output) -> ToolDocuments:
        """Return what a tool found."""
        documents = map(as_document, output.documents)
        return cls(documents, str(output.content), output.artifact)

    @property
    def artifact(self) -> Mapping[str, Any]:
        """The facts about it, as `websearch_core.tools.Output` has them."""
        return self._artifact

    def __str__(self) -> str:
        return self._text

    # shown to a model by a tool that puts this in a list or a dictionary
    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} documents)"

    def __iter__(self) -> Iterator[Document]:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride] - as pydantic suggests
        return iter(self.root)

    @overload
    def __getitem__(self, index: int) -> Document: ...

    @overload
    def __getitem__(self, index: slice) -> list[Document]: ...

    def __getitem__(self, index: int | slice) -> Document | list[Document]:
        return self.root[index]

    def __len__(self) -> int:
        return len(self.root)


class WebNode(TextNode):
    """A node that a query engine or a `RetrieverTool` shows to a model marked as data
    from the web.

    The marks are in its template, which the parts keep into which engines split it.
    """

    text_template: str = Field(default_factory=lambda: fenced(_PLAIN, "A web page"))

    def get_content(self, metadata_mode: MetadataMode = MetadataMode.NONE) -> str:
        """Return the text for *metadata_mode*; what is embedded or taken as it is has
        no marks.
        """
        if metadata_mode == MetadataMode.LLM:
            return super().get_content(metadata_mode=metadata_mode)
        plain = self.model_copy(update={"text_template": _PLAIN})
        return TextNode.get_content(plain, metadata_mode=metadata_mode)


def to_document(page: Page) -> Document:
    """Return a page as a document, as `WebPageReader` makes it.

    ::

        pages = WebSearch().read_many(urls)
        documents = [to_document(page) for page in pages if isinstance(page, Page)]

    Args:
        page: What `WebSearch.read` returned, or `websearch_core.reading.read_bytes`.
    """
    return as_document(make_document(page=page))


def as_document(document: PlainDocument) -> Document:
    """Return the document of LlamaIndex."""
    return Document(
        id_=document.id,
        text=document.text,
        metadata=document.metadata,
        excluded_llm_metadata_keys=LLM_EXCLUDED,
        excluded_embed_metadata_keys=EMBED_EXCLUDED,
    )
