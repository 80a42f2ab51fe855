"""https://hn.algolia.com/api"""

from __future__ import annotations

import pytest

from websearch_core.models import SearchQuery
from websearch_core.providers.hackernews import HackerNews
from websearch_core.testing import play, reply

HIT = {"objectID": "1", "title": "Tides", "url": "https://harbour.example/"}


def params_of(provider=None, **options):
    return next(
        (provider or HackerNews()).search(SearchQuery.of("tides", **options))
    ).params


@pytest.mark.parametrize(
    ("options", "filters"),
    [
        ({"after": "2026-01-02"}, "created_at_i>=1767312000"),
        ({"before": "2026-01-02"}, "created_at_i<1767398400"),  # that day is part of it
        (
            {"after": "2026-01-02", "before": "2026-01-02"},
            "created_at_i>=1767312000,created_at_i<1767398400",
        ),
    ],
)
def test_dates_are_seconds(options, filters):
    assert params_of(**options)["numericFilters"] == filters


@pytest.mark.parametrize(
    ("kind", "tags"),
    [("story", "story"), ("comment", "comment"), ("any", "(story,comment)")],
)
def test_what_to_search_is_a_tag(kind, tags):
    assert params_of(HackerNews(kind=kind))["tags"] == tags


def test_the_newest_first_is_an_address_of_its_own():
    assert next(HackerNews(sort="date").search(SearchQuery.of("tides"))).url.endswith(
        "/search_by_date"
    )


@pytest.mark.parametrize(
    "hit",
    [
        {"objectID": "1"},
        {"objectID": "1", "url": ""},
        {"objectID": "1", "url": None, "title": None, "story_title": None},
    ],
)
def test_an_item_without_a_url_leads_to_its_own_page(hit):
    (result,) = play(
        HackerNews().search(SearchQuery.of("tides")),
        reply({"hits": [hit], "nbPages": 1}),
    ).result.results

    assert result.url == "https://news.ycombinator.com/item?id=1"


def test_old_answers_have_relevancy_scores_and_other_fields():
    old = {
        **HIT,
        "relevancy_score": 4321,
        "_rankingInfo": {},
        "points": None,
        "created_at": "2016-03-04T05:06:07.000Z",
    }
    (result,) = play(
        HackerNews().search(SearchQuery.of("tides")), reply({"hits": [old]})
    ).result.results

    assert (result.score, result.published.year) == (None, 2016)


def test_a_large_limit_takes_several_pages():
    pages = [
        reply(
            {
                "hits": [
                    {**HIT, "objectID": str(n), "url": f"https://harbour.example/{n}"}
                    for n in numbers
                ],
                "nbPages": 2,
            }
        )
        for numbers in (range(100), range(100, 130))
    ]
    outcome = play(HackerNews().search(SearchQuery.of("tides", limit=120)), *pages)

    assert [request.params.get("page") for request in outcome.requests] == [None, 1]
    assert len(outcome.result.results) == 120
