"""The error for a page that a service could not read, and the title of a text."""

from __future__ import annotations

import pytest

from websearch_core.errors import Blocked, PageNotFound, TimedOut, TooLarge, Unavailable
from websearch_core.provider import first_heading, page_error


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
        (401, Blocked, False),
        (403, Blocked, False),
        (429, Blocked, False),
        (451, Blocked, False),
        (408, TimedOut, True),
        (504, TimedOut, True),
        (500, Unavailable, True),
        (418, Unavailable, False),
        ("404", PageNotFound, False),
    ],
)
def test_the_status_of_a_page_decides(status, kind, temporary):
    error = page_error(Reader(), status=status)

    assert type(error) is kind
    assert str(error) == f"kelp read failed: the page answered {status}"
    assert (error.status, error.temporary, error.provider) == (int(status), temporary, "kelp")


@pytest.mark.parametrize("status", [None, 0, 200, 99999, "soon", [404], True])
def test_what_is_no_failure_says_nothing(status):
    error = page_error(Reader(), status=status)

    assert type(error) is Unavailable
    assert str(error) == "kelp read failed: it could not read the page"
    assert error.status is None


def test_a_kind_that_is_known_better_wins_and_words_are_without_keys():
    error = page_error(Reader(), status=500, kind=TooLarge, detail="SECRET-key is\ntoo large")

    assert type(error) is TooLarge
    assert error.detail == "[key] is too large"
    assert str(page_error(Reader(), kind=TooLarge)) == "kelp read failed: the page is too large"
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
