"""The error for a page that a service could not read, and the title of a text."""

from __future__ import annotations

import pytest

from websearch_core.errors import (
    AccessDenied,
    BadResponse,
    Blocked,
    PageNotFound,
    RateLimited,
    TimedOut,
    TooLarge,
    Unavailable,
    UnsupportedContent,
)
from websearch_core.flow import Response
from websearch_core.provider import check_response, page_error, parse_page, parse_pages
from websearch_core.provider._reading import find_records, first_heading


class Reader:
    name = "kelp"
    api_key = "SECRET-key"

    def read(self, url):
        raise NotImplementedError


@pytest.mark.parametrize(
    ("status", "kind", "temporary"),
    [
        (404, PageNotFound, False),
        (410, PageNotFound, False),
        (401, AccessDenied, False),
        (403, Blocked, False),
        (429, Blocked, False),
        (451, AccessDenied, False),
        (999, Blocked, False),
        (408, TimedOut, True),
        (504, TimedOut, True),
        (500, Unavailable, True),
        (418, Blocked, False),
        (423, Unavailable, False),
        ("404", PageNotFound, False),
    ],
)
def test_the_status_of_a_page_decides(status, kind, temporary):
    error = page_error(Reader(), status=status)

    assert type(error) is kind
    assert str(error).startswith(f"kelp read failed: the page answered {status}")
    assert (error.status, error.temporary, error.provider) == (
        int(status),
        temporary,
        "kelp",
    )


@pytest.mark.parametrize("status", [None, 0, 200, 99999, "soon", [404], True])
def test_what_is_no_failure_says_nothing(status):
    error = page_error(Reader(), status=status)

    assert type(error) is Unavailable
    assert str(error) == "kelp read failed: it could not read the page"
    assert error.status is None


def test_a_kind_that_is_known_better_wins_and_words_are_without_keys():
    error = page_error(
        Reader(), status=500, kind=TooLarge, detail="SECRET-key is\ntoo large"
    )

    assert type(error) is TooLarge
    assert error.detail == "[key] is too large"
    assert (
        str(page_error(Reader(), kind=TooLarge))
        == "kelp read failed: the page is too large"
    )
    assert page_error(Reader(), detail={"a": 1}).detail is None


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Kelp\n\nText", "Kelp"),
        ("Text\n\n## Kelp & *wrack* ##\n", "Kelp & *wrack*"),
        ("#hashtag\n", ""),
        ("", ""),
        ("# " + "x" * 500, "x" * 300),
    ],
)
def test_the_first_heading_is_the_title(text, title):
    assert first_heading(text) == title


def test_records_are_found_whatever_their_order_and_spelling():
    records = [
        {"url": "https://b.example/2/"},
        {"url": "HTTPS://A.example:443/1"},
        {"url": None},
        "x",
        {},
    ]

    assert find_records(["https://a.example/1", "https://b.example/2", "https://c.example/"], records) == [
        {"url": "HTTPS://A.example:443/1"}, {"url": "https://b.example/2/"}, None,
    ]  # fmt: skip
    assert find_records(
        ["https://a.example/"], [{"id": "https://a.example", "n": 1}], key="id"
    ) == [{"id": "https://a.example", "n": 1}]
    assert find_records(["https://a.example/"], [{"n": 1}]) == [{"n": 1}], (
        "the only record is about the only page"
    )
    assert find_records(["https://a.example/", "https://b.example/"], None) == [
        None,
        None,
    ]


def test_pages_without_text_are_errors_and_the_first_page_has_the_cost():
    missing = page_error(Reader(), status=404)

    def parse(url, text):
        if text is None:
            raise missing
        return parse_page(Reader(), url, text)

    texts = [" ", None, "Kelp.", "Wrack."]
    first, second, third, fourth = parse_pages(
        parse,
        [f"https://a.example/{n}" for n in range(4)],
        texts,
        cost=0.2,
        usage={"credits": 2},
    )

    assert isinstance(first, UnsupportedContent)
    assert second is missing
    assert (third.content, third.cost, third.usage) == ("Kelp.", 0.2, {"credits": 2})
    assert (fourth.content, fourth.cost, fourth.usage) == ("Wrack.", None, {})


def test_what_a_service_says_about_a_page_is_parsed_leniently():
    page = parse_page(
        Reader(),
        "https://a.example/",
        "# Kelp\n\nA brown alga.",
        title=["no text"],
        final_url="javascript:alert(1)",
        media_type="text/html; charset=utf-8",
        author="<b>A. Moll</b>",
        published="2026-05-04",
        description="x" * 2000,
        rendered=True,
    )

    assert (page.title, page.url, page.final_url) == (
        "Kelp",
        "https://a.example/",
        "https://a.example/",
    )
    assert (page.media_type, page.author, page.site_name, page.modified) == (
        "text/html",
        "A. Moll",
        None,
        None,
    )
    assert (page.published.year, len(page.description), page.rendered) == (
        2026,
        1000,
        True,
    )
    with pytest.raises(BadResponse, match="unexpected format"):
        parse_page(Reader(), "https://a.example/", None)
    with pytest.raises(Blocked):
        parse_page(
            Reader(), "https://a.example/", "Enable cookies.", title="Just a moment..."
        )


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (403, Blocked),
        (402, AccessDenied),
        (410, PageNotFound),
        (429, RateLimited),
        (504, Unavailable),
        (204, BadResponse),
    ],
)
def test_the_response_of_a_site_is_the_page_or_what_its_status_means(status, kind):
    check_response(Response(status=206, content=b"Kelp."), Reader())
    with pytest.raises(kind):
        check_response(Response(status=status), Reader())


def test_a_challenge_is_one_whatever_its_status_once_the_text_is_known():
    challenge = Response(
        status=200, content=b"<script>window._cf_chl_opt = {}</script>"
    )

    check_response(challenge, Reader())
    for response, text in [
        (challenge, ""),
        (Response(status=503, content=challenge.content), None),
    ]:
        with pytest.raises(Blocked, match="a challenge against robots by Cloudflare"):
            check_response(response, Reader(), text)
    check_response(challenge, Reader(), "Kelp grows in cold water. " * 50)
