"""The tools as LlamaIndex's packages of model vendors send them."""

from __future__ import annotations
from importlib import import_module
from typing import Any

import pytest

from llamaindex_websearch import WebSearchToolSpec
from tests import vendors
from tests.vendors import KEY, find_problems, list_functions, serve_models

pytestmark = vendors.LEAVES_SOCKETS


def make_openai(url: str) -> Any:
    module = import_module("llama_index.llms.openai")
    return module.OpenAI(model="gpt-4o", api_key=KEY, api_base=f"{url}/v1")


def make_anthropic(url: str) -> Any:
    module = import_module("llama_index.llms.anthropic")
    return module.Anthropic(model="claude-opus-4-6", api_key=KEY, base_url=url)


def make_gemini(url: str) -> Any:
    module = import_module("llama_index.llms.google_genai")
    types = import_module("google.genai.types")
    return module.GoogleGenAI(
        model="gemini-2.5-flash",
        api_key=KEY,
        http_options=types.HttpOptions(base_url=url),
        context_window=100_000,
        max_tokens=100,
    )


def make_mistral(url: str) -> Any:
    module = import_module("llama_index.llms.mistralai")
    return module.MistralAI(api_key=KEY, endpoint=url)


def make_bedrock(url: str) -> Any:
    module = import_module("llama_index.llms.bedrock_converse")
    return module.BedrockConverse(
        model="us.amazon.nova-pro-v1:0",
        aws_access_key_id=KEY,
        aws_secret_access_key=KEY,
        region_name="us-east-1",
        endpoint_url=url,
    )


def make_groq(url: str) -> Any:
    module = import_module("llama_index.llms.groq")
    return module.Groq(model="llama-3.3-70b", api_key=KEY, api_base=f"{url}/v1")


MODELS = {
    "openai": make_openai,
    "anthropic": make_anthropic,
    "gemini": make_gemini,
    "mistral": make_mistral,
    "bedrock": make_bedrock,
    "groq": make_groq,
}


@pytest.mark.enable_socket
@pytest.mark.parametrize("options", vendors.OPTIONS, ids=str)
@pytest.mark.parametrize("vendor", MODELS)
def test_a_vendor_gets_only_what_it_takes(vendor, options):
    tools = WebSearchToolSpec(provider="duckduckgo", **options).to_tool_list()

    with serve_models() as (url, requests):
        model = vendors.make_model(MODELS[vendor], url)
        model.chat_with_tools(tools, user_msg="What is kelp?")
    functions = {each.name: each for each in list_functions(requests[-1])}

    assert functions.keys() == {tool.metadata.name for tool in tools}
    for tool in tools:
        function = functions[tool.metadata.name]
        assert list(find_problems(function, vendor)) == []
        assert function.description.endswith(tool.metadata.description)
        schema = tool.metadata.get_parameters_dict()
        assert function.parameters["properties"].keys() == schema["properties"].keys()
        assert function.parameters["required"] == schema["required"]
