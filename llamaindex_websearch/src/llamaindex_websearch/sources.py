"""The sources of a conversation: their numbers, and what the model was shown of
them.
"""

from __future__ import annotations
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from websearch_core.citations import Source, merge_sources

from .documents import ToolDocuments


def collect_sources(outputs: Iterable[object]) -> list[Source]:
    """Return the sources that the tools of this package found in a conversation.

    ::

        outputs = [event.tool_output async for event in running.stream_events() if isinstance(event, ToolCallResult)]
        check_citations(str(await running), collect_sources(outputs))

    Args:
        outputs: The outputs of tools (``ToolOutput``). Those of other tools are passed
            over, whatever they hold.

    Returns:
        One source for each number, ordered by it; ``text`` is what the model was shown
            of it.
    """
    return merge_sources(
        source
        for output in outputs
        for source in _sources(getattr(output, "raw_output", None))
    )


def _sources(documents: object) -> Iterator[Mapping[str, Any]]:
    # Documents of another tool may have the same metadata, and mean other pages by
    # these numbers.
    for document in documents if isinstance(documents, ToolDocuments) else ():
        names = ("title", "url", "read", "published", "score")
        facts = {
            name: document.metadata[name] for name in names if name in document.metadata
        }
        yield {**facts, "id": document.metadata["citation_id"], "text": document.text}
