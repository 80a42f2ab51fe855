"""`llamaindex_websearch` under the usual name of LlamaIndex integrations."""

from llamaindex_websearch import ToolError, WebSearchToolSpec

__all__ = ["ToolError", "WebSearchToolSpec"]
