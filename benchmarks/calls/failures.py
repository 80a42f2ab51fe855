"""Record what an agent reads when a search fails, blocking and on an event loop."""

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

_TIMEOUT = 40.0  # seconds to wait for an agent; our own default time limit is 30
_MAX_EXCERPT_LENGTH = 140

_FAULTS = {
    "401": "401, the key is wrong",
    "429": "429, `Retry-After: 60`",
    "502": "502 with an HTML page",
    "portal": "200 with an HTML page",
    "hang": "no answer",
}


@dataclass(frozen=True)
class Outcome:
    """How an agent's run ended.

    Args:
        kind: The status of the tool message, ``error`` or ``success``; ``crash``; or
            ``hanging``.
        message: What the model read, or what the run raised.
        seconds: How long the run took.
    """

    kind: str
    message: str
    seconds: float


def measure(server: Server) -> Section:
    """Run an agent for each fault and tool, all at the same time."""
    makers: dict[str, Callable[[str], BaseTool]] = {
        "`WebSearchTool`": our_tool,
        "`TavilySearch`": their_tool,
    }
    running = {
        (fault, name, colour): _start_thread(run, make(f"{server.url}/{fault}"))
        for fault in _FAULTS
        for name, make in makers.items()
        for colour, run in (("invoke", _run), ("ainvoke", _arun))
    }
    end = time.monotonic() + _TIMEOUT
    outcomes = {which: _wait(future, end) for which, future in running.items()}
    rows = [
        (
            _FAULTS[fault],
            f"{name} `.{colour}`",
            outcome.kind,
            f"{outcome.seconds:.1f} s",
            _shorten(outcome.message),
        )
        for (fault, name, colour), outcome in outcomes.items()
    ]
    ours = [
        outcome
        for (_, name, _), outcome in outcomes.items()
        if name == "`WebSearchTool`"
    ]
    theirs = [
        outcome
        for (_, name, _), outcome in outcomes.items()
        if name == "`TavilySearch`"
    ]
    right = sum(outcome.kind == "error" for outcome in ours)
    return Section(
        title="Failing searches",
        method=(
            "An agent made by `langchain.agents.create_agent`, whose model follows a "
            "script, searches once. Both tools "
            "have their defaults, including time limits. The right outcome is `error`: "
            "a tool message with that "
            "status, which the agent survives and the model can tell from a result. "
            "With `success` the model takes the "
            "failure for a result, with `crash` the run ends, and `hanging` means that "
            "it had not ended after "
            f"{_TIMEOUT:.0f} s. Long messages are cut."
        ),
        tables=[
            Table(
                (
                    "the service answers",
                    "tool",
                    "outcome",
                    "after",
                    "what the model reads",
                ),
                rows,
                numbers=False,
            )
        ],
        goals=[
            Goal(
                "every failed search becomes a tool message with status `error`",
                f"{right} of {len(ours)}; "
                f"{sum(outcome.kind == 'error' for outcome in theirs)} of "
                f"{len(theirs)} for "
                "langchain-tavily",
                right == len(ours),
            ),
            Goal(
                "each message begins with a stable code, and 429 says when to try "
                "again",
                ", ".join(
                    sorted(
                        {
                            outcome.message.split(" ", 2)[1]
                            for outcome in ours
                            if " " in outcome.message
                        }
                    )
                ),
                all(outcome.message.startswith("ERROR [") for outcome in ours)
                and all(
                    "60 s" in outcomes["429", "`WebSearchTool`", way].message
                    for way in ("invoke", "ainvoke")
                ),
            ),
            Goal(
                "no message contains the key",
                f"{sum(KEY in outcome.message for outcome in ours)} do",
                not any(KEY in outcome.message for outcome in ours),
            ),
        ],
    )


class _Script(BaseChatModel):
    """A model that searches once, then ends its run whatever the answer."""

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
        reply = (
            AIMessage("", tool_calls=[call]) if self._turn == 1 else AIMessage("Done.")
        )
        return ChatResult(generations=[ChatGeneration(message=reply)])


def _make_agent(tool: BaseTool) -> Any:
    return create_agent(_Script(tool=tool.name), [tool])


_INPUT = {"messages": [{"role": "user", "content": QUERY}]}


def _run(tool: BaseTool) -> dict[str, Any]:
    state: dict[str, Any] = _make_agent(tool).invoke(_INPUT)
    return state


def _arun(tool: BaseTool) -> dict[str, Any]:
    state: dict[str, Any] = asyncio.run(_make_agent(tool).ainvoke(_INPUT))
    return state


def _start_thread(
    run: Callable[[BaseTool], dict[str, Any]], tool: BaseTool
) -> Future[Outcome]:
    """Start an agent in a daemon thread: it may never end, and an executor would wait
    for it at exit.
    """
    outcome: Future[Outcome] = Future()
    start = time.monotonic()

    def work() -> None:
        try:
            state = run(tool)
        except Exception as error:  # noqa: BLE001 - any exception is an outcome
            kind, text = "crash", f"{type(error).__name__}: {error}"
        else:
            (message,) = (
                one for one in state["messages"] if isinstance(one, ToolMessage)
            )
            kind, text = message.status, message.text
        outcome.set_result(Outcome(kind, text, time.monotonic() - start))

    threading.Thread(target=work, daemon=True).start()
    return outcome


def _wait(future: Future[Outcome], end: float) -> Outcome:
    try:
        return future.result(max(0.0, end - time.monotonic()))
    except FutureTimeout:
        return Outcome("hanging", "", _TIMEOUT)


def _shorten(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|").replace("`", "'")
    if not line:
        return ""
    return (
        f"`{line}`"
        if len(line) <= _MAX_EXCERPT_LENGTH
        else f"`{line[:_MAX_EXCERPT_LENGTH]}…`"
    )
