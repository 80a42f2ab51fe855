"""https://www.searchapi.io/docs/google"""

from __future__ import annotations

import pytest

from websearch_core.errors import (
    AuthenticationError,
    QuotaExhausted,
    RateLimited,
    UnsupportedOption,
)
from websearch_core.models import SearchQuery
from websearch_core.providers.searchapi import SearchApi
from websearch_core.testing import SECRET, play, reply

SEARCHAPI = SearchApi(api_key=SECRET)


def request_of(**options):
    return next(SEARCHAPI.search(SearchQuery.of("tides", **options)))


def test_the_key_is_a_bearer_token_and_never_in_the_url():
    request = request_of()

    assert request.headers == {"Authorization": f"Bearer {SECRET}"}
    assert request.secret_params == {}


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({}, {"engine": "google", "q": "tides"}),
        (
            {"topic": "news", "time_range": "day"},
            {"engine": "google_news", "time_period": "last_day"},
        ),
        (
            {"topic": "academic", "after": "2020-05-01"},
            {"engine": "google_scholar", "as_ylo": 2020},
        ),
        ({"after": "2026-01-02"}, {"time_period_min": "01/02/2026"}),
        ({"before": "2026-02-03"}, {"time_period_max": "02/03/2026"}),
        ({"limit": 10, "page": 3}, {"page": 3}),
        (
            {"country": "DE", "language": "de"},
            {"gl": "de", "hl": "de", "lr": "lang_de"},
        ),
    ],
)
def test_each_option_has_the_services_own_word(options, sent):
    assert sent.items() <= request_of(**options).params.items()


@pytest.mark.parametrize(
    "options",
    [
        {"topic": "academic", "time_range": "week"},
        {"topic": "code"},
        {"language": "cy"},
    ],
)
def test_what_the_service_does_not_have_is_refused(options):
    with pytest.raises(UnsupportedOption):
        request_of(**options)


@pytest.mark.parametrize(
    "words",
    [
        "Google didn't return any results.",
        "Google hasn't returned any results for this query.",
    ],
)
def test_nothing_found_is_an_answer(words):
    assert (
        play(
            SEARCHAPI.search(SearchQuery.of("tides")), reply({"error": words})
        ).result.results
        == ()
    )


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("You have used all of the searches for the month.", QuotaExhausted),
        ("Slow down.", RateLimited),
    ],
)
def test_a_used_up_plan_is_not_a_pace_that_is_too_fast(words, kind):
    with pytest.raises(kind) as caught:
        play(SEARCHAPI.search(SearchQuery.of("tides")), reply({"error": words}, 429))
    assert type(caught.value) is kind


def test_a_wrong_key_is_one_even_in_a_success():
    with pytest.raises(AuthenticationError):
        play(
            SEARCHAPI.search(SearchQuery.of("tides")),
            reply({"error": "Invalid API key."}),
        )


def test_a_paper_has_authors():
    item = {
        "title": "T",
        "link": "https://a.example/",
        "publication": "JC Holm, V Saue - 2010 - books.example",
    }
    flow = SEARCHAPI.search(SearchQuery.of("tides", topic="academic", limit=1))
    (result,) = play(flow, reply({"organic_results": [item]})).result.results

    assert result.author == "JC Holm, V Saue"
