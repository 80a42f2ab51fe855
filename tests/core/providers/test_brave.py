"""https://api-dashboard.search.brave.com/app/documentation/web-search/get-started"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from websearch_core.errors import AuthenticationError, Blocked, QuotaExhausted, RateLimited, UnsupportedOption
from websearch_core.models import SearchQuery
from websearch_core.providers.brave import Brave
from websearch_core.testing import SECRET, play, reply

BRAVE = Brave(api_key=SECRET)


def first(**options):
    return next(BRAVE.search(SearchQuery.of("kelp", **options)))


def hits(*names, more=False, **query):
    results = [{"title": name, "url": f"https://sea.example/{name}", "description": "..."} for name in names]
    return reply({"type": "search", "query": {"more_results_available": more, **query}, "web": {"results": results}})


def test_the_key_is_sent_in_braves_own_header():
    assert first().headers["X-Subscription-Token"] == SECRET


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ({"limit": 7}, "count", 7),
        ({"time_range": "day"}, "freshness", "pd"),
        ({"time_range": "y"}, "freshness", "py"),
        ({"after": "2026-01-02", "before": "2026-03-04"}, "freshness", "2026-01-02to2026-03-04"),
        ({"before": "2026-03-04"}, "freshness", "1970-01-01to2026-03-04"),
        ({"country": "gb"}, "country", "GB"),
        ({"language": "ja"}, "search_lang", "jp"),
        ({"language": "pt-BR"}, "search_lang", "pt-br"),
        ({"language": "zh-TW"}, "search_lang", "zh-hant"),
        ({"language": "de-AT"}, "search_lang", "de"),
        ({"safe_search": "off"}, "safesearch", "off"),
        ({"page": 3}, "offset", 2),
        ({"allowed_domains": ["a.org", "b.org"]}, "goggles", "$discard\n$boost,site=a.org\n$boost,site=b.org"),
        ({"blocked_domains": ["x.com"]}, "goggles", "$discard,site=x.com"),
    ],
)
def test_each_option_has_braves_own_word(options, name, value):
    assert first(**options).params[name] == value


def test_booleans_are_sent_as_the_words_that_brave_knows():
    assert first().params["text_decorations"] == "false"


def test_news_have_their_own_endpoint_and_results_at_the_top():
    outcome = play(
        BRAVE.search(SearchQuery.of("kelp", topic="news")),
        reply({"type": "news", "results": [{"title": "Kelp", "url": "https://news.example/kelp"}]}),
    )

    assert outcome.requests[0].url.endswith("/news/search")
    assert [result.url for result in outcome.result.results] == ["https://news.example/kelp"]


def test_a_limit_beyond_one_page_requests_more_pages():
    outcome = play(BRAVE.search(SearchQuery.of("kelp", limit=30)), hits("a", "b", more=True), hits("c"))

    assert [(request.params["count"], request.params.get("offset")) for request in outcome.requests] == [
        (15, None),
        (15, 1),
    ]
    assert [result.title for result in outcome.result.results] == ["a", "b", "c"]


def test_it_stops_asking_when_there_is_no_more():
    assert len(play(BRAVE.search(SearchQuery.of("kelp", limit=60)), hits("a")).requests) == 1


def test_markup_is_stripped_and_entities_are_unescaped_once():
    body = {
        "type": "search",
        "web": {
            "results": [
                {
                    "title": "What&#x27;s <strong>kelp</strong>?",
                    "url": "https://sea.example/kelp",
                    "description": "if a &lt;b&gt; c, the <strong>kelp</strong> wins &amp;amp; grows",
                    "page_age": "2026-05-04T08:00:03",
                }
            ]
        },
    }
    (result,) = play(BRAVE.search(SearchQuery.of("kelp", limit=1)), reply(body)).result.results

    assert result.title == "What's kelp?"
    assert result.snippet == "if a <b> c, the kelp wins &amp; grows"
    assert result.published == datetime(2026, 5, 4, 8, 0, 3, tzinfo=UTC)


def test_a_corrected_query_is_noted():
    response = play(BRAVE.search(SearchQuery.of("kelpp", limit=1)), hits("a", altered="kelp")).result

    assert response.notes == ("brave corrected the spelling of the query: see suggestions",)
    assert response.suggestions == ("kelp",)


def problem(status, code, meta=None, **headers):
    error = {"id": "1", "status": status, "code": code, "detail": f"about {code}", "meta": meta or {}}
    return reply({"type": "ErrorResponse", "error": error}, status, **headers)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (problem(422, "SUBSCRIPTION_TOKEN_INVALID", {"component": "authentication"}), AuthenticationError),
        (problem(422, "VALIDATION", {"errors": [{"loc": ["header", "x-subscription-token"]}]}), AuthenticationError),
        (problem(404, "SUBSCRIPTION_NOT_FOUND"), AuthenticationError),
        (problem(429, "QUOTA_LIMITED"), QuotaExhausted),
        (problem(429, "RATE_LIMITED", {"quota_limit": 2000, "quota_current": 2000}), QuotaExhausted),
        (problem(429, "RATE_LIMITED", {"quota_limit": 0, "quota_current": 9}), RateLimited),
        (problem(429, "RATE_LIMITED", {"quota_limit": 2000, "quota_current": 15}), RateLimited),
        (reply("<html>Forbidden", 403), Blocked),
    ],
    ids=lambda case: getattr(case, "__name__", None) or str(case.content[:60]),
)
def test_the_body_distinguishes_what_the_status_does_not(answer, kind):
    with pytest.raises(kind) as caught:
        play(BRAVE.search(SearchQuery.of("kelp")), answer)
    assert type(caught.value) is kind


def test_the_wait_is_that_of_the_shortest_window():
    answer = problem(429, "RATE_LIMITED", x_ratelimit_reset="1, 389223")

    with pytest.raises(RateLimited) as caught:
        play(BRAVE.search(SearchQuery.of("kelp")), answer)
    assert caught.value.retry_after == 1


def test_the_old_plural_form_of_errors_is_read_too():
    with pytest.raises(QuotaExhausted, match="about QUOTA_LIMITED"):
        play(
            BRAVE.search(SearchQuery.of("kelp")),
            reply({"errors": [{"code": "QUOTA_LIMITED", "detail": "about QUOTA_LIMITED"}]}, 429),
        )


def test_a_page_beyond_the_last_is_refused():
    with pytest.raises(UnsupportedOption, match="ten|10 pages"):
        first(page=11)


def test_a_failure_on_a_later_page_keeps_the_results_so_far():
    outcome = play(BRAVE.search(SearchQuery.of("kelp", limit=30)), hits("a", more=True), problem(429, "RATE_LIMITED"))

    assert [result.title for result in outcome.result.results] == ["a"]
    assert outcome.result.notes == ("brave failed on a later page (rate_limited)",)
