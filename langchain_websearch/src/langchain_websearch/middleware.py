"""Keep the sources of an agent in its state, where they outlive its messages: summaries
remove some, and those of a sub-agent never come up.

This module needs LangChain 1; the others do with its core.
"""

from __future__ import annotations
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.tools import BaseTool

from websearch_core.citations import (
    CitationCheck,
    Source,
    acheck_citations,
    check_citations,
)
from websearch_core.errors import ConfigurationError
from websearch_core.tools import (
    SourceRecord,
    add_sources,
    current_record,
    read_field,
    record_sources,
)

from .conversations import find_conversation, find_user_texts
from .sources import STATE_FIELD, collect_sources
from .tools import WebSearchToolkit

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState
    from langchain.agents.middleware.types import PrivateStateAttr
    from langgraph.runtime import Runtime
    from langgraph.types import Command, Overwrite
except ModuleNotFoundError as _missing:
    raise ModuleNotFoundError(
        "WebSearchMiddleware needs: pip install 'langchain>=1'", name=_missing.name
    ) from _missing

if TYPE_CHECKING:  # before LangChain 1.0.8, it had another place
    from langchain.agents.middleware.types import ToolCallRequest

_MAX_URLS = 100  # of the user in one conversation; the oldest are forgotten


def _add_urls(before: list[str], new: list[str]) -> list[str]:
    return list(dict.fromkeys([*before, *new]))[-_MAX_URLS:]


def _add_checks(
    before: list[dict[str, Any]], new: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    return [*before, *(check for check in new if check not in before)]


class WebSearchState(AgentState[Any]):
    """What the middleware adds to the state of an agent: all of it is plain JSON.

    Args:
        websearch_sources: The sources of the conversation; `collect_sources` merges
            those of one number.
        websearch_checks: The checks of the last answer: the fields of `CitationCheck`.
            Until an agent that checks has answered, those of its sub-agents' answers.
        websearch_named: The URLs that the user named.
    """

    websearch_sources: NotRequired[Annotated[list[dict[str, Any]], add_sources]]
    # Sub-agents that end at the same time both write theirs.
    websearch_checks: NotRequired[Annotated[list[dict[str, Any]], _add_checks]]
    websearch_named: NotRequired[Annotated[list[str], PrivateStateAttr, _add_urls]]


class WebSearchMiddleware(AgentMiddleware):
    """Gives an agent the tools, and keeps what they found in the state of the agent.

    ::

        web = WebSearchMiddleware(WebSearchToolkit(provenance="seen"))
        agent = create_agent(model, middleware=[web])
        state = agent.invoke({"messages": question})
        link_citations(state["messages"][-1].text, collect_sources(state))

    Sources then outlive the messages that showed them: through summaries, in other
    processes, and up from sub-agents, whether these are tools of yours or those of
    deepagents. All agents of a conversation share one middleware, or one toolkit. The
    order among other middlewares does not matter.

    Args:
        toolkit: The tools; by default `WebSearchToolkit` without arguments.
        check: Whether to check the citations of each answer, as `check_citations` does.
            The state has the checks as ``websearch_checks``; the answer stays as it is.
        user_urls: Whether the URLs in the messages with which a run begins may be
            opened, as with ``toolkit.user_urls``. False for an agent that a model
            calls from elsewhere, such as over the network. Within another agent or
            graph, such messages never count: a model may have written them.
    """

    state_schema: type[WebSearchState] = WebSearchState  # pyright: ignore[reportIncompatibleVariableOverride] - as in LangChain

    def __init__(
        self,
        toolkit: WebSearchToolkit | None = None,
        *,
        check: bool = False,
        user_urls: bool = True,
    ) -> None:
        super().__init__()
        if toolkit is None:
            toolkit = WebSearchToolkit()
        if not isinstance(toolkit, WebSearchToolkit):
            raise ConfigurationError(
                f"toolkit: must be a WebSearchToolkit, not {type(toolkit).__name__}: "
                "write WebSearchMiddleware(WebSearchToolkit(...))"
            )
        self.toolkit: WebSearchToolkit = toolkit
        self.tools: Sequence[BaseTool] = self.toolkit.get_tools()
        self.check: bool = check
        self.user_urls: bool = user_urls

    def before_agent(
        self,
        state: AgentState[Any],
        runtime: Runtime[Any],  # noqa: ARG002 - the signatures are LangChain's
    ) -> dict[str, Any] | None:
        """Allow the URLs in the messages with which the user begins this run, and drop
        the checks of the one before.
        """
        update: dict[str, Any] = {"websearch_checks": Overwrite([])}
        urls = self._allow_urls(state)
        if urls:
            update["websearch_named"] = urls
        return update

    def _allow_urls(self, state: AgentState[Any]) -> list[str]:
        urls: list[str] = []
        ledger = self.toolkit.provenance
        if not self.user_urls or ledger.mode == "any":
            return urls
        config = ensure_config()
        if current_record() is not None or _is_nested(config):
            return urls
        conversation = find_conversation(config, self.toolkit.conversation)
        for text in find_user_texts(_find_last_of_user(state["messages"])):
            urls += ledger.allow_text(text, conversation)
        return urls

    async def abefore_agent(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Do the same as `before_agent`, which waits for nothing."""
        return self.before_agent(state, runtime)

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Store what our tools show within a call of any tool."""
        with self._record(request) as record:
            answer = handler(request)
        return _with_sources(answer, record)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Do the same as `wrap_tool_call` on the running event loop."""
        with self._record(request) as record:
            answer = await handler(request)
        return _with_sources(answer, record)

    def after_agent(
        self,
        state: AgentState[Any],
        runtime: Runtime[Any],  # noqa: ARG002
    ) -> dict[str, Any] | None:
        """Check the citations of the answer, and bring the sources up."""
        self._bring_up(state)
        if not self.check:
            return None
        return _describe(check_citations(*self._find_cited(state)))

    async def aafter_agent(
        self,
        state: AgentState[Any],
        runtime: Runtime[Any],  # noqa: ARG002
    ) -> dict[str, Any] | None:
        """Do the same as `after_agent` without stopping the event loop."""
        self._bring_up(state)
        if not self.check:
            return None
        return _describe(await acheck_citations(*self._find_cited(state)))

    def _find_cited(self, state: AgentState[Any]) -> tuple[str, list[Source]]:
        """Return the answer, and the sources that it may cite."""
        names = [tool.name for tool in self.tools]
        return _find_answer(state), collect_sources(state, names)

    def _bring_up(self, state: AgentState[Any]) -> None:
        """Add what this agent has to the record of the call that it is run by: the call
        may have begun before an interrupt, in another process.
        """
        record = current_record()
        if record is None:
            return
        conversation = find_conversation(ensure_config(), self.toolkit.conversation)
        record.add(conversation, add_sources([], read_field(state, STATE_FIELD)))

    @contextmanager
    def _record(self, request: ToolCallRequest) -> Iterator[SourceRecord]:
        """Record what our tools show within the block; they know the state's sources
        there, and the URLs that the user named, even if this process is new.
        """
        config = ensure_config(getattr(request.runtime, "config", None))
        conversation = find_conversation(config, self.toolkit.conversation)
        urls = read_field(request.state, "websearch_named")
        if isinstance(urls, list):
            text = "\n".join(url for url in urls if isinstance(url, str))
            self.toolkit.provenance.allow_text(text, conversation)
        stored = add_sources([], read_field(request.state, STATE_FIELD))
        with record_sources(conversation, stored) as record:
            yield record


def _with_sources(
    answer: ToolMessage | Command[Any], record: SourceRecord
) -> ToolMessage | Command[Any]:
    """Return the answer of a tool so that it adds the recorded sources to the state."""
    if not record.shown:
        return answer
    if isinstance(answer, ToolMessage):
        sources = add_sources([], record.shown)
        return Command(update={"messages": [answer], STATE_FIELD: sources})
    update = {} if answer.update is None else answer.update
    if not isinstance(update, Mapping):  # of a state that has no fields
        return answer
    sources = add_sources(update.get(STATE_FIELD), record.shown)
    return replace(answer, update={**update, STATE_FIELD: sources})


def _describe(checks: Sequence[CitationCheck]) -> dict[str, Any]:
    """Return the update of the state: no others belong to the answer."""
    return {"websearch_checks": Overwrite(list(map(_as_json, checks)))}


def _as_json(check: CitationCheck) -> dict[str, Any]:
    lists = {"citations": list(check.citations), "missing": list(check.missing)}
    return {**asdict(check), **lists}


def _is_nested(config: RunnableConfig) -> bool:
    """Return whether the agent runs within another graph."""
    namespace = (config.get("configurable") or {}).get("checkpoint_ns")
    return "|" in str(namespace or "")


def _find_last_of_user(messages: list[AnyMessage]) -> list[AnyMessage]:
    """Return the human messages with which a conversation ends."""
    end = len(messages)
    while end and isinstance(messages[end - 1], HumanMessage):
        end -= 1
    return messages[end:]


def _find_answer(state: AgentState[Any]) -> str:
    """Return the text of the last message, if it is the model's."""
    messages = state["messages"]
    if not messages or not isinstance(messages[-1], AIMessage):
        return ""
    return str(messages[-1].text)
