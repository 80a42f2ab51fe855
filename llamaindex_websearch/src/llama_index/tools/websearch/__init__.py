"""`llamaindex_websearch` under the name that LlamaIndex integrations have."""

from llamaindex_websearch import ToolError, WebSearchToolSpec

__all__ = ["ToolError", "WebSearchToolSpec"]
