"""https://api.stackexchange.com/docs/advanced-search"""

from __future__ import annotations

import pytest

from websearch_core.errors import QuotaExhausted, RateLimited
from websearch_core.models import SearchQuery
from websearch_core.providers.stackexchange import StackExchange
from websearch_core.testing import SECRET, play, reply


def request_of(provider=None, **options):
    return next(
        (provider or StackExchange()).search(SearchQuery.of("tides", **options))
    )


def page(*numbers, **more):
    items = [
        {"title": "T", "link": f"https://stackoverflow.com/questions/{n}"}
        for n in numbers
    ]
    return reply({"items": items, "has_more": True, "quota_remaining": 10, **more})


def test_the_key_is_in_the_url_and_nowhere_that_shows():
    request = request_of(StackExchange(api_key=SECRET))

    assert request.secret_params == {"key": SECRET}
    assert SECRET not in f"{request!r}{request.url}{request.params}"


def test_dates_are_seconds_and_the_last_day_is_part_of_it():
    params = request_of(after="2026-01-02", before="2026-01-02").params

    assert (params["fromdate"], params["todate"]) == (1767312000, 1767398399)


def test_the_pause_that_it_asks_for_is_kept_before_the_next_page():
    first, second = (
        page(*range(100), backoff=10),
        page(*range(100, 200), quota_remaining=9),
    )
    outcome = play(
        StackExchange().search(SearchQuery.of("tides", limit=150)), first, second
    )

    assert outcome.pauses == [10.0]
    assert outcome.result.usage == {"requests_remaining": 9.0}
    assert len(outcome.result.results) == 150


def test_no_pause_follows_the_last_page():
    outcome = play(
        StackExchange().search(SearchQuery.of("tides", limit=5)),
        page(*range(5), backoff=10),
    )

    assert outcome.pauses == []


@pytest.mark.parametrize(
    ("seconds", "kind"),
    [
        ("30", RateLimited),
        ("3600", RateLimited),
        ("3601", QuotaExhausted),
        ("80524", QuotaExhausted),
    ],
)
def test_a_long_wait_means_that_the_day_is_used_up(seconds, kind):
    words = (
        f"too many requests from this IP, more requests available in {seconds} seconds"
    )
    answer = reply(
        {"error_id": 502, "error_name": "throttle_violation", "error_message": words},
        400,
    )
    with pytest.raises(kind) as caught:
        play(StackExchange().search(SearchQuery.of("tides")), answer)
    assert caught.value.retry_after == float(seconds)


def test_code_in_a_post_stays_text():
    body = (
        "<p>Use <code>&lt;b&gt;</code>:</p><pre><code>a &lt; b</code></pre>"
        + "<p>word </p>" * 300
    )
    item = {
        "title": "How to &lt;b&gt;",
        "link": "https://stackoverflow.com/q/1",
        "body": body,
    }
    (result,) = play(
        StackExchange().search(SearchQuery.of("tides")), reply({"items": [item]})
    ).result.results

    assert result.title == "How to <b>"
    assert result.snippet.startswith("Use <b>: a < b word word")
    assert len(result.snippet) <= 602
