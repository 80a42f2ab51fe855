"""Put the passages of pages in place of snippets, for any retriever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle, TextNode
from pydantic import Field

from websearch_core import Page, WebSearch, WebSearchError
from websearch_core._arguments import check_number
from websearch_core._urls import is_web_url
from websearch_core.client import CommonArguments
from websearch_core.errors import InvalidOption

from .events import report


class WebPagePostprocessor(BaseNodePostprocessor):
    """
    Replaces the text of each node by the passages of its web page that answer the query.

    ::

        RetrieverQueryEngine.from_args(retriever, llm=llm, node_postprocessors=[WebPagePostprocessor()])

    The URL of a page is the ``source`` or ``url`` in the metadata of its node; nodes without one stay as they are.
    Pages are read concurrently. One that cannot be read, or has no such passage, keeps its text; an error adds its code
    to the metadata, as ``read_error``.

    Args:
        web: The `WebSearch` to read with.
        max_length: Maximum number of characters per node.
        arguments: The arguments of `WebSearch`, instead of *web*.

    Raises:
        InvalidOption: *max_length* is not positive.
        ConfigurationError: The arguments are invalid, or *web* was given together with its arguments.

    """

    web: Any = Field(exclude=True)
    max_length: int = 1_500

    def __init__(
        self, *, web: WebSearch | None = None, max_length: int = 1_500, **arguments: Unpack[CommonArguments]
    ) -> None:
        check_number("max_length", max_length, 1, InvalidOption)
        values: dict[str, Any] = {"web": WebSearch.resolve(web, arguments), "max_length": max_length}
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
        urls = [_find_url(node.node) for node in nodes]
        with report():
            pages = self.web.read_many(filter(None, urls), query=query_bundle.query_str, max_length=self.max_length)
        return _replace_texts(nodes, urls, pages)

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            return nodes
        urls = [_find_url(node.node) for node in nodes]
        with report():
            pages = await self.web.aread_many(
                filter(None, urls), query=query_bundle.query_str, max_length=self.max_length
            )
        return _replace_texts(nodes, urls, pages)


def _find_url(node: BaseNode) -> str | None:
    urls = (node.metadata.get(name) for name in ("source", "url"))
    return next((url for url in urls if isinstance(url, str) and is_web_url(url)), None)


def _replace_texts(
    nodes: Sequence[NodeWithScore], urls: Sequence[str | None], pages: Sequence[Page | WebSearchError]
) -> list[NodeWithScore]:
    waiting = iter(pages)
    return [_replace_text(node, next(waiting)) if url else node for node, url in zip(nodes, urls, strict=True)]


def _replace_text(scored: NodeWithScore, page: Page | WebSearchError) -> NodeWithScore:
    node = scored.node
    metadata, text = dict(node.metadata), node.get_content(MetadataMode.NONE)
    if isinstance(page, WebSearchError):
        metadata["read_error"] = page.code
    elif page.content:
        text = page.content
    replaced = TextNode(
        id_=node.node_id,
        text=text,
        metadata=metadata,
        excluded_llm_metadata_keys=[*node.excluded_llm_metadata_keys, "read_error"],
        excluded_embed_metadata_keys=[*node.excluded_embed_metadata_keys, "read_error"],
        relationships=node.relationships,
    )
    return NodeWithScore(node=replaced, score=scored.score)
