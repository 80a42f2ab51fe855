"""The agents that the README files show, run with invented responses and a scripted
model.
"""

from __future__ import annotations
import ast
import importlib.util
import inspect
import re
from pathlib import Path

import pytest

from websearch_core.testing import SECRET, reply

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "How do I rotate a key?"
HIT = {
    "title": "Rotate a key",
    "url": "https://keys.example/rotate",
    "content": "How to rotate a key",
}
PAGE = "<title>Rotate a key</title><h1>Rotate a key</h1><p>To rotate a key, make a new one."
REQUESTED = ["https://api.tavily.com/search", HIT["url"]]


def example(words, folder="."):
    page = (ROOT / folder / "README.md").read_text("utf-8")
    return next(
        text
        for text in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        if words in text
    )


@pytest.fixture
def scripted():
    spec = importlib.util.spec_from_file_location(
        "scripted", ROOT / "examples" / "scripted.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def requested(monkeypatch):
    """Return the requested URLs; Tavily and the page answer."""
    requests = []

    def send(self, request):
        requests.append(request.url)
        return reply(PAGE if request.guarded else {"results": [HIT]})

    async def asend(self, request):
        return send(self, request)

    monkeypatch.setenv("TAVILY_API_KEY", SECRET)
    monkeypatch.setattr("websearch_core._net.sender.Sender.send", send)
    monkeypatch.setattr("websearch_core._net.sender.Sender.asend", asend)
    return requests


async def run(text, **names):
    code = compile(
        text,
        "README.md",
        "exec",
        flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
        dont_inherit=True,
    )
    done = eval(code, names)
    if inspect.isawaitable(done):
        await done


async def test_the_first_agent_searches_reads_and_answers(
    scripted, requested, monkeypatch, capsys
):
    monkeypatch.setattr(
        "langchain.agents.factory.init_chat_model", lambda _: scripted.ScriptedChat()
    )
    await run(
        example("create_agent").replace(
            "What changed in the last release of Python?", QUESTION
        )
    )

    assert requested == REQUESTED
    assert "make a new one" in capsys.readouterr().out


async def test_the_agent_of_langchain_searches_and_reads(
    scripted, requested, monkeypatch
):
    monkeypatch.setattr(
        "langchain.agents.factory.init_chat_model", lambda _: scripted.ScriptedChat()
    )
    await run(
        example("WebSearchMiddleware", "langchain_websearch").replace(
            "What changed in the last release of Python?", QUESTION
        )
    )

    assert requested == REQUESTED


@pytest.mark.filterwarnings(
    "ignore:.* attribute .*is deprecated:pydantic.warnings.PydanticDeprecationWarning"
)
async def test_the_agent_of_llamaindex_searches_and_reads(scripted, requested):
    await run(
        example("allow_text", "llamaindex_websearch"),
        llm=scripted.scripted_llm(),
        question=QUESTION,
    )

    assert requested == REQUESTED
