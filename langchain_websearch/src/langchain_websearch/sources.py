"""The sources of a conversation: their numbers, and what the model was shown of them.

They are stored nowhere but in the artifacts of the tools' messages, so a conversation
that goes on in another process still has them.
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

from websearch_core.tools import DESCRIPTIONS, collect_texts, find_numbers, read_field

if TYPE_CHECKING:
    from websearch_core.citations import Source

# LangGraph gives an argument of the name "runtime" the state of the graph; LangChain
# keeps it out of what models see, and callbacks get the arguments without it. Nothing
# here imports LangGraph, and the tools work without it.
Injected: TypeAlias = Annotated[
    SkipJsonSchema[Any], InjectedToolArg, PlainSerializer(lambda _: None)
]


def collect_sources(
    messages: Iterable[object], tools: Collection[str] = tuple(DESCRIPTIONS)
) -> list[Source]:
    """Return the sources that the tools of this package found in a conversation.

    ::

        state = agent.invoke(...)
        sources = collect_sources(state["messages"])
        check_citations(state["messages"][-1].text, sources)

    Args:
        messages: The messages of an agent's state, those of the model included: a
            source counts only in the answer to a call that the model made to one of the
            tools.
        tools: The names of the tools, if you gave them others.

    Returns:
        One source for each number, in their order; ``text`` is what the model saw of
        it.
    """
    # imported here: making a tool does not need it
    from websearch_core.citations import merge_sources

    sources: list[Any] = []
    for answer in _find_answers(messages, tools):
        sources += collect_texts(answer.content, answer.artifact)
    return merge_sources(sources)


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
    read = (config.get("configurable") or {}).get("__pregel_read")
    if state is None and callable(read):
        with suppress(KeyError):  # the state has none
            state = read(["messages"])
    messages = state if isinstance(state, list) else read_field(state, "messages")
    return messages if isinstance(messages, list | tuple) else None


def stored_sources(
    messages: Iterable[object], tools: Collection[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield the sources in the messages that answer a call of one of these *tools*."""
    for answer in _find_answers(messages, tools):
        yield from _sources_of(answer) or ()


def shown_numbers(messages: Iterable[object], tools: Collection[str]) -> set[int]:
    """Return the numbers of sources in all messages that do not say themselves what
    they stand for: the answers of a model, a summary of messages that are gone, an
    answer of these *tools* that others have changed.
    """
    messages = list(messages)
    complete = {
        id(answer)
        for answer in _find_answers(messages, tools)
        if _sources_of(answer) is not None
    }
    numbers: set[int] = set()
    for message in messages:
        if id(message) not in complete:
            numbers |= find_numbers(read_field(message, "content"))
    return numbers


def _sources_of(answer: ToolMessage) -> list[Any] | None:
    artifact = answer.artifact
    sources = artifact.get("sources") if isinstance(artifact, Mapping) else None
    return sources if isinstance(sources, list) else None


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
