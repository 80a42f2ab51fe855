"""The tools as the packages of model vendors convert them, strict modes included."""

from __future__ import annotations
from typing import Any

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool

from langchain_websearch import WebSearchToolkit
from tests.gemini import declared_functions, find_problems, serve_gemini

TOOLS = [
    tool
    for options in (
        {},
        {
            "topic": "news",
            "time_range": "week",
            "allowed_domains": ["python.org"],
            "unsupported": "note",
        },
    )
    for tool in WebSearchToolkit(
        provider="duckduckgo", limit=3 if options else None, search_options=options
    ).get_tools()
]

# https://platform.openai.com/docs/guides/structured-outputs#supported-schemas (no
# defaults, no lengths of text) and
# https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
# (no bounds either)
SUPPORTED = {
    "type",
    "properties",
    "required",
    "additionalProperties",  # which LangChain adds for these modes
    "description",
    "items",
    "enum",
}


def keywords(schema: Any) -> set[str]:
    """Return the keywords of a JSON schema, at all depths."""
    found = set(schema)
    for part in (
        *schema.get("properties", {}).values(),
        *([schema["items"]] if "items" in schema else []),
    ):
        found |= keywords(part)
    return found


@pytest.fixture(params=TOOLS, ids=lambda tool: f"{tool.name}-{len(tool.args)}")
def tool(request):
    return request.param


@pytest.mark.parametrize("strict", [None, False, True])
def test_what_langchain_makes_of_a_tool_has_only_what_strict_modes_support(
    tool, strict
):
    function = convert_to_openai_tool(tool, strict=strict)["function"]

    assert keywords(function["parameters"]) <= SUPPORTED
    assert function["parameters"]["properties"].keys() == tool.args.keys()
    if strict:
        assert set(function["parameters"]["required"]) == set(tool.args)


@pytest.mark.parametrize("strict", [None, True])
def test_openai_gets_only_what_its_strict_mode_supports(tool, strict):
    openai = pytest.importorskip(
        "langchain_openai",
        reason="langchain-openai is in the dependency group `models`",
    )
    model = openai.ChatOpenAI(model="gpt-5", api_key="k").bind_tools(
        [tool], strict=strict
    )
    (function,) = (one["function"] for one in model.kwargs["tools"])

    assert keywords(function["parameters"]) <= SUPPORTED
    assert function["description"] == tool.description


@pytest.mark.parametrize("strict", [None, True])
def test_anthropic_gets_only_what_its_strict_mode_supports(tool, strict):
    anthropic = pytest.importorskip(
        "langchain_anthropic",
        reason="langchain-anthropic is in the dependency group `models`",
    )
    transform = pytest.importorskip("anthropic").transform_schema
    model = anthropic.ChatAnthropic(model="claude-sonnet-4-5", api_key="k").bind_tools(
        [tool], strict=strict
    )
    (made,) = model.kwargs["tools"]

    assert keywords(made["input_schema"]) <= SUPPORTED
    described = {
        name: one["description"]
        for name, one in made["input_schema"]["properties"].items()
    }
    transformed = transform(made["input_schema"])["properties"]
    # nothing was moved into words
    assert {name: one["description"] for name, one in transformed.items()} == described


@pytest.mark.enable_socket
def test_gemini_gets_only_what_its_api_knows_and_nothing_is_logged(tool, caplog):
    google = pytest.importorskip(
        "langchain_google_genai",
        reason="langchain-google-genai is in the dependency group `models`",
    )
    with serve_gemini() as (url, requests):
        model = google.ChatGoogleGenerativeAI(
            model="gemini-2.5-flash", google_api_key="SECRET-of-a-test", base_url=url
        )
        model.bind_tools([tool]).invoke("What is kelp?")
    (parameters,) = declared_functions(requests[-1]).values()

    assert list(find_problems(parameters)) == []
    assert parameters["properties"].keys() == tool.args.keys()
    assert parameters["required"] == tool.args_schema.model_json_schema()["required"]
    assert "is not supported in schema" not in caplog.text
