"""Web search for LangChain: two tools, a toolkit, a middleware for agents, a retriever,
a document loader and a document compressor.

::

    from langchain.agents import create_agent
    from langchain_websearch import WebSearchToolkit

    agent = create_agent(model, WebSearchToolkit().get_tools())

Importing this package is cheap: LangChain itself is loaded when a name is first used.
"""

from __future__ import annotations
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .compressor import WebPageCompressor
    from .loader import WebPageLoader, to_document
    from .middleware import WebSearchMiddleware
    from .retriever import WebSearchRetriever
    from .sources import collect_sources, collect_usage
    from .tools import OpenPageTool, WebSearchTool, WebSearchToolkit

    __version__: str

__all__ = [
    "OpenPageTool",
    "WebPageCompressor",
    "WebPageLoader",
    "WebSearchMiddleware",
    "WebSearchRetriever",
    "WebSearchTool",
    "WebSearchToolkit",
    "collect_sources",
    "collect_usage",
    "to_document",
]

_HOMES = {
    "OpenPageTool": ".tools",
    "WebPageCompressor": ".compressor",
    "WebPageLoader": ".loader",
    "WebSearchMiddleware": ".middleware",
    "WebSearchRetriever": ".retriever",
    "WebSearchTool": ".tools",
    "WebSearchToolkit": ".tools",
    "collect_sources": ".sources",
    "collect_usage": ".sources",
    "to_document": ".loader",
}

# hidden from type checkers: with a __getattr__, they would accept any name
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            value: object = version("langchain-websearch")
        elif name in _HOMES:
            # now, rather than in somebody's event loop
            import_module("websearch_core.client").preload()
            value = getattr(import_module(_HOMES[name], __name__), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return ["__version__", *__all__]
