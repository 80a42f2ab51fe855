"""
The sources of a conversation: their numbers, and what the model was shown of them.

They are stored nowhere but in the artifacts of the tools' messages, so a conversation that goes on in another process
still has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, TypeAlias

from langchain_core.tools import InjectedToolArg
from pydantic import PlainSerializer
from pydantic.json_schema import SkipJsonSchema

from websearch_core._outputs import collect_texts
from websearch_core.citations import Source, merge_sources

# LangGraph gives an argument of the name "runtime" the state of the graph; LangChain keeps it out of what models see,
# and callbacks get the arguments without it. Nothing here imports LangGraph, and the tools work without it.
Injected: TypeAlias = Annotated[SkipJsonSchema[Any], InjectedToolArg, PlainSerializer(lambda _: None)]


def collect_sources(messages: Iterable[object]) -> list[Source]:
    """
    Return the sources that the tools of this package found in a conversation.

    ::

        state = agent.invoke(...)
        sources = collect_sources(state["messages"])
        check_citations(state["messages"][-1].text, sources)

    Args:
        messages: The messages of an agent's state.

    Returns:
        One source for each number, ordered by it; ``text`` is what the model was shown of it.

    """
    texts = (
        source
        for message in messages
        for source in collect_texts(getattr(message, "content", None), getattr(message, "artifact", None))
    )
    return merge_sources(texts)


def stored_sources(runtime: object) -> Iterator[Mapping[str, Any]]:
    """Yield the sources in the messages of the state that LangGraph injects; none without LangGraph."""
    state = getattr(runtime, "state", None)
    messages = state if isinstance(state, list) else _field(state, "messages")
    for message in messages if isinstance(messages, list | tuple) else ():
        artifact = getattr(message, "artifact", None)
        sources = artifact.get("sources") if isinstance(artifact, Mapping) else None
        for source in sources if isinstance(sources, list) else ():
            if isinstance(source, Mapping):
                yield source


def _field(state: object, name: str) -> object:
    return state.get(name) if isinstance(state, Mapping) else getattr(state, name, None)
