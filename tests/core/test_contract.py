"""What every provider promises, checked for each that is known."""

from __future__ import annotations

import pytest

from websearch_core.provider._ports import can, needs_network
from websearch_core.providers import known, provider_class
from websearch_core.providers.brave import Brave
from websearch_core.providers.direct import Direct
from websearch_core.providers.duckduckgo import DuckDuckGo
from websearch_core.providers.jina import Jina
from websearch_core.providers.searxng import SearXNG
from websearch_core.providers.tavily import Tavily
from websearch_core.testing import SECRET, Promise, read_promises, reply, search_promises

HIT = {"title": "Kelp", "url": "https://sea.example/kelp", "description": "Brown algae", "content": "Brown algae"}
DDG_HIT = '<div class="result web-result"><a class="result__a" href="https://sea.example/kelp">Kelp</a></div>'

SEARCH = {
    "brave": search_promises(
        Brave(api_key=SECRET),
        some=reply({"type": "search", "web": {"results": [HIT]}}),
        none=reply({"type": "search", "query": {"bad_results": True}}),
    ),
    "duckduckgo": search_promises(
        DuckDuckGo(), some=reply(DDG_HIT), none=reply('<div class="no-results">No  results.</div>')
    ),
    "searxng": search_promises(
        SearXNG(base_url="https://searx.example/sub", api_key=SECRET),
        some=reply({"results": [HIT], "unresponsive_engines": []}),
        none=reply({"results": [], "unresponsive_engines": []}),
    ),
    "tavily": search_promises(Tavily(api_key=SECRET), some=reply({"results": [HIT]}), none=reply({"results": []})),
}
READ = {
    "direct": read_promises(Direct(), some=reply("<h1>Kelp</h1><p>Brown algae of the northern seas.")),
    "jina": read_promises(Jina(api_key=SECRET), some=reply({"data": {"title": "Kelp", "content": "Brown algae"}})),
    "tavily": read_promises(
        Tavily(api_key=SECRET),
        some=reply({"results": [{"url": "https://page.example/a", "raw_content": "Brown algae"}]}),
    ),
}


@pytest.mark.parametrize(
    ("provider", "promise"),
    [
        pytest.param(name, promise, id=f"{name}: {promise}")
        for promises in (SEARCH, READ)
        for name, kept in promises.items()
        for promise in kept
    ],
)
def test_every_provider_keeps_its_promises(provider: str, promise: Promise):
    promise()


@pytest.mark.parametrize(("role", "checked"), [("search", SEARCH), ("read", READ)])
def test_no_provider_is_left_out(role, checked):
    able = {name for name in known() if can(provider_class(name), role) and needs_network(provider_class(name))}

    assert able == set(checked)
