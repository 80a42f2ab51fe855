"""Put the passages of pages in place of snippets, for any retriever."""

from __future__ import annotations
from typing import TYPE_CHECKING, Any, Unpack

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import Field

from websearch_core import Page, WebSearch, WebSearchError
from websearch_core.client import CommonArguments
from websearch_core.tools import OptionMapping, Passages, make_web, show_arguments

from .events import report

if TYPE_CHECKING:  # it would import the parsers of pages
    from websearch_core.reading import ReadOptions


class WebPagePostprocessor(BaseNodePostprocessor):
    """Replaces the text of each node with the passages of its web page that answer the
    query.

    ::

        RetrieverQueryEngine.from_args(
            retriever, llm=llm, node_postprocessors=[WebPagePostprocessor()]
        )

    The URL of a page is the ``source`` or ``url`` in the metadata of its node; nodes
    without one stay as they are. Pages are read concurrently. If several nodes are from
    one page, such as the chunks of a vector store, only the first stays. A node whose
    page cannot be read, or has no such passage, keeps its text; its metadata has the
    code of an error as ``read_error``.

    Args:
        web: The `WebSearch` to read with.
        read_options: The options of each page; by default ``{"max_length": 1_500}``.
        arguments: The arguments of `WebSearch`, instead of *web*.

    Raises:
        InvalidOption: One of the options is unknown or wrong.
        ConfigurationError: An argument is invalid, or *web* is combined with arguments
            of `WebSearch`.
    """

    web: Any = Field(exclude=True)
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

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the class, which LlamaIndex stores."""
        return "WebPagePostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            return nodes
        metadata = [node.node.metadata for node in nodes]
        with report():
            return Passages(self.web, self.read_options).replace(
                nodes, metadata, query_bundle.query_str, _replace_text
            )

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            return nodes
        metadata = [node.node.metadata for node in nodes]
        with report():
            return await Passages(self.web, self.read_options).areplace(
                nodes, metadata, query_bundle.query_str, _replace_text
            )


def _replace_text(scored: NodeWithScore, page: Page | WebSearchError) -> NodeWithScore:
    node = scored.node.model_copy()
    if isinstance(page, WebSearchError):
        node.metadata = {**node.metadata, "read_error": page.code}
        llm_keys = node.excluded_llm_metadata_keys
        embedding_keys = node.excluded_embed_metadata_keys
        node.excluded_llm_metadata_keys = [*llm_keys, "read_error"]
        node.excluded_embed_metadata_keys = [*embedding_keys, "read_error"]
    elif page.content:
        node.set_content(page.content)
    return scored.model_copy(update={"node": node})
