"""Our provider with a real SearX: each side understands the other."""

from __future__ import annotations
import asyncio

import pytest

from websearch_core import WebSearch
from websearch_core.errors import BadRequest, Unavailable

pytestmark = [pytest.mark.e2e, pytest.mark.enable_socket]


@pytest.fixture(params=["blocking", "async"])
def search(request, searx):
    def one(text, **options):
        web = WebSearch("searxng", base_url=searx, retry=1)
        if request.param == "blocking":
            with web:
                return web.search(text, **options)
        return asyncio.run(web.asearch(text, **options))

    return one


def test_a_search_finds_plain_titles_and_snippets(search):
    response = search("kelp", limit=3)

    assert [result.citation_id for result in response.results] == [1, 2, 3]
    titles = [result.title for result in search("kelp", limit=10).results]
    assert "Kelp forests & their keepers" in titles
    assert [
        result
        for result in response.results
        if not (result.url.startswith("https://") and result.snippet)
    ] == []


def test_a_larger_limit_continues_on_the_next_page(search):
    assert len(search("kelp", limit=7).results) == 7


def test_each_page_has_other_results(search):
    first, second = search("kelp", limit=5), search("kelp", limit=5, page=2)

    assert not {result.url for result in first.results} & {
        result.url for result in second.results
    }


def test_finding_nothing_is_not_an_error(search):
    assert search("xyzzy").results == ()


def test_failed_engines_are_not_the_same_as_no_results(search):
    with pytest.raises(Unavailable, match="garden"):
        search("boom")


def test_one_failed_engine_is_noted(search):
    response = search("kelp boom-library", limit=3)

    assert response.results
    assert response.notes[0].startswith("engines that did not answer: library")


def test_a_domain_filter_works_although_the_engines_have_none(search):
    response = search("kelp", limit=5, allowed_domains=["marine.example"])

    assert {result.url.split("/")[2] for result in response.results} <= {
        "marine.example"
    }


def test_news_are_a_category_with_dates(search):
    results = search("kelp", limit=3, topic="news").results

    assert results
    assert [result for result in results if not result.published] == []


@pytest.mark.parametrize(
    "options", [{"time_range": "week"}, {"language": "de"}, {"safe_search": "strict"}]
)
def test_each_option_is_understood(search, options):
    assert search("kelp", limit=2, **options).provider == "searxng"


def test_an_invalid_parameter_is_reported_in_the_words_of_searx(search):
    with pytest.raises(BadRequest, match="time_range"):
        search("kelp", extra={"time_range": "decade"})
