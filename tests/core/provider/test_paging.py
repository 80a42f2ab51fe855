"""Pages of results are collected as far as the limit needs them."""

from __future__ import annotations
from types import SimpleNamespace

import pytest

from websearch_core.errors import RateLimited, UnsupportedOption
from websearch_core.flow import Request
from websearch_core.models import SearchQuery, SearchResponse, SearchResult
from websearch_core.provider import Limits, collect_pages, follow_pages
from websearch_core.testing import play

TEN = SimpleNamespace(name="pier", limits=Limits(results_per_request=10, results=95))


def result(n):
    return SearchResult(title=str(n), url=f"https://pier.example/{n}")


def pages(
    query,
    *,
    total=95,
    overlap=0,
    provider=TEN,
    fixed=False,
    fail_at=None,
    missing=0,
    is_short=False,
):
    """Run a search of a service that has *total* results, and return what it found and
    the pages requested.
    """
    asked = []

    def fetch(number, size):
        asked.append((number, size))
        yield Request(url="https://pier.example/")
        if len(asked) == fail_at:
            raise RateLimited("too fast", provider="pier")
        first = number * (size - overlap)
        found = tuple(
            result(n) for n in range(first, min(first + size - missing, total))
        )
        usage = {"credits": 1.0, "remaining": 90.0 - len(asked)}
        return SearchResponse(
            query="q", results=found, usage=usage, cost=0.5
        ), number * size + size < total

    answers = [None] * query.pop("requests")
    outcome = play(
        collect_pages(
            SearchQuery.of("q", **query),
            provider,
            fetch,
            fixed=fixed,
            is_short=is_short,
        ),
        *answers,
    )
    return outcome.result, asked


def titles(response):
    return [int(one.title) for one in response.results]


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ({"limit": 5, "requests": 1}, [(0, 5)]),
        ({"limit": 10, "page": 2, "requests": 1}, [(1, 10)]),
        ({"limit": 11, "requests": 2}, [(0, 10), (1, 10)]),
    ],
)
def test_a_page_with_fewer_results_than_asked_for_is_not_topped_up(query, asked):
    assert pages(query, missing=2)[1] == asked


def test_a_service_may_have_shorter_pages_than_it_was_asked_for():
    response, asked = pages({"limit": 10, "requests": 2}, missing=5, is_short=True)

    assert (len(response.results), asked) == (10, [(0, 10), (1, 10)])


@pytest.mark.parametrize(
    ("query", "asked", "found"),
    [
        ({"limit": 5, "requests": 1}, [(0, 5)], range(5)),
        ({"limit": 5, "page": 3, "requests": 1}, [(2, 5)], range(10, 15)),
        ({"limit": 25, "requests": 3}, [(0, 10), (1, 10), (2, 10)], range(25)),
        (
            {"limit": 25, "page": 2, "requests": 3},
            [(2, 10), (3, 10), (4, 10)],
            range(25, 50),
        ),
    ],
)
def test_a_limit_takes_as_many_requests_as_it_needs(query, asked, found):
    response, requested = pages(query)

    assert requested == asked
    assert titles(response) == list(found)
    assert response.notes == ()


def test_pages_of_a_fixed_size_are_cut():
    response, requested = pages({"limit": 4, "page": 4, "requests": 1}, fixed=True)

    assert requested == [(1, 10)]
    assert titles(response) == [12, 13, 14, 15]


def test_results_that_pages_share_are_made_up_for():
    endless = SimpleNamespace(name="pier", limits=Limits(results_per_request=10))
    response, _ = pages({"limit": 30, "requests": 4}, overlap=3, provider=endless)

    assert titles(response) == list(range(30))


def test_what_the_pages_cost_is_added_up_and_what_remains_is_the_last():
    response, _ = pages({"limit": 20, "requests": 2})

    assert (response.cost, response.usage) == (1.0, {"credits": 2.0, "remaining": 88.0})


def test_the_end_of_the_results_ends_the_requests():
    response, requested = pages({"limit": 50, "requests": 2}, total=12)

    assert len(requested) == 2
    assert titles(response) == list(range(12))


def test_a_failure_on_a_later_page_keeps_what_there_is():
    response, _ = pages({"limit": 30, "requests": 2}, fail_at=2)

    assert titles(response) == list(range(10))
    assert response.notes == ("pier failed on a later page (rate_limited)",)


def test_a_failure_on_the_first_page_is_an_error():
    with pytest.raises(RateLimited):
        pages({"limit": 30, "requests": 1}, fail_at=1)


def test_a_limit_beyond_what_the_service_has_is_noted():
    response, _ = pages({"limit": 100, "requests": 10}, total=1000)

    assert len(response.results) == 95
    assert response.notes == ("pier returns at most 95 results of a query",)


def test_a_page_beyond_what_the_service_has_is_refused():
    with pytest.raises(UnsupportedOption) as caught:
        pages({"limit": 50, "page": 3, "requests": 0})
    assert caught.value.options == ("page",)


def find_later(*, fail_at=None, max_pages=5):
    """Search for the second ten of a service that has ten results on a page, and cannot
    start at the second.
    """

    def fetch(number):
        yield Request(url="https://pier.example/")
        if number == fail_at:
            raise RateLimited("too fast", provider="pier")
        found = tuple(result(n) for n in range(number * 10, number * 10 + 10))
        return SearchResponse(query="q", results=found), number + 1

    query = SearchQuery.of("q", limit=10, page=2)
    return play(
        follow_pages(query, TEN, fetch, 0, skip=10, max_pages=max_pages),
        *[None] * min(max_pages, 2),
    ).result


def test_a_failure_before_the_page_that_is_wanted_is_an_error():
    assert titles(find_later()) == list(range(10, 20))
    with pytest.raises(RateLimited):
        find_later(fail_at=1)


def test_a_page_that_is_never_reached_is_refused_and_not_empty():
    with pytest.raises(UnsupportedOption) as caught:
        find_later(max_pages=1)
    assert caught.value.options == ("page",)


def test_a_response_of_which_a_page_failed_is_partial():
    assert pages({"limit": 30, "requests": 2}, fail_at=2)[0]._is_partial
    assert not pages({"limit": 20, "requests": 2})[0]._is_partial


def test_a_page_that_is_listed_under_two_urls_counts_once():
    def fetch(number):
        yield Request(url="https://pier.example/")
        urls = [
            "http://pier.example/0",
            f"https://www.pier.example/{number}/?utm_source=g",
        ]
        results = tuple(SearchResult(title=url, url=url) for url in urls)
        return SearchResponse(query="q", results=results), number + 1

    outcome = play(
        follow_pages(SearchQuery.of("q", limit=2), TEN, fetch, 0), None, None
    )

    assert [one.url for one in outcome.result.results] == [
        "http://pier.example/0",
        "https://www.pier.example/1/?utm_source=g",
    ]
