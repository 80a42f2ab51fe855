"""Our client and tool, and the tool of langchain-tavily, pointed at a server on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from langchain_core.tools import BaseTool

from langchain_websearch import WebSearchTool
from websearch_core import WebSearch
from websearch_core.layers import Layer

KEY = "tvly-not-a-key-of-anybody"
QUERY = "how to rotate a key"

# What WebSearch sends for QUERY; the bare clients send the same.
BODY = {"query": QUERY, "max_results": 5, "search_depth": "basic", "topic": "general"}
HEADERS = {"Authorization": f"Bearer {KEY}"}


def our_core(url: str, *, layers: Sequence[Layer] | None = ()) -> WebSearch:
    """Make a `WebSearch` with its defaults, except for the address and the *layers*."""
    return WebSearch("tavily", api_key=KEY, base_url=url, layers=layers)


def our_tool(url: str) -> BaseTool:
    """Make our LangChain tool with its defaults, except for the address."""
    return WebSearchTool(provider="tavily", api_key=KEY, base_url=url)


def their_tool(url: str) -> BaseTool:
    """Make the tool of langchain-tavily with its defaults, except for the address."""
    library: Any = import_module("langchain_tavily")  # `make lint` runs without it
    tool: BaseTool = library.TavilySearch(tavily_api_key=KEY, api_base_url=url, max_results=5)
    return tool
