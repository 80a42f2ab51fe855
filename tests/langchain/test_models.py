"""The tools as the packages of model vendors send them, strict modes included."""

from __future__ import annotations
from functools import partial
from typing import Any

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool

from langchain_websearch import WebSearchToolkit
from tests import vendors
from tests.models import VENDORS
from tests.vendors import (
    KEY,
    Function,
    find_problems,
    list_functions,
    serve_models,
)

pytestmark = vendors.LEAVES_SOCKETS
OPTIONS = [
    *vendors.OPTIONS,
    {"output_format": "search_result", "configurable": ["api_key"]},
]


def make_model(vendor: str, url: str) -> Any:
    make = partial(VENDORS[vendor].langchain, VENDORS[vendor].model, KEY)
    return vendors.make_model(make, url)


@pytest.mark.enable_socket
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(
    ("vendor", "strict"),
    [*((vendor, None) for vendor in VENDORS), ("openai", True), ("anthropic", True)],
)
def test_a_vendor_gets_only_what_it_takes_and_nothing_is_logged(
    vendor, strict, options, caplog
):
    tools = WebSearchToolkit(provider="duckduckgo", **options).get_tools()
    mode = {} if strict is None else {"strict": strict}

    with serve_models() as (url, requests):
        model = make_model(vendor, url)
        model.bind_tools(tools, **mode).invoke("What is kelp?")
    functions = {each.name: each for each in list_functions(requests[-1])}

    assert functions.keys() == {tool.name for tool in tools}
    for tool in tools:
        function = functions[tool.name]
        assert list(find_problems(function, vendor)) == []
        assert function.description == tool.description
        assert function.parameters["properties"].keys() == tool.args.keys()
        assert function.is_strict is bool(strict)
        if strict is None:
            schema = tool.args_schema.model_json_schema()
            assert function.parameters["required"] == schema["required"]
    assert "is not supported in schema" not in caplog.text


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("strict", [None, False, True])
def test_what_langchain_makes_of_a_tool_has_only_what_strict_modes_support(
    options, strict
):
    for tool in WebSearchToolkit(provider="duckduckgo", **options).get_tools():
        fields = convert_to_openai_tool(tool, strict=strict)["function"]
        function = Function(
            fields["name"],
            fields["description"],
            fields["parameters"],
            bool(strict),
            {},
        )

        assert list(find_problems(function, "openai")) == []


@pytest.mark.enable_socket
def test_the_extras_of_a_toolkit_reach_the_vendor_that_knows_them():
    extras = {"defer_loading": True}
    tools = WebSearchToolkit(provider="duckduckgo", extras=extras).get_tools()

    with serve_models() as (url, requests):
        model = make_model("anthropic", url)
        model.bind_tools(tools).invoke("What is kelp?")

    for function in list_functions(requests[-1]):
        assert function.others["defer_loading"] is True
    assert [tool.extras for tool in tools] == [extras] * 2
