"""https://docs.github.com/en/rest/search/search"""

from __future__ import annotations
import time

import pytest

from websearch_core.errors import (
    AuthenticationError,
    Blocked,
    RateLimited,
    UnsupportedOption,
)
from websearch_core.models import SearchQuery
from websearch_core.providers.github import GitHub
from websearch_core.testing import SECRET, play, reply

TOKEN = GitHub(api_key=SECRET)


def request_of(provider=None, text="tides", **options):
    return next((provider or GitHub()).search(SearchQuery.of(text, **options)))


def kind_of(provider, **options):
    return request_of(provider, **options).url.rpartition("/")[2]


def test_code_needs_a_token_and_is_searched_where_there_is_one():
    assert kind_of(TOKEN, topic="code") == "code"
    assert kind_of(GitHub(), topic="code") == "repositories"
    assert kind_of(TOKEN) == "repositories"
    assert kind_of(GitHub(kind="issues"), topic="code") == "issues"


@pytest.mark.parametrize(
    ("provider", "options", "words"),
    [
        (GitHub(), {"after": "2026-01-02"}, "tides pushed:2026-01-02..*"),
        (GitHub(), {"before": "2026-01-02"}, "tides pushed:*..2026-01-02"),
        (GitHub(kind="issues"), {"after": "2026-01-02", "before": "2026-02-03"},
         "tides created:2026-01-02..2026-02-03 is:issue"),
        (GitHub(kind="issues"), {"text": "tides is:pr"}, "tides is:pr"),
    ],
)  # fmt: skip
def test_options_are_qualifiers(provider, options, words):
    assert request_of(provider, **options).params["q"] == words


def test_code_has_no_dates():
    with pytest.raises(UnsupportedOption) as caught:
        request_of(GitHub(kind="code"), time_range="week")
    assert caught.value.options == ("time_range",)


def test_markup_in_plain_text_stays_readable():
    item = {
        "full_name": "a/b",
        "html_url": "https://github.com/a/b",
        "description": "Turns <table> &amp; <b> into text",
    }
    (result,) = play(
        GitHub().search(SearchQuery.of("x")), reply({"items": [item], "total_count": 1})
    ).result.results

    assert result.snippet == "Turns <table> &amp; <b> into text"


@pytest.mark.parametrize("status", [403, 429])
def test_a_reached_limit_is_no_wrong_key(status):
    reset = str(int(time.time()) + 50)
    headers = {
        "x-ratelimit-limit": "10",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": reset,
    }
    with pytest.raises(RateLimited) as caught:
        play(
            GitHub().search(SearchQuery.of("x")),
            reply({"message": "API rate limit exceeded"}, status, **headers),
        )
    assert 40 < caught.value.retry_after <= 50


def test_a_secondary_limit_without_a_time_is_a_minute():
    with pytest.raises(RateLimited) as caught:
        play(
            GitHub().search(SearchQuery.of("x")),
            reply({"message": "You have exceeded a secondary rate limit"}, 403),
        )
    assert caught.value.retry_after == 60


def test_a_token_that_may_not_do_this_is_a_wrong_key():
    headers = {"x-ratelimit-limit": "30", "x-ratelimit-remaining": "29"}
    answer = reply(
        {"message": "Resource not accessible by personal access token"}, 403, **headers
    )
    with pytest.raises(AuthenticationError):
        play(TOKEN.search(SearchQuery.of("x")), answer)


def test_a_rate_limit_keeps_githubs_words():
    with pytest.raises(RateLimited) as caught:
        play(
            GitHub().search(SearchQuery.of("tides")),
            reply({"message": "API rate limit exceeded for 192.0.2.1"}, 403),
        )

    assert caught.value.detail == "API rate limit exceeded for 192.0.2.1"


def test_a_refusal_without_a_key_names_what_helps():
    with pytest.raises(
        Blocked, match="say who runs them.*or give it a key: GITHUB_TOKEN"
    ):
        play(GitHub().search(SearchQuery.of("kelp")), reply({"message": "no"}, 403))
    with pytest.raises(AuthenticationError):
        play(
            GitHub(api_key=SECRET).search(SearchQuery.of("kelp")),
            reply({"message": "no"}, 403),
        )
