"""https://docs.tavily.com/documentation/api-reference/endpoint/search"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from websearch_core.errors import BadRequest, MissingKey, QuotaExhausted, Unavailable, UnsupportedOption
from websearch_core.models import SearchQuery
from websearch_core.providers.tavily import Tavily
from websearch_core.testing import SECRET, play, reply

TAVILY = Tavily(api_key=SECRET)
URL = "https://page.example/a"


def body_of(**options):
    return next(TAVILY.search(SearchQuery.of("kelp", **options))).json


def test_the_key_is_a_bearer_token_and_never_in_the_body():
    request = next(TAVILY.search(SearchQuery.of("kelp")))

    assert request.headers["Authorization"] == f"Bearer {SECRET}"
    assert "api_key" not in request.json


def test_it_needs_a_key_unless_keyless():
    with pytest.raises(MissingKey, match="TAVILY_API_KEY"):
        Tavily()


def test_the_keyless_tier_has_its_own_header():
    request = next(Tavily(keyless=True).search(SearchQuery.of("kelp")))

    assert request.headers == {"X-Tavily-Access-Mode": "keyless"}


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ({"limit": 7}, "max_results", 7),
        ({"limit": 50}, "max_results", 20),
        ({"time_range": "w"}, "time_range", "week"),
        ({"after": "2026-01-02"}, "start_date", "2026-01-02"),
        ({"before": "2026-01-02"}, "end_date", "2026-01-02"),
        ({"allowed_domains": ["a.org"]}, "include_domains", ["a.org"]),
        ({"blocked_domains": ["b.org"]}, "exclude_domains", ["b.org"]),
        ({"country": "GB"}, "country", "united kingdom"),
        ({"topic": "news"}, "topic", "news"),
        ({"extra": {"exact_match": True}}, "exact_match", True),
    ],
)
def test_each_option_has_tavilys_own_word(options, name, value):
    assert body_of(**options)[name] == value


def test_only_given_options_are_sent():
    assert body_of() == {"query": "kelp", "max_results": 5, "search_depth": "basic", "topic": "general"}


def test_a_country_is_supported_in_general_search_only():
    with pytest.raises(UnsupportedOption) as caught:
        body_of(country="GB", topic="news")
    assert caught.value.options == ("country",)


def test_answers_dates_scores_and_the_request_id_are_kept():
    answer = reply(
        {
            "query": "tides",
            "answer": "Twice a day.",
            "results": [
                {
                    "title": "Tides",
                    "url": "https://sea.example/tides",
                    "content": "Chunk one [...] chunk two",
                    "score": 0.91,
                    "published_date": "Tue, 03 Mar 2026 09:00:00 GMT",
                }
            ],
            "request_id": "3b2f",
        }
    )
    response = play(TAVILY.search(SearchQuery.of("tides")), answer).result

    assert (response.answer, response.request_id) == ("Twice a day.", "3b2f")
    (result,) = response.results
    assert (result.score, result.published) == (0.91, datetime(2026, 3, 3, 9, tzinfo=UTC))


def test_a_limit_above_the_maximum_is_noted():
    response = play(TAVILY.search(SearchQuery.of("tides", limit=50)), reply({"results": []})).result

    assert response.notes == ("tavily returns at most 20 results",)


@pytest.mark.parametrize("status", [432, 433])
def test_plan_limits_mean_an_exhausted_quota_not_a_rate_limit(status):
    with pytest.raises(QuotaExhausted, match="usage limit") as caught:
        play(TAVILY.search(SearchQuery.of("kelp")), reply({"detail": {"error": "your plan's usage limit"}}, status))
    assert not caught.value.temporary


def test_the_keyless_allowance_has_its_own_error_format():
    cap = {"code": "daily_cap_reached", "message": "Daily allowance reached.", "retry_after_seconds": 3600}

    with pytest.raises(QuotaExhausted, match="Daily allowance") as caught:
        play(Tavily(keyless=True).search(SearchQuery.of("kelp")), reply({"error": cap}, 429))
    assert caught.value.retry_after == 3600


def test_a_list_of_wrong_parameters_is_read_too():
    with pytest.raises(BadRequest, match="too long"):
        play(TAVILY.search(SearchQuery.of("kelp")), reply({"detail": [{"loc": ["query"], "msg": "too long"}]}, 422))


def test_a_page_takes_its_title_from_its_first_heading():
    page = play(TAVILY.read(URL), reply({"results": [{"url": URL, "raw_content": "intro\n# Kelp #\ntext"}]})).result

    assert (page.title, page.content) == ("Kelp", "intro\n# Kelp #\ntext")


def test_a_page_that_could_not_be_read_is_an_error_although_the_status_says_success():
    failed = {"results": [], "failed_results": [{"url": URL, "error": "Failed to fetch url"}]}

    with pytest.raises(Unavailable, match="Failed to fetch url") as caught:
        play(TAVILY.read(URL), reply(failed))
    assert not caught.value.temporary


def test_a_page_in_neither_list_is_an_error():
    with pytest.raises(Unavailable, match="missing"):
        play(TAVILY.read(URL), reply({"results": []}))


def test_extra_parameters_are_sent_even_if_false():
    assert (
        body_of(extra={"auto_parameters": False, "chunks_per_source": 0}).items()
        >= {
            "auto_parameters": False,
            "chunks_per_source": 0,
        }.items()
    )


def test_a_gateway_only_gets_urls_that_the_guard_checked():
    url = "https://page.example/"

    assert not next(Tavily(api_key=SECRET).read(url)).judge_target
    assert next(Tavily(api_key=SECRET, base_url="https://gateway.example/tavily").read(url)).judge_target
    assert not next(
        Tavily(api_key=SECRET, base_url="https://gateway.example").search(SearchQuery.of("kelp"))
    ).judge_target
