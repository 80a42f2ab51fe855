"""A research agent as a LangGraph graph: it plans, looks up several questions at once,
reports, and checks citations.

    python examples/research_graph.py                                 # offline
    python examples/research_graph.py "What changed in Python 3.14?"  # live

Offline, it uses the example site, and a script as model. Live, it needs OPENAI_API_KEY,
and a key for a search.

Each question has a researcher, an agent that searches and opens pages. All have the
tools of one toolkit in one run, so a page has one number, whichever of them found it.
What the check doubts goes back to the writer, once.

examples/research_workflow.py is the same for LlamaIndex.
"""

from __future__ import annotations
import asyncio
import sys
from operator import add
from typing import Annotated, Any, TypedDict

from demo import open_demo_web
from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Send
from scripted import ScriptedChat

from langchain_websearch import WebSearchToolkit, collect_sources
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


class Task(TypedDict):
    """A question for one of the researchers."""

    question: str


class Research(MessagesState):
    """What is known so far; ``messages`` are those of the researchers, whose artifacts
    have the sources.
    """

    question: str
    tasks: list[str]
    findings: Annotated[list[str], add]
    report: str
    doubts: list[str]
    drafts: int


def make_graph(model: BaseChatModel, toolkit: WebSearchToolkit) -> Any:
    """Return the graph; its input is a ``question``, its output a ``report`` and the
    ``doubts`` that are left.
    """
    researcher = create_agent(
        model, toolkit.get_tools(), system_prompt=CITATION_INSTRUCTION
    )

    async def plan(state: Research) -> dict[str, Any]:
        toolkit.allow_text(state["question"])  # the user may name pages
        planned = await model.ainvoke(PLAN.format(question=state["question"]))
        tasks = [line for line in planned.text.splitlines() if line.strip()][:5]
        return {"tasks": tasks or [state["question"]], "drafts": 0}

    def fan_out(state: Research) -> list[Send]:
        return [Send("look_up", Task(question=question)) for question in state["tasks"]]

    async def look_up(state: Task) -> dict[str, Any]:
        done = await researcher.ainvoke(
            {"messages": [{"role": "user", "content": state["question"]}]}
        )
        messages = done["messages"]
        return {
            "messages": messages,
            "findings": [f"{state['question']}\n{messages[-1].text}"],
        }

    async def write(state: Research) -> dict[str, Any]:
        doubts = "".join(
            f"\nThe last draft failed a check: {doubt}"
            for doubt in state.get("doubts", [])
        )
        findings = "\n\n".join(state["findings"])
        written = await model.ainvoke(
            REPORT.format(question=state["question"], findings=findings, doubts=doubts)
        )
        return {"report": written.text, "drafts": state["drafts"] + 1}

    async def check(state: Research) -> dict[str, Any]:
        checks = await acheck_citations(
            state["report"], collect_sources(state["messages"])
        )
        return {
            "doubts": [
                f"{one.claim} ({one.verdict})"
                for one in checks
                if one.verdict != "supported"
            ]
        }

    def choose(state: Research) -> str:
        return "write" if state["doubts"] and state["drafts"] < MOST_DRAFTS else END

    graph = StateGraph(Research)
    graph.add_node("plan", plan)
    graph.add_node("look_up", look_up)
    graph.add_node("write", write)
    graph.add_node("check", check)
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", fan_out, ["look_up"])
    graph.add_edge("look_up", "write")
    graph.add_edge("write", "check")
    graph.add_conditional_edges("check", choose, ["write", END])
    return graph.compile()


async def research(
    question: str, model: BaseChatModel, toolkit: WebSearchToolkit
) -> str:
    """Return a report on *question*, with links to its sources, and with what the check
    still doubts.
    """
    state = await make_graph(model, toolkit).ainvoke({"question": question})
    report = link_citations(
        state["report"], collect_sources(state["messages"]), footer=True
    )
    return "\n".join(
        [report, *(f"Not confirmed: {doubt}" for doubt in state["doubts"])]
    )


def main() -> None:
    """Report on the question of the command line, or without one on the example
    site.
    """
    if questions := sys.argv[1:]:
        model = init_chat_model("openai:gpt-5")  # or another model of LangChain
        print(
            asyncio.run(
                research(
                    " ".join(questions), model, WebSearchToolkit(provenance="seen")
                )
            )
        )
        return
    with open_demo_web() as (web, _):
        print(
            asyncio.run(
                research(
                    QUESTION,
                    ScriptedChat(),
                    WebSearchToolkit(web=web, provenance="seen"),
                )
            )
        )


if __name__ == "__main__":
    main()
