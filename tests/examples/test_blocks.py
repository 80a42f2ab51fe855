"""Every block of Python in the README files and in docs/ runs on its own, in a new
module.

Those of docs/start/mcp.md need a server, and are run by tests/e2e/test_mcp_clients.py.

Nothing is requested: services and pages answer with invented words. What a reader has
already, and a block only names, is given to it: a model, a question, a place for
checkpoints.
"""

from __future__ import annotations
import ast
import importlib.util
import inspect
import json
import re
import sys
import types
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from websearch_core.testing import SECRET, reply

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("docs/start/l*.md")),
    *sorted(ROOT.glob("*/README.md")),
]
BLOCKS = [
    pytest.param(page, block, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, block in enumerate(
        re.findall(
            r"^```python\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
        ),
        1,
    )
]
HIT = {
    "title": "Rotate a key",
    "url": "https://keys.example/rotate",
    "content": "To rotate a key, make a new one",
}
LINK = '<div class="web-result"><a class="result__a" href="https://docs.python.org/3/">Python</a></div>'
PAGE = "<title>Keys</title><h1>Keys</h1><p>To rotate a key, make a new one. Mind the grace period."


def answer(request):
    """Answer for any service, or with a page."""
    if request.guarded:
        return reply(PAGE)
    if "duckduckgo" in request.url:
        return reply(LINK)
    return reply({"results": [HIT], "web": {"results": [HIT]}, "type": "search"})


class Encoding:
    """What tiktoken would load from the network."""

    def encode(self, text, **_):
        return text.split()


@pytest.fixture
def offline(monkeypatch):
    async def answer_async(_, request):
        return answer(request)

    monkeypatch.setattr(
        "websearch_core._net.sender.Sender.send", lambda _, request: answer(request)
    )
    monkeypatch.setattr("websearch_core._net.sender.Sender.asend", answer_async)
    for name in ("TAVILY", "BRAVE", "EXA", "SERPER", "SERPAPI", "YDC", "FIRECRAWL"):
        monkeypatch.setenv(f"{name}_API_KEY", SECRET)
    monkeypatch.setattr("tiktoken.get_encoding", lambda _: Encoding())


@pytest.fixture(scope="module")
def scripted():
    spec = importlib.util.spec_from_file_location(
        "scripted", ROOT / "examples" / "scripted.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings(
    "ignore:.* attribute .*is deprecated:pydantic.warnings.PydanticDeprecationWarning"
)
@pytest.mark.parametrize(("page", "block"), BLOCKS)
async def test_a_block_runs_on_its_own(page, block, offline, scripted, monkeypatch):
    if "from deepagents import" in block:
        pytest.importorskip("deepagents", reason="needs deepagents: make test-models")
    module = types.ModuleType("block")
    monkeypatch.setitem(sys.modules, "block", module)
    # which are not installed here
    for name in ("llama_index.llms", "llama_index.llms.openai"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    vars(sys.modules["llama_index.llms.openai"])["OpenAI"] = lambda _: (
        scripted.scripted_llm()
    )
    monkeypatch.setattr(
        "langchain.agents.factory.init_chat_model", lambda _: scripted.ScriptedChat()
    )
    vars(module).update(
        model=scripted.ScriptedChat(),
        llm=scripted.scripted_llm(),
        question="How do I rotate a key?",
        checkpointer=InMemorySaver(),
    )

    code = compile(
        block,
        str(page),
        "exec",
        flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
        dont_inherit=True,
    )
    done = eval(code, vars(module))
    if inspect.isawaitable(done):
        await done


def test_the_pages_have_blocks():
    assert len(BLOCKS) > 20


def test_what_other_packages_become_is_code_that_works(offline):
    page = (ROOT / "docs" / "migration.md").read_text("utf-8")
    names: dict[str, object] = {
        "key": SECRET,
        "api_key": SECRET,
        "url": "https://searx.example",
        "q": "rotate a key",
    }
    statement = "from langchain_websearch import *; from llamaindex_websearch import WebPageReader, WebSearchToolSpec"
    exec(f"{statement}; from websearch_core import Credentials, Http, WebSearch", names)
    exec(
        "from websearch_core.layers import Throttle; from websearch_core.providers import SearXNG, Tavily",
        names,
    )
    cells = re.findall(r"^\| .+ \| (`.+?`)[^`|]*(?:`.*)? \|$", page, re.MULTILINE)
    now = [
        code
        for cell in cells
        for code in re.findall("`([^`]+)`", cell)
        if re.match(r"\w+\(", code)
    ]

    # the pairs of for-coding-agents.md are run by tests/migration/test_migration.py
    assert len(now) > 3
    for code in now:
        if not code.startswith("RetrieverQueryEngine"):  # made of one of these
            eval(
                code.replace("[...]", "['python.org']").replace(
                    "key=api_key", "key=key"
                ),
                names,
            )


def test_the_first_example_of_langchain_needs_only_what_its_install_line_names():
    page = (ROOT / "langchain_websearch" / "README.md").read_text("utf-8")
    installed = re.search(r"^pip install (.*)$", page, re.MULTILINE)[1].split()
    first = re.search(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[1]
    modules = {
        node.module.partition(".")[0]
        for node in ast.walk(ast.parse(first))
        if isinstance(node, ast.ImportFrom)
    }
    model = re.search('create_agent\\("(\\w+):', first)[1]

    needed = {name.replace("_", "-") for name in modules} | {f"langchain-{model}"}
    needed.discard("websearch-core")  # which langchain-websearch needs itself
    # the command, which the next lines use
    assert set(installed) == needed | {'"websearch-core[cli]"'}
    names = [node for node in ast.walk(ast.parse(first)) if isinstance(node, ast.Name)]
    made = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    assert {"model", "question", "checkpointer"}.isdisjoint(
        {node.id for node in names} - made
    )


def test_the_first_example_of_llamaindex_needs_only_what_its_install_line_names():
    page = (ROOT / "llamaindex_websearch" / "README.md").read_text("utf-8")
    installed = re.search(r"^pip install (.*)$", page, re.MULTILINE)[1].split()
    first = re.search(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[1]
    modules = [
        node.module.split(".")
        for node in ast.walk(ast.parse(first))
        if isinstance(node, ast.ImportFrom)
    ]

    needed = {
        "-".join(parts[: {"core": 2, "llms": 3}.get("".join(parts[1:2]), 1)])
        for parts in modules
    }
    assert set(installed) == {name.replace("_", "-") for name in needed} | {
        '"websearch-core[cli]"'
    }
    names = [node for node in ast.walk(ast.parse(first)) if isinstance(node, ast.Name)]
    made = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    assert {"llm", "question"}.isdisjoint({node.id for node in names} - made)


def test_langgraph_json_names_the_agent_of_the_block_before_it():
    page = (ROOT / "docs" / "langgraph.md").read_text("utf-8")
    block, config = re.search(
        r"```python\n([^`]*?)```[^`]*`agent.py`[^#]*?```json\n(.*?)```", page, re.DOTALL
    ).groups()
    written = json.loads(config)

    (graph,) = written["graphs"].values()
    file, _, name = graph.partition(":")
    assert file == "./agent.py"
    assert f"\n{name} = create_agent(" in block
    assert {"langchain-websearch", "langchain"} < set(written["dependencies"])


def test_query_pipelines_are_gone_as_the_page_says():
    assert "which llama-index-core no longer has" in (
        ROOT / "docs" / "migration.md"
    ).read_text("utf-8")
    assert importlib.util.find_spec("llama_index.core.query_pipeline") is None
