"""https://api-dashboard.search.brave.com/app/documentation/web-search/get-started"""

from __future__ import annotations
from datetime import UTC, datetime

import pytest

from websearch_core.errors import (
    AuthenticationError,
    BadResponse,
    Blocked,
    QuotaExhausted,
    RateLimited,
    ServiceError,
    UnsupportedOption,
)
from websearch_core.models import SearchQuery
from websearch_core.providers.brave import Brave
from websearch_core.testing import SECRET, play, reply

BRAVE = Brave(api_key=SECRET)


def first(**options):
    return next(BRAVE.search(SearchQuery.of("kelp", **options)))


def hits(*names, more=False, **query):
    results = [
        {"title": name, "url": f"https://sea.example/{name}", "description": "..."}
        for name in names
    ]
    return reply(
        {
            "type": "search",
            "query": {"more_results_available": more, **query},
            "web": {"results": results},
        }
    )


def test_the_key_is_sent_in_braves_own_header():
    assert first().headers["X-Subscription-Token"] == SECRET


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ({"limit": 7}, "count", 7),
        ({"time_range": "day"}, "freshness", "pd"),
        ({"time_range": "y"}, "freshness", "py"),
        (
            {"after": "2026-01-02", "before": "2026-03-04"},
            "freshness",
            "2026-01-02to2026-03-04",
        ),
        ({"before": "2026-03-04"}, "freshness", "1970-01-01to2026-03-04"),
        ({"country": "gb"}, "country", "GB"),
        ({"language": "ja"}, "search_lang", "jp"),
        ({"language": "pt-BR"}, "search_lang", "pt-br"),
        ({"language": "pt"}, "search_lang", "pt-pt"),
        ({"language": "pt", "country": "BR"}, "search_lang", "pt-br"),
        ({"language": "nb"}, "search_lang", "nb"),
        ({"language": "no"}, "search_lang", "nb"),
        ({"language": "zh-TW"}, "search_lang", "zh-hant"),
        ({"language": "zh-HK"}, "search_lang", "zh-hant"),
        ({"language": "zh-Hant-TW"}, "search_lang", "zh-hant"),
        ({"language": "zh-CN"}, "search_lang", "zh-hans"),
        ({"language": "en-GB"}, "search_lang", "en-gb"),
        ({"language": "en-US"}, "search_lang", "en"),
        ({"language": "de-AT"}, "search_lang", "de"),
        ({"safe_search": "off"}, "safesearch", "off"),
        ({"page": 3}, "offset", 2),
        (
            {"allowed_domains": ["a.org", "b.org"]},
            "goggles",
            "$discard\n$boost,site=a.org\n$boost,site=b.org",
        ),
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
        reply(
            {
                "type": "news",
                "results": [{"title": "Kelp", "url": "https://news.example/kelp"}],
            }
        ),
    )

    assert outcome.requests[0].url.endswith("/news/search")
    assert [result.url for result in outcome.result.results] == [
        "https://news.example/kelp"
    ]


def test_a_limit_beyond_one_page_requests_more_pages():
    outcome = play(
        BRAVE.search(SearchQuery.of("kelp", limit=30)),
        hits("a", "b", more=True),
        hits("c"),
    )

    assert [
        (request.params["count"], request.params.get("offset"))
        for request in outcome.requests
    ] == [
        (20, None),
        (20, 1),
    ]
    assert [result.title for result in outcome.result.results] == ["a", "b", "c"]


def test_it_stops_asking_when_there_is_no_more():
    assert (
        len(play(BRAVE.search(SearchQuery.of("kelp", limit=60)), hits("a")).requests)
        == 1
    )


def test_a_full_page_that_does_not_announce_another_is_the_last():
    results = [{"title": f"{n}", "url": f"https://sea.example/{n}"} for n in range(20)]
    last = reply(
        {"type": "search", "query": {"original": "kelp"}, "web": {"results": results}}
    )

    assert (
        len(play(BRAVE.search(SearchQuery.of("kelp", limit=60)), last).result.results)
        == 20
    )


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
    (result,) = play(
        BRAVE.search(SearchQuery.of("kelp", limit=1)), reply(body)
    ).result.results

    assert result.title == "What's kelp?"
    assert result.snippet == "if a <b> c, the kelp wins &amp; grows"
    assert result.published == datetime(2026, 5, 4, 8, 0, 3, tzinfo=UTC)


def test_a_corrected_query_is_noted():
    response = play(
        BRAVE.search(SearchQuery.of("kelpp", limit=1)), hits("a", altered="kelp")
    ).result

    assert response.notes == (
        "brave corrected the spelling of the query: see suggestions",
    )
    assert response.suggestions == ("kelp",)


def problem(status, code, meta=None, **headers):
    error = {
        "id": "1",
        "status": status,
        "code": code,
        "detail": f"about {code}",
        "meta": meta or {},
    }
    return reply({"type": "ErrorResponse", "error": error}, status, **headers)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (
            problem(422, "SUBSCRIPTION_TOKEN_INVALID", {"component": "authentication"}),
            AuthenticationError,
        ),
        (
            problem(
                422,
                "VALIDATION",
                {"errors": [{"loc": ["header", "x-subscription-token"]}]},
            ),
            AuthenticationError,
        ),
        (problem(404, "SUBSCRIPTION_NOT_FOUND"), AuthenticationError),
        (problem(429, "QUOTA_LIMITED"), QuotaExhausted),
        (
            problem(429, "RATE_LIMITED", {"quota_limit": 2000, "quota_current": 2000}),
            QuotaExhausted,
        ),
        (
            problem(429, "RATE_LIMITED", {"quota_limit": 0, "quota_current": 9}),
            RateLimited,
        ),
        (
            problem(429, "RATE_LIMITED", {"quota_limit": 2000, "quota_current": 15}),
            RateLimited,
        ),
        (problem(429, ["RATE_LIMITED"]), RateLimited),
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
            reply(
                {
                    "errors": [
                        {"code": "QUOTA_LIMITED", "detail": "about QUOTA_LIMITED"}
                    ]
                },
                429,
            ),
        )


def test_a_page_beyond_the_last_is_refused():
    assert first(page=40).params["offset"] == 9
    with pytest.raises(UnsupportedOption, match="at most 200 results"):
        first(page=41)


def test_a_failure_on_a_later_page_keeps_the_results_so_far():
    outcome = play(
        BRAVE.search(SearchQuery.of("kelp", limit=30)),
        hits("a", more=True),
        problem(429, "RATE_LIMITED"),
    )

    assert [result.title for result in outcome.result.results] == ["a"]
    assert outcome.result.notes == ("brave failed on a later page (rate_limited)",)


@pytest.mark.parametrize(
    "options",
    [
        *({"country": country} for country in ("IE", "GR", "IL", "AE")),
        *(
            {"language": language}
            for language in ("el", "id", "fa", "fil", "nn", "sr-Latn", "zh-Latn")
        ),
    ],
    ids=str,
)
def test_what_brave_answers_with_422_is_refused_before_it_is_sent(options):
    with pytest.raises(UnsupportedOption, match="brave does not know the") as caught:
        first(**options)
    assert caught.value.options == tuple(options)


@pytest.mark.parametrize("text", ["k" * 401, "kelp " * 51])
def test_a_query_that_is_too_long_is_refused_before_it_is_sent(text):
    with pytest.raises(UnsupportedOption, match="brave takes queries of at most"):
        next(BRAVE.search(SearchQuery.of(text)))


def test_overlapping_pages_are_made_up_for_and_the_cap_is_noted():
    pages = [
        hits(*(f"{n}" for n in range(17 * page, 17 * page + 20)), more=True)
        for page in range(10)
    ]
    found = play(BRAVE.search(SearchQuery.of("kelp", limit=40)), *pages[:3]).result
    assert [result.title for result in found.results] == [f"{n}" for n in range(40)]

    found = play(BRAVE.search(SearchQuery.of("kelp", limit=300)), *pages).result
    assert found.notes == ("brave returns at most 200 results of a query",)


def test_news_do_not_say_whether_there_is_more():
    def news(start, count):
        items = [
            {"title": f"{n}", "url": f"https://news.example/{n}"}
            for n in range(start, start + count)
        ]
        return reply({"type": "news", "query": {"original": "kelp"}, "results": items})

    once = play(
        BRAVE.search(SearchQuery.of("kelp", topic="news", limit=30)), news(0, 30)
    )
    assert (once.requests[0].params["count"], len(once.result.results)) == (30, 30)
    short = play(
        BRAVE.search(SearchQuery.of("kelp", topic="news", limit=30)), news(0, 15)
    )
    assert len(short.result.results) == 15
    twice = play(
        BRAVE.search(SearchQuery.of("kelp", topic="news", limit=80)),
        news(0, 50),
        news(50, 50),
    )
    assert [request.params.get("offset") for request in twice.requests] == [None, 1]
    assert len(twice.result.results) == 80


@pytest.mark.parametrize(
    "body", [{}, {"web": {}}, {"web": {"results": None}}, {"type": "news"}]
)
def test_ac1_4_a_missing_list_is_an_empty_answer_with_a_note(body):
    topic = "news" if body.get("type") == "news" else "general"
    found = play(BRAVE.search(SearchQuery.of("kelp", topic=topic)), reply(body)).result

    assert (found.results, found.notes) == (
        (),
        ("brave's answer held no list of results",),
    )


def test_no_web_results_are_an_ordinary_empty_answer():
    found = play(
        BRAVE.search(SearchQuery.of("kelp")),
        reply({"type": "search", "query": {"bad_results": True}}),
    ).result

    assert (found.results, found.notes) == ((), ())


@pytest.mark.parametrize(
    "body",
    [
        {"web": {"results": {}}},
        {"web": {"results": "x"}},
        {"web": "x"},
        {"web": {"results": [{"title": "x"}]}},
    ],
)
def test_a_list_of_another_type_is_a_bad_response(body):
    with pytest.raises(BadResponse, match="unexpected format"):
        play(BRAVE.search(SearchQuery.of("kelp")), reply(body))


def test_an_error_sent_as_success_is_an_error():
    with pytest.raises(ServiceError):
        play(BRAVE.search(SearchQuery.of("kelp")), problem(200, "INTERNAL"))


MONTH = {
    "x_ratelimit_limit": "1, 2000",
    "x_ratelimit_policy": "1;w=1, 2000;w=2592000",
    "x_ratelimit_remaining": "0, 0",
    "x_ratelimit_reset": "1, 389223",
}


def test_a_month_that_is_used_up_in_the_headers_only_is_not_retried():
    with pytest.raises(QuotaExhausted) as caught:
        play(
            BRAVE.search(SearchQuery.of("kelp")), problem(429, "RATE_LIMITED", **MONTH)
        )
    assert (caught.value.temporary, caught.value.retry_after) == (False, 389_223)

    unlimited = {
        **MONTH,
        "x_ratelimit_limit": "1, 0",
        "x_ratelimit_policy": "1;w=1, 0;w=2592000",
    }
    with pytest.raises(RateLimited):
        play(
            BRAVE.search(SearchQuery.of("kelp")),
            problem(429, "RATE_LIMITED", **unlimited),
        )


def test_extra_snippets_are_the_content_with_the_description():
    brave = Brave(api_key=SECRET, extra_snippets=True)
    hit = {
        "title": "Kelp",
        "url": "https://sea.example/",
        "description": "-",
        "extra_snippets": ["a <b>x</b>", 3, "b"],
    }
    outcome = play(
        brave.search(SearchQuery.of("kelp")),
        reply({"type": "search", "web": {"results": [hit]}}),
    )

    assert outcome.requests[0].params["extra_snippets"] == "true"
    assert outcome.result.results[0].content == "-\n\na x\n\nb"


def test_images_take_a_second_request():
    image = {
        "title": "A <b>kelp</b> forest",
        "url": "https://sea.example/kelp",
        "thumbnail": {"src": "https://imgs.example/t.jpg"},
        "properties": {"url": "https://sea.example/kelp.jpg"},
    }
    query = SearchQuery.of(
        "kelp", images=True, safe_search="moderate", time_range="week", country="DE"
    )
    outcome = play(
        BRAVE.search(query), hits("a"), reply({"type": "images", "results": [image]})
    )
    (found,) = outcome.result.images
    sent = outcome.requests[1].params

    assert outcome.requests[1].url.endswith("/images/search")
    assert (sent["safesearch"], sent["country"], "freshness" in sent) == (
        "strict",
        "DE",
        False,
    )
    assert (found.url, found.page_url) == (
        "https://sea.example/kelp.jpg",
        "https://sea.example/kelp",
    )
    assert found.description == "A kelp forest"


def test_results_without_their_images_are_kept_with_a_note():
    found = play(
        BRAVE.search(SearchQuery.of("kelp", images=True)),
        hits("a"),
        problem(429, "RATE_LIMITED"),
    ).result

    assert (len(found.results), found.images) == (1, ())
    assert found.notes == ("brave failed to find images (rate_limited)",)


CONTEXT = {
    "grounding": {
        "generic": [
            {
                "url": "https://sea.example/p",
                "title": "P",
                "snippets": ["A passage.", '{"table": [1]}'],
            }
        ],
        "poi": None,
        "map": [],
    },
    "sources": {
        "https://sea.example/p": {
            "title": "P",
            "age": ["Thursday, January 15, 2026", "2026-01-15", "ages"],
        }
    },
}


def test_the_passages_for_models_are_content():
    brave = Brave(api_key=SECRET, llm_context=True)
    outcome = play(
        brave.search(SearchQuery.of("kelp", limit=60, time_range="week", country="DE")),
        reply(CONTEXT),
    )
    (request,), (result,) = outcome.requests, outcome.result.results

    assert request.url.endswith("/llm/context")
    assert (request.params["count"], request.params["freshness"]) == (50, "pw")
    assert result.content == 'A passage.\n\n{"table": [1]}'
    assert result.snippet.startswith("A passage.")
    assert result.published == datetime(2026, 1, 15, tzinfo=UTC)


def test_what_passages_cannot_do_is_refused():
    brave = Brave(api_key=SECRET, llm_context=True)
    with pytest.raises(UnsupportedOption) as caught:
        next(brave.search(SearchQuery.of("kelp", topic="news", page=2)))
    assert caught.value.options == ("page", "topic")


@pytest.mark.parametrize(
    "body", [{}, {"grounding": {}}, {"grounding": {"generic": []}, "sources": {}}]
)
def test_no_passages_are_an_empty_answer(body):
    assert (
        play(
            Brave(api_key=SECRET, llm_context=True).search(SearchQuery.of("kelp")),
            reply(body),
        ).result.results
        == ()
    )


def test_a_long_list_of_domains_is_sent_in_the_body():
    domains = [f"domain-{n}.example" for n in range(100)]
    request = first(blocked_domains=domains, limit=7)

    assert (request.method, request.params) == ("POST", {})
    assert (request.json["q"], request.json["count"]) == ("kelp", 7)
    assert request.json["goggles"].splitlines()[99] == "$discard,site=domain-99.example"


def test_a_short_page_is_not_topped_up():
    outcome = play(
        BRAVE.search(SearchQuery.of("kelp", limit=5)),
        hits("a", "b", "c", "d", more=True),
    )

    assert len(outcome.result.results) == 4


def test_an_error_under_a_success_is_a_bad_response():
    with pytest.raises(BadResponse, match="an error instead of results"):
        play(BRAVE.search(SearchQuery.of("kelp")), reply({"error": "Internal error"}))


def test_a_goggle_is_not_for_images():
    mine = Brave(api_key=SECRET, goggles="$boost=3,site=a.org")
    _, images = play(
        mine.search(SearchQuery.of("kelp", images=True)),
        hits("a"),
        reply({"results": []}),
    ).requests

    assert "goggles" not in images.params
