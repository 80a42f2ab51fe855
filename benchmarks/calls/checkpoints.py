"""Measure what the checkpoints of an agent hold after ten calls of a tool."""

from __future__ import annotations
from importlib import import_module
from typing import Any, NamedTuple

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import PrivateAttr

from benchmarks.calls.contestants import KEY, QUERY, their_tool
from benchmarks.calls.server import PAGE_URL, Server
from benchmarks.report import Goal, Section, Table
from langchain_websearch import OpenPageTool, WebSearchTool

_CALLS = 10
_MOST_FACTOR, _MOST_REST = 2, 2_000  # what an artifact may add to the text of a call
_MOST_MORE = 1.1
_CONFIG = {"configurable": {"thread_id": "1"}, "recursion_limit": 100}


class Held(NamedTuple):
    """What is left of a run.

    Args:
        shown: Characters that the model was shown by the tool.
        last: Bytes of the state in the last checkpoint.
        every: Bytes of all checkpoints, which hold every version of the messages.
    """

    shown: int
    last: int
    every: int


def measure(server: Server) -> Section:
    """Let an agent search ten times, and read ten pages."""
    url: dict[str, Any] = {
        "provider": "tavily",
        "api_key": KEY,
        "base_url": f"{server.url}/prompt",
    }
    page: dict[str, Any] = {**url, "reader": "tavily", "base_url": f"{server.url}/page"}
    search, open_page = {"query": QUERY}, {"url": PAGE_URL}
    runs: dict[tuple[str, str], Held] = {
        ("search", "`WebSearchTool`"): _run(WebSearchTool(**url), search),
        ("search", "`WebSearchTool(full_artifact=True)`"): _run(
            WebSearchTool(**url, full_artifact=True), search
        ),
        ("search", "`TavilySearch`"): _run(their_tool(f"{server.url}/prompt"), search),
        ("page", "`OpenPageTool`"): _run(OpenPageTool(**page), open_page),
        ("page", "`OpenPageTool`, with `query`"): _run(
            OpenPageTool(**page), {**open_page, "query": QUERY, "max_length": 1_000}
        ),
        ("page", "`OpenPageTool(full_artifact=True)`"): _run(
            OpenPageTool(**page, full_artifact=True), open_page
        ),
        ("page", "`TavilyExtract`"): _run(
            _their_reader(f"{server.url}/page"), {"urls": [PAGE_URL]}
        ),
    }
    rows = [
        (
            call,
            tool,
            f"{held.shown:,}",
            f"{held.last:,}",
            f"{held.last / held.shown:.2f}",
            f"{held.every:,}",
        )
        for (call, tool), held in runs.items()
    ]
    ours = {
        name: held
        for name, held in runs.items()
        if "Tavily" not in name[1] and "full" not in name[1]
    }
    extra = {
        name: held.last - (1 + _MOST_FACTOR) * held.shown - _CALLS * _MOST_REST
        for name, held in ours.items()
    }
    searches, theirs = (
        runs["search", "`WebSearchTool`"],
        runs["search", "`TavilySearch`"],
    )
    return Section(
        title="What checkpoints hold",
        method=(
            f"An agent made by `create_agent` with LangGraph's `InMemorySaver` calls a "
            f"tool {_CALLS} times, one call "
            "after the other, by a script. A search finds five results of about 600 "
            "characters each; a page has "
            "40,000 characters. The first column counts what the model was shown, the "
            "second the state in the last "
            "checkpoint, in bytes as LangGraph serializes it, then both compared, and "
            "last all that the saver holds: "
            "every version of the list of messages, so calls early in a run are stored "
            "often."
        ),
        tables=[
            Table(
                (
                    "call",
                    "tool",
                    "characters shown",
                    "last checkpoint",
                    "x shown",
                    "all checkpoints",
                ),
                rows,
            )
        ],
        goals=[
            Goal(
                f"a call leaves at most its text and {_MOST_FACTOR} times its "
                f"characters plus {_MOST_REST:,}",
                ", ".join(
                    f"{held.last / held.shown:.2f} times the text"
                    for held in ours.values()
                ),
                max(extra.values()) <= 0,
            ),
            Goal(
                f"ten searches leave at most {_MOST_MORE - 1:.0%} more than those of "
                f"langchain-tavily",
                f"{searches.last / theirs.last - 1:+.1%}",
                searches.last <= _MOST_MORE * theirs.last,
            ),
        ],
        remark=(
            "langchain-tavily makes no artifact: its text is all the JSON of the "
            "service. What is stored beside our "
            "text are the messages themselves and the facts about each source, with "
            "its number."
        ),
    )


class _Script(BaseChatModel):
    """A model that makes the same call ten times, then ends its run."""

    tool: str
    arguments: dict[str, Any]
    _turn: int = PrivateAttr(default=0)

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, *_: Any, **__: Any) -> _Script:
        return self

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        self._turn += 1
        call = {"name": self.tool, "args": self.arguments, "id": f"call-{self._turn}"}
        reply = (
            AIMessage("", tool_calls=[call])
            if self._turn <= _CALLS
            else AIMessage("Done.")
        )
        return ChatResult(generations=[ChatGeneration(message=reply)])


def _run(tool: BaseTool, arguments: dict[str, Any]) -> Held:
    saver = InMemorySaver()
    agent: Any = create_agent(
        _Script(tool=tool.name, arguments=arguments), [tool], checkpointer=saver
    )
    state = agent.invoke({"messages": [{"role": "user", "content": QUERY}]}, _CONFIG)
    answers = [
        message for message in state["messages"] if isinstance(message, ToolMessage)
    ]
    assert len(answers) == _CALLS, f"{len(answers)} answers"
    assert all(answer.status == "success" for answer in answers), answers[0].content
    last: Any = saver.get_tuple(_CONFIG)  # type: ignore[arg-type]
    return Held(
        shown=sum(len(answer.text) for answer in answers),
        last=len(saver.serde.dumps_typed(last.checkpoint["channel_values"])[1]),
        every=sum(len(data) for _, data in saver.blobs.values()),
    )


def _their_reader(url: str) -> BaseTool:
    library: Any = import_module("langchain_tavily")
    tool: BaseTool = library.TavilyExtract(tavily_api_key=KEY, api_base_url=url)
    return tool
