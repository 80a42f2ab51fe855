"""Ollama: the web search that its cloud offers to accounts, and the texts of pages.

It runs at ollama.com whichever server runs the models. Results have no dates.
"""

from __future__ import annotations
from typing import Annotated, ClassVar

from websearch_core import provider as kit


@kit.provider
class Ollama:
    """Searches and reads with Ollama's web search.

    Args:
        api_key: From https://ollama.com/settings/keys.
        base_url: Where the API is.
    """

    name = "ollama"
    label = "Ollama web search"
    options: ClassVar[frozenset[str]] = frozenset()
    limits: ClassVar[kit.Limits] = kit.Limits(results_per_request=10, results=10)
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=("https://docs.ollama.com/capabilities/web-search",),
        signup_url="https://ollama.com/settings/keys",
        free_allowance="some with a free account",
        as_of="2026-11",
        compared="ollama 0.6.3, 2026-11-23",
    )

    api_key: Annotated[kit.Key, kit.Env("OLLAMA_API_KEY")] = kit.REQUIRED
    base_url: kit.BaseUrl = "https://ollama.com/api"

    def read(self, url: str, /) -> kit.Flow[kit.Page]:
        """Read the page at *url*."""
        payload = {"url": kit.serialize(url)}
        response = yield kit.post_json(self, "web_fetch", payload, target=url)
        body = kit.decode(response, self, verb="read")
        return kit.parse_page(
            self,
            url,
            body.get("content"),
            title=body.get("title"),
            links=kit.as_links(body.get("links")),
        )

    @kit.page_by_page
    def search(
        self, query: kit.SearchQuery, _: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Search."""
        payload = {"query": query.text, "max_results": size}
        response = yield kit.post_json(self, "web_search", payload, query)
        body = kit.decode(response, self)
        return kit.parse_search(self, query, body, snippet="content"), False
