"""Look up several questions at once, in a LlamaIndex workflow with three workers: ``python examples/workflow.py``.

The workers belong to one run, so they share its conversation: a page has one number, whichever of them found it, and
each may open what another one found. Like the demo, it needs no network and no key: an index of the example site
replaces the search engine, and a few lines of examples/scripted.py choose a result and a sentence, as a model would.
"""

from __future__ import annotations
import asyncio
from collections.abc import Sequence
from typing import Any

from demo import open_demo_web
from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step
from scripted import best_result, best_sentence

from llamaindex_websearch import WebSearchToolSpec, collect_sources
from websearch_core.citations import link_citations

QUESTIONS = (
    "How do I rotate a key without downtime?",
    "How long may the overlap window of Harbor Keys be?",
    "Which ferry runs on Sundays?",
)


class Question(Event):
    """A question for one of the workers."""

    text: str


class Finding(Event):
    """The answer to a question, with the number of its source, and what the tools returned."""

    question: str
    answer: str
    outputs: list[Any]


class Research(Workflow):
    """Looks up the questions, three at a time, and writes a report with their sources."""

    def __init__(self, spec: WebSearchToolSpec) -> None:
        super().__init__(timeout=None)  # each search and page has a limit of its own
        self.search, self.open = spec.to_tool_list()

    @step
    async def plan(self, ctx: Context, event: StartEvent) -> Question | None:
        """Give each question to a worker."""
        await ctx.store.set("number", len(event.questions))
        for text in event.questions:
            ctx.send_event(Question(text=text))
        return None

    @step(num_workers=3)
    async def look_up(self, event: Question) -> Finding:
        """Search, and open the best result by its number."""
        found = await self.search.acall(query=event.text)
        number, _ = best_result(event.text, found.content)
        page = await self.open.acall(url=number)
        sentence = best_sentence(event.text, page.content)
        return Finding(question=event.text, answer=f"{sentence} [{number}]", outputs=[found, page])

    @step
    async def write(self, ctx: Context, event: Finding) -> StopEvent | None:
        """Write the report when all workers have answered."""
        findings = ctx.collect_events(event, [Finding] * await ctx.store.get("number"))
        if findings is None:
            return None
        text = "\n\n".join(f"{one.question}\n{one.answer}" for one in sorted(findings, key=lambda one: one.question))
        sources = collect_sources([output for one in findings for output in one.outputs])
        return StopEvent(result=link_citations(text, sources, footer=True))


async def research(spec: WebSearchToolSpec, questions: Sequence[str]) -> str:
    """Return a report on the *questions*."""
    return str(await Research(spec).run(questions=list(questions)))


def main() -> None:
    """Look up the questions in the example site."""
    with open_demo_web() as (web, _):
        print(asyncio.run(research(WebSearchToolSpec(web=web, provenance="seen"), QUESTIONS)))


if __name__ == "__main__":
    main()
