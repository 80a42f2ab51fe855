from __future__ import annotations
import subprocess
import sys

import pytest
from llama_index.core.readers.base import BaseReader
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.tools.tool_spec.base import BaseToolSpec

import llama_index.tools.websearch as shim
import llamaindex_websearch


def test_these_are_the_public_names() -> None:
    names = [
        "ToolError", "WebPagePostprocessor", "WebPageReader", "WebSearchEvent", "WebSearchRetriever",
        "WebSearchToolSpec", "collect_sources", "collect_usage", "to_document",
    ]  # fmt: skip
    assert names == llamaindex_websearch.__all__
    assert set(names) <= set(dir(llamaindex_websearch))
    for name in names:
        assert name == getattr(llamaindex_websearch, name).__name__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="WebSearchTool"):
        llamaindex_websearch.WebSearchTool  # noqa: B018


def test_each_is_what_llama_index_expects() -> None:
    assert issubclass(llamaindex_websearch.WebSearchToolSpec, BaseToolSpec)
    assert issubclass(llamaindex_websearch.WebSearchRetriever, BaseRetriever)
    assert issubclass(llamaindex_websearch.WebPageReader, BaseReader)


def test_the_import_in_the_style_of_llama_hub_is_the_same_class() -> None:
    assert llamaindex_websearch.WebSearchToolSpec is shim.WebSearchToolSpec
    assert shim.__all__ == ["ToolError", "WebSearchToolSpec"]


def test_importing_loads_neither_llama_index_nor_the_core() -> None:
    code = (
        "import sys, llamaindex_websearch as package\n"
        "assert 'WebSearchToolSpec' in dir(package)\n"
        "heavy = {'llama_index.core', 'websearch_core', 'pydantic', 'httpx'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "import llama_index.core\n"
        "before = set(sys.modules)\n"
        "from llama_index.tools.websearch import WebSearchToolSpec\n"
        "assert 'websearch_core' in sys.modules and 'httpx' not in set(sys.modules) - before\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=200)
