"""https://docs.perplexity.ai/api-reference/search-post"""

from __future__ import annotations

import pytest

from websearch_core.errors import AuthenticationError, QuotaExhausted, UnsupportedOption
from websearch_core.models import SearchQuery
from websearch_core.providers.perplexity import Perplexity
from websearch_core.testing import SECRET, play, reply

PERPLEXITY = Perplexity(api_key=SECRET)


def body_of(provider=PERPLEXITY, **options):
    return next(provider.search(SearchQuery.of("kelp", **options))).json


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ({"limit": 7}, "max_results", 7),
        ({"limit": 50}, "max_results", 20),
        ({"time_range": "w"}, "search_recency_filter", "week"),
        ({"after": "2026-01-02"}, "search_after_date_filter", "01/02/2026"),
        ({"before": "2026-11-30"}, "search_before_date_filter", "11/30/2026"),
        ({"allowed_domains": ["a.org"]}, "search_domain_filter", ["a.org"]),
        ({"blocked_domains": ["b.org"]}, "search_domain_filter", ["-b.org"]),
        (
            {"allowed_domains": ["a.org"], "blocked_domains": ["b.org"]},
            "search_domain_filter",
            ["a.org"],
        ),
        ({"country": "GB"}, "country", "GB"),
        ({"language": "pt-BR"}, "search_language_filter", ["pt"]),
        ({"language": "zh-Hant"}, "search_language_filter", ["zh"]),
        ({"topic": "academic"}, "search_mode", "academic"),
        ({"topic": "finance"}, "search_mode", "sec"),
        ({"extra": {"search_type": "fast"}}, "search_type", "fast"),
    ],
)
def test_each_option_has_perplexitys_own_word(options, name, value):
    assert body_of(**options)[name] == value


def test_only_given_options_are_sent():
    assert body_of() == {"query": "kelp", "max_results": 5}
    sized = Perplexity(api_key=SECRET, max_tokens=900, max_tokens_per_page=300)
    assert body_of(sized) == {
        "query": "kelp",
        "max_results": 5,
        "max_tokens": 900,
        "max_tokens_per_page": 300,
    }


def test_more_allowed_domains_than_it_takes_are_refused_and_more_blocked_ones_are_filtered_here():
    many = [f"site{n}.example" for n in range(21)]
    with pytest.raises(UnsupportedOption, match="at most 20 allowed domains") as caught:
        body_of(allowed_domains=many)
    assert caught.value.options == ("allowed_domains",)
    assert body_of(blocked_domains=many)["search_domain_filter"] == [
        f"-{domain}" for domain in many[:20]
    ]


@pytest.mark.parametrize(
    "options", [{"country": "XX"}, {"language": "tlh"}, {"topic": "code"}]
)
def test_what_it_does_not_know_is_refused_before_it_is_sent(options):
    with pytest.raises(UnsupportedOption):
        body_of(**options)


@pytest.mark.parametrize("status", [401, 402, 429])
def test_an_empty_account_is_not_retried_whatever_the_status(status):
    problem = {
        "error": {
            "message": "You exceeded your current quota",
            "type": "insufficient_quota",
            "code": status,
        }
    }
    with pytest.raises(QuotaExhausted) as caught:
        play(PERPLEXITY.search(SearchQuery.of("kelp")), reply(problem, status))
    assert not caught.value.temporary


def test_the_last_change_is_not_the_publication():
    item = {
        "title": "T",
        "url": "https://a.example/",
        "snippet": "s",
        "date": None,
        "last_updated": "2026-09-11",
    }
    found = play(
        PERPLEXITY.search(SearchQuery.of("kelp")), reply({"id": "x", "results": [item]})
    ).result

    assert found.results[0].published is None


def test_a_key_from_before_the_search_api_is_a_wrong_key():
    problem = {
        "message": "This endpoint requires a new API key.",
        "type": "api_key_created_before_cutoff",
        "code": 451,
    }
    with pytest.raises(AuthenticationError) as caught:
        play(PERPLEXITY.search(SearchQuery.of("kelp")), reply({"error": problem}, 451))
    assert caught.value.detail == "This endpoint requires a new API key."
