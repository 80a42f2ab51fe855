"""The front door, and what passing it costs."""

from __future__ import annotations

import subprocess
import sys
import types

import pytest

import websearch_core


def test_the_public_names_are_these_and_nothing_leaks():
    assert websearch_core.__all__ == sorted(websearch_core.__all__)
    public = {
        name
        for name, value in vars(websearch_core).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert public == set(websearch_core.__all__)


@pytest.mark.parametrize(
    "statement",
    [
        "import websearch_core",
        "from websearch_core import WebSearch; WebSearch('brave', api_key='key')",
        "import websearch_core.reading, websearch_core.render, websearch_core.layers",
    ],
)
def test_importing_loads_no_framework_no_http_library_and_no_parser(statement):
    heavy = ["langchain_core", "llama_index", "httpx", "httpx2", "bs4", "markdownify", "selectolax", "rich", "typer"]
    program = f"{statement}; import sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
