"""A research agent as a LlamaIndex workflow: it plans, looks up several questions at
once, reports, checks citations.

    python examples/research_workflow.py                                 # offline
    python examples/research_workflow.py "What changed in Python 3.14?"  # live

Offline, it uses the example site, and a script as model. Live, it needs OPENAI_API_KEY,
and a key for a search.

Each question has a researcher, an agent that searches and opens pages. An agent has a
`Context` of its own, so each is given the conversation of the workflow: then a page has
one number, whichever of them found it. What the check doubts goes back to the writer,
once.

examples/research_graph.py is the same for LangGraph.
"""

from __future__ import annotations
import asyncio
import sys
from typing import Any

from demo import open_demo_web
from llama_index.core import Settings
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.workflow import (
    Context,
    Event,
    StartEvent,
    StopEvent,
    Workflow,
    step,
)
from scripted import scripted_llm

from llamaindex_websearch import WebSearchToolSpec, collect_sources
from websearch_core.citations import acheck_citations, link_citations
from websearch_core.render import CITATION_INSTRUCTION

QUESTION = (
    "How do I rotate a key without downtime? How long may the overlap window of Harbor "
    "Keys be? "
    "Which ferry runs on Sundays?"
)
PLAN = (
    "Which questions must be looked up to answer this? One a line, at most five, and "
    "nothing else.\n\n{question}"
)
REPORT = (
    "Answer the question with these findings only. Keep each citation, such as [1], "
    "behind what it supports.{doubts}"
    "\n\nQuestion: {question}\n\nFindings:\n{findings}"
)
MOST_DRAFTS = 2


class Task(Event):
    """A question for one of the researchers."""

    question: str


class Finding(Event):
    """What a researcher found, and what the tools returned."""

    question: str
    answer: str
    outputs: list[Any]


class Draft(Event):
    """A report to be checked, and its number."""

    text: str
    number: int


class Doubts(Event):
    """What the check doubts in a draft, with the number of the draft; nothing yet
    before the first.
    """

    found: list[str]
    number: int


class Research(Workflow):
    """Reports on a question; looks up three of its parts at a time."""

    def __init__(self, llm: FunctionCallingLLM, spec: WebSearchToolSpec) -> None:
        super().__init__(timeout=None)  # each search and page has a limit of its own
        self.llm, self.spec = llm, spec
        self.tools: list[Any] = list(spec.to_tool_list())

    @step
    async def plan(self, ctx: Context, event: StartEvent) -> Task | None:
        """Give each question to a researcher."""
        await self.spec.allow_text(event.question, ctx)  # the user may name pages
        planned = await self.ask(PLAN.format(question=event.question))
        tasks = [line for line in planned.splitlines() if line.strip()][:5] or [
            event.question
        ]
        await ctx.store.set("question", event.question)
        await ctx.store.set("tasks", tasks)
        for task in tasks:
            ctx.send_event(Task(question=task))
        return None

    @step(num_workers=3)
    async def look_up(self, ctx: Context, event: Task) -> Finding:
        """Let an agent answer, in the conversation of this workflow."""
        agent = FunctionAgent(
            llm=self.llm,
            tools=self.tools,
            system_prompt=CITATION_INSTRUCTION,
            streaming=False,
            timeout=None,
        )
        own = Context(agent)
        await own.store.set(
            "websearch_conversation", await ctx.store.get("websearch_conversation")
        )
        running = agent.run(event.question, ctx=own)
        outputs = [
            one.tool_output
            async for one in running.stream_events()
            if isinstance(one, ToolCallResult)
        ]
        return Finding(
            question=event.question, answer=str(await running), outputs=outputs
        )

    @step
    async def collect(self, ctx: Context, event: Finding) -> Doubts | None:
        """Wait for all findings."""
        tasks = await ctx.store.get("tasks")
        findings = ctx.collect_events(event, [Finding] * len(tasks))
        if findings is None:
            return None
        findings.sort(key=lambda one: tasks.index(one.question))
        await ctx.store.set(
            "findings", "\n\n".join(f"{one.question}\n{one.answer}" for one in findings)
        )
        await ctx.store.set(
            "sources",
            collect_sources([output for one in findings for output in one.outputs]),
        )
        return Doubts(found=[], number=0)

    @step
    async def write(self, ctx: Context, event: Doubts) -> Draft:
        """Write the report, without what the check doubted in the last draft."""
        doubts = "".join(
            f"\nThe last draft failed a check: {doubt}" for doubt in event.found
        )
        question, findings = (
            await ctx.store.get("question"),
            await ctx.store.get("findings"),
        )
        text = await self.ask(
            REPORT.format(question=question, findings=findings, doubts=doubts)
        )
        return Draft(text=text, number=event.number + 1)

    @step
    async def check(self, ctx: Context, event: Draft) -> Doubts | StopEvent:
        """Check the citations; return the report with links, and with what the check
        still doubts.
        """
        sources = await ctx.store.get("sources")
        checks = await acheck_citations(event.text, sources)
        doubts = [
            f"{one.claim} ({one.verdict})"
            for one in checks
            if one.verdict != "supported"
        ]
        if doubts and event.number < MOST_DRAFTS:
            return Doubts(found=doubts, number=event.number)
        report = link_citations(event.text, sources, footer=True)
        return StopEvent(
            result="\n".join([report, *(f"Not confirmed: {doubt}" for doubt in doubts)])
        )

    async def ask(self, prompt: str) -> str:
        """Return what the model answers to *prompt*, without tools."""
        return (await self.llm.achat([ChatMessage(prompt)])).message.content or ""


async def research(question: str, llm: Any, spec: WebSearchToolSpec) -> str:
    """Return a report on *question*."""
    return str(await Research(llm, spec).run(question=question))


def main() -> None:
    """Report on the question of the command line, or without one on the example
    site.
    """
    if questions := sys.argv[1:]:
        # of OpenAI: pip install llama-index-llms-openai; or set another one
        llm = Settings.llm
        print(
            asyncio.run(
                research(" ".join(questions), llm, WebSearchToolSpec(provenance="seen"))
            )
        )
        return
    with open_demo_web() as (web, _):
        print(
            asyncio.run(
                research(
                    QUESTION,
                    scripted_llm(),
                    WebSearchToolSpec(web=web, provenance="seen"),
                )
            )
        )


if __name__ == "__main__":
    main()
