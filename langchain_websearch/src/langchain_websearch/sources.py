"""The sources of a conversation: their numbers, and what the model was shown of them.

They are in the artifacts of the tools' messages, so a conversation that goes on in
another process still has them; and with `WebSearchMiddleware` in a field of the state,
which outlives the messages.
"""

from __future__ import annotations
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import InjectedToolArg
from pydantic import PlainSerializer
from pydantic.json_schema import SkipJsonSchema

from websearch_core.tools import (
    DESCRIPTIONS,
    Usage,
    add_usage,
    collect_texts,
    find_numbers,
    list_sources,
    read_field,
)

if TYPE_CHECKING:
    from websearch_core.citations import Source

# The field of a state in which `WebSearchMiddleware` keeps the sources.
STATE_FIELD = "websearch_sources"
# LangGraph gives an argument of the name "runtime" the state of the graph; LangChain
# keeps it out of what models see, and callbacks get the arguments without it. Nothing
# here imports LangGraph, and the tools work without it.
Injected: TypeAlias = Annotated[
    SkipJsonSchema[Any], InjectedToolArg, PlainSerializer(lambda _: None)
]


def collect_sources(
    conversation: object, tools: Collection[str] = tuple(DESCRIPTIONS)
) -> list[Source]:
    """Return the sources that the tools of this package found in a conversation.

    ::

        state = agent.invoke(...)
        sources = collect_sources(state)
        check_citations(state["messages"][-1].text, sources)

    Args:
        conversation: The state of an agent, or its messages, those of the model
            included: a source counts only in the answer to a call that the model made
            to one of the tools. Where no message is a model's, such as the list of what
            your program called itself, the messages of the tools count.
            A state has more with `WebSearchMiddleware`: what was in messages that are
            gone, or found by sub-agents.
        tools: The names of the tools, if you gave them others.

    Returns:
        One source for each number, in their order; ``text`` is what the model saw of
        it.
    """
    # imported here: making a tool does not need it
    from websearch_core.citations import merge_sources

    sources: list[Any] = list(_find_stored(conversation))
    for answer in _find_all_answers(conversation, tools):
        sources += collect_texts(answer.content, answer.artifact)
    return merge_sources(sources)


def collect_usage(
    conversation: object, tools: Collection[str] = tuple(DESCRIPTIONS)
) -> Usage:
    """Return what the tools of this package used in a conversation, as far as services
    say it or their lists of prices do.

    Args:
        conversation: The state of an agent, or its messages, as for `collect_sources`.
        tools: The names of the tools, if you gave them others.
    """
    artifacts = [answer.artifact for answer in _find_all_answers(conversation, tools)]
    return add_usage(facts for facts in artifacts if isinstance(facts, Mapping))


def find_messages(runtime: object, config: RunnableConfig) -> Sequence[object] | None:
    """Return the messages of the conversation in which a tool is called, which are in
    the state of the graph.

    Args:
        runtime: What LangGraph injects into the tools of a ``ToolNode``.
        config: The config of the run, with which a node of your own reads the state.

    Returns:
        The messages; None if there is no state, or it has no ``messages``.
    """
    state = getattr(runtime, "state", None)
    if state is None:
        state = _read_state(config, "messages")
    return _find_messages(state)


def find_state_sources(
    runtime: object, config: RunnableConfig
) -> Sequence[Mapping[str, Any]]:
    """Return the sources that the state of the graph has beside its messages, with the
    arguments of `find_messages`.
    """
    state = getattr(runtime, "state", None)
    if state is None:
        state = {STATE_FIELD: _read_state(config, STATE_FIELD)}
    return _find_stored(state)


def _read_state(config: RunnableConfig, field: str) -> object:
    """Return what the state of the graph has in a field; None if there is none."""
    read = (config.get("configurable") or {}).get("__pregel_read")
    if not callable(read):
        return None
    with suppress(KeyError):  # the state has none
        return read([field])
    return None


def _find_messages(state: object) -> Sequence[object] | None:
    messages = state if isinstance(state, list) else read_field(state, "messages")
    return messages if isinstance(messages, list | tuple) else None


def _find_stored(state: object) -> Sequence[Mapping[str, Any]]:
    if isinstance(state, list | tuple):
        return ()
    sources = read_field(state, STATE_FIELD)
    return sources if isinstance(sources, list) else ()


def stored_sources(
    messages: Iterable[object], tools: Collection[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield the sources in the messages that answer a call of one of these *tools*."""
    for answer in _find_answers(messages, tools):
        yield from list_sources(answer.artifact) or ()


def shown_numbers(messages: Iterable[object], tools: Collection[str]) -> set[int]:
    """Return the numbers of sources in all messages that do not say themselves what
    they stand for: the answers of a model, a summary of messages that are gone, an
    answer of these *tools* that others have changed.
    """
    messages = list(messages)
    complete = {
        id(answer)
        for answer in _find_answers(messages, tools)
        if list_sources(answer.artifact) is not None
    }
    numbers: set[int] = set()
    for message in messages:
        if id(message) not in complete:
            numbers |= find_numbers(read_field(message, "content"))
    return numbers


def _find_all_answers(
    conversation: object, tools: Collection[str]
) -> Iterator[ToolMessage]:
    """Return the answers of these *tools* in a conversation: those to calls of a model,
    or, where no model wrote, those to calls of the program.
    """
    messages: Iterable[object] = _find_messages(conversation) or ()
    is_state = isinstance(conversation, Mapping) or hasattr(conversation, "messages")
    if not is_state and isinstance(conversation, Iterable):
        messages = conversation
    messages = list(messages)
    if any(isinstance(message, AIMessage) for message in messages):
        return _find_answers(messages, tools)
    return _find_own_answers(messages, tools)


def _find_answers(
    messages: Iterable[object], tools: Collection[str]
) -> Iterator[ToolMessage]:
    """Yield the messages that answer a call of one of these *tools*.

    An artifact of another tool may look the same. So a message counts only as the first
    answer to a call that a model's message before it made by name; some models use the
    ID of a call again.
    """
    waiting: dict[str | None, str] = {}
    for message in messages:
        if isinstance(message, AIMessage):
            waiting.update({call["id"]: call["name"] for call in message.tool_calls})
        elif (
            isinstance(message, ToolMessage)
            and waiting.pop(message.tool_call_id, None) in tools
        ):
            yield message


def _find_own_answers(
    messages: Iterable[object], tools: Collection[str]
) -> Iterator[ToolMessage]:
    """Yield the answers of these *tools* among messages of which no model wrote any:
    the program called the tools itself.
    """
    for message in messages:
        if isinstance(message, ToolMessage) and message.name in tools:
            yield message
