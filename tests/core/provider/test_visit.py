"""Reading one page: cookies go back to their site and nowhere else, and the frames of a
page are read with it.
"""

from __future__ import annotations

import pytest

from websearch_core.errors import BadResponse, PageNotFound, UnsupportedContent
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


def frameset(*sources, head="<title>Harbour</title>"):
    frames = "".join(f"<frame src='{source}'>" for source in sources)
    unseen = "<noframes><body>Your browser has no frames.</body></noframes>"
    return reply(f"<html><head>{head}</head><frameset>{frames}{unseen}</frameset>")


def say(words):
    return reply(f"<title>A frame</title><main><p>{words} <a href='/b'>on</a></main>")


def show(*answers):
    """Return the page at URL, and what was asked for until all *answers* were given."""
    waiting = list(answers)
    asked = []

    def send(request):
        asked.append(request.url)
        return waiting.pop(0)

    page = run(Direct().read(URL), send)
    assert waiting == []
    return page, asked


def test_a_page_of_frames_says_what_they_say():
    page, asked = show(
        frameset("menu", "/main"), say("Boats and tides."), say("Kelp in May.")
    )

    assert asked == [URL, "https://page.example/menu", "https://page.example/main"]
    assert (page.title, page.url, page.final_url) == ("Harbour", URL, URL)
    assert page.content.count("](https://page.example/b)") == 2
    assert page.content.index("Boats and tides.") < page.content.index("Kelp in May.")
    assert page.content_length == page.original_length == len(page.content)
    assert "no frames" not in page.content
    assert page.links == (
        "https://page.example/menu",
        "https://page.example/main",
        "https://page.example/b",
    )
    assert page.notes == ()


def test_frames_may_have_frames():
    inner = frameset("/c", "/d")
    answers = [frameset("/b", "/e"), inner, say("One."), say("Two."), say("Three.")]
    content = show(*answers)[0].content

    assert [content.count(word) for word in ("One.", "Two.", "Three.")] == [1, 1, 1]


def test_a_frame_that_fails_or_is_of_another_site_is_a_note():
    frames = frameset("/b", "https://ads.example/", "/c")
    page, _ = show(frames, reply(b"", 404), say("Kelp."))

    assert "Kelp." in page.content
    assert page.notes == (
        "a frame could not be read: page_not_found",
        "frames left out: 1, of other sites or too many",
    )


def test_frames_that_all_fail_are_the_error_of_the_first():
    with pytest.raises(PageNotFound):
        show(frameset("/b", "/c"), reply(b"", 404), reply(b"", 500))
    with pytest.raises(UnsupportedContent, match="only frames of other sites"):
        show(frameset("https://a.example/", "https://b.example/"))


def test_a_page_with_one_frame_leads_to_it_as_a_redirect_does():
    page, _ = show(frameset("https://other.example/"), say("Kelp in May."))

    assert page.final_url == "https://other.example/"
    assert "Kelp in May." in page.content


def test_frames_that_hold_each_other_end():
    sent = []

    def send(request):
        sent.append(request.url)
        return frameset("/b", "/c", "/d")

    with pytest.raises(BadResponse, match="takes more than 30 requests"):
        run(Direct().read(URL), send)
    assert len(sent) == 30
