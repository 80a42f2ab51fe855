"""Several queries in one call of the tool."""

from __future__ import annotations
import asyncio
from typing import Any

import pytest
from llama_index.core.tools.calling import acall_tool, call_tool

from llamaindex_websearch import ToolError, WebSearchToolSpec
from websearch_core.errors import RateLimited
from websearch_core.testing import FakeWeb

KELP = {"title": "Kelp", "url": "https://sea.example/kelp", "snippet": "A brown alga."}
TIDE = {"title": "Tides", "url": "https://sea.example/tides", "snippet": "Twice a day."}


def make_spec() -> WebSearchToolSpec:
    found = {"kelp": [KELP], "tides": [TIDE, KELP]}
    web = FakeWeb(results=found, errors={"storm": RateLimited("too fast")})
    return WebSearchToolSpec(provider=web, retry=1, multi_query=True)


async def test_a_model_gets_all_answers_and_the_program_all_documents() -> None:
    tool = make_spec().to_tool_list()[0]
    arguments = {"queries": ["kelp", "storm", "tides"]}
    for output in (
        await asyncio.to_thread(call_tool, tool, arguments),
        await acall_tool(tool, arguments),
    ):
        assert not output.is_error
        assert output.content.count("Query: ") == 3
        assert "ERROR [rate_limited]" in output.content
        assert [document.metadata["citation_id"] for document in output.raw_output] == [
            1,
            2,
            1,
        ]


def test_a_model_is_shown_queries_and_no_query() -> None:
    schema = make_spec().to_tool_list()[0].metadata.get_parameters_dict()

    assert list(schema["properties"]) == [
        "queries",
        "limit",
        "allowed_domains",
        "time_range",
    ]
    assert schema["required"] == ["queries"]


def test_a_program_may_send_one_query() -> None:
    assert "A brown alga." in str(make_spec().web_search("kelp"))
    several: dict[str, Any] = {"queries": ["kelp", "tides"]}
    assert len(make_spec().web_search(**several)) == 3


def test_if_all_fail_the_call_fails() -> None:
    for queries, problem in ((["storm"], "rate_limited"), ([], "queries")):
        sent: dict[str, Any] = {"queries": queries}
        with pytest.raises(ToolError, match=problem):
            make_spec().web_search(**sent)
