"""A retriever that searches the web, for LlamaIndex query engines."""

from __future__ import annotations
import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Unpack

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType, TextNode

from websearch_core import WebSearch
from websearch_core.client import CommonArguments
from websearch_core.errors import InvalidOption
from websearch_core.models import SearchOptions
from websearch_core.tools import (
    ContentMode,
    PlainDocument,
    Retrieval,
    make_web,
    show_arguments,
)

from .conversations import Conversations
from .documents import EMBED_EXCLUDED, LLM_EXCLUDED, WebNode
from .events import report
from .tool_spec import WebSearchToolSpec

if TYPE_CHECKING:  # it would import the parsers of pages
    from websearch_core.reading import ReadOptions


class WebSearchRetriever(BaseRetriever):
    """Retrieves the results of a web search.

    ::

        retriever = WebSearchRetriever(provider="tavily", k=8)
        engine = RetrieverQueryEngine.from_args(retriever, llm=llm)

    A node has the URL as its id, the snippet as its text, and url, title and everything
    else known as metadata; models are shown only the part that they can use, marked as
    data from the web. Its score is the service's own if the service scores every result
    of the response, else one over the rank: 1, 0.5, 0.33 and so on. Neither is
    comparable between services.

    Args:
        web: The `WebSearch` to search with; or a `WebSearchToolSpec`: then the metadata
            of a node has the number of its page in the conversation, as
            ``citation_id``, which models are shown, and agents may open these pages.
        k: Maximum number of results.
        content: The text of a node: the ``snippet`` of the search; the ``passages`` of
            the page that answer the query, or all of a page that is short enough; or
            the whole ``page``. Pages are read concurrently. If one cannot be read, its
            node keeps the snippet, and the metadata has the code of the error as
            ``read_error``.
        search_options: More options of every search: ``allowed_domains``,
            ``time_range``, ``country`` and so on.
        read_options: The options of every page, such as ``{"max_length": 8_000}``. By
            default, passages have the limit of the `WebSearch`, 15,000 characters, and
            a page has none. The metadata of a page that is cut has ``truncated``.
        node_parser: Splits the nodes, such as a ``SentenceSplitter``. Each part has the
            metadata and the score of its node, and an id that ends in ``#1``, ``#2``
            and so on.
        callback_manager: For LlamaIndex events.
        verbose: For LlamaIndex output.
        arguments: The arguments of `WebSearch`, instead of *web*.

    Raises:
        InvalidOption: One of the options is unknown or wrong.
        ConfigurationError: An argument is invalid, or *web* is combined with arguments
            of `WebSearch`.

    Retrieving raises what `WebSearch.search` raises.
    """

    @show_arguments(make_web)
    def __init__(
        self,
        *,
        web: WebSearch | WebSearchToolSpec | None = None,
        k: int = 5,
        content: ContentMode = "snippet",
        search_options: SearchOptions | None = None,
        read_options: ReadOptions | None = None,
        node_parser: NodeParser | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        **arguments: Unpack[CommonArguments],
    ) -> None:
        super().__init__(callback_manager=callback_manager, verbose=verbose)
        own = ("k", "search_options", "read_options")
        self._conversations: Conversations | None = None
        if isinstance(web, WebSearchToolSpec):
            self._conversations = web.conversations
            web = web.web
        self.web: WebSearch = make_web(web, own, **arguments)
        self.k: int = k
        self.content: ContentMode = content
        self.search_options: SearchOptions | None = search_options
        self.read_options: ReadOptions | None = read_options
        self.node_parser: NodeParser | None = node_parser
        self._retrieval  # noqa: B018 - refuse wrong options now rather than in the first search

    @property
    def _reads(self) -> bool:
        return self.content != "snippet"

    @property
    def _retrieval(self) -> Retrieval:
        return Retrieval(
            self.web, self.k, self.content, self.search_options, self.read_options
        )

    def retrieve(
        self, str_or_query_bundle: QueryType, **others: object
    ) -> list[NodeWithScore]:
        """Retrieve nodes.

        Args:
            str_or_query_bundle: The query.
            others: Nothing: the constructor takes the options.

        Raises:
            InvalidOption: There are *others*.
        """
        _refuse(others)
        return super().retrieve(str_or_query_bundle)

    async def aretrieve(
        self, str_or_query_bundle: QueryType, **others: object
    ) -> list[NodeWithScore]:
        """Async version of `retrieve`."""
        _refuse(others)
        return await super().aretrieve(str_or_query_bundle)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        with report():
            results = self._retrieval.retrieve(_query_text(query_bundle))
        if self._conversations is not None:
            with self._conversations.enter() as run:
                results = self._conversations.number(results, run, reads=self._reads)
        return self._split(results)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        with report():
            results = await self._retrieval.aretrieve(_query_text(query_bundle))
        if self._conversations is not None:
            async with self._conversations.aenter() as run:
                results = self._conversations.number(results, run, reads=self._reads)
        if self.node_parser is None:
            return self._split(results)
        return await asyncio.to_thread(self._split, results)

    def _split(self, results: list[PlainDocument]) -> list[NodeWithScore]:
        """Return the results as nodes, or as the parts of these."""
        nodes = _make_nodes(results)
        if self.node_parser is None:
            return nodes
        parts: list[NodeWithScore] = []
        for whole in nodes:
            for number, part in enumerate(self.node_parser([whole.node]), 1):
                part.id_ = f"{whole.node.node_id}#{number}"
                node = part
                if type(part) is TextNode:  # which has no marks
                    node = WebNode.model_construct(**dict(part))
                parts.append(NodeWithScore(node=node, score=whole.score))
        return parts


def _refuse(others: Mapping[str, object]) -> None:
    """Raise `InvalidOption` for the arguments of `retrieve` other than the query."""
    if others:
        names = ", ".join(sorted(others))
        raise InvalidOption(
            f"unknown arguments: {names}; pass k=... and search_options={{...}} to the "
            f"constructor"
        )


def _query_text(query: QueryBundle) -> str:
    """Return the text of *query*, without the prefix that `RetrieverTool` adds."""
    return query.query_str.removeprefix("\ninput is ").strip()


def _make_nodes(results: list[PlainDocument]) -> list[NodeWithScore]:
    """Make nodes with the scores of the service, if it scores every result, or else
    with those of their ranks.
    """
    scores = [result.metadata.get("score") for result in results]
    if None in scores:
        scores = [1 / rank for rank in range(1, len(results) + 1)]
    return [
        NodeWithScore(node=_make_node(result), score=score)
        for result, score in zip(results, scores, strict=True)
    ]


def _make_node(result: PlainDocument) -> TextNode:
    hidden = LLM_EXCLUDED
    if "citation_id" in result.metadata:  # which a model is to cite it by
        hidden = [name for name in LLM_EXCLUDED if name != "citation_id"]
    return WebNode(
        id_=result.id,
        text=result.text,
        metadata=result.metadata,  # pyright: ignore[reportCallIssue] - also by its name, as in TextNode
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=EMBED_EXCLUDED,
    )
