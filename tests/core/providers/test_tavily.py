"""https://docs.tavily.com/documentation/api-reference/endpoint/search"""

from __future__ import annotations
from datetime import UTC, datetime

import pytest

from websearch_core.errors import (
    AccessDenied,
    BadRequest,
    BadResponse,
    Blocked,
    ConfigurationError,
    MissingKey,
    PageNotFound,
    QuotaExhausted,
    RateLimited,
    ServiceError,
    Unavailable,
    UnsupportedContent,
    UnsupportedOption,
)
from websearch_core.flow import Response
from websearch_core.models import Image, SearchQuery
from websearch_core.provider import Site
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
        ({"topic": "finance"}, "topic", "finance"),
        ({"images": True}, "include_images", True),
        ({"images": True}, "include_image_descriptions", True),
        ({"extra": {"exact_match": True}}, "exact_match", True),
    ],
)
def test_each_option_has_tavilys_own_word(options, name, value):
    assert body_of(**options)[name] == value


def test_only_given_options_are_sent():
    usual = {
        "query": "kelp",
        "max_results": 5,
        "search_depth": "basic",
        "topic": "general",
        "include_usage": True,
    }
    assert body_of() == usual


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
    assert (result.score, result.published) == (
        0.91,
        datetime(2026, 3, 3, 9, tzinfo=UTC),
    )


def test_a_limit_above_the_maximum_is_noted():
    response = play(
        TAVILY.search(SearchQuery.of("tides", limit=50)), reply({"results": []})
    ).result

    assert response.notes == ("tavily returns at most 20 results",)


@pytest.mark.parametrize("status", [432, 433])
def test_plan_limits_mean_an_exhausted_quota_not_a_rate_limit(status):
    with pytest.raises(QuotaExhausted, match="usage limit") as caught:
        play(
            TAVILY.search(SearchQuery.of("kelp")),
            reply({"detail": {"error": "your plan's usage limit"}}, status),
        )
    assert not caught.value.temporary


def test_the_keyless_allowance_has_its_own_error_format():
    cap = {
        "code": "daily_cap_reached",
        "message": "Daily allowance reached.",
        "retry_after_seconds": 3600,
    }

    with pytest.raises(QuotaExhausted, match="Daily allowance") as caught:
        play(
            Tavily(keyless=True).search(SearchQuery.of("kelp")),
            reply({"error": cap}, 429),
        )
    assert caught.value.retry_after == 3600


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.replace("error", "\\u0065rror").encode(),
        lambda text: text.encode("utf-16"),
    ],
)
def test_the_error_of_the_keyless_tier_is_found_however_it_is_written(encode):
    content = encode(
        '{"error": {"code": "daily_cap_reached", "message": "Daily allowance reached."}}'
    )
    with pytest.raises(QuotaExhausted, match="Daily allowance"):
        play(
            Tavily(keyless=True).search(SearchQuery.of("kelp")),
            Response(status=200, content=content),
        )


def test_a_list_of_wrong_parameters_is_read_too():
    with pytest.raises(BadRequest, match="too long"):
        play(
            TAVILY.search(SearchQuery.of("kelp")),
            reply({"detail": [{"loc": ["query"], "msg": "too long"}]}, 422),
        )


def test_a_page_takes_its_title_from_its_first_heading():
    page = play(
        TAVILY.read(URL),
        reply({"results": [{"url": URL, "raw_content": "intro\n# Kelp #\ntext"}]}),
    ).result

    assert (page.title, page.content) == ("Kelp", "intro\n# Kelp #\ntext")


def test_a_page_that_could_not_be_read_is_an_error_although_the_status_says_success():
    failed = {
        "results": [],
        "failed_results": [{"url": URL, "error": "Failed to fetch url"}],
    }

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
    assert next(
        Tavily(api_key=SECRET, base_url="https://gateway.example/tavily").read(url)
    ).judge_target
    assert not next(
        Tavily(api_key=SECRET, base_url="https://gateway.example").search(
            SearchQuery.of("kelp")
        )
    ).judge_target


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({"include_answer": "advanced"}, {"include_answer": "advanced"}),
        ({"include_answer": True}, {"include_answer": True}),
        ({"include_raw_content": True}, {"include_raw_content": "markdown"}),
        ({"chunks_per_source": 2}, {"chunks_per_source": 2}),
        ({"exact_match": True}, {"exact_match": True}),
        ({"auto_parameters": True}, {"auto_parameters": True}),
    ],
)
def test_each_option_of_the_provider_is_sent(options, sent):
    body = next(Tavily(api_key=SECRET, **options).search(SearchQuery.of("kelp"))).json

    assert sent.items() <= body.items()
    assert ("search_depth" in body) is ("auto_parameters" not in options)


def test_a_number_of_chunks_that_tavily_does_not_take_is_refused():
    with pytest.raises(ConfigurationError, match="chunks_per_source"):
        Tavily(api_key=SECRET, chunks_per_source=4)


@pytest.mark.parametrize(
    ("option", "most"), [("allowed_domains", 300), ("blocked_domains", 150)]
)
def test_more_domains_than_tavily_takes_are_refused(option, most):
    domains = [f"d{n}.example" for n in range(most + 1)]

    assert body_of(**{option: domains[:-1]})
    with pytest.raises(UnsupportedOption, match=f"at most {most}") as caught:
        body_of(**{option: domains})
    assert caught.value.options == (option,)


def test_a_query_that_is_too_long_is_refused_before_it_is_sent():
    with pytest.raises(
        UnsupportedOption,
        match="tavily takes queries of at most 400 characters, and this one has 401",
    ):
        next(TAVILY.search(SearchQuery.of("k" * 401)))


def test_pages_images_usage_and_follow_ups_are_kept():
    body = {
        "follow_up_questions": ["Why twice?", None],
        "images": [
            "https://sea.example/1.png",
            {"url": "https://sea.example/2.png", "description": "a pier"},
        ],
        "results": [
            {
                "title": "T",
                "url": "https://sea.example/",
                "content": "C",
                "raw_content": "# Tides",
            }
        ],
        "usage": {"credits": 2},
        "response_time": "0.9",
    }
    response = play(
        TAVILY.search(SearchQuery.of("tides", images=True)), reply(body)
    ).result

    assert response.results[0].content == "# Tides"
    assert response.images == (
        Image(url="https://sea.example/1.png"),
        Image(url="https://sea.example/2.png", description="a pier"),
    )
    assert (response.usage, response.suggestions, response.raw) == (
        {"credits": 2},
        ("Why twice?",),
        body,
    )


@pytest.mark.parametrize("body", [{}, {"results": None}])
def test_ac1_4_a_missing_list_is_an_empty_answer_with_a_note(body):
    found = play(TAVILY.search(SearchQuery.of("kelp")), reply(body)).result

    assert (found.results, found.notes) == (
        (),
        ("tavily's answer held no list of results",),
    )


@pytest.mark.parametrize("body", [{"results": {}}, {"results": [{"title": "x"}]}])
def test_a_list_of_another_type_is_a_bad_response(body):
    with pytest.raises(BadResponse):
        play(TAVILY.search(SearchQuery.of("kelp")), reply(body))


@pytest.mark.parametrize(
    ("status", "problem", "kind"),
    [
        (429, {"code": "daily_cap_reached"}, QuotaExhausted),
        (403, {"code": "monthly_cap_reached"}, QuotaExhausted),
        (503, {"code": "hourly_cap_reached"}, QuotaExhausted),
        (429, {"code": "rate_limited", "window": "minute"}, RateLimited),
        (429, {"code": "limit", "window": "day"}, QuotaExhausted),
        (429, {"code": "limit", "window": ["day"]}, RateLimited),
        (403, {"code": "keyless_not_allowed"}, Blocked),
        (200, {"code": "odd"}, ServiceError),
    ],
)
def test_the_errors_of_the_tier_without_a_key_are_read_at_any_status(
    status, problem, kind
):
    envelope = reply(
        {"error": {"message": "Said so.", "retry_after_seconds": 60, **problem}}, status
    )

    with pytest.raises(kind, match="a key lifts this limit: TAVILY_API_KEY") as caught:
        play(Tavily(keyless=True).search(SearchQuery.of("kelp")), envelope)
    assert (caught.value.detail, caught.value.retry_after) == ("Said so.", 60)


def extracted(*pages, failed=(), **more):
    return reply(
        {
            "results": [{"url": url, "raw_content": text} for url, text in pages],
            "failed_results": failed,
            **more,
        }
    )


def test_many_pages_are_read_in_one_request():
    urls = [f"https://page.example/{name}" for name in "abcd"]
    answer = extracted(
        (urls[2] + "/", "# C"),
        (
            urls[0].upper().replace("HTTPS://PAGE.EXAMPLE/A", "https://PAGE.example/a"),
            "# A",
        ),
        failed=[{"url": urls[1], "error": "404 Client Error: Not Found"}],
        usage={"credits": 1},
    )
    outcome = play(TAVILY.read_many(urls), answer)
    first, missing, third, lost = outcome.result

    assert outcome.requests[0].json["urls"] == urls
    assert outcome.requests[0].target == tuple(urls)
    assert [(page.url, page.title, page.usage) for page in (first, third)] == [
        (urls[0], "A", {"credits": 1}),
        (urls[2], "C", {}),
    ]
    assert type(missing) is PageNotFound
    assert type(lost) is Unavailable
    assert "missing from the response" in lost.detail


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("Failed to fetch url", Unavailable),
        ("403 Client Error: Forbidden for url", Blocked),
        ("401 Unauthorized", AccessDenied),
        ("404 Not Found", PageNotFound),
    ],
)
def test_the_reason_of_a_failure_has_its_own_meaning(reason, kind):
    with pytest.raises(kind) as caught:
        play(TAVILY.read(URL), extracted(failed=[{"url": URL, "error": reason}]))
    assert (caught.value.temporary, caught.value.detail) == (False, reason)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", UnsupportedContent),
        (" \n", UnsupportedContent),
        ("# Just a moment...\n\nEnable cookies", Blocked),
    ],
)
def test_what_is_no_page_is_no_success(text, kind):
    with pytest.raises(kind):
        play(TAVILY.read(URL), extracted((URL, text)))


def test_a_language_filters_the_pages():
    body = next(TAVILY.search(SearchQuery.of("kelp", language="de-AT"))).json

    assert (body["language"], body["filter_by_language"]) == ("de", True)
    assert (
        not {"language", "filter_by_language"}
        & next(TAVILY.search(SearchQuery.of("kelp"))).json.keys()
    )


def test_icons_can_be_requested():
    mine = Tavily(api_key=SECRET, include_favicon=True)

    assert next(mine.search(SearchQuery.of("kelp"))).json["include_favicon"] is True


def test_a_site_is_mapped():
    # written from tavily-python 0.8.5 and
    # https://docs.tavily.com/documentation/api-reference/endpoint/map; values invented
    body = {
        "base_url": "sea.example",
        "results": ["https://sea.example/a", 7, "nonsense"],
        "usage": {"credits": 1},
    }
    flow = Tavily(api_key=SECRET).map(
        Site("https://sea.example/", 900, 10, "host", sitemaps=True)
    )

    request = next(flow)
    with pytest.raises(StopIteration) as done:
        flow.send(reply(body))

    assert request.url == "https://api.tavily.com/map"
    assert request.target == "https://sea.example/"
    assert request.json == {
        "url": "https://sea.example/", "limit": 900, "max_depth": 5, "max_breadth": 500, "allow_external": False,
        "include_usage": True,
    }  # fmt: skip
    assert (done.value.value.links, done.value.value.usage) == (
        ("https://sea.example/a",),
        {"credits": 1},
    )


def test_a_top_level_domain_is_refused_before_the_service_does():
    with pytest.raises(
        UnsupportedOption, match="tavily takes no top-level domains: edu"
    ) as caught:
        next(TAVILY.search(SearchQuery.of("kelp", allowed_domains=["kelp.edu", "edu"])))

    assert caught.value.options == ("allowed_domains",)
