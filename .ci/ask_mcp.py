"""Start a server of MCP and use it as a host does: python .ci/ask_mcp.py COMMAND."""

from __future__ import annotations
import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(command: str) -> None:
    """List the tools, and open a page that no model may open."""
    server = StdioServerParameters(command=command, args=["mcp"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as one:
        await one.initialize()
        names = sorted(tool.name for tool in (await one.list_tools()).tools)
        assert names == ["open_page", "web_search"], names
        answer = await one.call_tool("open_page", {"url": "http://127.0.0.1/"})
        text = answer.content[0].text
        assert "ERROR [unsafe_url]" in text, text


asyncio.run(main(sys.argv[1]))
