"""https://api.semanticscholar.org/api-docs/graph"""

from __future__ import annotations

import pytest

from websearch_core.errors import BadRequest, UnsupportedOption
from websearch_core.models import SearchQuery
from websearch_core.providers.semanticscholar import SemanticScholar
from websearch_core.testing import SECRET, play, reply


def request_of(text="tides", provider=None, **options):
    return next((provider or SemanticScholar()).search(SearchQuery.of(text, **options)))


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("storm-surge", "storm surge"),
        ("a - b", "a - b"),
        ("-x", "-x"),
        ("well-known-fact", "well known fact"),
    ],
)
def test_a_hyphen_inside_a_word_would_match_nothing(text, sent):
    assert request_of(text).params["query"] == sent


@pytest.mark.parametrize(
    ("options", "period"),
    [
        ({"after": "2026-01-02"}, "2026-01-02:"),
        ({"before": "2026-01-02"}, ":2026-01-02"),
        ({"after": "2025-01-02", "before": "2026-01-02"}, "2025-01-02:2026-01-02"),
    ],
)
def test_dates_are_one_parameter(options, period):
    assert request_of(**options).params["publicationDateOrYear"] == period


def test_a_key_is_optional_and_travels_in_its_header():
    assert request_of().headers == {}
    assert request_of(provider=SemanticScholar(api_key=SECRET)).headers == {
        "x-api-key": SECRET
    }


def test_nothing_beyond_a_thousand_is_requested():
    with pytest.raises(UnsupportedOption):
        request_of(limit=100, page=11)
    pages = [
        reply(
            {
                "total": 9999,
                "next": 1,
                "data": [{"paperId": f"{p}-{n}", "title": "T"} for n in range(100)],
            }
        )
        for p in range(10)
    ]
    outcome = play(
        SemanticScholar().search(SearchQuery.of("tides", limit=2000)), *pages
    )

    assert len(outcome.result.results) == 1000
    assert "at most 1000 results" in outcome.result.notes[0]


def test_a_page_beyond_the_end_has_nothing_and_is_no_error():
    answer = reply(
        {"error": "Requested data for this limit and/or offset is not available"}, 400
    )

    assert (
        play(
            SemanticScholar().search(SearchQuery.of("tides", page=3)), answer
        ).result.results
        == ()
    )
    with pytest.raises(BadRequest):
        play(SemanticScholar().search(SearchQuery.of("tides")), answer)
