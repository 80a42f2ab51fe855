"""https://developers.openalex.org/api-reference/works/list-works"""

from __future__ import annotations

import pytest

from websearch_core.errors import QuotaExhausted, RateLimited, UnsupportedOption
from websearch_core.models import SearchQuery
from websearch_core.providers.openalex import OpenAlex
from websearch_core.testing import SECRET, play, reply


def request_of(provider=None, **options):
    return next((provider or OpenAlex()).search(SearchQuery.of("tides", **options)))


def search(*answers, **options):
    return play(OpenAlex().search(SearchQuery.of("tides", **options)), *answers).result


def test_the_key_is_in_the_url_and_nowhere_that_shows():
    request = request_of(OpenAlex(api_key=SECRET))

    assert request.secret_params == {"api_key": SECRET}
    assert SECRET not in f"{request!r}{request.url}{request.params}"
    assert request_of().secret_params == {}


def test_filters_are_one_parameter():
    filters = request_of(
        after="2026-01-02", before="2026-02-03", language="de-AT"
    ).params["filter"]

    assert (
        filters
        == "from_publication_date:2026-01-02,to_publication_date:2026-02-03,language:de"
    )


def test_a_language_that_it_does_not_know_is_refused():
    with pytest.raises(UnsupportedOption) as caught:
        request_of(language="gsw")
    assert caught.value.options == ("language",)


@pytest.mark.parametrize(
    ("index", "abstract"),
    [
        ({"tides": [1, 3], "Spring": [0], "and": [2]}, "Spring tides and tides"),
        ({"tides": [None, "1", True], "Spring": 0}, ""),
        (None, ""),
        ([], ""),
    ],
)
def test_an_abstract_is_put_together_from_its_index(index, abstract):
    body = {
        "meta": {"count": 1},
        "results": [
            {"id": "https://openalex.org/W1", "abstract_inverted_index": index}
        ],
    }

    assert search(reply(body)).results[0].snippet == abstract


def test_a_cost_in_the_headers_counts_where_the_answer_has_none():
    found = search(
        reply({"meta": {}, "results": []}, **{"x-ratelimit-cost-usd": "0.001"})
    )

    assert (found.cost, found.usage) == (0.001, {})


@pytest.mark.parametrize(
    ("headers", "body", "kind"),
    [
        ({"x-ratelimit-remaining": "0"}, "<html>", QuotaExhausted),
        ({"x-ratelimit-remaining-usd": "0"}, {}, QuotaExhausted),
        ({}, {"message": "Insufficient budget."}, QuotaExhausted),
        (
            {"x-ratelimit-remaining": "900"},
            {"error": "Too many requests per second"},
            RateLimited,
        ),
        ({}, "too fast", RateLimited),
    ],
)
def test_a_used_up_day_is_not_a_pace_that_is_too_fast(headers, body, kind):
    with pytest.raises(kind) as caught:
        search(reply(body, 429, **headers))
    assert type(caught.value) is kind
