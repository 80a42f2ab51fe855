"""A conversation goes on in any worker as in one process: after a deploy, an interrupt,
and with calls in parallel.
"""

# No `from __future__ import annotations` here: LlamaIndex finds the context of a tool
# by its type, not by a string.
import asyncio
import json
import logging

import pytest
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.workflow import (
    Context,
    HumanResponseEvent,
    InputRequiredEvent,
    StartEvent,
    StopEvent,
    Workflow,
    step,
)
from pydantic import BaseModel

from llamaindex_websearch import WebSearchToolSpec
from websearch_core import WebSearch
from websearch_core.testing import FakeWeb

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{warning}")  # caused by LlamaIndex itself
    for warning in (
        ".* attribute .*is deprecated:pydantic.warnings.PydanticDeprecationWarning",
        "Skipping serialization of known unserializable key. memory",
        "is_running called from within a step:DeprecationWarning",
    )
]

SITE = "https://sea.example"
LEAK = "https://evil.example/?q=secret"
NAMED = "https://named.example/page"
SEARCH = ("web_search", {"query": "kelp"})
TEN = (
    "2",
    "[3]",
    f"{SITE}/3",
    f"{SITE}/4/",
    "6",
    f"{SITE}/6",
    "[8]",
    LEAK,
    "99",
    f"{SITE}/1",
)


def opening(url):
    return ("open_page", {"url": url})


def make_fake():
    results = [
        {"title": f"Page {n}", "url": f"{SITE}/{n}", "snippet": f"About {n}."}
        for n in range(8)
    ]
    pages = {f"{SITE}/{n}": f"The text of {n}." for n in range(8)} | {
        NAMED: "What the user named."
    }
    return FakeWeb(results, pages=pages)


def make_spec(fake):
    return WebSearchToolSpec(
        web=WebSearch(fake, reader=fake), provenance="seen", limit=10
    )


class Workers:
    """Agents of the same program, each with a spec of its own; they have only the saved
    context in common.
    """

    def __init__(self, scripted, fake, *, alone):
        self.scripted, self.fake, self.alone, self.spec = (
            scripted,
            fake,
            alone,
            make_spec(fake),
        )
        self.ctx, self.saved = None, None

    async def agent(self, *turns):
        """Return a worker with the context that another one saved."""
        if not self.alone:
            self.spec = make_spec(self.fake)
        spec = self.spec

        async def approve(ctx: Context, url: str) -> str:
            """Open a page when a person has approved it."""
            asked = InputRequiredEvent(prefix=url)
            await ctx.wait_for_event(
                HumanResponseEvent, waiter_id="approval", waiter_event=asked
            )
            return str(await spec.aopen_page(url))

        async def open_all(ctx: Context) -> str:
            """Open ten pages at the same time."""
            pages = await asyncio.gather(
                *(spec.aopen_page(url) for url in TEN), return_exceptions=True
            )
            return json.dumps([str(page) for page in pages])

        tools = [*spec.to_tool_list(), approve, open_all]
        agent = FunctionAgent(tools=tools, llm=self.scripted(*turns), streaming=False)
        saved = self.saved
        self.ctx = (
            Context.from_dict(agent, json.loads(saved)) if saved else Context(agent)
        )
        if saved:  # LlamaIndex leaves the memory of the agent to the program
            await self.ctx.store.set(
                "memory", ChatMemoryBuffer.from_defaults(llm=agent.llm)
            )
        return agent

    async def run(self, agent, *, until=None, answer=None):
        """Run a turn to its end, or until an event; return what its tools returned."""
        running = (
            agent.run("Go on.", ctx=self.ctx)
            if answer is None
            else agent.run(ctx=self.ctx)
        )
        if answer is not None:
            running.ctx.send_event(answer)
        outputs = []
        async for event in running.stream_events():
            if until and isinstance(event, until):
                self.saved = json.dumps(running.ctx.to_dict())
                await running.cancel_run()
                return outputs
            if isinstance(event, ToolCallResult):
                outputs.append(event.tool_output.content)
        await running
        self.saved = json.dumps(self.ctx.to_dict())
        return outputs


async def converse(workers):
    first = await workers.agent(SEARCH, "found")
    await workers.spec.allow_text(f"Read {NAMED} later.", workers.ctx)
    outputs = await workers.run(first)
    outputs += await workers.run(
        await workers.agent(("approve", {"url": f"{SITE}/0"})), until=InputRequiredEvent
    )
    outputs += await workers.run(
        await workers.agent("opened"), answer=HumanResponseEvent(response="yes")
    )
    outputs += await workers.run(await workers.agent(("open_all", {}), "read"))
    outputs += await workers.run(
        await workers.agent(opening(NAMED), opening(LEAK), "done")
    )
    return outputs


async def test_workers_that_share_a_saved_context_behave_as_one_process_does(
    scripted, unmarked
):
    one, several = make_fake(), make_fake()
    expected = await converse(Workers(scripted, one, alone=True))
    found = await converse(Workers(scripted, several, alone=False))

    elsewhere = "; this conversation began in another process, which may know of more that the user named"
    assert [unmarked(text).replace(elsewhere, "") for text in found] == list(
        map(unmarked, expected)
    )
    _, approved, ten, named, refused = found
    assert "Cite as: [1]" in approved
    assert [text[:20] for text in json.loads(ten) if text.startswith("ERROR")] == [
        "ERROR [unsafe_url] o", "ERROR [invalid_optio",
    ]  # fmt: skip
    assert [text.split("Cite as: ")[1][:3] for text in json.loads(ten) if "Cite as" in text] == [
        "[2]", "[3]", "[4]", "[5]", "[6]", "[7]", "[8]", "[2]",
    ]  # fmt: skip
    assert "Cite as: [9]" in named
    assert "ERROR [unsafe_url]" in refused
    assert len(one.urls) == len(set(one.urls)) == len(several.urls)


class Closed(BaseModel):
    question: str = ""


async def test_a_state_without_our_fields_gets_its_conversation_from_the_run_with_one_warning(
    caplog,
):
    fake = make_fake()
    spec = make_spec(fake)

    class Read(Workflow):
        """Searches, and opens what was found, or only opens."""

        @step
        async def read(self, ctx: Context[Closed], ev: StartEvent) -> StopEvent:
            if ev.get("searches"):
                await spec.aweb_search("kelp")
            return StopEvent(
                result=str(
                    await spec.aopen_page("1" if ev.get("searches") else f"{SITE}/0")
                )
            )

    with caplog.at_level(logging.WARNING, "llamaindex_websearch"):
        assert "Cite as: [1]" in await Read().run(searches=True)
        assert "Cite as: [1]" in await Read().run(searches=True)
        with pytest.raises(
            Exception,
            match=r"the state of the workflow has no field `websearch_sources`, so what other",
        ):
            await Read().run(searches=False)

    (warning,) = [
        one for one in caplog.records if one.name.startswith("llamaindex_websearch")
    ]
    assert (
        "each run is a conversation of its own: the state of the workflow needs a field"
        in warning.message
    )
    assert "websearch_conversation: str | None = None" in warning.message
