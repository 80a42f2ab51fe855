"""https://exa.ai/docs/reference/search"""

from __future__ import annotations
from datetime import UTC, datetime, timedelta

import pytest

from websearch_core.errors import (
    AuthenticationError,
    BadRequest,
    Blocked,
    ConfigurationError,
    PageNotFound,
    QuotaExhausted,
    TimedOut,
    Unavailable,
    UnsupportedOption,
)
from websearch_core.models import SearchQuery
from websearch_core.providers.exa import Exa
from websearch_core.testing import SECRET, play, reply

EXA = Exa(api_key=SECRET)
URL = "https://page.example/a"


def body_of(provider=EXA, **options):
    return next(provider.search(SearchQuery.of("kelp", **options))).json


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ({"limit": 7}, "numResults", 7),
        ({"limit": 300}, "numResults", 100),
        ({"after": "2026-01-02"}, "startPublishedDate", "2026-01-02T00:00:00.000Z"),
        ({"before": "2026-01-02"}, "endPublishedDate", "2026-01-02T23:59:59.999Z"),
        ({"allowed_domains": ["a.org"]}, "includeDomains", ["a.org"]),
        ({"blocked_domains": ["b.org"]}, "excludeDomains", ["b.org"]),
        ({"country": "GB"}, "userLocation", "GB"),
        ({"safe_search": "moderate"}, "moderation", True),
        ({"topic": "news"}, "category", "news"),
        ({"topic": "finance"}, "category", "financial report"),
        ({"topic": "academic"}, "category", "publication"),
        (
            {"images": True},
            "contents",
            {"highlights": True, "extras": {"imageLinks": 1}},
        ),
        ({"extra": {"includeText": ["kelp"]}}, "includeText", ["kelp"]),
    ],
)
def test_each_option_has_exas_own_word(options, name, value):
    assert body_of(**options)[name] == value


def test_a_time_range_becomes_a_date():
    yesterday = datetime.now(UTC).date() - timedelta(days=1)

    assert body_of(time_range="day")["startPublishedDate"].startswith(str(yesterday))


def test_allowed_and_blocked_domains_are_not_sent_together():
    body = body_of(allowed_domains=["a.org"], blocked_domains=["b.a.org"])

    assert body["includeDomains"] == ["a.org"]
    assert "excludeDomains" not in body


def test_its_own_options_are_sent():
    exa = Exa(
        api_key=SECRET,
        type="neural",
        category="people",
        highlights=False,
        text=True,
        max_age_hours=0,
    )

    assert body_of(exa) == {
        "query": "kelp", "numResults": 5, "type": "neural", "category": "people",
        "contents": {"text": True, "maxAgeHours": 0},
    }  # fmt: skip
    assert body_of(exa, topic="news")["category"] == "news"
    assert next(exa.read(URL)).json == {"urls": [URL], "text": True, "maxAgeHours": 0}


def test_a_language_is_refused():
    with pytest.raises(UnsupportedOption):
        body_of(language="en")


def test_a_deep_search_has_an_answer():
    found = {
        "results": [{"url": URL, "title": "Kelp"}],
        "output": {"content": "A seaweed.", "grounding": []},
    }

    assert (
        play(EXA.search(SearchQuery.of("kelp")), reply(found)).result.answer
        == "A seaweed."
    )


@pytest.mark.parametrize(
    ("tag", "status", "kind", "temporary"),
    [
        ("CRAWL_NOT_FOUND", 404, PageNotFound, False),
        ("SOURCE_NOT_AVAILABLE", 403, Blocked, False),
        ("CRAWL_LIVECRAWL_TIMEOUT", None, TimedOut, True),
        ("SOMETHING_NEW", 410, PageNotFound, False),
    ],
)
def test_a_page_that_fails_is_an_error_although_the_answer_is_a_success(
    tag, status, kind, temporary
):
    failure = {
        "id": URL,
        "status": "error",
        "error": {"tag": tag, "httpStatusCode": status},
    }
    with pytest.raises(kind) as caught:
        play(
            EXA.read(URL),
            reply({"requestId": "1", "results": [], "statuses": [failure]}),
        )
    assert (caught.value.detail, caught.value.temporary) == (tag, temporary)


@pytest.mark.parametrize(
    "tag", ["NO_MORE_CREDITS", "API_KEY_BUDGET_EXCEEDED", "TEAM_BUDGET_EXCEEDED"]
)
def test_an_empty_account_is_a_quota_whatever_the_status(tag):
    with pytest.raises(QuotaExhausted):
        play(
            EXA.search(SearchQuery.of("kelp")), reply({"error": "no", "tag": tag}, 429)
        )


def test_several_pages_are_read_in_one_request():
    failure = {
        "id": "https://b.example/",
        "status": "error",
        "error": {"tag": "CRAWL_NOT_FOUND", "httpStatusCode": 404},
    }
    found = {"id": URL, "url": URL, "title": "Kelp", "text": "Kelp grows."}
    answer = {
        "results": [found],
        "statuses": [failure, {"id": URL, "status": "success"}],
        "costDollars": {"total": 0.001},
    }
    outcome = play(EXA.read_many(["https://b.example/", URL]), reply(answer))

    (request,) = outcome.requests
    assert request.json["urls"] == ["https://b.example/", URL]
    assert request.target == ("https://b.example/", URL)
    missing, page = outcome.result
    assert isinstance(missing, PageNotFound)
    assert (page.url, page.content, page.cost) == (URL, "Kelp grows.", 0.001)


@pytest.mark.parametrize(
    ("status", "tag", "kind"),
    [
        (403, "ROBOTS_FILTER_FAILED", Blocked),
        (422, "FETCH_DOCUMENT_ERROR", Unavailable),
        (400, "NO_CONTENT_FOUND", Unavailable),
        (400, "INVALID_REQUEST_BODY", BadRequest),
        (403, "FEATURE_DISABLED", AuthenticationError),
    ],
)
def test_a_tag_tells_the_pages_failure_from_the_requests(status, tag, kind):
    with pytest.raises(kind) as caught:
        play(
            EXA.read(URL), reply({"requestId": "x", "error": "No.", "tag": tag}, status)
        )

    assert (type(caught.value), caught.value.detail) == (kind, "No.")


def test_what_moderation_refuses_is_a_bad_request_and_no_wrong_key():
    with pytest.raises(BadRequest):
        play(
            EXA.search(SearchQuery.of("kelp")),
            reply({"error": "No.", "tag": "PROHIBITED_CONTENT"}, 403),
        )


def test_pages_that_could_not_be_read_are_noted():
    statuses = [
        {"id": URL, "status": "success"},
        {"id": "b", "status": "error", "error": {"tag": "CRAWL_TIMEOUT"}},
    ]
    body = {"results": [{"url": URL, "title": "Kelp"}], "statuses": statuses}
    found = play(EXA.search(SearchQuery.of("kelp")), reply(body)).result

    assert found.notes == ("exa could not read 1 of the pages, whose text is missing",)


def test_a_topic_that_exa_no_longer_has_is_refused():
    with pytest.raises(UnsupportedOption, match="cannot search for code"):
        body_of(topic="code")


def test_only_categories_that_exa_has_can_be_chosen():
    assert (
        body_of(Exa(api_key=SECRET, category="publication", type="lite"))["category"]
        == "publication"
    )
    with pytest.raises(ConfigurationError, match="category"):
        Exa(api_key=SECRET, category="github")


def test_an_answer_in_the_shape_of_a_schema_is_json():
    output = {"content": {"metres": 3, "unit": "m"}}
    found = play(
        EXA.search(SearchQuery.of("kelp")), reply({"results": [], "output": output})
    ).result

    assert found.answer == '{"metres": 3, "unit": "m"}'


def test_entities_in_the_text_of_a_page_are_unescaped():
    hit = {"url": URL, "title": "<div> &amp; more", "text": "It&#8217;s 3 &lt; 4"}
    (result,) = play(
        EXA.search(SearchQuery.of("kelp")), reply({"results": [hit]})
    ).result.results

    assert (result.title, result.content) == ("<div> & more", "It\u2019s 3 < 4")


@pytest.mark.parametrize("links", [7, True, "kelp.png", {"a": 1}])
def test_links_of_images_that_are_no_list_leave_out_only_themselves(links):
    item = {
        "title": "Kelp",
        "url": "https://a.org/kelp",
        "image": "https://a.org/kelp.png",
        "extras": {"imageLinks": links},
    }
    query = SearchQuery.of("kelp", images=True)

    played = play(Exa(api_key=SECRET).search(query), reply({"results": [item]}))

    urls = [image.url for image in played.result.images]
    assert urls == ["https://a.org/kelp.png"]
