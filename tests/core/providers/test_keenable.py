"""https://github.com/keenableai/keenable-sdk, version 0.1.1"""

from __future__ import annotations
from datetime import UTC, datetime

import pytest

from websearch_core.errors import QuotaExhausted, RateLimited, UnsupportedOption
from websearch_core.models import SearchQuery
from websearch_core.providers.keenable import Keenable
from websearch_core.testing import SECRET, play, reply, stop_clock

URL = "https://page.example/a"


def ask(provider=None, **options):
    return next(
        (provider or Keenable(api_key=SECRET)).search(SearchQuery.of("kelp", **options))
    )


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ({"allowed_domains": ["a.org"]}, "site", "a.org"),
        ({"after": "2026-01-02"}, "published_after", "2026-01-02"),
        ({"before": "2026-01-02"}, "published_before", "2026-01-02"),
        ({"extra": {"acquired_after": "2026-01-02"}}, "acquired_after", "2026-01-02"),
    ],
)
def test_each_option_has_keenables_own_word(options, name, value):
    assert ask(**options).json == {"query": "kelp", "mode": "pro", name: value}


def test_the_last_week_is_sent_as_a_date():
    with stop_clock(datetime(2026, 11, 23, 10, tzinfo=UTC)):
        assert ask(time_range="week").json["published_after"] == "2026-11-16"


@pytest.mark.parametrize(
    "options",
    [
        {"allowed_domains": ["a.org", "b.org"]},
        {"blocked_domains": ["b.org"]},
        {"language": "en"},
        {"page": 2},
    ],
)
def test_what_it_cannot_do_is_refused(options):
    with pytest.raises(UnsupportedOption):
        ask(**options)


def test_without_a_key_the_public_endpoints_are_asked_which_want_a_title():
    keyless = Keenable()
    for request in (ask(keyless), next(keyless.read(URL))):
        assert request.url.endswith("/public")
        assert request.headers == {"X-Keenable-Title": "websearch-core"}
    assert ask().url == "https://api.keenable.ai/v1/search"
    assert ask().headers["X-Api-Key"] == SECRET


def test_a_used_up_hour_is_not_waited_for():
    with pytest.raises(QuotaExhausted):
        play(
            Keenable().search(SearchQuery.of("kelp")),
            reply({"error": "slow down"}, 429),
        )
    with pytest.raises(RateLimited):
        play(
            Keenable(api_key=SECRET).search(SearchQuery.of("kelp")),
            reply({"error": "slow down"}, 429),
        )


def test_a_server_of_ones_own_gets_no_page_that_only_it_can_reach():
    assert next(Keenable(base_url="https://search.corp").read(URL)).judge_target
    assert not next(Keenable().read(URL)).judge_target
