"""The dates of a query, as services want them."""

from __future__ import annotations
from datetime import UTC, date, datetime, timedelta

import pytest

from websearch_core.models import SearchQuery
from websearch_core.provider._dates import date_span
from websearch_core.providers import Brave, DuckDuckGo, You
from websearch_core.testing import SECRET

TODAY = datetime.now(UTC).date()
TOMORROW = TODAY + timedelta(days=1)  # in Tokyo, it is today


@pytest.mark.parametrize(
    ("given", "span"),
    [
        (
            {"after": date(2026, 1, 1), "before": date(2026, 2, 1)},
            "2026-01-01..2026-02-01",
        ),
        ({"before": date(2026, 2, 1)}, "1970-01-01..2026-02-01"),
        ({"after": TOMORROW}, f"{TOMORROW}..{TOMORROW}"),
        ({"time_range": "week"}, "pw"),
        ({"time_range": "year"}, "year"),
        ({}, None),
    ],
)
def test_both_ends_of_a_period_are_there_and_in_order(given, span):
    assert (
        date_span(SearchQuery(text="kelp", **given), {"week": "pw"}, sign="..") == span
    )


@pytest.mark.parametrize(
    "provider",
    [DuckDuckGo(), Brave(api_key=SECRET), You(api_key=SECRET)],
    ids=lambda one: one.name,
)
def test_no_service_is_asked_for_a_period_that_ends_before_it_begins(provider):
    request = next(provider.search(SearchQuery(text="kelp", after=TOMORROW)))
    sent = str([request.params, request.form, request.json])

    assert str(TOMORROW) in sent
    assert str(TODAY) not in sent
