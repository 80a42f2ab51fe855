"""
Web search for LangChain: two tools, a toolkit, a retriever and a document loader.

::

    from langchain.agents import create_agent
    from langchain_websearch import WebSearchToolkit

    agent = create_agent(model, WebSearchToolkit().get_tools())

Importing this package is cheap: LangChain itself is loaded when one of the names is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .loader import WebPageLoader
    from .retriever import WebSearchRetriever
    from .tools import OpenPageTool, WebSearchTool, WebSearchToolkit

__all__ = ["OpenPageTool", "WebPageLoader", "WebSearchRetriever", "WebSearchTool", "WebSearchToolkit"]

_HOMES = {
    "OpenPageTool": ".tools",
    "WebPageLoader": ".loader",
    "WebSearchRetriever": ".retriever",
    "WebSearchTool": ".tools",
    "WebSearchToolkit": ".tools",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
