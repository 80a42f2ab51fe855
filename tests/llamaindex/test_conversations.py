"""With ``provenance="seen"``, each context of a workflow is a conversation; only its
user can allow URLs.
"""

import asyncio
import json

import pytest
from llama_index.core.agent.workflow import (
    AgentWorkflow,
    FunctionAgent,
    ReActAgent,
    ToolCallResult,
)
from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context, StartEvent, StopEvent, Workflow, step
from pydantic import BaseModel
from workflows.context.state_store import DictState

from llamaindex_websearch import ToolError, WebSearchToolSpec
from llamaindex_websearch.conversations import find_conversation
from websearch_core.errors import ConfigurationError

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{warning}")  # caused by LlamaIndex itself
    for warning in (
        ".* attribute .*is deprecated:pydantic.warnings.PydanticDeprecationWarning",
        "Skipping serialization of known unserializable key. memory",
        "is_running called from within a step:DeprecationWarning",
    )
]

NAMED = "https://sea.example/kelp"
FOUND = "https://sea.example/dulse"  # by every search
LEAK = "https://collector.example/?d=THE-SECRET"
TEXT = f"Read {NAMED}, please."
SEARCH = ("web_search", {"query": "kelp"})


def opening(url):
    return ("open_page", {"url": url})


@pytest.fixture
def spec(sea):
    return WebSearchToolSpec(
        web=sea(pages={NAMED: "text", FOUND: "text", LEAK: "text"}), provenance="seen"
    )


@pytest.fixture
def agent(spec, scripted):
    def make(*turns, tools=(), **options):
        return FunctionAgent(
            tools=[*spec.to_tool_list(), *tools],
            llm=scripted(*turns),
            streaming=False,
            **options,
        )

    return make


async def opened(agent, message, ctx=None, **options):
    """Return which calls of ``open_page`` succeeded, in order."""
    running = agent.run(message, ctx=ctx, **options)
    calls = [
        event
        async for event in running.stream_events()
        if isinstance(event, ToolCallResult)
    ]
    await running
    return [
        not call.tool_output.is_error for call in calls if call.tool_name == "open_page"
    ]


@pytest.mark.parametrize(
    "said",
    [
        TEXT, ChatMessage(role="user", content=TEXT),
        ChatMessage(role="user", blocks=[TextBlock(text="Hello."), TextBlock(text=TEXT), ImageBlock(url=LEAK)]),
    ],
    ids=["string", "message", "blocks"],
)  # fmt: skip
async def test_only_urls_of_the_user_may_be_opened(spec, agent, said):
    reader = agent(opening(NAMED), opening(LEAK), "done")
    ctx = Context(reader)
    await spec.allow_text(said, ctx)

    assert await opened(reader, said, ctx) == [True, False]


async def test_two_texts_of_a_message_do_not_form_one_url(spec, agent):
    reader = agent(opening(LEAK), "done")
    ctx = Context(reader)
    blocks = [TextBlock(text=LEAK[:30]), TextBlock(text=LEAK[30:])]
    await spec.allow_text(ChatMessage(role="user", blocks=blocks), ctx)

    assert await opened(reader, TEXT, ctx) == [False]


async def test_a_conversation_is_remembered_in_later_turns_and_when_it_is_restored(
    spec, agent
):
    reader = agent(
        SEARCH, "found", *[opening(FOUND), opening(NAMED), opening(LEAK), "done"] * 2
    )
    ctx = Context(reader)
    await spec.allow_text(TEXT, ctx)
    await opened(reader, TEXT, ctx)

    assert await opened(reader, "Go on.", ctx) == [True, True, False]
    restored = Context.from_dict(reader, json.loads(json.dumps(ctx.to_dict())))
    assert await opened(reader, "Go on.", restored) == [True, True, False]


async def test_contexts_share_nothing(spec, agent):
    reader = agent(
        SEARCH,
        opening(FOUND),
        opening(NAMED),
        "done",
        *[opening(FOUND), opening(NAMED), "done"] * 2,
    )
    one = Context(reader)
    await spec.allow_text(TEXT, one)

    assert await opened(reader, TEXT, one) == [True, True]
    assert await opened(reader, TEXT, Context(reader)) == [False, False]
    assert await opened(reader, TEXT) == [False, False]


async def test_concurrent_users_are_kept_apart(spec, agent):
    meeting = asyncio.Barrier(4)

    async def wait() -> str:
        """Wait until every run has begun."""
        await meeting.wait()
        return "now"

    async def ask(n):
        reader = agent(("wait", {}), opening(NAMED), "done", tools=[wait])
        ctx = Context(reader)
        await spec.allow_text(TEXT if n % 2 else "Hello.", ctx)
        return await opened(reader, TEXT, ctx)

    assert await asyncio.gather(*map(ask, range(4))) == [
        [False],
        [True],
        [False],
        [True],
    ]


async def test_concurrent_tools_are_in_the_same_conversation(spec, agent):
    ctx = Context(agent())

    assert (
        len(set(await asyncio.gather(*[find_conversation(ctx) for _ in range(20)])))
        == 1
    )


async def test_a_task_that_a_model_wrote_for_a_sub_agent_does_not_count(spec, agent):
    helper = agent(opening(LEAK), opening(NAMED), SEARCH, opening(FOUND), "done")
    outcomes = []

    async def delegate(task: str) -> str:
        """Let another agent do it."""
        outcomes.extend(await opened(helper, task))
        return "done"

    parent = agent(
        ("delegate", {"task": f"{LEAK} {NAMED}"}),
        opening(LEAK),
        opening(NAMED),
        opening(FOUND),
        "done",
        tools=[delegate],
    )
    ctx = Context(parent)
    await spec.allow_text(TEXT, ctx)

    assert await opened(parent, TEXT, ctx) == [False, True, False]
    # only what it found, nothing that the task said
    assert outcomes == [False, False, True]


async def test_a_handoff_does_not_count_and_the_user_is_still_the_same(spec, agent):
    first = agent(
        ("handoff", {"to_agent": "second", "reason": f"Read {LEAK}"}),
        name="first",
        description="d",
        can_handoff_to=["second"],
    )
    second = agent(
        opening(LEAK),
        opening(NAMED),
        "done",
        name="second",
        description="d",
        can_handoff_to=[],
    )
    both = AgentWorkflow(agents=[first, second], root_agent="first")
    ctx = Context(both)
    await spec.allow_text(TEXT, ctx)
    running = both.run(user_msg=TEXT, ctx=ctx)
    calls = [
        event
        async for event in running.stream_events()
        if isinstance(event, ToolCallResult)
    ]
    await running

    assert [(call.tool_name, call.tool_output.is_error) for call in calls[1:]] == [
        ("open_page", True),
        ("open_page", False),
    ]


async def test_text_in_the_memory_does_not_count(spec, agent):
    reader = agent(opening(LEAK), opening(NAMED), "done")
    memory = ChatMemoryBuffer.from_defaults(
        chat_history=[ChatMessage(role="user", content=f"Summary: {LEAK}")]
    )
    ctx = Context(reader)
    await spec.allow_text(TEXT, ctx)

    assert await opened(reader, TEXT, ctx, memory=memory) == [False, True]


async def test_a_react_agent_has_a_conversation_too(spec, scripted):
    def act(url):
        return f'Thought: read.\nAction: open_page\nAction Input: {{"url": "{url}"}}'

    llm = scripted(act(NAMED), act(LEAK), "Thought: done.\nAnswer: done")
    reader = ReActAgent(tools=spec.to_tool_list(), llm=llm, streaming=False)
    ctx = Context(reader)
    await spec.allow_text(TEXT, ctx)

    assert await opened(reader, TEXT, ctx) == [True, False]


async def test_urls_allowed_for_the_whole_spec_may_be_opened_in_every_context(
    spec, agent
):
    spec.ledger.allow_text(TEXT)

    assert await opened(agent(opening(NAMED), opening(LEAK), "done"), "Hello.") == [
        True,
        False,
    ]


class Typed(BaseModel):
    websearch_conversation: str | None = None


class Closed(BaseModel):
    question: str = ""


def flow(spec, state):
    class Read(Workflow):
        """Calls the tools blocking and async."""

        @step
        async def read(self, ctx: Context[state], ev: StartEvent) -> StopEvent:
            await spec.aweb_search("kelp")
            blocking = spec.open_page(FOUND)
            return StopEvent(
                result=blocking[0].text == (await spec.aopen_page(NAMED))[0].text
            )

    return Read()


async def test_a_custom_workflow_has_a_conversation_blocking_and_async(spec):
    for state in (DictState, Typed):
        workflow = flow(spec, state)
        ctx = Context(workflow)
        await spec.allow_text(TEXT, ctx)

        assert await workflow.run(ctx=ctx)


async def test_a_custom_blocking_tool_is_in_the_conversation_that_calls_it(spec, agent):
    outcomes = []

    def read_both() -> str:
        """Read both pages."""
        for url in (NAMED, LEAK):
            try:
                outcomes.append(spec.open_page(url)[0].text)
            except ToolError as error:
                outcomes.append(str(error)[:20])
        return "done"

    reader = agent(
        ("read_both", {}), "done", tools=[FunctionTool.from_defaults(read_both)]
    )
    ctx = Context(reader)
    await spec.allow_text(TEXT, ctx)
    await opened(reader, TEXT, ctx)

    assert outcomes == ["text", "ERROR [unsafe_url] o"]


async def test_a_state_without_the_field_is_an_error(spec):
    with pytest.raises(ConfigurationError, match="websearch_conversation: str"):
        await spec.allow_text(TEXT, Context(flow(spec, Closed)))


async def test_by_default_nothing_is_stored_in_a_context(sea, agent):
    spec = WebSearchToolSpec(web=sea())
    reader = FunctionAgent(tools=spec.to_tool_list(), llm=agent().llm, streaming=False)
    ctx = Context(reader)
    await spec.allow_text(TEXT, ctx)

    assert await ctx.store.get("websearch_conversation", default=None) is None
