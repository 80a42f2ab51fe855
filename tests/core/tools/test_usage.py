"""What the calls of tools used together."""

from __future__ import annotations

import pytest

from websearch_core import WebSearch
from websearch_core.layers._prices import estimate_cost
from websearch_core.models import Page, SearchResponse
from websearch_core.provider._ports import Price
from websearch_core.testing import FakeWeb
from websearch_core.tools import WebTools, add_usage

BY_CREDIT = {"sea": Price(usd=0.01, credits=2)}
BY_RESULTS = {"sea": Price(usd=0.01, size=10)}


class Sea:
    name = "sea"

    def __init__(self, **facts):
        self.facts = facts

    def search(self, query, /):
        return SearchResponse(query=query.text, provider=self.name, **self.facts)
        yield


@pytest.mark.parametrize(
    ("facts", "prices", "cost"),
    [
        ({"cost": 0.5}, BY_CREDIT, None),  # the service says it
        ({"cost": 0.0}, BY_CREDIT, None),  # from a cache
        ({"usage": {"credits": 3}}, BY_CREDIT, 0.015),
        ({}, BY_CREDIT, 0.01),
        ({}, BY_RESULTS, 0.03),
        ({}, {}, None),
    ],
)
def test_what_a_search_cost_is_estimated_by_the_list_of_prices(facts, prices, cost):
    response = SearchResponse(query="kelp", provider="sea", **facts)
    estimated = estimate_cost(response, prices, 25)

    assert estimated.get("cost") == (cost and pytest.approx(cost))
    assert bool(estimated) is (cost is not None)


def test_a_page_has_an_estimate_too():
    page = Page(url="https://sea.example/", provider="sea")

    assert estimate_cost(page, BY_RESULTS, 1)["cost"] == 0.01


def test_a_response_says_that_its_cost_is_an_estimate(monkeypatch):
    monkeypatch.setattr(
        "websearch_core.layers._prices.find_price", lambda *_: Price(usd=0.01)
    )
    response = WebSearch(Sea()).search("kelp")
    charged = WebSearch(Sea(cost=0.5)).search("kelp")

    assert (response.cost, response.is_cost_estimated) == (0.01, True)
    assert (charged.cost, charged.is_cost_estimated) == (0.5, False)


def test_the_artifacts_of_a_run_add_up():
    first = WebTools(provider=Sea(cost=0.25, usage={"credits": 2}))
    outputs = [
        first.search({"query": "kelp"}),
        first.search({"query": "dulse"}),
        WebTools(
            provider=Sea(cost=0.5, is_cost_estimated=True), multi_query=True
        ).search({"queries": ["kelp", "dulse"]}),
        WebTools(provider=FakeWeb()).search({"query": "kelp"}),
    ]

    assert add_usage(output.artifact for output in outputs) == {
        "calls": 5,
        "cost": 1.5,
        "is_cost_estimated": True,
        "usage": {"sea.credits": 4},
    }
    assert add_usage([{"status": "error", "code": "timeout"}])["calls"] == 0
