"""The tools as LlamaIndex's packages of model vendors send them."""

from __future__ import annotations

import pytest

from llamaindex_websearch import WebSearchToolSpec
from tests.gemini import declared_functions, find_problems, serve_gemini


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"multi_query": True},
        {"limit": 3, "search_options": {"allowed_domains": ["sea.example"]}},
    ],
    ids=str,
)
def test_gemini_gets_only_what_its_api_knows(options):
    google = pytest.importorskip(
        "llama_index.llms.google_genai",
        reason="llama-index-llms-google-genai is in the dependency group `models`",
    )
    types = pytest.importorskip("google.genai.types")
    tools = WebSearchToolSpec(provider="duckduckgo", **options).to_tool_list()

    with serve_gemini() as (url, requests):
        model = google.GoogleGenAI(
            model="gemini-2.5-flash",
            api_key="SECRET-of-a-test",
            http_options=types.HttpOptions(base_url=url),
            context_window=100_000,
            max_tokens=100,
        )
        model.chat_with_tools(tools, user_msg="What is kelp?")
    functions = declared_functions(requests[-1])

    assert set(functions) == {"web_search", "open_page"}
    for parameters in functions.values():
        assert list(find_problems(parameters)) == []
