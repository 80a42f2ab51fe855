"""Pages that lead to one another."""

from __future__ import annotations

import pytest

from websearch_core.errors import Blocked
from websearch_core.models import Image, SearchQuery, SearchResponse, SearchResult
from websearch_core.provider import Request, follow_pages
from websearch_core.testing import play


class Harbour:
    name = "harbour"


def result(number, host="a.example"):
    return SearchResult(title=f"{number}", url=f"https://{host}/{number}")


def search(*pages, last=True, max_pages=10, skip=0, **options):
    """Play pages, each a list of results, or an error."""
    query = SearchQuery.of("kelp", **options)

    def fetch(number):
        found = yield Request(url=f"https://api.example/{number}")
        response = SearchResponse(
            query="kelp",
            results=tuple(found),
            provider="harbour",
            usage={"credits": 1},
            cost=0.25,
            notes=("a note",),
            images=(Image(url="https://a.example/i.png"),),
            raw={"page": number},
        )
        return response, None if last and number == len(pages) else number + 1

    return play(
        follow_pages(query, Harbour(), fetch, 1, max_pages=max_pages, skip=skip), *pages
    )


def urls(outcome):
    return [one.title for one in outcome.result.results]


def test_pages_are_fetched_until_the_limit_is_reached():
    outcome = search(
        [result(1), result(2)], [result(3), result(4)], last=False, limit=3
    )

    assert urls(outcome) == ["1", "2", "3"]
    assert len(outcome.requests) == 2


def test_only_results_inside_the_domain_filter_count():
    pages = [
        [result(1), result(2, "b.example")],
        [result(3, "b.example"), result(4)],
        [result(5)],
    ]
    outcome = search(*pages, last=False, limit=3, allowed_domains=["a.example"])

    assert [
        one.title for one in outcome.result.results if one.url.startswith("https://a.")
    ] == ["1", "4", "5"]
    assert len(outcome.result.results) == 5, "those outside are left to be counted"


def test_overlapping_pages_are_made_up_for():
    outcome = search(
        [result(1), result(2)], [result(2), result(3)], [result(4)], last=False, limit=4
    )

    assert urls(outcome) == ["1", "2", "3", "4"]


def test_a_page_with_nothing_new_is_the_last():
    outcome = search([result(1)], [result(1)], last=False, limit=5)

    assert urls(outcome) == ["1"]


def test_a_failure_of_a_later_page_keeps_the_results():
    outcome = search([result(1)], Blocked("no"), last=False, limit=5)

    assert urls(outcome) == ["1"]
    assert outcome.result.notes == (
        "a note",
        "harbour failed on a later page (blocked)",
    )


def test_a_failure_before_any_result_is_a_failure():
    with pytest.raises(Blocked):
        search(Blocked("no"), limit=5)
    with pytest.raises(Blocked):
        search(
            [result(1, "b.example")],
            Blocked("no"),
            last=False,
            limit=5,
            allowed_domains=["a.example"],
        )


def test_the_number_of_pages_is_bounded_and_said():
    outcome = search([result(1)], [result(2)], last=False, max_pages=2, limit=5)

    assert outcome.result.notes == (
        "a note",
        "harbour: stopped after 2 pages of results",
    )


def test_results_before_the_page_are_skipped():
    outcome = search(
        [result(1), result(2)], [result(3), result(4)], last=False, limit=1, skip=2
    )

    assert urls(outcome) == ["3"]


def test_what_pages_cost_is_added_up_and_the_first_is_the_record():
    found = search([result(1)], [result(2)], limit=5).result

    assert (found.usage, found.cost, found.raw) == ({"credits": 2}, 0.5, {"page": 1})
    assert found.images == (Image(url="https://a.example/i.png"),)
