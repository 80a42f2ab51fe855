"""
Ollama: the web search that its cloud offers to accounts, and the texts of pages.

Compared with its SDK, ``ollama`` 0.6.3, and the page of its API on 2026-11-23. It runs at ollama.com whichever server
runs the models, and needs a key of an account, which may be a free one. A search has no filters and at most ten
results, without dates.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, ClassVar

from websearch_core._text.urls import serialize
from websearch_core.provider import (
    BaseUrl,
    Env,
    Flow,
    Key,
    Limits,
    Page,
    SearchQuery,
    SearchResponse,
    Service,
    check_options,
    collect_pages,
    decode,
    parse_page,
    parse_results,
    post_json,
    provider,
    with_extra,
)
from websearch_core.provider._http import bearer
from websearch_core.provider._reading import as_links
from websearch_core.provider._results import take_results

_MAX_RESULTS = 10


@provider
class Ollama:
    """
    Searches and reads with Ollama's web search.

    Args:
        api_key: From https://ollama.com/settings/keys.
        base_url: Where the API is.

    """

    name = "ollama"
    label = "Ollama web search"
    options: ClassVar[frozenset[str]] = frozenset()
    limits: ClassVar[Limits] = Limits(results_per_request=_MAX_RESULTS, results=_MAX_RESULTS)
    about: ClassVar[Service] = Service(
        api_urls=("https://docs.ollama.com/capabilities/web-search",),
        signup_url="https://ollama.com/settings/keys",
        free_allowance="some with a free account",
        as_of="2026-11",
    )

    api_key: Annotated[Key, Env("OLLAMA_API_KEY")]
    base_url: BaseUrl = "https://ollama.com/api"

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search."""
        check_options(query, self)
        return (yield from collect_pages(query, self, partial(self._page, query)))

    def read(self, url: str, /) -> Flow[Page]:
        """Read the page at *url*."""
        payload = {"url": serialize(url)}
        body = decode(
            (yield post_json(self, "web_fetch", payload, headers=bearer(self.api_key), target=url)), self, verb="read"
        )
        return parse_page(self, url, body.get("content"), title=body.get("title"), links=as_links(body.get("links")))

    def _page(self, query: SearchQuery, _: int, size: int) -> Flow[tuple[SearchResponse, bool]]:
        payload = with_extra({"query": query.text, "max_results": size}, query)
        body = decode((yield post_json(self, "web_search", payload, headers=bearer(self.api_key))), self)
        items, notes = take_results(body, self.name)
        results = parse_results(items, self.name, snippet="content")
        return SearchResponse(query=query.text, results=results, provider=self.name, notes=notes, raw=body), False
