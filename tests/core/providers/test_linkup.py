"""https://docs.linkup.so/pages/documentation/api-reference/endpoint/post-search"""

from __future__ import annotations

import pytest

from websearch_core.errors import (
    AuthenticationError,
    BadRequest,
    QuotaExhausted,
    RateLimited,
    TooLarge,
    Unavailable,
    UnsupportedContent,
    UnsupportedOption,
)
from websearch_core.models import SearchQuery
from websearch_core.providers.linkup import Linkup
from websearch_core.testing import SECRET, play, reply

LINKUP = Linkup(api_key=SECRET)
URL = "https://page.example/a"


def body_of(provider=LINKUP, **options):
    return next(provider.search(SearchQuery.of("kelp", **options))).json


def problem(status, code):
    return reply(
        {
            "statusCode": status,
            "error": {"code": code, "message": "No.", "details": []},
        },
        status,
    )


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ({"limit": 70}, "maxResults", 70),
        ({"after": "2026-01-02"}, "fromDate", "2026-01-02"),
        ({"before": "2026-01-02"}, "toDate", "2026-01-02"),
        ({"allowed_domains": ["a.org"]}, "includeDomains", ["a.org"]),
        ({"blocked_domains": ["b.org"]}, "excludeDomains", ["b.org"]),
        ({"images": True}, "includeImages", True),
        ({"extra": {"depth": "fast"}}, "depth", "fast"),
    ],
)
def test_each_option_has_linkups_own_word(options, name, value):
    assert body_of(**options)[name] == value


def test_only_given_options_are_sent():
    assert body_of() == {
        "q": "kelp",
        "depth": "standard",
        "outputType": "searchResults",
        "maxResults": 5,
    }
    mine = Linkup(api_key=SECRET, depth="deep", include_answer=True, render_js=True)
    assert body_of(mine)["depth"] == "deep"
    assert body_of(mine)["outputType"] == "sourcedAnswer"
    assert next(mine.read(URL)).json == {"url": URL, "renderJs": True}
    assert next(LINKUP.read(URL)).json == {"url": URL}


@pytest.mark.parametrize(
    "options",
    [{"country": "GB"}, {"language": "en"}, {"topic": "news"}, {"safe_search": "off"}],
)
def test_what_it_cannot_do_is_refused(options):
    with pytest.raises(UnsupportedOption):
        body_of(**options)


def test_only_the_code_for_nothing_found_is_an_empty_answer():
    assert (
        play(
            LINKUP.search(SearchQuery.of("kelp")),
            problem(400, "SEARCH_QUERY_NO_RESULT"),
        ).result.results
        == ()
    )
    with pytest.raises(BadRequest):
        play(LINKUP.search(SearchQuery.of("kelp")), problem(400, "VALIDATION_ERROR"))


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (429, "TOO_MANY_REQUESTS", RateLimited),
        (429, "INSUFFICIENT_FUNDS_CREDITS", QuotaExhausted),
        (429, "EXCEED_BUDGET_LIMIT", QuotaExhausted),
        (402, "PAYMENT_REQUIRED", QuotaExhausted),
        (403, "IP_NOT_WHITELISTED", AuthenticationError),
    ],
)
def test_the_code_tells_money_from_speed(status, code, kind):
    with pytest.raises(kind) as caught:
        play(LINKUP.search(SearchQuery.of("kelp")), problem(status, code))
    assert caught.value.temporary is (kind is RateLimited)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("FETCH_ERROR", Unavailable),
        ("FETCH_TARGET_UNREACHABLE", Unavailable),
        ("FETCH_RESPONSE_TOO_LARGE", TooLarge),
        ("FETCH_UNSUPPORTED_CONTENT_TYPE", UnsupportedContent),
        ("VALIDATION_ERROR", BadRequest),
    ],
)
def test_a_page_that_fails_is_not_retried(code, kind):
    with pytest.raises(kind) as caught:
        play(LINKUP.read(URL), problem(400, code))
    assert not caught.value.temporary


def test_a_detail_has_the_reasons():
    details = [{"field": "depth", "message": "depth must be standard or deep"}]
    body = {
        "statusCode": 400,
        "error": {
            "code": "VALIDATION_ERROR",
            "message": "Validation failed",
            "details": details,
        },
    }
    with pytest.raises(BadRequest) as caught:
        play(LINKUP.search(SearchQuery.of("kelp")), reply(body, 400))

    assert caught.value.detail == "Validation failed: depth must be standard or deep"


def test_more_than_a_hundred_allowed_domains_are_refused():
    with pytest.raises(UnsupportedOption):
        body_of(allowed_domains=[f"a{n}.example" for n in range(101)])


@pytest.mark.parametrize("more", [{}, {"includeSources": True}])
def test_an_answer_of_a_schema_is_json(more):
    extra = {"outputType": "structured", "structuredOutputSchema": "{}", **more}
    data = {"message": "high water", "results": 3}
    body = (
        {
            "data": data,
            "sources": [{"type": "text", "name": "T", "url": URL, "content": "c"}],
        }
        if more
        else data
    )
    found = play(LINKUP.search(SearchQuery.of("kelp", extra=extra)), reply(body)).result

    assert found.answer == '{"message": "high water", "results": 3}'
    assert [result.url for result in found.results] == ([URL] if more else [])
    assert found.raw == body
