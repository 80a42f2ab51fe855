"""The sources of a conversation: their numbers, and what the model was shown of
them.
"""

from __future__ import annotations
from collections.abc import Iterable, Mapping
from typing import Any

from llama_index.core.schema import Document

from websearch_core.citations import Source, merge_sources

from .documents import ToolDocuments


def collect_sources(outputs: Iterable[object]) -> list[Source]:
    """Return the sources that the tools of this package found in a conversation.

    ::

        outputs = []
        async for event in running.stream_events():
            if isinstance(event, ToolCallResult):
                outputs.append(event.tool_output)
        check_citations(str(await running), collect_sources(outputs))

    Args:
        outputs: The outputs of tools (``ToolOutput``). Those of other tools are
            ignored, whatever they hold.

    Returns:
        One source for each number, in their order; ``text`` is what the model saw of
        it.
    """
    sources: list[Mapping[str, Any]] = []
    for output in outputs:
        documents = getattr(output, "raw_output", None)
        # Documents of another tool may have the same metadata, and mean other pages by
        # these numbers.
        if isinstance(documents, ToolDocuments):
            sources += map(_make_source, documents)
    return merge_sources(sources)


def _make_source(document: Document) -> Mapping[str, Any]:
    names = ("title", "url", "read", "published", "score")
    metadata = document.metadata
    facts = {name: metadata[name] for name in names if name in metadata}
    return {**facts, "id": metadata["citation_id"], "text": document.text}
