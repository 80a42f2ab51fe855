"""The providers: their classes, and what is known about each.

::

    from websearch_core.providers import Brave, get_configured

    web = WebSearch(Brave(api_key="..."))
    [info.label for info in get_configured()]

Each service is one file, imported when its provider is first used. Other packages
register providers through the entry-point group ``websearch_core.providers`` (name =
"module:Class"); `register` does so for the running process.
"""

from __future__ import annotations
from typing import TYPE_CHECKING

from .._registry import known, provider_class, register
from .._runtime.lazy import importer
from ._info import ProviderInfo, get, get_all, get_configured, get_default

if TYPE_CHECKING:
    from .arxiv import ArXiv
    from .brave import Brave
    from .browser import Browser
    from .crawl4ai import Crawl4ai
    from .crossref import Crossref
    from .ddgs import Ddgs
    from .direct import Direct
    from .duckduckgo import DuckDuckGo
    from .exa import Exa
    from .external import External
    from .firecrawl import Firecrawl
    from .github import GitHub
    from .hackernews import HackerNews
    from .jina import Jina
    from .kagi import Kagi
    from .keenable import Keenable
    from .linkup import Linkup
    from .local import Local
    from .marginalia import Marginalia
    from .mojeek import Mojeek
    from .ollama import Ollama
    from .openalex import OpenAlex
    from .parallel import Parallel
    from .perplexity import Perplexity
    from .searchapi import SearchApi
    from .searxng import SearXNG
    from .semanticscholar import SemanticScholar
    from .serpapi import SerpApi
    from .serper import Serper
    from .stackexchange import StackExchange
    from .tavily import Tavily
    from .wayback import Wayback
    from .wikipedia import Wikipedia
    from .you import You

__all__ = [
    "ArXiv", "Brave", "Browser", "Crawl4ai", "Crossref", "Ddgs", "Direct", "DuckDuckGo",
    "Exa", "External", "Firecrawl", "GitHub", "HackerNews", "Jina", "Kagi", "Keenable",
    "Linkup", "Local", "Marginalia", "Mojeek", "Ollama", "OpenAlex", "Parallel",
    "Perplexity", "ProviderInfo", "SearXNG", "SearchApi", "SemanticScholar", "SerpApi",
    "Serper", "StackExchange", "Tavily", "Wayback", "Wikipedia", "You", "get",
    "get_all", "get_configured", "get_default", "known", "provider_class", "register",
]  # fmt: skip

# hidden from type checkers: with a __getattr__, they would accept any name
if not TYPE_CHECKING:
    from .._registry import built_in

    __getattr__ = importer(__name__, built_in())


def __dir__() -> list[str]:
    return list(__all__)
