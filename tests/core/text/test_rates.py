"""Rate limits in the headers of services."""

from __future__ import annotations
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_core._text import rates
from websearch_core._text.rates import RateLimit, parse_rate_limits
from websearch_core.flow import Response


def test_a_comma_list_has_a_limit_for_each_window():
    found = parse_rate_limits(
        {
            "x-ratelimit-limit": "1, 2000",
            "x-ratelimit-policy": "1;w=1, 2000;w=2592000",
            "x-ratelimit-remaining": "0, 1977",
            "x-ratelimit-reset": "1, 389223",
        }
    )

    assert found == (
        RateLimit(limit=1, remaining=0, reset=1, window=1),
        RateLimit(limit=2000, remaining=1977, reset=389_223, window=2_592_000),
    )
    assert [one.is_exhausted for one in found] == [True, False]


def test_a_limit_of_zero_is_no_limit():
    second, month = parse_rate_limits(
        {
            "x-ratelimit-limit": "50, 0",
            "x-ratelimit-policy": "50;w=1, 0;w=2592000",
            "x-ratelimit-remaining": "49, 0",
        }
    )

    assert not second.is_exhausted
    assert not month.is_exhausted


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (
            {
                "ratelimit-policy": '"burst";q=10;w=1, "day";q=1000;w=86400',
                "ratelimit": '"day";r=0;t=3600',
            },
            RateLimit(limit=1000, remaining=0, reset=3600, window=86_400, name="day"),
        ),
        (
            {"ratelimit": "limit=100, remaining=50, reset=30"},
            RateLimit(limit=100, remaining=50, reset=30),
        ),
        (
            {
                "ratelimit-limit": "10, 10;w=1",
                "ratelimit-remaining": "9",
                "ratelimit-reset": "1",
            },
            RateLimit(limit=10, remaining=9, reset=1),
        ),
        (
            {"ratelimit-policy": '"burst";q=100;w=60'},
            RateLimit(limit=100, window=60, name="burst"),
        ),
        (
            {"x-rate-limit-limit": "50", "x-rate-limit-interval": "1s"},
            RateLimit(limit=50, window=1),
        ),
        (
            {"x-ratelimit-limit-requests": "60", "x-ratelimit-reset-requests": "6m0s"},
            RateLimit(limit=60, reset=360, name="requests"),
        ),
        ({"x-ratelimit-remaining-day": "0"}, RateLimit(remaining=0, window=86_400)),
        ({"x-ratelimit-requests-limit": "500"}, RateLimit(limit=500, name="requests")),
        ({"retry-after": "7"}, RateLimit(remaining=0, reset=7)),
    ],
)
def test_each_form_of_the_headers_is_read(headers, expected):
    assert parse_rate_limits(headers) == (expected,)


def test_a_point_in_time_becomes_seconds_from_now(monkeypatch):
    now = datetime(2026, 5, 4, 9, tzinfo=UTC)
    stamp = int(now.timestamp())
    monkeypatch.setattr(rates, "time", SimpleNamespace(time=lambda: float(stamp)))
    for value in (
        stamp + 90,
        (stamp + 90) * 1000,
        format_datetime(now + timedelta(seconds=90), usegmt=True),
    ):
        (found,) = parse_rate_limits(
            {"x-ratelimit-limit": "5", "x-ratelimit-reset": str(value)}
        )
        assert found.reset == 90


def test_a_response_states_its_limits():
    assert Response(status=200).rate_limits == ()
    assert (
        Response(status=200, headers={"x-ratelimit-remaining": "3"})
        .rate_limits[0]
        .remaining
        == 3
    )


@given(st.dictionaries(
    st.sampled_from(["ratelimit", "ratelimit-policy", "x-ratelimit-limit", "x-ratelimit-remaining",
                     "x-ratelimit-reset", "ratelimit-reset-day", "retry-after", "x-rate-limit-interval"]),
    st.one_of(st.text(max_size=60), st.text('0123456789,;= "wqrt.smhdGT', max_size=60)),
))  # fmt: skip
def test_no_header_raises_an_error(headers):
    for one in parse_rate_limits(headers):
        for number in (one.limit, one.remaining, one.reset, one.window):
            assert number is None or 0 <= number < 1e16


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo", "UTC"])
@pytest.mark.parametrize(
    "form",
    [
        "%a, %d %b %Y %H:%M:%S GMT",
        "%A, %d-%b-%y %H:%M:%S GMT",
        "%a %b %e %H:%M:%S %Y",
        "%a, %d %b %Y %H:%M:%S -0000",
        "%a, %d %b %Y %H:%M:%S +0000",
        "%Y-%m-%dT%H:%M:%SZ",
        "%Y-%m-%dT%H:%M:%S+00:00",
    ],
)
def test_a_date_is_not_read_in_the_zone_of_this_machine(monkeypatch, zone, form):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    then = datetime.now(UTC) + timedelta(seconds=120)

    assert rates.parse_wait(then.strftime(form)) == pytest.approx(120, abs=5)

    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("value", ["soon", "2026-05-04T10:00:00", "4 May", "Sun"])
def test_a_time_that_may_be_in_any_zone_is_no_wait(value):
    assert rates.parse_wait(value) is None
