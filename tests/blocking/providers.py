"""Make each built-in provider, a `WebSearch` and the tools of both frameworks with it in
a running event loop. No module of a provider was imported before.
"""

import asyncio
from dataclasses import fields
from typing import Any

from blockbuster import blockbuster_ctx

from langchain_websearch import WebSearchToolkit
from llamaindex_websearch import WebSearchToolSpec
from websearch_core import WebSearch
from websearch_core.providers import known, provider_class

URL = "http://127.0.0.1:9"
REQUIRED: dict[str, Any] = {"base_url": URL, "api_key": "SECRET-of-a-test"}


def make(name: str) -> None:
    cls = provider_class(name)
    names = {field.name for field in fields(cls)}
    arguments = {option: REQUIRED[option] for option in REQUIRED.keys() & names}
    role = "provider" if hasattr(cls, "search") else "reader"
    chosen = {"provider": "duckduckgo", role: cls(**arguments)}
    WebSearch(**chosen)
    WebSearchToolkit(**chosen).get_tools()
    WebSearchToolSpec(**chosen).to_tool_list()


async def main() -> None:
    names = known()
    assert {"tavily", "searxng", "browser", "local"} <= set(names)
    for name in names:
        make(name)


with blockbuster_ctx():
    asyncio.run(main())
