"""
Web search for LlamaIndex: a tool spec, a retriever and a reader.

::

    from llama_index.core.agent.workflow import FunctionAgent
    from llamaindex_websearch import WebSearchToolSpec

    agent = FunctionAgent(tools=WebSearchToolSpec().to_tool_list(), llm=llm)

Importing this package is cheap: LlamaIndex itself is loaded when one of the names is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .reader import WebPageReader
    from .retriever import WebSearchRetriever
    from .tool_spec import ToolError, WebSearchToolSpec

__all__ = ["ToolError", "WebPageReader", "WebSearchRetriever", "WebSearchToolSpec"]

_HOMES = {
    "ToolError": ".tool_spec",
    "WebPageReader": ".reader",
    "WebSearchRetriever": ".retriever",
    "WebSearchToolSpec": ".tool_spec",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *(name for name in __all__ if name not in globals())]
