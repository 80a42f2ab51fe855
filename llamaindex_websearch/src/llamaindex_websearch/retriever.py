"""A retriever that searches the web, for LlamaIndex query engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType, TextNode

from websearch_core import Page, SearchQuery, SearchResponse, SearchResult, WebSearch, WebSearchError
from websearch_core.client import CommonArguments
from websearch_core.errors import InvalidOption
from websearch_core.models import SearchOptions
from websearch_core.render import page_metadata, result_metadata

from .documents import EMBED_EXCLUDED, LLM_EXCLUDED


class WebSearchRetriever(BaseRetriever):
    """
    Retrieves the results of a web search.

    ::

        engine = RetrieverQueryEngine.from_args(WebSearchRetriever(provider="tavily", k=8), llm=llm)

    A node has the URL as its id, the snippet as its text, and url, title and everything else known as metadata; models
    are shown only the part that they can use. Its score is the service's own if the service scores every result of the
    response, else one over the rank: 1, 0.5, 0.33 and so on. Neither is comparable between services.

    Args:
        web: The `WebSearch` to search with.
        k: Maximum number of results.
        read_pages: Read the pages in parallel and use their text instead of the snippets. A page that cannot be read
            keeps its snippet, and its metadata has the code of the error as ``read_error``.
        max_length: Maximum number of characters per page; 15,000 unless set otherwise. Of a longer page, the passages
            that answer the query best are kept.
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
        read_pages: bool = False,
        max_length: int | None = None,
        search_options: SearchOptions | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        **arguments: Unpack[CommonArguments],
    ) -> None:
        super().__init__(callback_manager=callback_manager, verbose=verbose)
        self.web: WebSearch = WebSearch.resolve(web, arguments)
        self.k: int = k
        self.read_pages: bool = read_pages
        self.max_length: int | None = max_length
        self.search_options: SearchOptions = search_options or {}
        if {"limit", "max_results"} & set(self.search_options):
            raise InvalidOption("search_options: the limit is called k here")
        SearchQuery.of("anything", **self._options())  # reject wrong options now rather than in the first search

    def retrieve(self, str_or_query_bundle: QueryType, **unknown: object) -> list[NodeWithScore]:
        """
        Retrieve nodes.

        Args:
            str_or_query_bundle: The query.
            unknown: There are no other arguments; the constructor takes the options.

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
        response = self.web.search(_query_text(query_bundle), **self._options())
        urls = _urls(response) if self.read_pages else []
        return _nodes(response, self.web.read_many(urls, query=_query_text(query_bundle), max_length=self.max_length))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        response = await self.web.asearch(_query_text(query_bundle), **self._options())
        urls = _urls(response) if self.read_pages else []
        pages = await self.web.aread_many(urls, query=_query_text(query_bundle), max_length=self.max_length)
        return _nodes(response, pages)

    def _options(self) -> SearchOptions:
        return {**self.search_options, "limit": self.k}


def _check_arguments(unknown: Mapping[str, object]) -> None:
    if unknown:
        names = ", ".join(sorted(unknown))
        raise InvalidOption(f"unknown arguments: {names}; pass k=... and search_options={{...}} to the constructor")


def _query_text(query: QueryBundle) -> str:
    """Return the text of *query*, without the prefix that `RetrieverTool` adds."""
    return query.query_str.removeprefix("\ninput is ").strip()


def _urls(response: SearchResponse) -> list[str]:
    return [result.url for result in response.results]


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
    metadata = result_metadata(result)
    text = result.snippet or result.title
    if isinstance(page, Page) and page.content:
        metadata, text = {**page_metadata(page), **metadata}, page.content
    elif isinstance(page, WebSearchError):
        metadata["read_error"] = page.code
    return TextNode(
        id_=result.url,
        text=text,
        metadata=metadata,
        excluded_llm_metadata_keys=LLM_EXCLUDED,
        excluded_embed_metadata_keys=EMBED_EXCLUDED,
    )
