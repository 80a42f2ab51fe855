"""Our client and tool, and the tool of langchain-tavily, pointed at a server on this
machine.
"""

from __future__ import annotations
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from langchain_core.tools import BaseTool

from benchmarks.calls.asked import BODY, HEADERS, KEY, QUERY
from langchain_websearch import WebSearchTool
from websearch_core import WebSearch
from websearch_core.layers import Layer

__all__ = ["BODY", "HEADERS", "KEY", "QUERY", "our_core", "our_tool", "their_tool"]


def our_core(url: str, *, layers: Sequence[Layer] | None = ()) -> WebSearch:
    """Make a `WebSearch` with its defaults, except for the address and the *layers*."""
    return WebSearch("tavily", api_key=KEY, base_url=url, layers=layers)


def our_tool(url: str) -> BaseTool:
    """Make our LangChain tool with its defaults, except for the address."""
    return WebSearchTool(provider="tavily", api_key=KEY, base_url=url)


def their_tool(url: str) -> BaseTool:
    """Make the tool of langchain-tavily with its defaults, except for the address."""
    library: Any = import_module("langchain_tavily")  # `make lint` runs without it
    tool: BaseTool = library.TavilySearch(
        tavily_api_key=KEY, api_base_url=url, max_results=5
    )
    return tool
