"""A model that opens a hostile page with `WebSearchToolSpec.open_page` gets an error or
the text, never an internal address.
"""

from __future__ import annotations

import pytest

from llamaindex_websearch import WebSearchToolSpec
from llamaindex_websearch.tool_spec import ToolError

pytestmark = pytest.mark.enable_socket


@pytest.mark.parametrize("colour", ["blocking", "async"])
async def test_a_model_gets_an_error_or_the_text(hostile_page, colour):
    url, expected, failed, timeout = hostile_page
    spec = WebSearchToolSpec(
        provider="duckduckgo", internal=["127.0.0.0/8"], retry=1, timeout=timeout
    )
    (tool,) = (
        tool for tool in spec.to_tool_list() if tool.metadata.name == "open_page"
    )

    async def opened():
        if colour == "blocking":
            return tool.call(url=url, max_length=2000)
        return await tool.acall(url=url, max_length=2000)

    if failed:
        with pytest.raises(ToolError) as caught:
            await opened()
        text = str(caught.value)
    else:
        text = (await opened()).content
    await spec.web.aclose()

    assert text.startswith(expected) if failed else expected in text
    assert "Traceback" not in text
    assert not {"hunter2", "10.1.2.3"} & set(text.replace("/", " ").split())
    assert len(text) < 4000
