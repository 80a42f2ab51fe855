"""Test your LangChain agent without the web: ``pytest examples/testing``.

``fake_web`` comes with websearch-core. Replace `answer` with your own function,
and your model in the place of the scripted one.
"""

from __future__ import annotations

from langchain.agents import create_agent
from scripted import ScriptedChat

from langchain_websearch import WebSearchToolkit
from websearch_core.errors import RateLimited
from websearch_core.testing import FakeWeb

PAGE = "https://keys.example/rotation"


def answer(question: str) -> list[str]:
    """Stand in for your application: it makes its own tools, and returns what its agent
    said, last.
    """
    tools = WebSearchToolkit(provider="tavily", provenance="seen", retry=2).get_tools()
    state = create_agent(ScriptedChat(), tools).invoke(
        {"messages": [{"role": "user", "content": question}]}
    )
    return [str(message.content) for message in state["messages"] if message.content]


def test_the_agent_reads_the_right_page_and_cites_it(fake_web: FakeWeb) -> None:
    fake_web.results = [
        {"title": "Prices", "url": "https://keys.example/prices"},
        {"title": "Rotate a key", "url": PAGE, "snippet": "How to rotate a key."},
    ]
    fake_web.pages[PAGE] = (
        "# Rotation\n\nTo rotate a key, keep two versions valid. Prices are elsewhere."
    )

    said = answer("How do I rotate a key?")

    assert said[-1] == "To rotate a key, keep two versions valid. [2]"
    assert fake_web.queries == ["How do I rotate a key?"]
    assert fake_web.urls == [PAGE]


def test_the_agent_survives_a_rate_limit(fake_web: FakeWeb) -> None:
    fake_web.results = [{"title": "Rotate a key", "url": PAGE}]
    fake_web.pages[PAGE] = "To rotate a key, make a new one."
    fake_web.errors["*"] = [
        RateLimited("tavily search failed: 429", retry_after=0.01),
        None,
    ]

    assert answer("How do I rotate a key?")[-1].endswith("[1]")
    assert len(fake_web.queries) == 2  # the request was sent again


def test_the_model_is_told_when_a_page_is_gone(fake_web: FakeWeb) -> None:
    fake_web.results = [{"title": "Rotate a key", "url": PAGE}]

    assert any(
        text.startswith("ERROR [page_not_found]")
        for text in answer("How do I rotate a key?")
    )
