"""https://serpapi.com/search-api"""

from __future__ import annotations

import pytest

from websearch_core.errors import (
    AuthenticationError,
    QuotaExhausted,
    RateLimited,
    Unavailable,
    UnsupportedOption,
)
from websearch_core.models import SearchQuery
from websearch_core.providers.serpapi import SerpApi
from websearch_core.testing import SECRET, play, reply

SERPAPI = SerpApi(api_key=SECRET)


def request_of(**options):
    return next(SERPAPI.search(SearchQuery.of("tides", **options)))


def search(body, status=200, **options):
    return play(
        SERPAPI.search(SearchQuery.of("tides", **options)), reply(body, status)
    ).result


def test_the_key_is_in_the_url_and_nowhere_that_shows():
    request = request_of()

    assert request.secret_params == {"api_key": SECRET}
    assert SECRET not in f"{request!r}{request.url}{request.params}{SERPAPI!r}"


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({}, {"engine": "google", "q": "tides"}),
        ({"topic": "news"}, {"engine": "google", "tbm": "nws"}),
        ({"topic": "academic", "after": "2020-05-01", "before": "2024-01-01"},
         {"engine": "google_scholar", "as_ylo": 2020, "as_yhi": 2024}),
        ({"time_range": "month"}, {"tbs": "qdr:m"}),
        ({"after": "2026-01-02", "before": "2026-02-03"}, {"tbs": "cdr:1,cd_min:01/02/2026,cd_max:02/03/2026"}),
        ({"country": "GB", "language": "he"}, {"gl": "gb", "hl": "iw", "lr": "lang_iw"}),
        ({"safe_search": "strict"}, {"safe": "active"}),
        ({"limit": 10, "page": 3}, {"start": 20}),
        ({"extra": {"engine": "google_light"}}, {"engine": "google_light"}),
    ],
)  # fmt: skip
def test_each_option_has_googles_own_word(options, sent):
    assert sent.items() <= request_of(**options).params.items()


def test_papers_are_filtered_by_year():
    with pytest.raises(UnsupportedOption):
        request_of(topic="academic", time_range="week")


@pytest.mark.parametrize("state", [{"search_metadata": {"status": "Success"}}, {}])
def test_nothing_found_is_an_answer(state):
    found = search(
        {**state, "error": "Google hasn't returned any results for this query."}
    )

    assert (found.results, found.notes) == ((), ())


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ({"error": "Your account has run out of searches."}, 429, QuotaExhausted),
        ({"error": "Too many requests this hour."}, 429, RateLimited),
        (
            {
                "search_metadata": {"status": "Error"},
                "error": "Google hasn't returned any results.",
            },
            200,
            Unavailable,
        ),
        (
            {"search_metadata": {"status": "Success"}, "error": "Proxy timeout"},
            200,
            Unavailable,
        ),
    ],
)
def test_what_only_looks_like_nothing_is_an_error(body, status, kind):
    with pytest.raises(kind) as caught:
        search(body, status)
    assert type(caught.value) is kind


def test_an_answer_without_a_next_page_is_the_last():
    found = search(
        {"organic_results": [{"title": "T", "link": "https://harbour.example/"}]},
        limit=50,
    )

    assert len(found.results) == 1


@pytest.mark.parametrize(
    ("box", "answer"),
    [
        ({"answer": "42"}, "42"),
        ({"snippet": "So."}, "So."),
        ({"result": "7"}, "7"),
        ({"type": "x"}, None),
        (None, None),
        ([], None),
    ],
)
def test_an_answer_box_has_many_forms(box, answer):
    assert search({"organic_results": [], "answer_box": box}).answer == answer


def test_an_overview_is_the_answer_where_there_is_no_box():
    blocks = [
        {"type": "paragraph", "snippet": "Twice a day."},
        {"type": "list", "list": []},
        {"snippet": "Mostly."},
    ]
    body = {"organic_results": [], "ai_overview": {"text_blocks": blocks}}

    assert search(body).answer == "Twice a day. Mostly."
    assert (
        search({"organic_results": [], "ai_overview": {"page_token": "x"}}).answer
        is None
    )


def test_a_page_of_google_without_results_may_hold_an_answer():
    body = {
        "search_metadata": {"status": "Success"},
        "search_information": {"organic_results_state": "Fully empty"},
        "answer_box": {"type": "calculator_result", "result": "4"},
    }
    found = search(body)

    assert (found.results, found.answer) == ((), "4")


def test_a_wrong_key_is_one_even_in_a_success():
    with pytest.raises(AuthenticationError):
        search(
            {
                "error": "Invalid API key. Your API key should be here: https://serpapi.example"
            }
        )


@pytest.mark.parametrize("name", ["iso_date", "published_at"])
def test_news_have_an_exact_date_besides_one_in_words(name):
    item = {
        "title": "T",
        "link": "https://a.example/",
        "date": "2 days ago",
        name: "2026-05-04 09:08:07 UTC",
    }
    (result,) = search({"news_results": [item]}, topic="news").results

    assert str(result.published) == "2026-05-04 09:08:07+00:00"


@pytest.mark.parametrize(
    ("info", "author"),
    [
        ({"summary": "JC Holm, V Saue - 2010 - books.example"}, "JC Holm, V Saue"),
        (
            {
                "summary": "JC Holm… - 2010 - x",
                "authors": [{"name": "JC Holm", "link": "https://x"}],
            },
            "JC Holm",
        ),
        ({"summary": "books.example"}, None),
        (None, None),
    ],
)
def test_papers_have_authors(info, author):
    item = {"title": "T", "link": "https://a.example/", "publication_info": info}
    (result,) = search({"organic_results": [item]}, topic="academic").results

    assert result.author == author


@pytest.mark.parametrize("engine", ["bing", "duckduckgo"])
def test_another_engine_is_asked_for_a_page_and_has_no_options_of_google(engine):
    mine = SerpApi(api_key=SECRET, engine=engine, location="Austin")
    answer = {
        "organic_results": [{"title": "T", "link": "https://a.example/"}],
        "serpapi_pagination": {"next": "x"},
    }
    outcome = play(
        mine.search(SearchQuery.of("tides", limit=30, blocked_domains=["b.org"])),
        reply(answer),
    )

    assert outcome.requests[0].params == {"q": "tides -site:b.org", "engine": engine}
    assert mine.find_engines(outcome.result.results[0]) == (engine,)
    with pytest.raises(
        UnsupportedOption, match=f"does not support country with {engine}"
    ):
        next(mine.search(SearchQuery.of("tides", country="DE")))


def test_a_place_and_the_light_engine_are_googles():
    mine = SerpApi(api_key=SECRET, engine="google_light", location="Austin")

    assert next(mine.search(SearchQuery.of("tides"))).params == {
        "q": "tides",
        "engine": "google_light",
        "location": "Austin",
    }
    assert (
        "location"
        not in next(mine.search(SearchQuery.of("tides", topic="academic"))).params
    )
    assert mine.find_engines(None) == ("google",)


def test_an_error_may_be_an_object():
    with pytest.raises(Unavailable) as caught:
        search({"error": {"message": "It broke"}})

    assert caught.value.detail == "It broke"
