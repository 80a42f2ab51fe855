"""https://docs.parallel.ai/api-reference/search/search"""

from __future__ import annotations

import pytest

from websearch_core.client._enforce import enforce_query
from websearch_core.errors import (
    Blocked,
    PageNotFound,
    TimedOut,
    Unavailable,
    UnsupportedContent,
    UnsupportedOption,
)
from websearch_core.models import SearchQuery
from websearch_core.providers.parallel import Parallel
from websearch_core.render import render_search
from websearch_core.testing import SECRET, play, reply

PARALLEL = Parallel(api_key=SECRET)
URL = "https://page.example/a"


def body_of(text="kelp", provider=PARALLEL, **options):
    return next(provider.search(SearchQuery.of(text, **options))).json


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({"limit": 7}, {"max_results": 7}),
        ({"country": "GB"}, {"max_results": 5, "location": "gb"}),
        (
            {"after": "2026-01-02"},
            {"max_results": 5, "source_policy": {"after_date": "2026-01-02"}},
        ),
        (
            {"allowed_domains": ["a.org"]},
            {"max_results": 5, "source_policy": {"include_domains": ["a.org"]}},
        ),
        (
            {"blocked_domains": ["b.org"]},
            {"max_results": 5, "source_policy": {"exclude_domains": ["b.org"]}},
        ),
        (
            {"allowed_domains": ["a.org"], "blocked_domains": ["b.a.org"]},
            {"max_results": 5, "source_policy": {"include_domains": ["a.org"]}},
        ),
    ],
)
def test_each_option_has_parallels_own_word(options, settings):
    assert body_of(**options)["advanced_settings"] == settings


def test_its_own_options_are_sent():
    mine = Parallel(api_key=SECRET, mode="turbo", max_chars_total=900)

    assert body_of(provider=mine) == {
        "objective": "kelp", "search_queries": ["kelp"], "mode": "turbo", "max_chars_total": 900,
        "advanced_settings": {"max_results": 5},
    }  # fmt: skip
    assert next(mine.read(URL)).json == {
        "urls": [URL],
        "advanced_settings": {"full_content": True},
    }


@pytest.mark.parametrize("mode", ["turbo", "fast", "basic", "advanced"])
def test_each_of_its_modes_can_be_chosen(mode):
    assert body_of(provider=Parallel(api_key=SECRET, mode=mode))["mode"] == mode


def test_a_long_question_is_the_objective_and_its_first_words_the_query():
    question = "kelp " * 60
    body = body_of(question)

    assert body["objective"] == question.strip()
    assert body["search_queries"] == [("kelp " * 40).strip()]
    assert len(body_of("k" * 300)["search_queries"][0]) == 200


@pytest.mark.parametrize(
    "options",
    [
        {"before": "2026-01-01"},
        {"language": "en"},
        {"topic": "news"},
        {"country": "XX"},
    ],
)
def test_what_it_cannot_do_is_refused(options):
    with pytest.raises(UnsupportedOption):
        body_of(**options)


@pytest.mark.parametrize(
    ("kind", "status", "expected"),
    [
        ("fetch_error", 404, PageNotFound),
        ("fetch_error", 403, Blocked),
        ("fetch_timeout", None, TimedOut),
        ("unsupported_content", None, UnsupportedContent),
        ("fetch_error", None, Unavailable),
        (None, None, Unavailable),
    ],
)
def test_a_page_that_fails_is_an_error_although_the_answer_is_a_success(
    kind, status, expected
):
    failure = {
        "url": URL,
        "error_type": kind,
        "http_status_code": status,
        "content": None,
    }
    with pytest.raises(expected):
        play(
            PARALLEL.read(URL),
            reply({"extract_id": "1", "results": [], "errors": [failure]}),
        )


def test_several_pages_are_read_in_one_request():
    failure = {
        "url": "https://b.example/",
        "error_type": "fetch_error",
        "http_status_code": 403,
        "content": None,
    }
    found = {"url": URL, "title": "Kelp", "excerpts": [], "full_content": "Kelp grows."}
    answer = {
        "extract_id": "1",
        "results": [found],
        "errors": [failure],
        "usage": [{"name": "sku", "count": 2}],
    }
    refused, page = play(
        PARALLEL.read_many(["https://b.example/", URL]), reply(answer)
    ).result

    assert isinstance(refused, Blocked)
    assert (page.url, page.content, page.usage) == (URL, "Kelp grows.", {"sku": 2})


def test_emoji_keep_their_joiners_up_to_the_text_that_a_model_reads():
    query, crew, flag = (
        SearchQuery.of("crew"),
        "👩🏽\u200d🚀 👨\u200d👩\u200d👧",
        "🏳️\u200d🌈",
    )
    hit = {
        "url": "https://a.example/",
        "title": f"Our crew {crew}",
        "excerpts": [f"Wel\u200bcome {flag}"],
    }

    found = enforce_query(
        play(Parallel(api_key=SECRET).search(query), reply({"results": [hit]})).result,
        query,
    )

    assert (found.results[0].title, found.results[0].snippet) == (
        f"Our crew {crew}",
        f"Welcome {flag}",
    )
    assert crew in render_search(found)
    assert flag in render_search(found)
