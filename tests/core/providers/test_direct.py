"""The built-in reader as a flow; tests/core/net/test_sender.py and tests/core/test_pages.py run it with a server."""

from __future__ import annotations

import pytest

from websearch_core.errors import (
    AuthenticationError,
    BadResponse,
    PageNotFound,
    TooLarge,
    Unavailable,
    UnsafeURL,
    UnsupportedContent,
)
from websearch_core.flow import Response
from websearch_core.providers.direct import Direct
from websearch_core.testing import play, reply

URL = "https://page.example/a/b"
HTML = "<html><head><title>Kelp</title></head><body><main><p>Brown algae of the northern seas.</p></main></body></html>"


def redirect(location, status=302):
    return reply(b"", status, location=location)


def test_a_page_is_fetched_through_the_guard_without_data_of_the_caller():
    request = next(Direct().read(URL))

    assert request.guarded
    assert not {"cookie", "authorization", "referer"} & {name.lower() for name in request.headers}


def test_html_becomes_a_page():
    page = play(Direct().read(URL), reply(HTML)).result

    assert (page.title, page.content.strip()) == ("Kelp", "Brown algae of the northern seas.")
    assert (page.url, page.final_url, page.provider, page.media_type) == (URL, URL, "direct", "text/html")


@pytest.mark.parametrize(
    ("location", "there"),
    [
        ("/c", "https://page.example/c"),
        ("c?d=e", "https://page.example/a/c?d=e"),
        ("//other.example/c", "https://other.example/c"),
        ("https://other.example/c", "https://other.example/c"),
    ],
)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_it_follows_redirects_itself(status, location, there):
    outcome = play(Direct().read(URL), redirect(location, status), reply(HTML))

    assert [request.url for request in outcome.requests] == [URL, there]
    assert (outcome.result.url, outcome.result.final_url) == (URL, there)
    assert all(request.guarded for request in outcome.requests)


def test_at_most_five_redirects_are_followed():
    with pytest.raises(BadResponse, match="more than 5 redirects"):
        play(Direct().read(URL), *(redirect(f"/{n}") for n in range(6)))


def test_a_redirect_without_location_is_an_error():
    with pytest.raises(BadResponse, match="leads nowhere"):
        play(Direct().read(URL), reply(b"", 302))


def test_https_does_not_become_http_unless_allowed():
    with pytest.raises(UnsafeURL, match="from https to http"):
        play(Direct().read(URL), redirect("http://page.example/"))
    assert play(Direct(allow_downgrade=True).read(URL), redirect("http://page.example/"), reply(HTML)).result.content


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, AuthenticationError), (404, PageNotFound), (410, PageNotFound), (500, Unavailable), (204, BadResponse)],
)
def test_an_error_page_is_never_content(status, kind):
    with pytest.raises(kind) as caught:
        play(Direct().read(URL), reply("<h1>Sorry!</h1><p>An apology of great length.", status))
    assert caught.value.status == status


def test_a_page_that_was_cut_says_so():
    cut = Response(status=200, headers={"content-type": "text/plain"}, content=b"kelp " * 10, truncated=True)

    page = play(Direct().read(URL), cut).result

    assert page.truncated
    assert "longer than the 50 bytes" in page.notes[0]


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("application/pdf", b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", b"PK\x03\x04word/document.xml"),
    ],
)
@pytest.mark.parametrize(
    ("most", "why"), [(5 * 2**20, "larger than 5 MiB"), (6 * 2**20, "not all of it arrived")], ids=["cap", "connection"]
)
def test_a_file_that_cannot_be_read_because_it_was_cut_says_so(kind, content, most, why):
    content += bytes(5 * 2**20 - len(content))
    cut = Response(status=200, headers={"content-type": kind}, content=content, truncated=True)

    with pytest.raises(TooLarge, match=why) as caught:
        play(Direct(max_bytes=most, isolate=False).read(URL), cut)
    assert kind in str(caught.value)
    assert caught.value.provider == "direct"


def test_an_unsupported_file_that_was_cut_is_not_called_too_large():
    film = Response(status=200, headers={"content-type": "video/mp4"}, content=b"\0\0\0\x20ftypisom", truncated=True)

    with pytest.raises(UnsupportedContent, match="video/mp4"):
        play(Direct().read(URL), film)
