"""Measure what the definitions of the tools take of a model's context."""

from __future__ import annotations
import json
from importlib import import_module
from typing import Any

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from benchmarks.calls.contestants import KEY, their_tool
from benchmarks.calls.server import Server
from benchmarks.report import Goal, Section, Table
from langchain_websearch import WebSearchToolkit
from websearch_core.tools import SearchDefaults

_FIXED: SearchDefaults = {
    "topic": "news",
    "time_range": "week",
    "allowed_domains": ["python.org"],
    "unsupported": "note",
}
_MAX_CHARACTERS = 1_000  # 250 tokens of four characters


def measure(server: Server) -> Section:
    """Convert each tool to the function form of OpenAI, and count."""
    search, read = WebSearchToolkit(provider="duckduckgo").get_tools()
    fixed, _ = WebSearchToolkit(
        provider="duckduckgo", limit=3, search_options=_FIXED
    ).get_tools()
    library: Any = import_module("langchain_tavily")  # `make lint` runs without it
    theirs, their_extract = (
        their_tool(server.url),
        library.TavilyExtract(tavily_api_key=KEY),
    )
    tools: dict[str, BaseTool] = {
        "`WebSearchTool`": search,
        "`WebSearchTool` with four options fixed": fixed,
        "`OpenPageTool`": read,
        "`TavilySearch`": theirs,
        "`TavilyExtract`": their_extract,
    }
    lengths = {
        name: len(json.dumps(convert_to_openai_tool(tool)))
        for name, tool in tools.items()
    }
    rows = [
        (
            name,
            f"{lengths[name]:,}",
            str(len(tool.args)),
            "yes" if _has_union(tool) else "no",
        )
        for name, tool in tools.items()
    ]
    ours = lengths["`WebSearchTool`"] + lengths["`OpenPageTool`"]
    peers = lengths["`TavilySearch`"] + lengths["`TavilyExtract`"]
    return Section(
        title="Definitions of the tools",
        method=(
            "Characters of each tool's definition as JSON, as `convert_to_openai_tool` "
            "of langchain-core makes it. A "
            "model reads it in every turn. Unions (`anyOf`) are what some models and "
            "strict modes do not handle."
        ),
        tables=[Table(("", "characters", "arguments", "unions"), rows)],
        goals=[
            Goal(
                f"each definition has at most {_MAX_CHARACTERS:,} characters",
                f"{lengths['`WebSearchTool`']:,} and {lengths['`OpenPageTool`']:,}",
                max(lengths["`WebSearchTool`"], lengths["`OpenPageTool`"])
                <= _MAX_CHARACTERS,
            ),
            Goal(
                "both definitions together are shorter than those of langchain-tavily",
                f"{ours:,} against {peers:,} characters",
                ours < peers,
            ),
        ],
    )


def _has_union(tool: BaseTool) -> bool:
    return "anyOf" in json.dumps(convert_to_openai_tool(tool))
