"""Make and use each class of `langchain_websearch` inside a running event loop, as
`langgraph dev` does.
"""

import asyncio

from blockbuster import blockbuster_ctx
from site_of_test import arguments, url

from langchain_websearch import (
    OpenPageTool,
    WebPageLoader,
    WebSearchRetriever,
    WebSearchTool,
    WebSearchToolkit,
)


async def main() -> None:
    search, read = WebSearchToolkit(
        **arguments, search_options={"read_top": 1}
    ).get_tools()
    assert "About kelp" in await WebSearchTool(**arguments).ainvoke({"query": "kelp"})
    assert "half a metre" in await OpenPageTool(**arguments).ainvoke(
        {"url": f"{url}/kelp"}
    )
    assert "half a metre" in await search.ainvoke({"query": "how fast does kelp grow?"})
    assert "half a metre" in await read.ainvoke(
        {"url": f"{url}/kelp", "query": "how fast does kelp grow?"}
    )
    own, _ = WebSearchToolkit(
        **arguments, configurable=["timeout", "read_options"], max_uses=2, limit=3
    ).get_tools()
    configurable = {"timeout": 9, "read_options": {"max_tokens": 500}}
    assert "About kelp" in await own.ainvoke(
        {"query": "kelp"}, {"configurable": configurable}
    )
    for content in ("snippet", "passages", "page"):
        assert await WebSearchRetriever(**arguments, content=content).ainvoke("kelp")
    assert [
        document.metadata["title"]
        async for document in WebPageLoader(f"{url}/kelp", **arguments).alazy_load()
    ]


with blockbuster_ctx():
    asyncio.run(main())
