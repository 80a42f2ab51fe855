"""What an agent is told when a search fails, blocking and on an event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool
from pydantic import PrivateAttr

from benchmarks.calls.contestants import KEY, QUERY, our_tool, their_tool
from benchmarks.calls.server import Server
from benchmarks.report import Goal, Section, Table

_TIMEOUT = 40.0  # seconds until we stop waiting for an agent; our own time limit is 30 unless it is set otherwise
_MAX_EXCERPT_LENGTH = 140

_FAULTS = {
    "401": "401, the key is wrong",
    "429": "429, `Retry-After: 60`",
    "502": "502 with a page of HTML",
    "portal": "200 with a page of HTML",
    "hang": "no answer",
}


@dataclass(frozen=True)
class Outcome:
    """
    What became of an agent's run.

    Args:
        kind: ``error`` or ``success``, the status that the agent was told; ``crash``; or ``hanging``.
        told: What the model was told, or what the run raised.
        seconds: How long that took.

    """

    kind: str
    told: str
    seconds: float


def measure(server: Server) -> Section:
    """Let agents search where searching fails, all of them side by side."""
    makers: dict[str, Callable[[str], BaseTool]] = {"`WebSearchTool`": our_tool, "`TavilySearch`": their_tool}
    running = {
        (fault, name, colour): _in_thread(run, make(f"{server.url}/{fault}"))
        for fault in _FAULTS
        for name, make in makers.items()
        for colour, run in (("invoke", _blocking), ("ainvoke", _asynchronous))
    }
    end = time.monotonic() + _TIMEOUT
    outcomes = {which: _awaited(future, end) for which, future in running.items()}
    rows = [
        (_FAULTS[fault], f"{name} `.{colour}`", outcome.kind, f"{outcome.seconds:.1f} s", _excerpt(outcome.told))
        for (fault, name, colour), outcome in outcomes.items()
    ]
    ours = [outcome for (_, name, _), outcome in outcomes.items() if name == "`WebSearchTool`"]
    theirs = [outcome for (_, name, _), outcome in outcomes.items() if name == "`TavilySearch`"]
    right = sum(outcome.kind == "error" for outcome in ours)
    return Section(
        title="Failing searches",
        method=(
            "An agent of `langchain.agents.create_agent`, whose model follows a script, searches once; both tools are "
            "as they come, time limits included. Right is `error`: a tool message of that status, which the agent "
            "survives and the model can tell from a result. With `success` the model takes the failure for a result; "
            f"with `crash` the run ends; `hanging` means that it had not ended after {_TIMEOUT:.0f} s. What is told "
            "is shown as far as it goes in a table."
        ),
        tables=[Table(("the service says", "tool", "outcome", "after", "what the model is told"), rows, numbers=False)],
        goals=[
            Goal(
                "every failing search is a tool message of status `error`",
                f"{right} of {len(ours)}; {sum(outcome.kind == 'error' for outcome in theirs)} of {len(theirs)} for "
                "langchain-tavily",
                right == len(ours),
            ),
            Goal(
                "each begins with a stable code, and 429 says when to come back",
                ", ".join(sorted({outcome.told.split(" ", 2)[1] for outcome in ours if " " in outcome.told})),
                all(outcome.told.startswith("ERROR [") for outcome in ours)
                and all("60 s" in outcomes["429", "`WebSearchTool`", colour].told for colour in ("invoke", "ainvoke")),
            ),
            Goal(
                "none of it holds the key",
                f"{sum(KEY in outcome.told for outcome in ours)} do",
                not any(KEY in outcome.told for outcome in ours),
            ),
        ],
    )


class _Script(BaseChatModel):
    """A model that searches once and is done, whatever it is told."""

    tool: str
    _turn: int = PrivateAttr(default=0)

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, *_: Any, **__: Any) -> _Script:
        return self

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        self._turn += 1
        call = {"name": self.tool, "args": {"query": QUERY}, "id": "call-1"}
        says = AIMessage("", tool_calls=[call]) if self._turn == 1 else AIMessage("Done.")
        return ChatResult(generations=[ChatGeneration(message=says)])


def _agent(tool: BaseTool) -> Any:
    return create_agent(_Script(tool=tool.name), [tool])


_ASK = {"messages": [{"role": "user", "content": QUERY}]}


def _blocking(tool: BaseTool) -> dict[str, Any]:
    state: dict[str, Any] = _agent(tool).invoke(_ASK)
    return state


def _asynchronous(tool: BaseTool) -> dict[str, Any]:
    state: dict[str, Any] = asyncio.run(_agent(tool).ainvoke(_ASK))
    return state


def _in_thread(run: Callable[[BaseTool], dict[str, Any]], tool: BaseTool) -> Future[Outcome]:
    """Start an agent in a thread that nobody has to wait for, unlike those of an executor: it may never end."""
    outcome: Future[Outcome] = Future()
    start = time.monotonic()

    def work() -> None:
        try:
            state = run(tool)
        except Exception as error:  # noqa: BLE001 - whatever it is, it ends the run of an agent
            kind, told = "crash", f"{type(error).__name__}: {error}"
        else:
            (message,) = (one for one in state["messages"] if isinstance(one, ToolMessage))
            kind, told = message.status, message.text
        outcome.set_result(Outcome(kind, told, time.monotonic() - start))

    threading.Thread(target=work, daemon=True).start()
    return outcome


def _awaited(future: Future[Outcome], end: float) -> Outcome:
    try:
        return future.result(max(0.0, end - time.monotonic()))
    except FutureTimeout:
        return Outcome("hanging", "", _TIMEOUT)


def _excerpt(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|").replace("`", "'")
    if not line:
        return ""
    return f"`{line}`" if len(line) <= _MAX_EXCERPT_LENGTH else f"`{line[:_MAX_EXCERPT_LENGTH]}…`"
