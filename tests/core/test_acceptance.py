"""The acceptance criteria of the designs that concern all adapters and the registry, by
their numbers.
"""

from __future__ import annotations

import pytest

from websearch_core import SearchQuery, register
from websearch_core.errors import (
    BadResponse,
    ConfigurationError,
    ServiceError,
    TimedOut,
)
from websearch_core.providers import (
    Brave,
    DuckDuckGo,
    SearXNG,
    Tavily,
    get,
    get_all,
    get_configured,
    get_default,
)
from websearch_core.settings import Settings
from websearch_core.testing import SECRET, play, reply

URL = "https://sea.example/kelp"
BRAVE, TAVILY = Brave(api_key=SECRET), Tavily(api_key=SECRET)
SEARXNG, DDG = SearXNG(base_url="https://searx.example"), DuckDuckGo(pause=0)
ALL = pytest.mark.parametrize(
    "adapter", [BRAVE, TAVILY, SEARXNG, DDG], ids=lambda adapter: adapter.name
)


def ddg_page(count):
    rows = (
        f'<div class="result web-result"><a class="result__a" href="{URL}{n}">Kelp</a><a class="result__snippet">Alga</a></div>'
        for n in range(count)
    )
    return reply(f'<div class="results">{"".join(rows)}</div>')


def answer(adapter, count):
    hits = [{"title": "Kelp", "url": f"{URL}{n}"} for n in range(count)]
    match adapter:
        case Brave():
            return reply(
                {"web": {"results": [{**hit, "description": "Alga"} for hit in hits]}}
            )
        case DuckDuckGo():
            return ddg_page(count)
        case _:
            return reply(
                {"results": [{**hit, "content": "Alga", "score": 0.5} for hit in hits]}
            )


def search(adapter, *answers, limit=1):
    return play(adapter.search(SearchQuery.of("kelp", limit=limit)), *answers).result


def shown(adapter):
    (result,) = search(adapter, answer(adapter, 1)).results
    return result.title, result.url, result.snippet


def test_ac1_1_brave_returns_title_url_and_snippet():
    assert shown(BRAVE) == ("Kelp", f"{URL}0", "Alga")


def test_ac1_2_tavily_returns_title_url_snippet_and_score():
    assert shown(TAVILY) == ("Kelp", f"{URL}0", "Alga")
    assert search(TAVILY, answer(TAVILY, 1)).results[0].score == 0.5


def test_ac1_3_searxng_returns_title_url_and_snippet():
    assert shown(SEARXNG) == ("Kelp", f"{URL}0", "Alga")


def test_ac1_4_duckduckgo_returns_title_url_and_snippet():
    assert shown(DDG) == ("Kelp", f"{URL}0", "Alga")


@ALL
@pytest.mark.parametrize("status", [401, 403, 429, 500])
def test_ac1_5_a_failed_status_is_an_error_with_the_status(adapter, status):
    with pytest.raises(ServiceError) as caught:
        search(adapter, reply({}, status=status))
    assert caught.value.status == status
    assert caught.value.provider == adapter.name


@ALL
def test_ac1_6_what_cannot_be_parsed_is_an_error_that_says_so(adapter):
    with pytest.raises(BadResponse, match=adapter.name):
        search(adapter, reply("<p>Welcome to the hotel's network"))


@ALL
def test_ac1_7_a_timeout_propagates(adapter):
    flow = adapter.search(SearchQuery.of("kelp"))
    next(flow)
    with pytest.raises(TimedOut):
        flow.throw(TimedOut("no answer within the time allowed"))


@ALL
@pytest.mark.parametrize(("sent", "limit"), [(20, 5), (10, 3)])
def test_the_limit_is_enforced_however_many_the_service_sends(
    adapter, sent, limit, monkeypatch
):
    from websearch_core import WebSearch
    from websearch_core.flow import run

    web = WebSearch(adapter)
    monkeypatch.setattr(
        web, "run", lambda flow: run(flow, lambda request: answer(adapter, sent))
    )
    assert len(web.search("kelp", limit=limit).results) == limit


# The registry


class Ebb:
    name = "ebb"

    def search(self, query, /):
        raise NotImplementedError


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    monkeypatch.setattr("websearch_core._registry._registered", {})


def test_registry_registers_and_gets():
    register("ebb", Ebb)
    assert get("ebb") is Ebb


def test_registry_refuses_a_duplicate_in_the_words_of_the_design():
    register("ebb", Ebb)
    with pytest.raises(
        ConfigurationError, match="^Web search provider 'ebb' is already registered$"
    ):
        register("ebb", Ebb)


def test_registry_returns_none_for_an_unknown_name():
    assert get("ebb") is None


def test_registry_returns_all():
    register("ebb", Ebb)
    assert {"brave", "ebb", "tavily"} <= {one.name for one in get_all()}


def test_registry_returns_those_that_are_configured(monkeypatch):
    assert "tavily" not in {one.name for one in get_configured()}
    monkeypatch.setenv("TAVILY_API_KEY", SECRET)
    assert "tavily" in {one.name for one in get_configured()}


def test_registry_returns_the_default(monkeypatch):
    assert get_default().name == "keenable"
    assert get_default(Settings(provider="ddg")).name == "duckduckgo"
    monkeypatch.setenv("TAVILY_API_KEY", SECRET)
    assert get_default().name == "tavily"


def test_registry_lists_the_keys_to_mask():
    assert {one.name: one.secrets for one in get_all()}["tavily"] == ("api_key",)
