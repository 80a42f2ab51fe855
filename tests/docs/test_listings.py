"""What is sent to the lists of LangChain and LlamaHub names what exists."""

from __future__ import annotations
import ast
import re
from pathlib import Path

import pytest
import yaml

import langchain_websearch
from langchain_websearch import WebSearchToolkit

LISTINGS = Path(__file__).resolve().parents[2] / "listings"


def find_blocks(name):
    text = (LISTINGS / name).read_text("utf-8")
    return re.findall(
        r"^ *```python[^\n]*\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL
    )


@pytest.mark.parametrize("name", ["langchain.mdx", "llamahub.md"])
def test_its_examples_are_python_and_import_what_exists(name):
    imported = []
    for block in find_blocks(name):
        if re.match(r" *(pip install|uv add) ", block):
            continue
        tree = ast.parse(
            f"async def main():\n    {block.replace(chr(10), chr(10) + '    ')}"
        )
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and "websearch" in str(node.module):
                exec(ast.unparse(node), {})
                imported.append(node.module)

    assert imported


def test_the_entry_for_the_table_names_classes_of_the_package():
    listed = yaml.safe_load((LISTINGS / "langchain.yaml").read_text("utf-8"))
    entries = [entry for kind in listed["python"].values() for entry in kind]

    assert {entry["pypi"] for entry in entries} == {"langchain-websearch"}
    assert {entry["name"] for entry in entries} <= set(langchain_websearch.__all__)


def test_the_toolkit_has_the_two_tools_that_the_page_unpacks():
    search, open_page = WebSearchToolkit(provider="duckduckgo").get_tools()

    assert (search.name, open_page.name) == ("web_search", "open_page")
