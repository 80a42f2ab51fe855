"""The SearX of these tests is real, and behaves as the tests of the adapter assume."""

from __future__ import annotations
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from http.client import HTTPMessage
from typing import IO, Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.enable_socket]


class Answer(NamedTuple):
    status: int
    headers: HTTPMessage
    text: str

    def json(self) -> Any:
        return json.loads(self.text)

    def urls(self) -> list[str]:
        return [result["url"] for result in self.json()["results"]]


class NoRedirects(HTTPRedirectHandler):
    """Follow no redirects: those of SearX lead off this machine."""

    def redirect_request(
        self,
        req: Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> None:
        return None


def ask(base_url: str, **parameters: str) -> Answer:
    url = f"{base_url}/search?{urlencode({'format': 'json', **parameters})}"
    try:
        response = build_opener(ProxyHandler({}), NoRedirects).open(url, timeout=60)
    except HTTPError as error:
        response = error
    with response:
        return Answer(response.status, response.headers, response.read().decode())


def test_results_of_two_engines_are_merged(searx: str) -> None:
    answer = ask(searx, q="kelp")

    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert answer.urls() == [
        "https://marine.example/kelp",
        "https://tidal.example/guides/kelp?season=spring&depth=10",
        "https://kitchen.example/kelp-broth",
        "https://www.coast.example/farming/kelp",
        "https://papers.example/2026/kelp-carbon.pdf",
    ]
    first, *_, last = answer.json()["results"]
    assert first["title"] == "Kelp forests & their keepers"
    assert (set(first["engines"]), set(last["engines"])) == (
        {"garden", "library"},
        {"garden"},
    )
    assert answer.json()["suggestions"] == ["kelp recipes"]
    assert answer.json()["unresponsive_engines"] == []


def test_pages_follow_one_another_until_there_are_no_more(searx: str) -> None:
    assert ask(searx, q="kelp", pageno="2").urls() == [
        "https://marine.example/kelp/divers",
        "https://history.example/kelp-ash",
    ]
    assert ask(searx, q="kelp", pageno="3").urls() == []


def test_finding_nothing_is_not_a_failed_engine(searx: str) -> None:
    answer = ask(searx, q="qwertyuiop")

    assert answer.status == 200
    assert (answer.urls(), answer.json()["unresponsive_engines"]) == ([], [])


def test_a_failed_engine_is_reported_beside_the_results_of_the_others(
    searx: str,
) -> None:
    answer = ask(searx, q="kelp boom-library")

    assert answer.status == 200
    assert len(answer.urls()) == 5
    assert answer.json()["unresponsive_engines"] == [["library", "HTTP error"]]


def test_when_all_engines_fail_the_status_is_still_200(searx: str) -> None:
    answer = ask(searx, q="boom")

    assert (answer.status, answer.urls()) == (200, [])
    assert sorted(answer.json()["unresponsive_engines"]) == [
        ["garden", "HTTP error"],
        ["library", "HTTP error"],
    ]


def test_a_failed_engine_is_asked_again_at_once(searx: str) -> None:
    ask(searx, q="boom")

    assert len(ask(searx, q="kelp").json()["results"][0]["engines"]) == 2


def test_a_time_range_silently_skips_the_engines_that_do_not_support_it(
    searx: str,
) -> None:
    answer = ask(searx, q="kelp", time_range="week")

    assert {
        engine for result in answer.json()["results"] for engine in result["engines"]
    } == {"library"}
    assert answer.json()["unresponsive_engines"] == []


def test_news_have_a_date_for_people_and_one_for_programs(searx: str) -> None:
    first = ask(searx, q="kelp", categories="news", language="en").json()["results"][0]

    assert (first["category"], first["engines"]) == ("news", ["almanac"])
    assert (first["publishedDate"], first["pubdate"]) == (
        "Feb 17, 2026",
        "2026-02-17 08:30:00+0000",
    )


def test_the_offline_engine_has_results_without_a_url(searx: str) -> None:
    (result,) = ask(searx, q="kelp", categories="words").json()["results"]

    assert (result["title"], result["content"]) == ("kelp", "A large brown seaweed.")
    assert "url" not in result


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("time_range", "decade"),
        ("language", "klingon"),
        ("safesearch", "strict"),
        ("pageno", "0"),
    ],
)
def test_a_wrong_parameter_is_named_with_400(searx: str, name: str, value: str) -> None:
    answer = ask(searx, q="kelp", **{name: value})

    assert answer.status == 400
    assert answer.json() == {"error": f'Invalid value "{value}" for parameter {name}'}


@pytest.mark.parametrize("parameters", [{}, {"q": ""}])
def test_a_search_for_nothing_is_400(searx: str, parameters: dict[str, str]) -> None:
    answer = ask(searx, **parameters)

    assert (answer.status, answer.json()) == (400, {"error": "No query"})


def test_an_external_bang_redirects_to_the_engine_it_names(searx: str) -> None:
    answer = ask(searx, q="!!g kelp")

    assert answer.status == 302
    assert answer.headers["Location"].startswith("https://www.google.com/")


def test_searx_answers_in_json_even_if_it_lists_only_html(
    start_searx: Callable[..., AbstractContextManager[str]],
) -> None:
    """Only SearXNG honours ``search.formats``, with 403."""
    with start_searx(formats=["html"]) as base_url:
        answer = ask(base_url, q="kelp")

    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert len(answer.urls()) == 5
