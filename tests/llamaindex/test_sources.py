"""Sources have one number in the conversation of a context, also after it was
restored.
"""

import asyncio
import json

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.tools import QueryEngineTool
from llama_index.core.workflow import Context, StartEvent, StopEvent, Workflow, step
from pydantic import BaseModel
from workflows.context.state_store import DictState

from llamaindex_websearch import (
    WebSearchRetriever,
    WebSearchToolSpec,
    collect_sources,
    collect_usage,
)
from websearch_core import SearchResult
from websearch_core.citations import unknown_citations

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{warning}")  # caused by LlamaIndex itself
    for warning in (
        ".* attribute .*is deprecated:pydantic.warnings.PydanticDeprecationWarning",
        "Skipping serialization of known unserializable key. memory",
        "is_running called from within a step:DeprecationWarning",
    )
]

KELP, DULSE, LOST, OTHER = (
    f"https://sea.example/{name}" for name in ("kelp", "dulse", "lost", "other")
)
SEARCH = ("web_search", {"query": "kelp"})


def opening(url):
    return ("open_page", {"url": url})


def make_spec(sea, **options):
    kelp, other = "# Kelp\n\nKelp grows.", "# Other\n\nRed."
    # the last two are where redirects end
    pages = {KELP: kelp, OTHER: other, f"{KELP}/": kelp, f"{OTHER}/": other}
    return WebSearchToolSpec(web=sea(pages=pages), **options)


@pytest.fixture
def run(scripted, followed):
    async def one(spec, *turns, ctx=None):
        agent = FunctionAgent(
            tools=spec.to_tool_list(), llm=scripted(*turns, "done"), streaming=False
        )
        ctx = ctx or Context(agent)
        _, outputs = await followed(agent.run("Go on.", ctx=ctx))
        return ctx, agent, outputs

    return one


async def test_the_usage_of_a_run_adds_up_its_outputs(run, sea):
    _, _, outputs = await run(make_spec(sea), SEARCH, opening(KELP))
    usage = collect_usage(outputs)

    assert usage["calls"] == 2
    assert usage == collect_usage([*outputs, object()])


def numbers(outputs):
    return [
        (one.metadata["url"].rstrip("/"), one.metadata["citation_id"])
        for out in outputs
        for one in out.raw_output
    ]


async def test_a_page_has_one_number_in_a_conversation(sea, run):
    ctx, _, outputs = await run(
        make_spec(sea), opening(OTHER), SEARCH, opening(KELP), SEARCH
    )

    assert dict(numbers(outputs)) == {OTHER: 1, KELP: 2, DULSE: 3, LOST: 4}
    assert len(set(numbers(outputs))) == 4
    assert "2. Kelp — https://sea.example/kelp" in outputs[1].content
    assert "\nCite as: [2]\n" in outputs[2].content
    assert await ctx.store.get("websearch_sources")


async def test_a_context_that_is_restored_in_another_process_keeps_its_numbers(
    sea, run
):
    ctx, agent, _ = await run(make_spec(sea), opening(OTHER), SEARCH)
    stored = json.dumps(ctx.to_dict())
    _, _, outputs = await run(
        make_spec(sea),
        SEARCH,
        opening(OTHER),
        ctx=Context.from_dict(agent, json.loads(stored)),
    )

    assert dict(numbers(outputs)) == {OTHER: 1, KELP: 2, DULSE: 3, LOST: 4}
    assert len(stored) < 20_000


@pytest.mark.parametrize(
    ("said", "first"),
    [("Kelp grows fast [7], says [2].", 8), ("Kelp grows fast.", 1)],
)
async def test_a_number_in_the_history_of_a_chat_is_given_to_no_other_page(
    sea, scripted, followed, said, first
):
    spec = make_spec(sea)
    agent = FunctionAgent(
        tools=spec.to_tool_list(),
        llm=scripted(SEARCH, "done", opening(OTHER), "done"),
        streaming=False,
    )
    history = [ChatMessage("How fast is kelp?"), ChatMessage(said, role="assistant")]
    ctx = Context(agent)
    running = agent.run("Go on.", ctx=ctx, chat_history=history)
    _, outputs = await followed(running)
    _, more = await followed(agent.run("Go on.", ctx=ctx))

    given = dict(numbers([*outputs, *more]))
    assert given == {KELP: first, DULSE: first + 1, LOST: first + 2, OTHER: first + 3}


async def test_contexts_have_numbers_of_their_own(sea, run):
    spec = make_spec(sea)
    _, _, first = await run(spec, opening(OTHER), SEARCH)
    _, _, second = await run(spec, SEARCH)

    assert dict(numbers(second)) == {KELP: 1, DULSE: 2, LOST: 3}
    assert dict(numbers(first))[KELP] == 2


async def test_outside_workflows_a_spec_has_one_numbering(sea):
    spec = make_spec(sea)
    spec.open_page(OTHER)

    assert [one.metadata["citation_id"] for one in spec.web_search("kelp")] == [2, 3, 4]
    assert [one.metadata["citation_id"] for one in await spec.aweb_search("kelp")] == [
        2,
        3,
        4,
    ]
    assert [one.metadata["read"] for one in await spec.aopen_page(KELP)] == [True]


class Closed(BaseModel):
    question: str = ""


@pytest.mark.parametrize("state", [DictState, Closed])
async def test_a_custom_workflow_has_numbers_blocking_and_async_and_in_parallel(
    sea, state
):
    spec = make_spec(sea)

    class Read(Workflow):
        """Calls the tools blocking and async."""

        @step
        async def read(self, ctx: Context[state], ev: StartEvent) -> StopEvent:
            first = spec.open_page(OTHER)
            found = await asyncio.gather(
                spec.aweb_search("kelp"),
                spec.aopen_page(KELP),
                spec.aweb_search("dulse"),
            )
            again = await spec.aopen_page(OTHER)
            return StopEvent(result=[first, *found, again])

    workflow = Read()
    pages = [
        one
        for documents in await workflow.run(ctx=Context(workflow))
        for one in documents
    ]
    given = {
        (one.metadata["url"].rstrip("/"), one.metadata["citation_id"]) for one in pages
    }
    assert (
        len(given)
        == len({url for url, _ in given})
        == len({number for _, number in given})
        == 4
    )
    other = [one for documents in await workflow.run() for one in documents]
    assert other[0].metadata["citation_id"] == 1  # a context of its own


async def test_sources_are_collected_with_what_the_model_was_shown(sea, run):
    _, _, outputs = await run(
        make_spec(sea), SEARCH, opening(KELP), ("web_search", {"wrong": 1})
    )

    kelp, dulse, lost = collect_sources(outputs)
    assert (kelp["id"], kelp["url"], kelp["read"]) == (1, f"{KELP}/", True)
    assert "Kelp is a brown alga." in kelp["text"]
    assert "Kelp grows." in kelp["text"]
    assert (dulse["read"], dulse["text"], dulse["published"][:4]) == (
        False,
        "Dulse is red.",
        "2026",
    )
    assert unknown_citations("So [3], so [4].", [kelp, dulse, lost]) == [4]


async def test_the_raw_output_is_small(sea):
    found = tuple(
        SearchResult(
            title=f"T{n}", url=f"{KELP}/{n}", snippet="Kelp. " * 900, raw="x" * 9_000
        )
        for n in range(20)
    )
    spec = WebSearchToolSpec(web=sea(results=found))
    (search, read), sizes = spec.to_tool_list(), []
    for output in (
        search(query="kelp", limit=20),
        search(query="kelp", limit=1),
        read(url=KELP),
    ):
        held = sum(
            len(one.text) + len(json.dumps(one.metadata)) for one in output.raw_output
        )
        sizes.append((held, 2 * len(output.content) + 2_000))

    assert [held for held, most in sizes if held > most] == [], sizes


def make_engine(spec, scripted, **options):
    retriever = WebSearchRetriever(web=spec, **options)
    return retriever, RetrieverQueryEngine.from_args(retriever, llm=MockLLM())


async def test_nodes_of_a_retriever_have_the_numbers_of_the_conversation(
    sea, scripted, followed
):
    spec = make_spec(sea, provenance="seen")
    _, engine = make_engine(spec, scripted, content="page", k=2)
    look_up = QueryEngineTool.from_defaults(engine, name="look_up", description="Look.")
    agent = FunctionAgent(
        tools=[*spec.to_tool_list(), look_up],
        llm=scripted(SEARCH, ("look_up", {"input": "dulse"}), opening("[1]"), "done"),
        streaming=False,
    )
    ctx = Context(agent)
    _, outputs = await followed(agent.run("Go on.", ctx=ctx))
    found, answer, opened = outputs
    sources = collect_sources(outputs)
    stored = await ctx.store.get("websearch_sources")

    by_number = dict(numbers([found]))
    for node in answer.raw_output.source_nodes:
        number = node.metadata["citation_id"]
        assert by_number.get(node.metadata["url"].rstrip("/"), number) == number
        # a mock model answers with its prompt
        assert f"citation_id: {number}" in answer.content
    assert not opened.is_error
    assert [one["id"] for one in sources] == [one["id"] for one in stored]
    assert [one["url"] for one in sources] == [one["url"] for one in stored]
    assert "Kelp grows." in sources[0]["text"]
    assert sources[0]["read"]


async def test_a_retriever_without_a_spec_numbers_nothing(sea):
    nodes = await WebSearchRetriever(web=sea()).aretrieve("kelp")
    numbered = WebSearchRetriever(web=make_spec(sea)).retrieve("kelp")

    assert "citation_id" not in nodes[0].metadata
    assert collect_sources(nodes) == []
    assert [one["id"] for one in collect_sources(numbered)] == list(
        range(1, len(numbered) + 1)
    )
