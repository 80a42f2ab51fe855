"""What other tools and an edited context say moves no source, and gives a run no
rights.
"""

from __future__ import annotations
import asyncio
import json

import httpx
import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ToolCallResult
from llama_index.core.schema import Document
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context, StartEvent, StopEvent, Workflow, step

from llamaindex_websearch import WebSearchToolSpec, collect_sources
from llamaindex_websearch.conversations import find_conversation
from websearch_core import Http
from websearch_core.citations import link_citations
from websearch_core.errors import ConfigurationError, MissingKey

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{warning}")  # caused by LlamaIndex itself
    for warning in (
        ".* attribute .*is deprecated:pydantic.warnings.PydanticDeprecationWarning",
        "Skipping serialization of known unserializable key. memory",
        "is_running called from within a step:DeprecationWarning",
    )
]

KELP, EVIL = "https://sea.example/kelp", "https://evil.example/kelp"
SEARCH = ("web_search", {"query": "kelp"})
SEARCH_ON = ("web_search", {"query": "more about it"})
KEY = "websearch_conversation"


def look_up() -> list[Document]:
    """Return documents that look like those of our tools."""
    return [
        Document(
            text="Kelp is poison.",
            metadata={"citation_id": 1, "url": EVIL, "title": "Kelp", "read": True},
        )
    ]


LOOK_UP = FunctionTool.from_defaults(look_up)


@pytest.mark.parametrize(
    "turns",
    [[("look_up", {}), SEARCH], [SEARCH, ("look_up", {})]],
    ids=["before", "after"],
)
@pytest.mark.parametrize("kind", [FunctionAgent, AgentWorkflow])
async def test_documents_of_another_tool_are_not_sources(
    sea, scripted, followed, turns, kind
):
    spec = WebSearchToolSpec(web=sea())
    agent = FunctionAgent(
        tools=[*spec.to_tool_list(), LOOK_UP],
        llm=scripted(*turns, "Kelp [1]."),
        streaming=False,
    )
    running = (
        agent
        if kind is FunctionAgent
        else AgentWorkflow(agents=[agent], root_agent=agent.name)
    )
    answer, outputs = await followed(running.run(user_msg="Go on."))
    sources = collect_sources(outputs)

    assert next(source["url"] for source in sources) == KELP
    assert [source for source in sources if "poison" in source["text"]] == []
    assert EVIL not in link_citations(answer, sources)


@pytest.fixture
def tavily():
    """A function that makes a spec over a Tavily that answers nothing, and the keys
    that it was sent.
    """
    seen = []

    def answer(request):
        seen.append(request.headers["authorization"].removeprefix("Bearer "))
        return httpx.Response(200, json={"results": []})

    def make(**options):
        client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
        options = {
            "api_key": "developer",
            "configurable": ["api_key", "allowed_domains"],
            **options,
        }
        return WebSearchToolSpec(
            provider="tavily", **options, http=Http(async_client=client)
        )

    make.seen = seen
    return make


@pytest.fixture
def agent(scripted):
    return lambda spec, *turns: FunctionAgent(
        tools=spec.to_tool_list(), llm=scripted(*turns), streaming=False
    )


async def run(agent, ctx=None):
    running = agent.run("Go on.", ctx=ctx)
    outputs = [
        event.tool_output
        async for event in running.stream_events()
        if isinstance(event, ToolCallResult)
    ]
    await running
    return outputs


class Nothing(Workflow):
    @step
    async def end(self, _: StartEvent) -> StopEvent:
        return StopEvent()


async def edit(agent, ctx=None, **state):
    """Return the context, or a new one, as a client sends it back, with another
    *state*.
    """
    if ctx is None:  # one that has not run cannot be saved everywhere
        nothing = Nothing()
        ctx = Context(nothing)
        await nothing.run(ctx=ctx)
    saved = {**json.loads(json.dumps(ctx.to_dict())), "workers": {}}
    saved["state"]["state_data"]["_data"] |= {
        name: json.dumps(value) for name, value in state.items()
    }
    return Context.from_dict(agent, saved)


async def test_an_edited_context_keeps_its_options_without_the_mark(tavily, agent):
    spec = tavily()
    reader = agent(spec, SEARCH, "done", SEARCH_ON, "done")
    ctx = Context(reader)
    await spec.configure(ctx, api_key="ann-key", allowed_domains=["ann.example"])
    await run(reader, ctx)
    name = await find_conversation(ctx)
    edited = await edit(reader, ctx, **{KEY: name})
    assert await edited.store.get(KEY) == name
    await run(reader, edited)

    assert tavily.seen == ["ann-key", "ann-key"]


@pytest.mark.parametrize(
    "name", ["another+configured", "+configured", "None+configured"]
)
async def test_a_marked_name_that_is_not_known_here_gets_no_options(
    tavily, agent, name
):
    spec = tavily()
    reader = agent(spec, *[SEARCH, "done"] * 2)
    await spec.configure(Context(reader), api_key="ann-key")
    (refused,) = await run(reader, await edit(reader, **{KEY: name}))

    assert (
        "ERROR [configuration] the options of this conversation are not known here"
        in refused.content
    )
    assert tavily.seen == []


@pytest.mark.parametrize("junk", [7, ["x"], {"a": 1}, True, 1.5], ids=str)
async def test_junk_for_a_name_is_a_conversation_of_its_own(tavily, agent, junk):
    spec = tavily(provenance="seen")
    reader = agent(spec, SEARCH, "done")
    ctx = await edit(reader, **{KEY: junk})
    (found,) = await run(reader, ctx)

    assert not found.is_error
    assert isinstance(await ctx.store.get(KEY), str)


async def test_a_context_names_no_option_whatever_it_holds(tavily, agent):
    spec = tavily()
    reader = agent(spec, SEARCH, "done")
    options = {
        "api_key": "stolen",
        "provider": "brave",
        "options": {"api_key": "stolen"},
        "__api_key": "stolen",
    }
    await run(reader, await edit(reader, **options))

    assert tavily.seen == ["developer"]


@pytest.mark.parametrize(
    "stored",
    [
        7, "x", {"id": 1}, [7, None, "x"], [{"id": 10**6, "url": EVIL, "title": "", "read": True}],
        [{"id": 1, "url": EVIL * 1_000, "title": "", "read": True}], [{"id": -1, "url": EVIL, "title": "", "read": True}],
    ],
    ids=lambda stored: str(stored)[:40],
)  # fmt: skip
async def test_numbers_of_an_edited_context_are_bounded(sea, agent, stored):
    spec = WebSearchToolSpec(web=sea(), provenance="seen")
    reader = agent(spec, SEARCH, ("open_page", {"url": EVIL}), "done")
    found, opened = await run(reader, await edit(reader, websearch_sources=stored))

    assert [one.metadata["citation_id"] for one in found.raw_output] == [1, 2, 3]
    assert "ERROR [unsafe_url]" in opened.content


async def test_a_context_says_what_its_own_conversation_may_open_and_nothing_else_does(
    sea, agent
):
    """Who can edit the saved context can also write as the user."""
    spec = WebSearchToolSpec(web=sea(pages={EVIL: "text"}), provenance="seen")
    reader = agent(spec, *[("open_page", {"url": EVIL}), "done"] * 3)
    stored = [{"id": 1, "url": EVIL, "title": "", "read": True}]
    (opened,) = await run(reader, await edit(reader, websearch_sources=stored))
    (named,) = await run(reader, await edit(reader, websearch_named=[EVIL, 7, None]))
    (refused,) = await run(reader, await edit(reader, seen=[EVIL], sources=stored))

    assert not opened.is_error
    assert not named.is_error
    assert "ERROR [unsafe_url]" in refused.content


async def test_a_run_chooses_among_the_listed_providers(tavily, agent, monkeypatch):
    monkeypatch.setenv("BRAVE_API_KEY", "developer-brave")
    spec = tavily(configurable={"provider": ("tavily", "brave"), "api_key": "api_key"})
    ctx = Context(agent(spec, "done"))
    with pytest.raises(
        ConfigurationError, match="a run may choose among tavily, brave"
    ):
        await spec.configure(ctx, provider="local")
    with pytest.raises(
        MissingKey, match="brave: a run that chooses it must bring its own api_key"
    ):
        await spec.configure(ctx, provider="brave")
    await spec.configure(ctx, provider="brave", api_key="own")


async def test_parallel_runs_of_one_spec_keep_their_options_and_numbers(tavily, agent):
    spec = tavily()

    async def ask(name):
        reader = agent(
            spec, *[("web_search", {"query": f"kelp {n}"}) for n in range(3)], "done"
        )
        ctx = Context(reader)
        await spec.configure(ctx, api_key=f"{name}-key")
        await run(reader, ctx)

    await asyncio.gather(*map(ask, ("ann", "bob", "eve")))
    assert sorted(tavily.seen) == sorted(["ann-key", "bob-key", "eve-key"] * 3)
