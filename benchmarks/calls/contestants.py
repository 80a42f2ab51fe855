"""Ours and theirs, ready to search at a server of this machine."""

from __future__ import annotations

import importlib
from typing import Any

from langchain_core.tools import BaseTool

from langchain_websearch import WebSearchTool
from websearch_core import WebSearch

KEY = "tvly-not-a-key-of-anybody"
QUERY = "how to rotate a key"

# What WebSearch sends for QUERY, for the bare clients to send the same.
BODY = {"query": QUERY, "max_results": 5, "search_depth": "basic", "topic": "general"}
HEADERS = {"Authorization": f"Bearer {KEY}"}


def our_core(url: str) -> WebSearch:
    """Make a `WebSearch` as anybody would, but for the address."""
    return WebSearch("tavily", api_key=KEY, base_url=url)


def our_tool(url: str) -> BaseTool:
    """Make our LangChain tool as anybody would, but for the address."""
    return WebSearchTool(provider="tavily", api_key=KEY, base_url=url)


def their_tool(url: str) -> BaseTool:
    """
    Make the tool of langchain-tavily as anybody would, but for the address.

    Raises:
        SystemExit: It is not installed.

    """
    tool: BaseTool = _langchain_tavily().TavilySearch(tavily_api_key=KEY, api_base_url=url, max_results=5)
    return tool


def _langchain_tavily() -> Any:
    try:
        return importlib.import_module("langchain_tavily")
    except ImportError:
        raise SystemExit("langchain-tavily is not installed: run `make bench`") from None
