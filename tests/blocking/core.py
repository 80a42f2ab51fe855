"""Make and use a `WebSearch` inside a running event loop, first use included."""

import asyncio

from blockbuster import blockbuster_ctx
from site_of_test import arguments, url

from websearch_core import WebSearch


async def main() -> None:
    web = WebSearch(**arguments)
    assert (await web.asearch("kelp", limit=1)).results
    assert (await web.aread(f"{url}/kelp")).title == "Kelp"
    assert (await web.asearch("kelp", limit=1, read_top=1)).results[0].content
    (page,) = await web.aread_many([f"{url}/kelp"], query="how fast does kelp grow?")
    assert "half a metre" in page.content
    await web.aclose()
    # the second loop client
    assert (await WebSearch(**arguments).asearch("kelp")).results


with blockbuster_ctx():
    asyncio.run(main())
