"""With ``provenance="seen"``, a model may open only search results and URLs of the
user.
"""

from __future__ import annotations
import asyncio
import re

import pytest
from llama_index.core.tools.calling import acall_tool, call_tool

from llamaindex_websearch import WebSearchToolSpec

KELP = "https://sea.example/kelp"
REFUSED = "ERROR [unsafe_url] only pages that a search returned or the user named can be opened"


@pytest.fixture
def spec(sea):
    return WebSearchToolSpec(web=sea(), provenance="seen")


async def open_page(spec, url):
    """Return what the model gets, which is the same blocking and async."""
    _, read = spec.to_tool_list()
    blocking = (await asyncio.to_thread(call_tool, read, {"url": url})).content
    waiting = (await acall_tool(read, {"url": url})).content
    assert re.sub("[a-z]{16}", "", blocking) == re.sub("[a-z]{16}", "", waiting)
    return blocking.removeprefix("Encountered error: ")


async def test_only_found_urls_are_opened_and_the_error_says_why(spec):
    assert (await open_page(spec, KELP)).startswith(REFUSED)
    await spec.to_tool_list()[0].acall(query="kelp")

    assert "half a metre a day" in await open_page(spec, KELP)
    assert (await open_page(spec, f"{KELP}?q=secret")).startswith(REFUSED)


@pytest.mark.parametrize("provenance", ["any", "seen"])
async def test_a_page_is_opened_as_it_was_found_however_the_model_spells_it(
    sea, provenance
):
    spec = WebSearchToolSpec(web=sea(), provenance=provenance)
    await spec.to_tool_list()[0].acall(query="kelp")

    text = await open_page(
        spec, "http://www.sea.example/x/../%6Belp/?utm_source=secret"
    )

    assert "half a metre a day" in text
    assert "secret" not in text


async def test_urls_of_the_user_are_opened(spec):
    spec.ledger.allow_text(f"Please read {KELP}.")

    assert "half a metre a day" in await open_page(spec, KELP)


async def test_by_default_every_url_is_opened(sea):
    assert "half a metre a day" in await open_page(WebSearchToolSpec(web=sea()), KELP)
