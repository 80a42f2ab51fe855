"""Ellersund: the search of one website, ``examples/site``, served by
``examples/serve.py``.

https://ellersund.example/search.json

It takes no key and has no options. Its hits hold a path instead of a URL.
"""

from __future__ import annotations

from websearch_core import provider as kit


@kit.provider
class Ellersund:
    """Searches the site of the town of Ellersund.

    Args:
        base_url: Where the site is.
    """

    name = "ellersund"
    label = "Ellersund"
    options: frozenset[str] = frozenset()

    base_url: kit.BaseUrl = "http://127.0.0.1:8000"

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search the site."""
        kit.check_options(query, self)
        params = kit.with_extra({"q": query.text, "limit": query.limit}, query)
        response = yield kit.Request(url=f"{self.base_url}/search.json", params=params)
        body = kit.decode(response, self, detail=lambda failure: failure.get("error"))
        results = kit.parse_results(
            body.get("hits"),
            self.name,
            url=lambda hit: f"{self.base_url}{hit.get('path')}",
            snippet="excerpt",
        )
        return kit.SearchResponse(
            query=query.text, results=results, provider=self.name, raw=body
        )
