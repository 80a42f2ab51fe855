"""The web as the index of a LlamaIndex query engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from websearch_core import Page, SearchQuery, SearchResponse, SearchResult, WebSearch, WebSearchError
from websearch_core.client import WebSearchArguments
from websearch_core.errors import InvalidOption
from websearch_core.models import SearchOptions
from websearch_core.render import page_metadata, result_metadata

from .documents import EMBED_EXCLUDED, LLM_EXCLUDED


class WebSearchRetriever(BaseRetriever):
    """
    Retrieves what a web search finds.

    ::

        engine = RetrieverQueryEngine.from_args(WebSearchRetriever(provider="tavily", k=8), llm=llm)

    A node has the URL as its id, the snippet as its text, and url, title and whatever else is known as metadata, of
    which a model is shown what it can use. Its score is the service's own if the service scores every result of the
    response, else one over the rank: 1, 0.5, 0.33 and so on. Neither is comparable between services.

    Args:
        web: Whom to ask.
        k: How many results at most.
        read_pages: Read the pages found, side by side, and make their text the nodes'. A page that cannot be read
            keeps its snippet, and the ``read_error`` in its metadata says why.
        max_length: Characters of a page to keep at most; 15,000 unless set otherwise. Of a longer one the passages
            that answer the query best are kept.
        search_options: More fields of `SearchQuery`: ``allowed_domains``, ``time_range``, ``country`` and so on.
        callback_manager: For the events of LlamaIndex.
        verbose: For the output of LlamaIndex.
        arguments: The arguments of `WebSearch`, instead of *web*.

    Raises:
        InvalidOption: *k* or the search options make no sense.
        ConfigurationError: Both *web* and arguments of its own were given, or the arguments are wrong.

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
        **arguments: Unpack[WebSearchArguments],
    ) -> None:
        super().__init__(callback_manager=callback_manager, verbose=verbose)
        self.web: WebSearch = WebSearch.resolve(web, arguments)
        self.k: int = k
        self.read_pages: bool = read_pages
        self.max_length: int | None = max_length
        self.search_options: SearchOptions = search_options or {}
        if "limit" in self.search_options:
            raise InvalidOption("search_options: the limit is called k here")
        SearchQuery.of("anything", **self._options())  # tell what is wrong now rather than at the first search

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        response = self.web.search(_words(query_bundle), **self._options())
        urls = _urls(response) if self.read_pages else []
        return _nodes(response, self.web.read_many(urls, query=_words(query_bundle), max_length=self.max_length))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        response = await self.web.asearch(_words(query_bundle), **self._options())
        urls = _urls(response) if self.read_pages else []
        pages = await self.web.aread_many(urls, query=_words(query_bundle), max_length=self.max_length)
        return _nodes(response, pages)

    def _options(self) -> SearchOptions:
        return {**self.search_options, "limit": self.k}


def _words(query: QueryBundle) -> str:
    """Take off what `RetrieverTool` puts before the words of a model."""
    return query.query_str.removeprefix("\ninput is ").strip()


def _urls(response: SearchResponse) -> list[str]:
    return [result.url for result in response.results]


def _nodes(response: SearchResponse, pages: Sequence[Page | WebSearchError]) -> list[NodeWithScore]:
    """Make nodes of the results, and of their *pages* if those were read."""
    scores = [result.score for result in response.results]
    scored = None not in scores
    return [
        NodeWithScore(
            node=_node(result, pages[place] if pages else None),
            score=scores[place] if scored else 1 / (place + 1),
        )
        for place, result in enumerate(response.results)
    ]


def _node(result: SearchResult, page: Page | WebSearchError | None) -> TextNode:
    facts = result_metadata(result)
    text = result.snippet or result.title
    if isinstance(page, Page) and page.content:
        facts, text = {**page_metadata(page), **facts}, page.content
    elif isinstance(page, WebSearchError):
        facts["read_error"] = page.code
    return TextNode(
        id_=result.url,
        text=text,
        metadata=facts,
        excluded_llm_metadata_keys=LLM_EXCLUDED,
        excluded_embed_metadata_keys=EMBED_EXCLUDED,
    )
