"""The public names of the package, and the cost of importing it."""

from __future__ import annotations
import subprocess
import sys
from importlib.util import find_spec

import pytest

import langchain_websearch

NAMES = [
    "OpenPageTool", "WebPageCompressor", "WebPageLoader", "WebSearchMiddleware", "WebSearchRetriever",
    "WebSearchTool", "WebSearchToolkit",
    "collect_sources", "collect_usage", "to_document",
]  # fmt: skip


def python(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        timeout=200,
    ).stdout


def test_these_are_the_public_names():
    assert langchain_websearch.__all__ == NAMES
    assert set(NAMES) <= set(dir(langchain_websearch))
    assert [getattr(langchain_websearch, name).__name__ for name in NAMES] == NAMES


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(
        AttributeError,
        match=r"module 'langchain_websearch' has no attribute 'TavilySearch'",
    ):
        langchain_websearch.TavilySearch  # noqa: B018 - looking is the test


def test_importing_the_package_loads_nothing_until_it_is_used():
    heavy = (
        "langchain_core",
        "langsmith",
        "httpx",
        "httpx2",
        "pydantic",
        "websearch_core",
    )
    loaded = python(
        f"import langchain_websearch, sys; print([m for m in {heavy} if m in sys.modules])"
    )
    assert loaded.strip() == "[]"


def test_a_tool_loads_only_what_making_one_needs():
    loaded = python(
        "import sys, langchain_core.tools, langchain_core.retrievers; before = set(sys.modules)\n"
        "from langchain_websearch import WebSearchTool\n"
        "print(*sorted(set(sys.modules) - before))"
    ).split()
    assert "websearch_core.layers._retry" in loaded
    layers = "amounts budget cache caching depth fuse merge prices rerank robots shared_pace usage"
    rooms = (
        "_browser _cli _net _text.dates citations client._calls client._crawl client._enforce client._stream events._built_in index "
        "mcp otel provider._http providers ray reading render testing"
    )
    unused = {f"websearch_core.layers._{name}" for name in layers.split()}
    unused |= {f"websearch_core.{name}" for name in rooms.split()}
    assert [name for name in sorted(unused) if find_spec(name) is None] == [], (
        "no such modules"
    )
    libraries = {
        "bs4", "httpcore", "httpx", "httpx2", "langchain", "langgraph", "lxml", "markdownify", "pypdf", "redis",
        "selectolax", "sqlite3", "tomllib",
    }  # fmt: skip
    assert not (unused | libraries) & set(loaded)
