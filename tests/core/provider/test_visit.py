"""Cookies go back to their site while one page is read, and nowhere else."""

from __future__ import annotations

import pytest

from websearch_core.flow import run
from websearch_core.providers.direct import Direct
from websearch_core.testing import reply

URL = "https://page.example/a"
HTML = "<title>Kelp</title><main><p>Brown algae of the northern seas.</p></main>"


def read(pages):
    """Read the page at URL in a web of *pages*; return the cookies that came with each
    request.
    """
    cookies = []
    answers = {url: iter(replies) for url, replies in pages.items()}

    def send(request):
        cookies.append((request.url, request.headers.get("Cookie")))
        return next(answers[request.url])

    run(Direct().read(URL), send)
    return cookies


def lead(location, cookie):
    return reply(b"", 302, location=location, **{"set-cookie": cookie})


def test_a_page_that_waits_for_its_cookie_gets_it():
    assert read({URL: [lead(URL, "seen=1; Path=/"), reply(HTML)]}) == [
        (URL, None),
        (URL, "seen=1"),
    ]


def test_each_cookie_of_an_answer_counts_although_a_date_has_a_comma():
    cookies = "a=1; expires=Fri, 01 Jan 2100 00:00:00 GMT\nb=2; Path=/"

    assert read({URL: [lead(URL, cookies), reply(HTML)]})[1] == (URL, "a=1; b=2")


@pytest.mark.parametrize(
    ("there", "cookie"),
    [
        ("https://other.example/", "a=1; Path=/"),
        ("https://other.example/", "a=1; Domain=other.example"),
        ("https://other.example/", "a=1; Domain=.example"),
        ("https://page.example/b", "a=1; Path=/a"),
        ("https://page.example/b", "a=1; Path=/; Max-Age=0"),
        ("https://page.example/b", f"a=1; Path=/; Comment={'1' * 5000}"),
        ("https://page.example/b", f"a={'1' * 9000}; Path=/"),
    ],
)
def test_a_cookie_goes_nowhere_else(there, cookie):
    assert read({URL: [lead(there, cookie)], there: [reply(HTML)]})[1] == (there, None)


def test_a_cookie_is_forgotten_with_the_page():
    for _ in range(2):
        pages = {URL: [lead(URL, "seen=1"), reply(HTML)]}
        assert read(pages)[0] == (URL, None)
