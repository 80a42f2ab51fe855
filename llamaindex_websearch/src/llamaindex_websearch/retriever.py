"""A retriever that searches the web, for LlamaIndex query engines."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Unpack, get_args

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType, TextNode

from websearch_core import Page, SearchQuery, SearchResponse, SearchResult, WebSearch, WebSearchError
from websearch_core._text.choices import Extent
from websearch_core.client import CommonArguments
from websearch_core.client._arguments import check_number
from websearch_core.errors import InvalidOption
from websearch_core.models import SearchOptions
from websearch_core.tools._document import make_metadata, make_text

from .documents import EMBED_EXCLUDED, LLM_EXCLUDED, WebNode
from .events import report

if TYPE_CHECKING:  # it would import the parsers of pages
    from websearch_core.reading import ReadOptions


class WebSearchRetriever(BaseRetriever):
    """
    Retrieves the results of a web search.

    ::

        engine = RetrieverQueryEngine.from_args(WebSearchRetriever(provider="tavily", k=8), llm=llm)

    A node has the URL as its id, the snippet as its text, and url, title and everything else known as metadata; models
    are shown only the part that they can use, marked as data from the web. Its score is the service's own if the
    service scores every result of the response, else one over the rank: 1, 0.5, 0.33 and so on. Neither is comparable
    between services.

    Args:
        web: The `WebSearch` to search with.
        k: Maximum number of results.
        content: The text of a node: the ``snippet`` of the search; the ``passages`` of the page that answer the query,
            or all of a page that is short enough; or the whole ``page``. Pages are read concurrently. One that cannot
            be read keeps its snippet, and its metadata has the code of the error as ``read_error``.
        max_length: Maximum number of characters per page. By default, passages have the limit of the `WebSearch`,
            15,000 characters, and a page has none. The metadata of a page that is cut has ``truncated``.
        node_parser: Splits the nodes, such as a ``SentenceSplitter``. Each part has the metadata and the score of its
            node, and an id that ends in ``#1``, ``#2`` and so on.
        search_options: More fields of `SearchQuery`: ``allowed_domains``, ``time_range``, ``country`` and so on.
        callback_manager: For LlamaIndex events.
        verbose: For LlamaIndex output.
        arguments: The arguments of `WebSearch`, instead of *web*.

    Raises:
        InvalidOption: *k* or the search options are invalid.
        ConfigurationError: The arguments are invalid, or *web* was given together with its arguments.

    Retrieving raises what `WebSearch.search` raises.

    """

    def __init__(
        self,
        *,
        web: WebSearch | None = None,
        k: int = 5,
        content: Extent = "snippet",
        max_length: int | None = None,
        node_parser: NodeParser | None = None,
        search_options: SearchOptions | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        **arguments: Unpack[CommonArguments],
    ) -> None:
        super().__init__(callback_manager=callback_manager, verbose=verbose)
        self.web: WebSearch = WebSearch.resolve(web, arguments)
        self.k: int = k
        self.content: Extent = content
        self.max_length: int | None = max_length
        self.node_parser: NodeParser | None = node_parser
        if content not in get_args(Extent):
            raise InvalidOption(f"content: {content!r} is not one of {', '.join(get_args(Extent))}")
        if max_length is not None:
            check_number("max_length", max_length, 1, InvalidOption)
        if not isinstance(search_options, Mapping | None):
            raise InvalidOption(f"search_options: must be a mapping, not {type(search_options).__name__}")
        self.search_options: SearchOptions = search_options or {}
        if {"limit", "max_results"} & set(self.search_options):
            raise InvalidOption("search_options: the limit is called k here")
        self.web.check_options(self.search_options)
        SearchQuery.of("anything", **self._options())  # reject wrong options now rather than in the first search

    def retrieve(self, str_or_query_bundle: QueryType, **unknown: object) -> list[NodeWithScore]:
        """
        Retrieve nodes.

        Args:
            str_or_query_bundle: The query.
            unknown: Not accepted; the constructor takes the options.

        Raises:
            InvalidOption: There was one.

        """
        _check_arguments(unknown)
        return super().retrieve(str_or_query_bundle)

    async def aretrieve(self, str_or_query_bundle: QueryType, **unknown: object) -> list[NodeWithScore]:
        """Async version of `retrieve`."""
        _check_arguments(unknown)
        return await super().aretrieve(str_or_query_bundle)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = _query_text(query_bundle)
        with report():
            response = self.web.search(query, **self._options())
            pages = self.web.read_many(self._urls(response), **self._part(query))
        return self._split(_nodes(response, pages))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = _query_text(query_bundle)
        with report():
            response = await self.web.asearch(query, **self._options())
            pages = await self.web.aread_many(self._urls(response), **self._part(query))
        nodes = _nodes(response, pages)
        return await asyncio.to_thread(self._split, nodes) if self.node_parser else nodes

    def _urls(self, response: SearchResponse) -> list[str]:
        return [] if self.content == "snippet" else [result.url for result in response.results]

    def _part(self, query: str) -> ReadOptions:
        if self.content == "page":
            return {"max_length": self.max_length or sys.maxsize}
        return {"query": query, "max_length": self.max_length}

    def _split(self, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
        if self.node_parser is None:
            return nodes
        parts: list[NodeWithScore] = []
        for whole in nodes:
            for n, part in enumerate(self.node_parser([whole.node]), 1):
                part.id_ = f"{whole.node.node_id}#{n}"
                shown = WebNode.model_construct(**dict(part)) if type(part) is TextNode else part
                parts.append(NodeWithScore(node=shown, score=whole.score))
        return parts

    def _options(self) -> SearchOptions:
        return {**self.search_options, "limit": self.k}


def _check_arguments(unknown: Mapping[str, object]) -> None:
    if unknown:
        names = ", ".join(sorted(unknown))
        raise InvalidOption(f"unknown arguments: {names}; pass k=... and search_options={{...}} to the constructor")


def _query_text(query: QueryBundle) -> str:
    """Return the text of *query*, without the prefix that `RetrieverTool` adds."""
    return query.query_str.removeprefix("\ninput is ").strip()


def _nodes(response: SearchResponse, pages: Sequence[Page | WebSearchError]) -> list[NodeWithScore]:
    """Make nodes from the results, and from their *pages* if they were read."""
    scores = [result.score for result in response.results]
    has_scores = None not in scores
    return [
        NodeWithScore(
            node=_node(result, pages[index] if pages else None),
            score=scores[index] if has_scores else 1 / (index + 1),
        )
        for index, result in enumerate(response.results)
    ]


def _node(result: SearchResult, page: Page | WebSearchError | None) -> TextNode:
    return WebNode(
        id_=result.url,
        text=make_text(result, page),
        metadata=make_metadata(result, page),  # pyright: ignore[reportCallIssue] - also by its name, as in TextNode
        excluded_llm_metadata_keys=LLM_EXCLUDED,
        excluded_embed_metadata_keys=EMBED_EXCLUDED,
    )
