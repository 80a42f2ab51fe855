"""A conversation about plants, for agents of every kind: each turn says what a plant
grows, with the number of the page that says so.

``python -m tests.langchain.gardens KIND FILE`` is a worker of its own: it reads turns
as lines of JSON, and writes what came of each.
"""

from __future__ import annotations
import json
import re
import sys
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    PIIMiddleware,
    SummarizationMiddleware,
)
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.types import Command

from langchain_websearch import WebSearchMiddleware, WebSearchToolkit, collect_sources
from websearch_core import WebSearch
from websearch_core.citations import check_citations, link_citations
from websearch_core.testing import FakeWeb

PLANTS = {"kelp": 50, "moss": 1, "reed": 7, "fern": 3, "ivy": 9, "oats": 4, "flax": 6}
CLAIM = "{} grows {} centimetres a day [{}]."
_RESULT = re.compile(r"^(\d+)\. (\w+) — ", re.MULTILINE)


def url_of(plant: str) -> str:
    return f"https://{plant}.example/"


def make_toolkit(**options: Any) -> WebSearchToolkit:
    results = {
        plant: [
            {
                "title": plant,
                "url": url_of(plant),
                "snippet": f"{plant} grows {growth} centimetres a day. "
                f"Write to {plant}@garden.example.",
            }
        ]
        for plant, growth in PLANTS.items()
    }
    pages = {
        url_of(plant): f"{plant} grows {growth} centimetres a day.\n\n" + "Soil. " * 400
        for plant, growth in PLANTS.items()
    }
    web = FakeWeb(results, pages=pages)
    return WebSearchToolkit(web=WebSearch(web, reader=web), **options)


class Gardener(BaseChatModel):
    """Answers by the last message alone.

    To ``search kelp, moss`` and ``open URL`` it calls our tools, to ``ask NAME: kelp``
    a sub-agent; to what they say, it says what each plant grows; it repeats what
    ``repeat`` says.
    """

    @property
    def _llm_type(self) -> str:
        return "gardener"

    def bind_tools(self, tools: Any, **_: Any) -> Gardener:
        return self

    def _generate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
        answer = self.answer(messages)
        return ChatResult(generations=[ChatGeneration(message=answer)])

    def answer(self, messages: list[Any]) -> AIMessage:
        last = messages[-1]
        if isinstance(last, ToolMessage):
            return AIMessage(" ".join(self._claims(messages)))
        text = last.text
        if "repeat " in text[:7]:
            return AIMessage(text.removeprefix("repeat "))
        calls = []
        for line in text.splitlines():
            verb, _, rest = line.partition(" ")
            if verb == "search":
                calls += [("web_search", {"query": one}) for one in rest.split(", ")]
            elif verb == "open":
                calls.append(("open_page", {"url": rest}))
            elif verb == "ask":
                name, _, task = rest.partition(": ")
                calls.append(self._delegate(name, task))
        if not calls:
            return AIMessage("Plants were talked about.")
        return AIMessage(
            "",
            tool_calls=[
                {
                    "name": name,
                    "args": args,
                    "id": f"{len(messages)}-{place}-{id(last)}",
                }
                for place, (name, args) in enumerate(calls)
            ],
        )

    def _delegate(self, name: str, task: str) -> tuple[str, dict[str, str]]:
        return name, {"task": task}

    def _claims(self, messages: list[Any]) -> list[str]:
        claims = []
        start = max(
            n for n, message in enumerate(messages) if isinstance(message, AIMessage)
        )
        for message in messages[start + 1 :]:
            found = _RESULT.findall(message.text)
            for number, plant in found:
                claims.append(CLAIM.format(plant.capitalize(), PLANTS[plant], number))
            cited = re.search(r"Cite as: \[(\d+)\]", message.text)
            plant = re.search(r"URL: https://(\w+)\.example/", message.text)
            if cited and plant:
                claims.append(
                    CLAIM.format(plant[1].capitalize(), PLANTS[plant[1]], cited[1])
                )
            if not found and not cited:
                claims.append(message.text)
        return claims


class DeepGardener(Gardener):
    """The same, who calls sub-agents as deepagents does."""

    def _delegate(self, name: str, task: str) -> tuple[str, dict[str, str]]:
        return "task", {"description": task, "subagent_type": name}


def make_agent(web: WebSearchMiddleware, saver: Any, *, before: Any = ()) -> Any:
    """Return an agent with two sub-agents: ``inside`` has the middleware, ``outside``
    only its tools.
    """
    inner = {
        "inside": create_agent(Gardener(), middleware=[web]),
        "outside": create_agent(Gardener(), web.tools),
    }

    @tool
    def inside(task: str) -> str:
        """Look something up."""
        return inner["inside"].invoke({"messages": task})["messages"][-1].text

    @tool
    async def outside(task: str) -> str:
        """Look something up."""
        state = await inner["outside"].ainvoke({"messages": task})
        return state["messages"][-1].text

    outside.func = lambda task: (
        inner["outside"].invoke({"messages": task})["messages"][-1].text
    )
    summary = SummarizationMiddleware(
        Gardener(), trigger=("messages", 6), keep=("messages", 1)
    )
    return create_agent(
        Gardener(),
        [inside, outside],
        middleware=[*before, web, summary],
        checkpointer=saver,
    )


def make_deep_agent(web: WebSearchMiddleware, saver: Any, *, before: Any = ()) -> Any:
    """Return the same as `make_agent` makes, by deepagents."""
    from deepagents import create_deep_agent
    from deepagents.backends import StateBackend
    from deepagents.middleware.summarization import SummarizationMiddleware as Summary

    inside = {
        "name": "inside",
        "description": "Looks something up.",
        "system_prompt": "Look it up.",
        "middleware": [web],
    }
    outside = {
        "name": "outside",
        "description": "Looks something up.",
        "system_prompt": "Look it up.",
        "tools": web.tools,
    }
    summary = Summary(
        Gardener(),
        backend=StateBackend(),
        trigger=("messages", 6),
        keep=("messages", 1),
    )
    return create_deep_agent(
        DeepGardener(),
        subagents=[inside, outside],
        middleware=[*before, web, summary],
        checkpointer=saver,
    )


MAKERS = {"create_agent": make_agent, "create_deep_agent": make_deep_agent}


def review() -> list[Any]:
    """Return middlewares with which a person edits searches, and mail addresses go."""
    return [
        HumanInTheLoopMiddleware(interrupt_on={"web_search": True}),
        PIIMiddleware("email", apply_to_tool_results=True),
    ]


def take_turn(agent: Any, turn: dict[str, Any], config: Any) -> dict[str, Any]:
    """Let an agent take a turn, and say what came of it."""
    words = {"messages": [HumanMessage(turn["say"])]} if "say" in turn else None
    state = agent.invoke(words or Command(resume=turn["resume"]), config)
    answer = state["messages"][-1].text
    sources = collect_sources(state)
    return {
        "answer": answer,
        "interrupted": "__interrupt__" in state,
        "sources": [[source["id"], source["url"]] for source in sources],
        "linked": link_citations(answer, sources),
        "verdicts": [check.verdict for check in check_citations(answer, sources)],
        "messages": len(state["messages"]),
    }


def main(kind: str, file: str) -> None:
    from langgraph.checkpoint.sqlite import SqliteSaver

    with SqliteSaver.from_conn_string(file) as saver:
        web = WebSearchMiddleware(make_toolkit(provenance="seen"))
        agent = MAKERS[kind](web, saver, before=review())
        config = {"configurable": {"thread_id": "1"}}
        for line in sys.stdin:
            print(json.dumps(take_turn(agent, json.loads(line), config)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
