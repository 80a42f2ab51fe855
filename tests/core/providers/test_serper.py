"""https://serper.dev/playground"""

from __future__ import annotations

import pytest

from websearch_core.errors import BadRequest, QuotaExhausted, UnsupportedOption
from websearch_core.models import SearchQuery
from websearch_core.providers.serper import Serper
from websearch_core.testing import SECRET, play, reply

BOX = "https://en.tower.example/height"
SERPER = Serper(api_key=SECRET)


def request_of(**options):
    return next(SERPER.search(SearchQuery.of("kelp", **options)))


def organic(first, count):
    found = [
        {"title": f"{n}", "link": f"https://a.example/{n}"}
        for n in range(first, first + count)
    ]
    return reply({"searchParameters": {}, "organic": found, "credits": 1})


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ({"time_range": "month"}, "tbs", "qdr:m"),
        ({"time_range": "hour"}, "tbs", "qdr:h"),
        ({"after": "2026-01-02"}, "tbs", "cdr:1,cd_min:01/02/2026"),
        (
            {"after": "2026-01-02", "before": "2026-03-04"},
            "tbs",
            "cdr:1,cd_min:01/02/2026,cd_max:03/04/2026",
        ),
        (
            {"allowed_domains": ["a.org", "b.org"]},
            "q",
            "kelp (site:a.org OR site:b.org)",
        ),
        ({"blocked_domains": ["b.org"]}, "q", "kelp -site:b.org"),
        ({"country": "GB"}, "gl", "gb"),
        ({"language": "zh-TW"}, "hl", "zh-tw"),
        ({"language": "he"}, "hl", "iw"),
        ({"page": 3, "limit": 10}, "page", 3),
        ({"extra": {"location": "Bergen"}}, "location", "Bergen"),
    ],
)
def test_each_option_has_serpers_own_word(options, name, value):
    assert request_of(**options).json[name] == value


@pytest.mark.parametrize(
    ("options", "endpoint"),
    [
        ({}, "search"),
        ({"topic": "news"}, "news"),
        ({"topic": "academic"}, "scholar"),
        ({"images": True}, "images"),
    ],
)
def test_each_topic_has_an_endpoint(options, endpoint):
    request = request_of(**options)

    assert request.url == f"https://google.serper.dev/{endpoint}"
    assert request.json == {"q": "kelp"}
    assert request.headers == {"X-API-KEY": SECRET}


def test_papers_have_no_time_filter():
    with pytest.raises(UnsupportedOption, match="papers") as caught:
        request_of(topic="academic", after="2026-01-02")
    assert caught.value.options == ("after",)


def test_pages_are_fetched_until_the_limit_is_reached():
    outcome = play(
        SERPER.search(SearchQuery.of("kelp", limit=25)),
        organic(1, 10),
        organic(11, 10),
        organic(21, 10),
    )

    assert [request.json.get("page") for request in outcome.requests] == [None, 2, 3]
    assert [result.title for result in outcome.result.results] == [
        str(n) for n in range(1, 26)
    ]
    assert outcome.result.usage == {"credits": 3}


def test_a_page_that_is_not_full_is_the_last():
    outcome = play(
        SERPER.search(SearchQuery.of("kelp", limit=25)), organic(1, 10), organic(11, 4)
    )

    assert len(outcome.result.results) == 14


def test_a_failure_of_a_later_page_keeps_what_was_paid_for():
    found = play(
        SERPER.search(SearchQuery.of("kelp", limit=25)),
        organic(1, 10),
        reply({"message": "no"}, 500),
    ).result

    assert len(found.results) == 10
    assert found.notes == ("serper failed on a later page (unavailable)",)


@pytest.mark.parametrize("status", [400, 429])
def test_an_empty_account_is_a_quota_whatever_the_status(status):
    problem = reply({"message": "Not enough credits", "statusCode": status}, status)
    with pytest.raises(QuotaExhausted) as caught:
        play(SERPER.search(SearchQuery.of("kelp")), problem)
    assert not caught.value.temporary


def test_another_bad_request_is_none():
    with pytest.raises(BadRequest):
        play(
            SERPER.search(SearchQuery.of("kelp")),
            reply({"message": "Query is required", "statusCode": 400}, 400),
        )


@pytest.mark.parametrize(
    ("body", "results", "answer"),
    [
        (
            {"answerBox": {"title": "Height", "answer": "330 m", "link": BOX}},
            [("Height", BOX, "330 m")],
            "330 m",
        ),
        (
            {
                "knowledgeGraph": {
                    "title": "Tower",
                    "description": "A tower.",
                    "descriptionLink": BOX,
                }
            },
            [("Tower", BOX, "A tower.")],
            None,
        ),
        # without a page, or on another site than the query asks for
        ({"answerBox": {"answer": "330 m"}}, [], "330 m"),
        ({"answerBox": {"answer": "5", "link": "https://b.example/"}}, [], "5"),
    ],
)
def test_a_box_with_a_page_is_the_first_result(body, results, answer):
    query = SearchQuery.of("tower height", allowed_domains=["tower.example"])
    hit = {"title": "Tower", "link": "https://tower.example/", "snippet": "Tall."}
    outcome = play(SERPER.search(query), reply({**body, "organic": [hit]}))
    response = outcome.result

    assert len(outcome.requests) == 1
    assert response.answer == answer
    shown = [(one.title, one.url, one.snippet) for one in response.results]
    assert shown == [*results, ("Tower", "https://tower.example/", "Tall.")]


def test_a_box_about_a_page_that_is_a_result_is_no_result_of_its_own():
    box = {"answer": "330 m", "link": "https://tower.example/"}
    hit = {"title": "Tower", "link": "https://tower.example/", "snippet": "Tall."}
    response = play(
        SERPER.search(SearchQuery.of("tower")),
        reply({"answerBox": box, "organic": [hit]}),
    ).result

    assert [result.snippet for result in response.results] == ["Tall."]
