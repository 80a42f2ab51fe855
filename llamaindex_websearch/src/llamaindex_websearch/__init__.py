"""Web search for LlamaIndex: a tool spec, a retriever, a reader and a node
postprocessor.

::

    from llama_index.core.agent.workflow import FunctionAgent
    from llamaindex_websearch import WebSearchToolSpec

    agent = FunctionAgent(tools=WebSearchToolSpec().to_tool_list(), llm=llm)

Importing this package is cheap: LlamaIndex itself is loaded when a name is first used.
"""

from __future__ import annotations
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .documents import to_document
    from .events import WebSearchEvent
    from .postprocessor import WebPagePostprocessor
    from .reader import WebPageReader
    from .retriever import WebSearchRetriever
    from .sources import collect_sources, collect_usage
    from .tool_spec import ToolError, WebSearchToolSpec

    __version__: str

__all__ = [
    "ToolError",
    "WebPagePostprocessor",
    "WebPageReader",
    "WebSearchEvent",
    "WebSearchRetriever",
    "WebSearchToolSpec",
    "collect_sources",
    "collect_usage",
    "to_document",
]

_HOMES = {
    "ToolError": ".tool_spec",
    "WebPagePostprocessor": ".postprocessor",
    "WebPageReader": ".reader",
    "WebSearchEvent": ".events",
    "WebSearchRetriever": ".retriever",
    "WebSearchToolSpec": ".tool_spec",
    "collect_sources": ".sources",
    "collect_usage": ".sources",
    "to_document": ".documents",
}

# hidden from type checkers: with a __getattr__, they would accept any name
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            value: object = version("llamaindex-websearch")
        elif name in _HOMES:
            # now, rather than in somebody's event loop
            import_module("websearch_core.client").preload()
            value = getattr(import_module(_HOMES[name], __name__), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return ["__version__", *__all__]
