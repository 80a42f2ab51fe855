"""Other packages' clients with our MCP server, each with the SDK that it needs: `make
test-mcp` has LangChain's.
"""

from __future__ import annotations
import ast
import re
import sys
from pathlib import Path

import pytest

from websearch_core.render import find_error_code

pytest.importorskip("mcp", reason="the extra mcp is not installed")

SERVER = str(Path(__file__).with_name("demo_server.py"))
START = Path(__file__).resolve().parents[2] / "docs" / "start" / "mcp.md"
UVX = f"""#!{sys.executable}
import os, sys
command = ["--from", "websearch-core[mcp]", "websearch", "mcp"]
assert sys.argv[1:5] == command, sys.argv
assert os.environ["TAVILY_API_KEY"] == "..."
os.execv(sys.executable, [sys.executable, {SERVER!r}, *sys.argv[5:]])
"""
# sockets: for the event loop of a subprocess
pytestmark = [pytest.mark.apart, pytest.mark.enable_socket]


@pytest.fixture
def run_block(tmp_path, monkeypatch):
    """Run the block of the page that imports a module, with a ``uvx`` that starts the
    demo server.
    """
    if sys.platform == "win32":
        pytest.skip("Windows starts no script by its first line")

    async def run(module, **given):
        uvx = tmp_path / "uvx"
        uvx.write_text(UVX, "ascii")
        uvx.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
        blocks = re.findall(
            r"^```python\n(.*?)^```", START.read_text("utf-8"), re.MULTILINE | re.DOTALL
        )
        (block,) = [block for block in blocks if f"from {module}" in block]
        code = compile(
            block,
            str(START),
            "exec",
            flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
            dont_inherit=True,
        )
        await eval(code, given)
        return given

    return run


async def test_langchains_adapter_gets_texts_artifacts_and_errors():
    adapters = pytest.importorskip(
        "langchain_mcp_adapters.client", reason="needs mcp below 2: make test-mcp"
    )
    from langchain_mcp_adapters.tools import load_mcp_tools

    arguments = [SERVER, "--structured"]
    place = {"transport": "stdio", "command": sys.executable, "args": arguments}
    async with adapters.MultiServerMCPClient({"websearch": place}).session(
        "websearch"
    ) as session:
        search, page = await load_mcp_tools(session)
        found = await search.ainvoke(
            {
                "type": "tool_call",
                "id": "1",
                "name": "web_search",
                "args": {"query": "kelp"},
            }
        )
        facts = found.artifact["structured_content"]
        conversation = {"conversation": facts["conversation"]}
        opened = await page.ainvoke({"url": "[1]", **conversation})
        failed = await page.ainvoke(
            {
                "type": "tool_call",
                "id": "2",
                "name": "open_page",
                "args": {"url": "http://10.0.0.1/"},
            }
        )

    assert (search.name, page.name) == ("web_search", "open_page")
    assert "1. Kelp" in found.content[0]["text"]
    assert facts["sources"][0]["url"] == "https://sea.example/kelp"
    assert "brown alga" in opened[0]["text"]
    assert failed.status == "error"
    assert "ERROR [" in str(failed.content)
    assert find_error_code(failed) == "page_not_found"


async def test_an_agent_of_langchain_is_made_as_the_page_says(run_block):
    pytest.importorskip(
        "langchain_mcp_adapters", reason="needs mcp below 2: make test-mcp"
    )
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    from langchain_websearch import collect_sources

    class Model(GenericFakeChatModel):
        """Searches, then opens the first result in the same conversation."""

        def bind_tools(self, tools, **_):
            assert [tool.name for tool in tools] == ["web_search", "open_page"]
            return self

        def _generate(self, messages, *_, **__):
            handle = re.search(r"This is conversation (\w+)", str(messages))
            search = {"name": "web_search", "args": {"query": "kelp"}, "id": "1"}
            calls = [search]
            if handle is not None:
                sent = {"url": "[1]", "conversation": handle[1]}
                calls = [{"name": "open_page", "args": sent, "id": "2"}]
            message = AIMessage("", tool_calls=calls)
            if len(messages) > 3:
                message = AIMessage("A brown alga [1].")
            return ChatResult(generations=[ChatGeneration(message=message)])

    done = await run_block(
        "langchain_mcp_adapters", model=Model(messages=iter(())), question="Kelp?"
    )

    _, _, found, _, page, answer = done["answer"]["messages"]
    assert "1. Kelp" in str(found.content)
    assert "Cite as: [1]" in str(page.content)
    assert answer.content == "A brown alga [1]."
    (source,) = collect_sources(done["answer"])
    assert (source["id"], source["url"]) == (1, "https://sea.example/kelp")
    assert source["text"].startswith("Kelp")


async def test_tools_of_llamaindex_are_made_as_the_page_says_and_get_texts_and_errors(
    run_block,
):
    pytest.importorskip("llama_index.tools.mcp", reason="needs mcp 2")
    search, page = (await run_block("llama_index"))["tools"]
    found = await search.acall(query="kelp")
    # each call has a server of its own, which does not know this conversation
    handle = re.search(r"This is conversation (\w+)", str(found))[1]
    opened = await page.acall(url="https://sea.example/kelp", conversation=handle)
    failed = await page.acall(url="http://10.0.0.1/")

    assert (search.metadata.name, page.metadata.name) == ("web_search", "open_page")
    assert "1. Kelp" in str(found)
    assert "brown alga" in str(opened)
    assert "Cite as: [1001]" in str(opened)
    # the client shows a model all of a result: the text is in it once
    assert str(opened).count("Kelp is a brown alga") == 1
    assert "ERROR [" in str(failed)
