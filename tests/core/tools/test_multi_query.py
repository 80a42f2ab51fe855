"""Several queries in one search of a model."""

from __future__ import annotations
import asyncio
import json
import pickle

import pytest
from pydantic import ValidationError

from websearch_core.errors import (
    BudgetExceeded,
    InvalidOption,
    RateLimited,
    Unavailable,
)
from websearch_core.layers import Budget
from websearch_core.render import find_error_code, summary_line
from websearch_core.testing import FakeWeb
from websearch_core.tools import Run, WebTools, collect_texts
from websearch_core.tools._arguments import SearchArguments

KELP = {"title": "Kelp", "url": "https://sea.example/kelp", "snippet": "A brown alga."}
TIDE = {"title": "Tides", "url": "https://sea.example/tides", "snippet": "Twice a day."}


def make_web(**more):
    found = {"kelp": [KELP], "tides": [TIDE, KELP], "more": [KELP]}
    return FakeWeb(
        results=found,
        errors={
            "storm": RateLimited("too fast", retry_after=7),
            "down": Unavailable("down"),
        },
        **more,
    )


def make_tools(web=None, **options):
    return WebTools(provider=web or make_web(), multi_query=True, retry=1, **options)


def search(tools, *queries, concurrent=False, run=Run(), **more):  # noqa: B008 - immutable
    arguments = {"queries": list(queries), **more}
    return (
        asyncio.run(tools.asearch(arguments, run))
        if concurrent
        else tools.search(arguments, run)
    )


@pytest.mark.parametrize("concurrent", [False, True], ids=["blocking", "async"])
def test_results_are_numbered_across_the_queries_and_errors_stay_in_their_place(
    concurrent,
):
    web = make_web()
    output = search(make_tools(web), "kelp", "storm", "tides", concurrent=concurrent)
    headings = [
        line for line in output.content.splitlines() if line.startswith("Query: ")
    ]

    assert headings == ["Query: kelp", "Query: storm", "Query: tides"]
    assert "ERROR [rate_limited]" in output.content
    assert [source["id"] for source in output.artifact["sources"]] == [1, 2, 1]
    assert sorted(web.queries) == ["kelp", "storm", "tides"]
    assert find_error_code(output.content) is None


def test_each_source_is_where_the_artifact_says():
    for form in ("text", "markdown", "search_result", "json"):
        output = search(make_tools(output_format=form), "kelp", "storm", "tides")
        texts = [
            (one["id"], one["text"])
            for one in collect_texts(output.content, output.artifact)
        ]

        assert [number for number, _ in texts] == [1, 2, 1]
        assert all(
            words in text
            for (_, text), words in zip(texts, ["brown", "Twice", "brown"], strict=True)
        ), form


def test_the_artifact_has_the_facts_of_each_query():
    output = search(make_tools(), "kelp", "storm")
    kelp, storm = output.artifact["searches"]

    assert (kelp["query"], kelp["status"], kelp["provider"]) == (
        "kelp",
        "success",
        "fake",
    )
    assert (storm["query"], storm["status"], storm["code"], storm["retry_after"]) == (
        "storm",
        "error",
        "rate_limited",
        7,
    )
    assert output.artifact["status"] == "success"
    assert [one.id for one in output.documents] == ["https://sea.example/kelp"]
    json.dumps(output.artifact)


def test_json_has_a_search_for_each_query():
    data = json.loads(search(make_tools(output_format="json"), "kelp", "storm").content)

    assert data["status"] == "success"
    assert [(one["query"], one["status"]) for one in data["searches"]] == [
        ("kelp", "success"),
        ("storm", "error"),
    ]


def test_content_blocks_have_the_queries_between_them():
    content = search(
        make_tools(output_format="search_result"), "kelp", "nothing", "storm"
    ).content

    assert [block["type"] for block in content] == [
        "text",
        "search_result",
        "text",
        "text",
        "text",
        "text",
    ]


def test_if_all_fail_the_call_has_failed():
    with pytest.raises(RateLimited):
        search(make_tools(), "storm", "down")


def test_numbers_go_on_in_a_conversation():
    tools, run = make_tools(provenance="seen"), Run(conversation="1")
    search(tools, "tides", run=run)
    output = search(tools, "more", "kelp", run=run)

    assert {source["id"] for source in output.artifact["sources"]} == {2}
    assert tools.provenance.check("[2]", "1") == KELP["url"]


def test_each_query_counts_for_the_uses_of_a_run_and_for_the_budget():
    tools, run = make_tools(max_uses=3), Run(name="run")
    search(tools, "kelp", run=run)
    output = search(tools, "tides", "more", "kelp", "tides", run=run)

    assert output.content.count("ERROR [budget_exceeded]") == 2
    with pytest.raises(BudgetExceeded):
        search(tools, "kelp", run=run)

    output = search(
        make_tools(budget=Budget("2 calls"), layers=[]), "kelp", "tides", "more"
    )
    assert output.content.count("ERROR [budget_exceeded]") == 1


def test_a_limit_in_tokens_is_for_all_together():
    found = [
        {
            "title": f"Page {n}",
            "url": f"https://sea.example/{n}",
            "snippet": "Kelp. " * 40,
        }
        for n in range(20)
    ]
    tools = make_tools(
        FakeWeb(results=found), read_options={"max_tokens": 1_200}, limit=20
    )
    output = search(tools, "a", "b", "c", limit=20)

    assert len(output.content) / 4 < 1_500
    assert output.content.count("results left out") == 3


@pytest.mark.parametrize(
    ("sent", "asked"),
    [
        ({"queries": ["a", "b"]}, ["a", "b"]),
        ({"queries": "a question, whole"}, ["a question, whole"]),
        ({"queries": '["a", "b"]'}, ["a", "b"]),
        ({"queries": ["a", None, ""]}, ["a"]),
        ({"query": "a"}, ["a"]),
        ({"query": "", "queries": ["a"]}, ["a"]),
    ],
    ids=str,
)
def test_what_models_send_is_understood(sent, asked):
    assert make_tools().search_arguments()(**sent).queries == asked


@pytest.mark.parametrize(
    "sent",
    [
        {"queries": []},
        {"queries": list("abcdef")},
        {},
        {"queries": [{"a": 7, "b": 8}]},
        {"queries": {}},
    ],
    ids=str,
)
def test_what_is_wrong_is_said(sent):
    with pytest.raises(ValidationError):
        make_tools().search_arguments()(**sent)
    with pytest.raises(InvalidOption, match="queries"):
        make_tools().search(sent)


def test_the_schema_has_queries_first_and_no_query():
    schema = make_tools(limit=4).search_arguments().model_json_schema()

    assert list(schema["properties"]) == [
        "queries",
        "limit",
        "allowed_domains",
        "time_range",
    ]
    assert schema["required"] == ["queries"]
    assert set(schema["properties"]["queries"]) == {"type", "items", "description"}


def test_it_is_off_by_default():
    tools = WebTools(provider=make_web())

    assert (
        next(iter(tools.search_arguments().model_json_schema()["properties"]))
        == "query"
    )
    # from a framework that sends every default
    assert SearchArguments(query="a", queries=[]).queries == []
    with pytest.raises(InvalidOption, match="queries: not an argument"):
        tools.search({"query": "a", "queries": ["b"]})


def test_the_schema_can_be_pickled():
    schema = make_tools().search_arguments()

    assert pickle.loads(pickle.dumps(schema)) is schema


def test_the_line_for_a_person_has_all_queries():
    assert (
        summary_line("web_search", {"queries": ["kelp", "tides"]})
        == 'web_search: "kelp; tides"'
    )
