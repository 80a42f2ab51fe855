"""https://github.com/internetarchive/wayback/tree/master/wayback-cdx-server"""

from __future__ import annotations

import pytest

from websearch_core import WebSearch
from websearch_core.errors import BadResponse, PageNotFound, ServiceError, UnsafeURL
from websearch_core.providers.wayback import Wayback
from websearch_core.testing import play, reply

URL = "https://harbour.example/gone?b=c"
TABLE = [
    ["timestamp", "original"],
    ["20260304050607", "https://harbour.example/gone?b=c"],
]
MADE = "Wed, 04 Mar 2026 05:06:07 GMT"
COPY = "https://web.archive.org/web/20260304050607id_/https://harbour.example/gone?b=c"


def read(*answers, **options):
    return play(Wayback(**options).read(URL), *answers)


def test_the_guard_sees_the_page_and_the_copy():
    outcome = read(
        reply(TABLE),
        reply("<title>Tides</title><p>High water at noon.", memento_datetime=MADE),
    )
    table, copy = outcome.requests

    assert (table.target, table.judge_target, table.guarded) == (URL, False, False)
    assert (copy.url, copy.guarded) == (COPY, True)


def test_a_page_inside_is_never_shown_to_the_archive():
    with WebSearch(reader="wayback") as web, pytest.raises(UnsafeURL):
        web.read("http://10.1.2.3/secret")


def test_the_page_says_that_it_is_a_copy_and_of_which_day():
    page = read(
        reply(TABLE),
        reply("<title>Tides</title><p>High water at noon.", memento_datetime=MADE),
    ).result

    assert (page.title, page.url, page.provider) == ("Tides", URL, "wayback")
    assert (
        page.final_url
        == "https://web.archive.org/web/20260304050607/https://harbour.example/gone?b=c"
    )
    assert page.notes == (
        "this is the copy that the Wayback Machine archived on 2026-03-04, not the page as it is today",
    )


def test_it_can_read_the_page_as_it_was():
    (request,) = [next(Wayback(until="2024-06-30").read(URL))]

    assert request.params["to"] == "20240630"
    assert "to" not in next(Wayback().read(URL)).params


def test_the_copy_that_the_archive_redirects_to_has_its_own_day_and_url():
    moved = reply(
        "", 302, location="/web/20090305010203id_/http://harbour.example/moved"
    )
    page = read(
        reply(TABLE), moved, reply("<p>High water at noon.", memento_datetime=MADE)
    ).result

    assert (
        page.final_url
        == "https://web.archive.org/web/20090305010203/http://harbour.example/moved"
    )
    assert "archived on 2009-03-05" in page.notes[0]


def test_a_page_of_the_archive_itself_is_no_copy():
    with pytest.raises(PageNotFound, match="no copy of this page"):
        read(reply(TABLE), reply("<p>Search the history of over 446 billion web pages"))


@pytest.mark.parametrize("table", [[], [["timestamp", "original"]], ""])
def test_a_page_that_was_never_archived_does_not_exist(table):
    with pytest.raises(PageNotFound, match="the archive has no copy"):
        read(reply(table))


@pytest.mark.parametrize(
    "table",
    [
        {"rows": []}, [1], [["timestamp", "original"], ["now", URL]], [["t", "o"], ["20260304050607", "file:///etc/passwd"]],
        [["t", "o"], ["20260304050607/../../x?", URL]], [["t", "o"], ["20260304050607"]],
    ],
)  # fmt: skip
def test_a_table_that_makes_no_sense_is_not_followed(table):
    with pytest.raises(BadResponse):
        read(reply(table))


@pytest.mark.parametrize(
    "location",
    [
        "https://evil.example/",
        "//evil.example/web/",
        "/save/x",
        "http://web.archive.org/web/1",
        "",
    ],
)
def test_no_redirect_leads_out_of_the_archive(location):
    with pytest.raises(ServiceError):
        read(reply(TABLE), reply("", 302, location=location))


def test_a_circle_of_redirects_ends():
    with pytest.raises(BadResponse, match="more than 3 redirects"):
        read(
            reply(TABLE),
            *[
                reply(
                    "",
                    302,
                    location="/web/20260304050607id_/https://harbour.example/gone",
                )
            ]
            * 4,
        )
