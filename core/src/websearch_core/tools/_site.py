"""The pages of a site, as the results of a search: a model is shown both alike."""

from __future__ import annotations
from urllib.parse import unquote, urlsplit

from ..client import WebSearch
from ..client._crawl import Crawl
from ..client._enforce import enforce_query
from ..models import SearchQuery, SearchResponse, SearchResult
from ._arguments import MAX_PAGES, SiteArguments


class Listing:
    """The list of the pages of a site that a model requested."""

    def __init__(self, web: WebSearch, url: str, request: SiteArguments) -> None:
        self._web = web
        self._url = url
        self._request = request
        self._limit = min(request.limit, MAX_PAGES)
        extent = {}
        if not request.contains:
            extent["limit"] = self._limit + 1  # to know whether there are more
        self._crawl = Crawl(web, url, extent, only_urls=True)

    def read(self) -> SearchResponse:
        """Read what lists the pages: the start, sitemaps and ``llms.txt``."""
        return self._describe(self._crawl.list_urls(self._crawl.rows()))

    async def aread(self) -> SearchResponse:
        """Do the same as `read` on the running event loop."""
        rows = [row async for row in self._crawl.arows()]
        return self._describe(self._crawl.list_urls(rows))

    def _describe(self, urls: list[str]) -> SearchResponse:
        name = self._web.reader.name
        words = self._request.contains.casefold().split()
        results: list[SearchResult] = []
        for url in urls:
            address = unquote(url).casefold()
            if all(word in address for word in words):
                results.append(
                    SearchResult(title=_name_page(url), url=url, provider=name)
                )
        response = SearchResponse(
            query=self._url, results=tuple(results), provider=name
        ).with_notes(*self._list_notes(len(results)))
        policy = self._web.settings.domains
        query = SearchQuery.of(
            self._url,
            limit=self._limit,
            allowed_domains=list(policy.allowed),
            blocked_domains=list(policy.blocked),
        )
        return enforce_query(response, query)

    def _list_notes(self, count: int) -> list[str]:
        notes = list(self._request.notes)
        if self._request.limit > MAX_PAGES:
            notes.append(f"limit: {MAX_PAGES} is the maximum here")
        if count > self._limit:
            notes.append("there are more pages: list a folder, or use contains")
        if not count:
            notes.append("no address of this site has all these words")
        if self._crawl.failed:
            notes.append("a part of the site cannot be read: pages may be missing")
        return notes


def _name_page(url: str) -> str:
    """Return the last part of an address, or the host if there is none."""
    parts = urlsplit(url)
    name = parts.path.rstrip("/").rpartition("/")[2]
    return name or parts.netloc
