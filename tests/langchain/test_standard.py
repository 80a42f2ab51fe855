"""LangChain's standard tests for tools and retrievers."""

from __future__ import annotations
import json
from typing import Any

import httpx
from langchain_tests.integration_tests import (
    RetrieversIntegrationTests,
    ToolsIntegrationTests,
)
from langchain_tests.unit_tests import ToolsUnitTests

from langchain_websearch import OpenPageTool, WebSearchRetriever, WebSearchTool
from websearch_core import Http, Page

KEY = "SEKRET"


def reply(request: httpx.Request) -> httpx.Response:
    assert request.headers["X-Subscription-Token"] == KEY
    results = [
        {"title": f"Kelp {n}", "url": f"https://example.org/{n}"}
        for n in range(int(request.url.params["count"]))
    ]
    return httpx.Response(
        200, content=json.dumps({"type": "search", "web": {"results": results}})
    )


def brave() -> dict[str, Any]:
    return {
        "provider": "brave",
        "api_key": KEY,
        "http": Http(
            client=httpx.Client(transport=httpx.MockTransport(reply)),
            async_client=httpx.AsyncClient(transport=httpx.MockTransport(reply)),
        ),
    }


class Library:
    name = "library"

    def read(self, url):
        return Page(
            url=url,
            final_url=url,
            title="Kelp",
            content="A large brown alga.",
            provider=self.name,
        )
        yield


class _WebSearch:
    tool_constructor = WebSearchTool
    tool_invoke_params_example = {"query": "kelp"}  # noqa: RUF012 - so it is in the suite

    @property
    def tool_constructor_params(self) -> dict[str, Any]:
        return brave()


class _OpenPage:
    tool_constructor = OpenPageTool
    tool_invoke_params_example = {"url": "https://example.org/kelp"}  # noqa: RUF012

    @property
    def tool_constructor_params(self) -> dict[str, Any]:
        return {"provider": "brave", "api_key": KEY, "reader": Library()}


class TestWebSearchToolAsAUnit(_WebSearch, ToolsUnitTests):
    @property
    def init_from_env_params(
        self,
    ) -> tuple[dict[str, str], dict[str, Any], dict[str, Any]]:
        return (
            {"BRAVE_API_KEY": KEY},
            {},
            {"name": "web_search", "output_format": "text"},
        )


class TestWebSearchTool(_WebSearch, ToolsIntegrationTests):
    pass


class TestOpenPageToolAsAUnit(_OpenPage, ToolsUnitTests):
    pass


class TestOpenPageTool(_OpenPage, ToolsIntegrationTests):
    pass


class TestWebSearchRetriever(RetrieversIntegrationTests):
    retriever_constructor = WebSearchRetriever
    retriever_query_example = "kelp"

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return brave()
