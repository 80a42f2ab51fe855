"""Several queries in one call of the tool."""

from __future__ import annotations
import pickle
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from langchain_websearch import OpenPageTool, WebSearchTool, WebSearchToolkit
from websearch_core.errors import ConfigurationError, RateLimited
from websearch_core.testing import FakeWeb

KELP = {"title": "Kelp", "url": "https://sea.example/kelp", "snippet": "A brown alga."}
TIDE = {"title": "Tides", "url": "https://sea.example/tides", "snippet": "Twice a day."}


def make_tool(**options):
    found = {"kelp": [KELP], "tides": [TIDE, KELP]}
    return WebSearchTool(
        provider=FakeWeb(results=found, errors={"storm": RateLimited("too fast")}),
        retry=1,
        multi_query=True,
        **options,
    )


def call(*queries):
    return {
        "type": "tool_call",
        "id": "1",
        "name": "web_search",
        "args": {"queries": list(queries)},
    }


@pytest.mark.parametrize("concurrent", [False, True], ids=["blocking", "async"])
async def test_a_model_gets_all_answers_in_one_message(concurrent):
    tool = make_tool()
    message = (
        await tool.ainvoke(call("kelp", "storm", "tides"))
        if concurrent
        else tool.invoke(call("kelp", "storm", "tides"))
    )

    assert isinstance(message, ToolMessage)
    assert message.status == "success"
    assert [source["id"] for source in message.artifact["sources"]] == [1, 2, 1]
    assert message.content.count("Query: ") == 3
    assert "ERROR [rate_limited]" in message.content


def test_if_all_fail_the_message_is_an_error():
    message = make_tool().invoke(call("storm"))

    assert (message.status, message.artifact["code"]) == ("error", "rate_limited")


def test_a_model_is_shown_queries_and_no_query():
    parameters = convert_to_openai_tool(make_tool())["function"]["parameters"]

    assert list(parameters["properties"]) == [
        "queries",
        "limit",
        "allowed_domains",
        "time_range",
    ]
    assert parameters["required"] == ["queries"]
    assert parameters["properties"]["queries"]["items"] == {"type": "string"}


@pytest.mark.parametrize(
    "sent",
    [
        "kelp",
        {"query": "kelp"},
        {"queries": "kelp"},
        {"queries": ["kelp"], "limit": "3"},
    ],
    ids=str,
)
def test_one_query_is_understood(sent):
    assert "A brown alga." in make_tool().invoke(sent)


def test_too_many_are_an_error_for_the_model():
    message = make_tool().invoke(call(*"abcdef"))

    assert message.status == "error"
    assert "queries" in message.content


def test_the_toolkit_passes_it_on():
    search, page = WebSearchToolkit(
        provider=FakeWeb(results=[KELP]), multi_query=True
    ).get_tools()

    assert isinstance(search, WebSearchTool)
    assert search.multi_query
    assert "queries" in search.args
    assert not hasattr(page, "multi_query")
    options: dict[str, Any] = {"multi_query": True}
    with pytest.raises(ConfigurationError, match="multi_query"):
        OpenPageTool(**options)


def test_the_tool_can_be_pickled():
    copied = pickle.loads(
        pickle.dumps(WebSearchTool(provider="duckduckgo", multi_query=True))
    )

    assert list(copied.args)[:1] == ["queries"]
