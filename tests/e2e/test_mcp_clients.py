"""Other packages' clients with our MCP server, each with the SDK that it needs: `make test-mcp` has LangChain's."""

from __future__ import annotations
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

SERVER = str(Path(__file__).with_name("demo_server.py"))
pytestmark = pytest.mark.enable_socket  # the event loop of a subprocess


async def test_langchains_adapter_gets_texts_artifacts_and_errors():
    adapters = pytest.importorskip("langchain_mcp_adapters.client", reason="needs mcp below 2: make test-mcp")
    from langchain_mcp_adapters.tools import load_mcp_tools

    place = {"transport": "stdio", "command": sys.executable, "args": [SERVER]}
    async with adapters.MultiServerMCPClient({"websearch": place}).session("websearch") as session:
        search, page = await load_mcp_tools(session)
        found = await search.ainvoke({"type": "tool_call", "id": "1", "name": "web_search", "args": {"query": "kelp"}})
        facts = found.artifact["structured_content"]
        conversation = {"conversation": facts["conversation"]}
        opened = await page.ainvoke({"url": "[1]", **conversation})
        failed = await page.ainvoke(
            {"type": "tool_call", "id": "2", "name": "open_page", "args": {"url": "http://10.0.0.1/"}}
        )

    assert (search.name, page.name) == ("web_search", "open_page")
    assert "1. Kelp" in found.content[0]["text"]
    assert facts["sources"][0]["url"] == "https://sea.example/kelp"
    assert "brown alga" in opened[0]["text"]
    assert failed.status == "error"
    assert "ERROR [" in str(failed.content)


async def test_llamaindexs_tools_get_texts_and_errors():
    tools = pytest.importorskip("llama_index.tools.mcp", reason="needs mcp 2")
    spec = tools.McpToolSpec(client=tools.BasicMCPClient(sys.executable, args=[SERVER]))
    search, page = await spec.to_tool_list_async()
    found = await search.acall(query="kelp")
    failed = await page.acall(url="http://10.0.0.1/")

    assert (search.metadata.name, page.metadata.name) == ("web_search", "open_page")
    assert "1. Kelp" in str(found)
    assert "ERROR [" in str(failed)
