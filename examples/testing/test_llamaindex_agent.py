"""Test your LlamaIndex agent without the web: ``pytest examples/testing``. See
`test_langchain_agent` for more.
"""

from __future__ import annotations
import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from scripted import scripted_llm

from llamaindex_websearch import WebSearchToolSpec
from websearch_core.testing import FakeWeb

PAGE = "https://keys.example/rotation"


async def answer(question: str, provider: str | FakeWeb = "tavily") -> str:
    """Stand in for your application: it makes its own tools, and returns what its agent
    said.
    """
    spec = WebSearchToolSpec(provider=provider)
    return str(
        await FunctionAgent(llm=scripted_llm(), tools=spec.to_tool_list()).run(question)
    )


def test_the_agent_reads_the_right_page_and_cites_it(fake_web: FakeWeb) -> None:
    fake_web.results = [
        {"title": "Rotate a key", "url": PAGE, "snippet": "How to rotate a key."}
    ]
    fake_web.pages[PAGE] = (
        "<title>Rotation</title><p>To rotate a key, keep two versions valid. Prices "
        "are elsewhere."
    )

    assert (
        asyncio.run(answer("How do I rotate a key?"))
        == "To rotate a key, keep two versions valid. [1]"
    )
    assert fake_web.queries == ["How do I rotate a key?"]
    assert fake_web.urls == [PAGE]


def test_a_web_can_also_be_passed_as_the_provider() -> None:
    web = FakeWeb(
        results=[{"title": "Rotate a key", "url": PAGE}],
        pages={PAGE: "To rotate a key, keep two versions valid."},
        delay=0.01,
    )

    assert asyncio.run(answer("How do I rotate a key?", web)).endswith("[1]")
    assert len(web.urls) == 1
