"""Make and use each class of `llamaindex_websearch` inside a running event loop."""

import asyncio

from blockbuster import blockbuster_ctx
from site_of_test import arguments, url

from llamaindex_websearch import WebPageReader, WebSearchRetriever, WebSearchToolSpec


async def main() -> None:
    search, read = WebSearchToolSpec(
        **arguments, search_options={"read_top": 1}
    ).to_tool_list()
    assert (
        "half a metre" in (await search.acall(query="how fast does kelp grow?")).content
    )
    assert "half a metre" in (await read.acall(url=f"{url}/kelp")).content
    for content in ("snippet", "passages", "page"):
        assert await WebSearchRetriever(**arguments, content=content).aretrieve("kelp")
    assert await WebPageReader(**arguments).aload_data([f"{url}/kelp"])


with blockbuster_ctx():
    asyncio.run(main())
