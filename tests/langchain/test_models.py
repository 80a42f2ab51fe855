"""The tools as the packages of model vendors send them, strict modes included."""

from __future__ import annotations
from importlib import import_module
from typing import Any

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool

from langchain_websearch import WebSearchToolkit
from tests import vendors
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


def make_openai(url: str) -> Any:
    module = import_module("langchain_openai")
    return module.ChatOpenAI(model="gpt-5", api_key=KEY, base_url=f"{url}/v1")


def make_anthropic(url: str) -> Any:
    module = import_module("langchain_anthropic")
    return module.ChatAnthropic(model="claude-opus-4-6", api_key=KEY, base_url=url)


def make_gemini(url: str) -> Any:
    module = import_module("langchain_google_genai")
    return module.ChatGoogleGenerativeAI(
        model="gemini-2.5-flash", google_api_key=KEY, base_url=url
    )


def make_mistral(url: str) -> Any:
    module = import_module("langchain_mistralai")
    return module.ChatMistralAI(api_key=KEY, endpoint=f"{url}/v1")


def make_bedrock(url: str) -> Any:
    module = import_module("langchain_aws")
    return module.ChatBedrockConverse(
        model="us.amazon.nova-pro-v1:0",
        provider="amazon",
        aws_access_key_id=KEY,
        aws_secret_access_key=KEY,
        region_name="us-east-1",
        endpoint_url=url,
    )


def make_groq(url: str) -> Any:
    module = import_module("langchain_groq")
    return module.ChatGroq(model="llama-3.3-70b", api_key=KEY, base_url=url)


MODELS = {
    "openai": make_openai,
    "anthropic": make_anthropic,
    "gemini": make_gemini,
    "mistral": make_mistral,
    "bedrock": make_bedrock,
    "groq": make_groq,
}


@pytest.mark.enable_socket
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(
    ("vendor", "strict"),
    [*((vendor, None) for vendor in MODELS), ("openai", True), ("anthropic", True)],
)
def test_a_vendor_gets_only_what_it_takes_and_nothing_is_logged(
    vendor, strict, options, caplog
):
    tools = WebSearchToolkit(provider="duckduckgo", **options).get_tools()
    mode = {} if strict is None else {"strict": strict}

    with serve_models() as (url, requests):
        model = vendors.make_model(MODELS[vendor], url)
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
        model = vendors.make_model(make_anthropic, url)
        model.bind_tools(tools).invoke("What is kelp?")

    for function in list_functions(requests[-1]):
        assert function.others["defer_loading"] is True
    assert [tool.extras for tool in tools] == [extras] * 2
