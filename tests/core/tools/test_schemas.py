"""What the tools return as JSON is what their schemas say."""

from __future__ import annotations
import json

import pytest
from pydantic import ValidationError

from websearch_core.errors import RateLimited
from websearch_core.testing import FakeWeb
from websearch_core.tools import Output, WebTools, output_schema

KELP = {
    "title": "Kelp",
    "url": "https://sea.example/kelp",
    "snippet": "A brown alga.",
    "score": 0.5,
    "published": "2026-05-04",
}
PAGE = """<html lang=en><title>Kelp</title><meta name=author content=Ada>
<script type="application/ld+json">{"@type": "Product", "name": "Kelp",
"offers": {"price": "3", "priceCurrency": "EUR"}}</script><h1>Kelp</h1>""" + (
    "<h2>Growth</h2><p>Kelp is a brown alga that grows half a metre a day. " * 60
)


def make_tools(**options):
    web = FakeWeb(
        results={"kelp": [KELP], "nothing": []},
        pages={KELP["url"]: PAGE},
        errors={"storm": RateLimited("too fast", retry_after=7)},
    )
    return WebTools(
        provider=web, reader=web, output_format="json", retry=False, **options
    )


@pytest.mark.parametrize("query", ["kelp", "nothing"])
@pytest.mark.parametrize("read_top", [0, 1])
def test_a_search_has_the_facts_of_its_schema(query, read_top):
    tools = make_tools(search_options={"read_top": read_top})
    content = tools.search({"query": query, "limit": 0}).content
    search = output_schema("web_search").model_validate_json(content).root

    assert search.status == "success"
    assert search.model_fields_set == json.loads(content).keys()


@pytest.mark.parametrize(
    "part",
    [
        {},
        {"query": "How fast?"},
        {"find": "metre"},
        {"outline": True},
        {"max_length": 90},
    ],
    ids=str,
)
def test_a_page_has_the_facts_of_its_schema(part):
    content = make_tools().open_page({"url": KELP["url"], **part}).content
    page = output_schema("open_page").model_validate_json(content).root

    assert page.status == "success"
    assert page.model_fields_set == json.loads(content).keys()


def test_several_searches_may_have_failed():
    content = (
        make_tools(multi_query=True).search({"queries": ["kelp", "storm"]}).content
    )
    schema = output_schema("web_search", multi_query=True)
    found, failed = schema.model_validate_json(content).root.searches

    assert (found.query, found.results[0].title) == ("kelp", "Kelp")
    assert (failed.query, failed.error.code) == ("storm", "rate_limited")


@pytest.mark.parametrize("tool", ["web_search", "open_page"])
def test_a_failure_fits_both_schemas(tool):
    content = Output.of_error(RateLimited("too fast", retry_after=7), "json").content
    failure = output_schema(tool).model_validate_json(content).root

    assert (failure.error.code, failure.error.retry_after) == ("rate_limited", 7)


def test_what_no_tool_returns_does_not_fit():
    with pytest.raises(ValidationError):
        output_schema("open_page").model_validate({"status": "success", "links": []})
