"""
Search the web and read pages: one typed interface over many services, safe by default.

::

    from websearch_core import WebSearch

    web = WebSearch()
    for result in web.search("rotate a key", limit=3).results:
        print(result.title, result.url)
    print(web.read("https://docs.python.org/3/").content)

One import deeper: `websearch_core.errors` for everything that can go wrong, `websearch_core.layers` to compose
providers, `websearch_core.render` to show results to a model, `websearch_core.testing` to test providers of your own.
"""

from .client import WebSearch
from .errors import ServiceError, WebSearchError
from .models import Page, SearchQuery, SearchResponse, SearchResult
from .providers import register

__all__ = [
    "Page",
    "SearchQuery",
    "SearchResponse",
    "SearchResult",
    "ServiceError",
    "WebSearch",
    "WebSearchError",
    "register",
]
