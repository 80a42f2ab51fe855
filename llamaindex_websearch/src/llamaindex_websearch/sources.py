"""The sources of a conversation: their numbers, and what the model was shown of
them.
"""

from __future__ import annotations
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from llama_index.core.schema import Document, TextNode

from websearch_core.citations import Source, merge_sources
from websearch_core.tools import Usage, add_usage

from .documents import ToolDocuments, WebNode


def collect_sources(outputs: Iterable[object]) -> list[Source]:
    """Return the sources that the tools of this package found in a conversation.

    ::

        outputs = []
        async for event in running.stream_events():
            if isinstance(event, ToolCallResult):
                outputs.append(event.tool_output)
        check_citations(str(await running), collect_sources(outputs))

    Args:
        outputs: The outputs of tools (``ToolOutput``), the nodes of a
            `WebSearchRetriever` that has a `WebSearchToolSpec`, and answers of query
            engines over it, also as outputs of tools. Others are ignored, whatever
            they hold.

    Returns:
        One source for each number, in their order; ``text`` is what the model saw of
        it.
    """
    sources: list[Mapping[str, Any]] = []
    for output in outputs:
        result = getattr(output, "raw_output", output)
        sources += map(_make_source, _list_documents(result))
    return merge_sources(sources)


def collect_usage(outputs: Iterable[object]) -> Usage:
    """Return what the tools of this package used in a run, as far as services say it or
    their lists of prices do.

    Args:
        outputs: The outputs of tools, as for `collect_sources`.
    """
    values = [getattr(output, "raw_output", None) for output in outputs]
    return add_usage(
        value.artifact for value in values if isinstance(value, ToolDocuments)
    )


def _list_documents(result: object) -> Iterator[TextNode | Document]:
    """Return our documents and nodes. Those of others may have the same metadata, and
    mean other pages by these numbers.
    """
    if isinstance(result, ToolDocuments):
        yield from result
        return
    for scored in getattr(result, "source_nodes", [result]):
        node = getattr(scored, "node", None)
        if isinstance(node, WebNode) and "citation_id" in node.metadata:
            yield node


def _make_source(document: TextNode | Document) -> Mapping[str, Any]:
    names = ("title", "url", "read", "published", "score")
    metadata = document.metadata
    facts = {name: metadata[name] for name in names if name in metadata}
    return {**facts, "id": metadata["citation_id"], "text": document.text}
