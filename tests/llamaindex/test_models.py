"""The tools as LlamaIndex's packages of model vendors send them."""

from __future__ import annotations
from functools import partial
from typing import Any

import pytest

from llamaindex_websearch import WebSearchToolSpec
from tests import vendors
from tests.models import VENDORS
from tests.vendors import KEY, find_problems, list_functions, serve_models

pytestmark = vendors.LEAVES_SOCKETS


def make_model(vendor: str, url: str) -> Any:
    make = partial(VENDORS[vendor].llamaindex, VENDORS[vendor].model, KEY)
    return vendors.make_model(make, url)


@pytest.mark.enable_socket
@pytest.mark.parametrize("options", vendors.OPTIONS, ids=str)
@pytest.mark.parametrize("vendor", VENDORS)
def test_a_vendor_gets_only_what_it_takes(vendor, options):
    tools = WebSearchToolSpec(provider="duckduckgo", **options).to_tool_list()

    with serve_models() as (url, requests):
        model = make_model(vendor, url)
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
