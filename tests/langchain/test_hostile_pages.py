"""What a model is told of hostile pages by `OpenPageTool`: a code and a sentence, or the text; never an address inside."""

from __future__ import annotations

import pytest

from langchain_websearch import OpenPageTool

pytestmark = pytest.mark.enable_socket


@pytest.mark.parametrize("colour", ["blocking", "async"])
async def test_a_model_is_told_what_became_of_the_page(hostile_page, colour):
    url, told, failed, timeout = hostile_page
    tool = OpenPageTool(provider="duckduckgo", allow=["127.0.0.0/8"], attempts=1, timeout=timeout)
    call = {"type": "tool_call", "id": "1", "name": tool.name, "args": {"url": url, "max_length": 2000}}

    message = tool.invoke(call) if colour == "blocking" else await tool.ainvoke(call)
    await tool.web.aclose()

    text = str(message.content)
    assert text.startswith(told) if failed else told in text
    assert message.status == ("error" if failed else "success")
    assert "Traceback" not in text
    assert not {"hunter2", "10.1.2.3"} & set(text.replace("/", " ").split())
    assert len(text) < 4000
