"""The research agents, as a graph of LangGraph and as a workflow of LlamaIndex, and the
query engine.
"""

from __future__ import annotations
import importlib
import re
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from llama_index.core import Settings

from langchain_websearch import WebSearchToolkit
from llamaindex_websearch import WebSearchRetriever, WebSearchToolSpec
from websearch_core.testing import FakeWeb

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ANSWERS = {
    "How do I rotate a key without downtime?": (
        "To rotate a key without downtime, keep two versions valid at once and retire the old one only after every consumer has acknowledged the new one.",
        "/docs/rotation/",
    ),
    "How long may the overlap window of Harbor Keys be?": (
        "The overlap window may be between 1 minute and 72 hours; anything else is refused when the keeper starts.",
        "/docs/configuration/",
    ),
    "Which ferry runs on Sundays?": (
        "On Sundays only line 2 to Norrholm runs, with departures from Ellersund at 09:15, 12:15, 15:15 and 18:15.",
        "/ferries/",
    ),
}
pytestmark = [
    pytest.mark.enable_socket,
    pytest.mark.filterwarnings(
        "ignore:.* attribute .*is deprecated:pydantic.warnings.PydanticDeprecationWarning"
    ),
]
QUESTION = "How fast does kelp grow? How high is the tide?"
WEB = {
    "kelp": (
        "https://sea.example/kelp",
        "Giant kelp",
        "Giant kelp grows 60 centimetres a day in cold water.",
    ),
    "tide": (
        "https://sea.example/tide",
        "Tides",
        "The tide at Ellersund is 3.4 metres high in spring.",
    ),
}


@pytest.fixture
def fake():
    results = {
        f"*{word}*": [{"url": url, "title": title}]
        for word, (url, title, _) in WEB.items()
    }
    return FakeWeb(
        results=results,
        pages={url: f"# {title}\n\n{text}" for url, title, text in WEB.values()},
    )


@pytest.fixture(scope="module")
def demo_web():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLES)
        demo = importlib.import_module("demo")
    with demo.open_demo_web() as opened:
        yield opened


@pytest.fixture
def on_demo_web(demo_web, monkeypatch):
    """Return a function that makes a script use the site that the tests of this file
    share.
    """

    def replace(example):
        monkeypatch.setattr(example, "open_demo_web", lambda: nullcontext(demo_web))
        return example

    return replace


async def run_graph(load_example, fake, drafts=0):
    example = load_example("research_graph")

    class Careless(example.ScriptedChat):
        def _generate(self, messages, *_, **__):
            return ChatResult(generations=[ChatGeneration(message=answer(messages))])

    def answer(messages):
        reply = example.ScriptedChat()._generate(messages).generations[0].message
        if "Findings:" in messages[0].text:
            prompts.append(messages[0].text)
            if len(prompts) <= drafts:
                return AIMessage(reply.text.replace("60", "90"))
        return reply

    prompts: list[str] = []
    toolkit = WebSearchToolkit(provider=fake, provenance="seen")
    return await example.research(QUESTION, Careless(), toolkit), prompts


async def run_workflow(load_example, fake, drafts=0):
    example = load_example("research_workflow")
    llm = example.scripted_llm()
    respond = llm.response_generator

    def answer(messages, **options):
        reply = respond(messages, **options)
        if "Findings:" in messages[0].content:
            prompts.append(messages[0].content)
            if len(prompts) <= drafts:
                reply.content = reply.content.replace("60", "90")
        return reply

    prompts: list[str] = []
    llm.response_generator = answer
    spec = WebSearchToolSpec(provider=fake, provenance="seen")
    return await example.research(QUESTION, llm, spec), prompts


RUNS = [pytest.param(run_graph, id="graph"), pytest.param(run_workflow, id="workflow")]


@pytest.mark.parametrize("name", ["research_graph", "research_workflow"])
def test_the_report_answers_each_question_with_a_link_to_its_page(
    name, load_example, on_demo_web, capsys
):
    on_demo_web(load_example(name)).main()

    report = capsys.readouterr().out
    found = dict(re.findall(r"^(.+\?)\n(.+)$", report, re.MULTILINE))
    assert list(found) == list(ANSWERS)
    for question, (answer, path) in ANSWERS.items():
        assert re.fullmatch(
            rf"{re.escape(answer)} \[\d+\]\(http://127\.0\.0\.1:\d+{path}\)",
            found[question],
        )
    cited = re.findall(r"^- \[(\d+)\]", report, re.MULTILINE)
    # a number for each page, although three researchers found them
    assert len(set(cited)) == 3
    assert "Not confirmed" not in report


@pytest.mark.parametrize("run", RUNS)
async def test_the_questions_are_looked_up_by_agents_of_one_conversation(
    run, load_example, fake
):
    report, prompts = await run(load_example, fake)

    assert sorted(fake.queries) == ["How fast does kelp grow?", "How high is the tide?"]
    assert sorted(fake.urls) == sorted(url for url, _, _ in WEB.values())
    assert len(set(re.findall(r"\[(\d)\]\(https://sea\.example/", report))) == 2
    assert len(prompts) == 1


@pytest.mark.parametrize("run", RUNS)
async def test_a_figure_that_no_source_has_goes_back_to_the_writer(
    run, load_example, fake
):
    report, prompts = await run(load_example, fake, drafts=1)

    assert (
        "The last draft failed a check: Giant kelp grows 90 centimetres a day in cold water. (partial)"
        in prompts[1]
    )
    assert "60 centimetres" in report
    assert "90" not in report
    assert "Not confirmed" not in report


@pytest.mark.parametrize("run", RUNS)
async def test_what_is_still_not_in_the_sources_is_reported_as_such(
    run, load_example, fake
):
    report, prompts = await run(load_example, fake, drafts=9)

    assert len(prompts) == 2
    assert report.endswith(
        "\nNot confirmed: Giant kelp grows 90 centimetres a day in cold water. (partial)"
    )


def test_live_the_graph_asks_a_model_and_the_web_about_the_arguments(
    load_example, fake_web, fake, monkeypatch, capsys
):
    fake_web.results, fake_web.pages = fake.results, fake.pages
    example = load_example("research_graph")
    asked = []
    monkeypatch.setattr(
        example,
        "init_chat_model",
        lambda name: asked.append(name) or example.ScriptedChat(),
    )
    monkeypatch.setattr(sys, "argv", ["example", "How fast", "does kelp grow?"])
    example.main()

    assert asked == ["openai:gpt-5"]
    assert (
        "60 centimetres a day in cold water. [1](https://sea.example/kelp)"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize("name", ["research_workflow", "query_engine"])
def test_live_llamaindex_asks_its_model_and_the_web_about_the_arguments(
    name, load_example, fake_web, fake, monkeypatch, capsys
):
    fake_web.results, fake_web.pages = fake.results, fake.pages
    example = load_example(name)
    monkeypatch.setattr(Settings, "_llm", example.scripted_llm())
    monkeypatch.setattr(sys, "argv", ["example", "How fast", "does kelp grow?"])
    example.main()

    shown = capsys.readouterr().out
    assert "60 centimetres a day in cold water." in shown
    assert "https://sea.example/kelp" in shown


def test_a_query_engine_answers_from_the_passages_of_pages(load_example, fake):
    example = load_example("query_engine")

    shown = example.answer(
        QUESTION,
        example.scripted_llm(),
        WebSearchRetriever(provider=fake, content="passages"),
    )

    assert (
        shown
        == "Giant kelp grows 60 centimetres a day in cold water.\n\n- https://sea.example/kelp"
    )


def test_the_query_engine_finds_the_timetable_of_the_example_site(
    load_example, on_demo_web, capsys
):
    on_demo_web(load_example("query_engine")).main()

    answer, path = ANSWERS["Which ferry runs on Sundays?"]
    shown = capsys.readouterr().out
    assert shown.startswith(f"{answer}\n")
    assert re.search(rf"^- http://127\.0\.0\.1:\d+{path}$", shown, re.MULTILINE)
