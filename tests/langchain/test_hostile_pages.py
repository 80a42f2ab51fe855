"""A model that opens a hostile page with `OpenPageTool` gets an error or the text,
never an internal address.
"""

from __future__ import annotations

import pytest

from langchain_websearch import OpenPageTool

pytestmark = pytest.mark.enable_socket


@pytest.mark.parametrize("colour", ["blocking", "async"])
async def test_a_model_gets_an_error_or_the_text(hostile_page, colour):
    url, expected, failed, timeout = hostile_page
    tool = OpenPageTool(
        provider="duckduckgo", internal=["127.0.0.0/8"], retry=1, timeout=timeout
    )
    call = {
        "type": "tool_call",
        "id": "1",
        "name": tool.name,
        "args": {"url": url, "max_length": 2000},
    }

    message = tool.invoke(call) if colour == "blocking" else await tool.ainvoke(call)
    await tool.web.aclose()

    text = str(message.content)
    assert text.startswith(expected) if failed else expected in text
    assert message.status == ("error" if failed else "success")
    assert "Traceback" not in text
    assert not {"hunter2", "10.1.2.3"} & set(text.replace("/", " ").split())
    assert len(text) < 4000
