"""https://help.kagi.com/kagi/api/search.html"""

from __future__ import annotations
from datetime import UTC, datetime, timedelta

import pytest

from websearch_core.errors import (
    AuthenticationError,
    PageNotFound,
    QuotaExhausted,
    RateLimited,
    TimedOut,
    Unavailable,
    UnsupportedOption,
)
from websearch_core.models import SearchQuery
from websearch_core.providers.kagi import Kagi
from websearch_core.testing import SECRET, play, reply

KAGI = Kagi(api_key=SECRET)
URL = "https://page.example/a"


def body_of(**options):
    return next(KAGI.search(SearchQuery.of("kelp", **options))).json


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ({"limit": 7}, "limit", 7),
        ({"limit": 10, "page": 2}, "page", 2),
        ({"time_range": "w"}, "lens", {"time_relative": "week"}),
        ({"allowed_domains": ["a.org"]}, "lens", {"sites_included": ["a.org"]}),
        ({"blocked_domains": ["b.org"]}, "lens", {"sites_excluded": ["b.org"]}),
        (
            {"after": "2026-01-02", "before": "2026-03-04"},
            "filters",
            {"after": "2026-01-02", "before": "2026-03-04"},
        ),
        ({"country": "GB"}, "filters", {"region": "gb"}),
        ({"safe_search": "off"}, "safe_search", False),
        ({"safe_search": "moderate"}, "safe_search", True),
        ({"topic": "news"}, "workflow", "news"),
        ({"images": True}, "workflow", "images"),
        ({"extra": {"lens_id": "2"}}, "lens_id", "2"),
    ],
)
def test_each_option_has_kagis_own_word(options, name, value):
    assert body_of(**options)[name] == value


def test_only_given_options_are_sent():
    assert body_of() == {"query": "kelp", "limit": 5}


def test_a_year_becomes_a_date_since_a_lens_knows_only_shorter_times():
    body = body_of(time_range="year")

    assert body["filters"] == {
        "after": str(datetime.now(UTC).date() - timedelta(days=366))
    }
    assert "lens" not in body


@pytest.mark.parametrize(
    "options", [{"language": "en"}, {"topic": "code"}, {"country": "XX"}]
)
def test_what_it_cannot_do_is_refused(options):
    with pytest.raises(UnsupportedOption):
        body_of(**options)


def test_an_empty_account_is_told_from_speed_by_its_words():
    with pytest.raises(QuotaExhausted):
        play(
            KAGI.search(SearchQuery.of("kelp")),
            reply({"error": [{"message": "Usage limit exhausted"}]}, 429),
        )
    with pytest.raises(RateLimited):
        play(
            KAGI.search(SearchQuery.of("kelp")),
            reply({"error": [{"message": "Slow down"}]}, 429),
        )


@pytest.mark.parametrize(
    ("number", "found", "goes_on"),
    [(0, 20, True), (0, 19, False), (8, 20, True), (9, 20, False)],
)
def test_there_are_ten_pages_and_one_with_fewer_results_is_the_last(
    number, found, goes_on
):
    results = [
        {"url": f"https://sea.example/{one}", "title": "Kelp", "snippet": "Brown."}
        for one in range(found)
    ]
    flow = KAGI._fetch(SearchQuery.of("kelp", limit=20), number, 100)

    played = play(flow, reply({"meta": {}, "data": {"search": results}}))

    assert (len(played.result[0].results), played.result[1]) == (found, goes_on)


def test_a_missing_page_is_not_found():
    with pytest.raises(PageNotFound):
        play(
            KAGI.read(URL),
            reply({"meta": {}, "data": [], "errors": [{"code": "extract.not_found"}]}),
        )


def test_several_pages_are_read_in_one_request():
    late = {
        "code": "extract.timeout",
        "message": "Too slow.",
        "location": "pages[0].url",
    }
    odd = {"code": "extract.failed", "message": None, "location": "pages[2].url"}
    answer = {
        "meta": {},
        "data": [{"url": URL, "markdown": "# Kelp"}],
        "errors": [odd, late],
    }
    first, page, third = play(
        KAGI.read_many(["https://b.example/", URL, "https://c.example/"]), reply(answer)
    ).result

    assert isinstance(first, TimedOut)
    assert first.detail == "Too slow."
    assert (page.url, page.title) == (URL, "Kelp")
    assert isinstance(third, Unavailable)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Unauthorized: this key may not search", AuthenticationError),
        ("Insufficient credit to perform this request", QuotaExhausted),
        ("No workers", Unavailable),
    ],
)
def test_an_error_inside_a_success_is_no_empty_answer(words, kind):
    body = {
        "meta": {"id": "x", "ms": 29},
        "data": None,
        "error": [{"code": 2, "msg": words, "ref": None}],
    }
    with pytest.raises(kind) as caught:
        play(KAGI.search(SearchQuery.of("kelp")), reply(body))

    assert (type(caught.value), caught.value.detail) == (kind, words)
