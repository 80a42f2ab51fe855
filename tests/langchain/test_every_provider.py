"""LangChain's standard tests for three kinds of providers, and a search with every
other.

A tool sees of its provider what the contract's tests check, so that three stand for
all: one that only searches and needs a key, one that also reads, and one that needs
none and asks others. The responses are those of their cassettes.
"""

from __future__ import annotations
from typing import Any

import pytest
from langchain_tests.integration_tests import (
    RetrieversIntegrationTests,
    ToolsIntegrationTests,
)
from langchain_tests.unit_tests import ToolsUnitTests

from langchain_websearch import WebSearchRetriever, WebSearchTool
from tests.cassettes import player
from tests.cassettes import tape as tapes

_SUITES = ("brave", "tavily", "searxng")
_HARD_CODED = 3  # results that the suite for retrievers expects


def _make_suites(name: str) -> dict[str, type]:
    tape = tapes.find(name, "search")
    text, options, _ = player.query(tape)

    class _Tool:
        tool_constructor = WebSearchTool
        tool_invoke_params_example = {"query": text}  # noqa: RUF012 - so it is in the suite

        @property
        def tool_constructor_params(self) -> dict[str, Any]:
            return {**player.arguments(tape), "search_options": options}

    class Unit(_Tool, ToolsUnitTests):
        pass

    class Tool(_Tool, ToolsIntegrationTests):
        pass

    class Retriever(RetrieversIntegrationTests):
        retriever_constructor = WebSearchRetriever
        retriever_query_example = text

        @property
        def retriever_constructor_params(self) -> dict[str, Any]:
            return {**player.arguments(tape), "search_options": options}

    kinds = (
        (Unit, Tool, Retriever)
        if len(tape["expect"]["results"]) >= _HARD_CODED
        else (Unit, Tool)
    )
    return {f"Test{kind.__name__}Of{name.title()}": kind for kind in kinds}


for _name in _SUITES:
    globals().update(_make_suites(_name))


@pytest.mark.parametrize("name", player.find_searchers())
async def test_a_search_becomes_documents_blocking_and_async(name):
    tape = tapes.find(name, "search")
    text, options, _ = player.query(tape)
    found = len(tape["expect"]["results"])
    # without layers no search waits
    arguments = {**player.arguments(tape), "retry": None, "layers": None}
    retriever = WebSearchRetriever(**arguments, search_options=options, k=found)

    documents = retriever.invoke(text)

    assert len(documents) == found
    assert documents == await retriever.ainvoke(text)
