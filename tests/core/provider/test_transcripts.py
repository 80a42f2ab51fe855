"""Transcripts stand below the text of a page: fetched as pages are, within bounds, and
only if a call wants them.
"""

from __future__ import annotations
import asyncio

import pytest
from typer.testing import CliRunner

from tests.answers import drive
from websearch_core import Credentials, Http, WebSearch
from websearch_core._cli.app import app
from websearch_core._runtime.deadline import time_limit
from websearch_core._runtime.scope import WantedContent, scope
from websearch_core.errors import InvalidOption, TimedOut, Unavailable
from websearch_core.flow import Response, run
from websearch_core.providers.browser import Browser
from websearch_core.providers.direct import Direct
from websearch_core.settings import Settings
from websearch_core.testing import reply
from websearch_core.tools import WebTools

URL = "https://sea.example/films/kelp"
STORY = (
    "A film about the kelp forests of the north, and about those who live in them. " * 2
)
VTT = "WEBVTT\n\n00:01.000 --> 00:03.000\nKelp grows half a metre a day.\n"
TRACK = "<video><track kind=captions src={} label=English></video>"
SAID = "(0:01) Kelp grows half a metre a day."
KEEP = WantedContent(transcripts="keep")


def film(*sources):
    tracks = "".join(TRACK.format(source) for source in sources)
    return f"<title>Kelp</title><main><h1>Kelp</h1><p>{STORY}</p>{tracks}</main>"


def captions(text=VTT, kind="text/vtt"):
    return reply(text, content_type=kind)


def read(*answers, reader=None, wanted=KEEP, url=URL):
    """Return the page of these answers, and the requests."""
    with scope(content=wanted):
        return drive(
            (reader or Direct(prefer_markdown=False, isolate=False)).read(url), *answers
        )


def test_captions_stand_below_the_text_and_are_marked():
    page, requests = read(reply(film("/c.vtt")), captions())

    assert page.content.endswith(f"in them.\n\n## Transcript: English\n\n{SAID}")
    assert page.content_length == page.original_length == len(page.content)
    assert page.notes == ("a transcript from sea.example is below its text",)
    assert [request.url for request in requests] == [URL, "https://sea.example/c.vtt"]
    assert [request for request in requests if not request.guarded] == []
    assert requests[1].max_bytes == 2 * 2**20


@pytest.mark.parametrize("wanted", [WantedContent(), WantedContent(transcripts="drop")])
def test_nobody_asks_for_them_unless_a_call_does(wanted):
    page, requests = read(reply(film("/c.vtt")), wanted=wanted)

    assert (len(requests), page.notes) == (1, ())


@pytest.mark.parametrize("body", [film(), f"<p>{STORY}</p><p>See the transcript.</p>"])
def test_a_page_that_names_none_is_as_it_was(body):
    page, _ = read(reply(body))

    assert ("## Transcript" in page.content, page.notes) == (False, ())


def test_a_text_that_names_tracks_is_no_page_of_videos():
    page, requests = read(reply(film("/c.vtt"), content_type="text/plain"))

    assert len(requests) == 1
    assert page.notes == ()


def test_episodes_of_a_feed_have_theirs_under_their_titles():
    items = "".join(
        f'<item><title>Part {n}</title><podcast:transcript url="/{n}.json" type="application/json"/></item>'
        for n in range(5)
    )
    feed = f'<rss xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel><title>Sea</title>{items}</channel></rss>'
    said = reply({"segments": [{"startTime": 1, "body": "Kelp."}]})
    page, requests = read(
        reply(feed, content_type="application/rss+xml"), said, said, said
    )

    assert [request.url[-7:] for request in requests[1:]] == [
        "/0.json",
        "/1.json",
        "/2.json",
    ]
    assert page.content.count("(0:01) Kelp.") == 3
    assert "## Transcript: Part 2\n\n(0:01) Kelp." in page.content
    assert "[transcript](https://sea.example/4.json)" in page.content
    assert page.notes[1:] == (
        "a transcript from sea.example is below its text",
        "of 5 transcripts, the first 3 were asked for",
    )


@pytest.mark.parametrize(
    ("kind", "body", "said"),
    [
        (
            "text/html",
            "<title>T</title><main><p>Kelp is tall.</p><a href=/x>More</a></main>",
            "Kelp is tall.",
        ),
        ("text/plain", "Ada: Kelp is tall.", "Ada: Kelp is tall."),
        (
            "application/srt",
            "1\n00:00:01,000 --> 00:00:02,000\nKelp is tall.\n",
            "(0:01) Kelp is tall.",
        ),
    ],
)
@pytest.mark.parametrize("stated", ["", "application/octet-stream"])
def test_the_page_says_what_kind_of_file_a_transcript_is(kind, body, said, stated):
    link = f"<head><link rel=transcript href=/t type={kind}></head>{film()}"
    page, _ = read(
        reply(link), reply(body, content_type=kind if kind == "text/html" else stated)
    )

    assert said in page.content.partition("## Transcript\n\n")[2]
    assert page.links == ()


@pytest.mark.parametrize(
    "answer",
    [
        reply("gone", 404),
        reply("no", 403),
        reply(film(), 200),
        reply("%PDF-1.7", content_type="text/vtt"),
        reply(b"\x89PNG\r\n\x1a\n", content_type="image/png"),
        reply("WEBVTT\n\n", content_type="text/vtt"),
        reply("kelp", content_type="text/vtt"),
        reply("", 302, location="http://sea.example/c.vtt"),
        reply("", 302),
        reply(
            "<title>Just a moment...</title><script>_cf_chl_opt</script>",
            403,
            content_type="text/html",
        ),
        Unavailable("no answer"),
        TimedOut("no answer"),
    ],
    ids=str,
)
def test_a_transcript_that_cannot_be_read_is_a_note(answer):
    page, _ = read(reply(film("/c.vtt")), answer)

    assert "## Transcript" not in page.content
    [note] = page.notes
    assert note.startswith("a transcript at sea.example could not be read: ")


def test_the_others_are_read_then():
    page, _ = read(reply(film("/a.vtt", "/b.vtt")), reply("gone", 404), captions())

    assert SAID in page.content
    assert page.notes == (
        "a transcript at sea.example could not be read: page_not_found",
        "a transcript from sea.example is below its text",
    )


def test_they_take_at_most_half_of_the_time_left():
    left = []

    def send(request):
        from websearch_core._runtime.deadline import time_left

        left.append(time_left())
        return reply(film("/a.vtt", "/b.vtt")) if request.url == URL else captions()

    with scope(content=KEEP), time_limit(1_000):
        run(Direct(prefer_markdown=False).read(URL), send)

    assert left[0] > 900
    assert left[1] <= left[2] + 1 <= 501


def test_a_label_is_a_line_of_plain_text():
    page, _ = read(
        reply(film("/c.vtt").replace("English", "'![x](https://evil.example) &lt;b>'")),
        captions(),
    )

    assert "## Transcript: ! [x] (https://evil.example) < b>\n\n" in page.content


def test_the_markdown_that_a_site_offers_first_has_no_videos():
    _, requests = read(
        reply(f"# Kelp\n\n{STORY}", content_type="text/markdown"), reader=Direct()
    )

    assert len(requests) == 1


def test_a_browser_asks_for_them_without_its_scripts():
    rendered = Response(
        status=200,
        headers={"content-type": "text/html"},
        content=film("/c.vtt").encode(),
        url=URL,
    )
    page, requests = read(rendered, captions(), reader=Browser())

    assert SAID in page.content
    assert requests[0].transport is not None
    assert requests[1].transport is None
    assert requests[1].guarded
    _, [_, request] = read(rendered, captions(), reader=Browser(max_bytes=9))
    assert request.max_bytes == 9


@pytest.fixture
def site(server, http):
    server.answers["/kelp"] = http(film("/c.vtt"), "200 OK", "Content-Type: text/html")
    server.answers["/c.vtt"] = http(VTT, "200 OK", "Content-Type: text/vtt")
    return server


@pytest.mark.enable_socket
def test_each_place_of_an_option_has_them(site, monkeypatch):
    url, arguments = f"{site.url}/kelp", {"reader": "direct", "internal": [site.url]}
    with WebSearch(**arguments) as web:
        assert SAID not in web.read(url).content
        assert SAID in web.read(url, transcripts="keep").content
        assert SAID in asyncio.run(web.aread(url, transcripts="keep")).content
        with pytest.raises(
            InvalidOption, match=r"transcripts: must be drop or keep, not True"
        ):
            web.read(url, transcripts=True)  # pyright: ignore[reportArgumentType]
    with WebSearch(**arguments, read_options={"transcripts": "keep"}) as web:
        assert [
            SAID in getattr(page, "content", "") for page in web.read_many([url])
        ] == [True]
        assert SAID not in web.read(url, transcripts="drop").content
    monkeypatch.setenv("WEB_SEARCH_TRANSCRIPTS", "keep")
    with WebSearch(**arguments) as web:
        assert SAID in web.read(url).content


@pytest.mark.enable_socket
def test_open_page_has_them_unless_the_developer_says_otherwise(site, monkeypatch):
    url, arguments = (
        {"url": f"{site.url}/kelp"},
        {"reader": "direct", "internal": [site.url]},
    )

    assert SAID in WebTools(**arguments).open_page(url).content
    assert (
        SAID
        not in WebTools(**arguments, read_options={"transcripts": "drop"})
        .open_page(url)
        .content
    )
    monkeypatch.setenv("WEB_SEARCH_TRANSCRIPTS", "drop")
    assert SAID not in WebTools(**arguments).open_page(url).content


@pytest.mark.enable_socket
def test_the_command_line_has_the_option(site):
    run = ["read", f"{site.url}/kelp", "--internal", site.url, "--reader", "direct"]

    assert SAID not in CliRunner().invoke(app, run).stdout
    assert SAID in CliRunner().invoke(app, [*run, "--transcripts", "keep"]).stdout


@pytest.mark.enable_socket
def test_a_transcript_is_within_the_policy_and_the_guard(site, server, http):
    port = site.url.rpartition(":")[2]
    inside = f"http://127.0.0.2:{port}/c.vtt"  # nothing opens a hole for this one
    site.answers["/kelp"] = http(
        film("/c.vtt", inside, "http://blocked.example/c.vtt"),
        "200 OK",
        "Content-Type: text/html",
    )
    policy = {
        "internal": [site.url],
        "blocked_domains": ["blocked.example"],
        "read_options": {"transcripts": "keep"},
    }
    with WebSearch(reader="direct", **policy) as web:
        page = web.read(f"{site.url}/kelp")

    assert page.content.count(SAID) == 1
    assert [note for note in page.notes if "could not" in note] == [
        "a transcript at 127.0.0.2 could not be read: unsafe_url",
        "a transcript at blocked.example could not be read: domain_not_allowed",
    ]


@pytest.mark.enable_socket
def test_credentials_go_to_no_other_origin(site, http):
    site.answers["/kelp"] = http(
        film(f"http://localhost:{site.url.rpartition(':')[2]}/c.vtt"),
        "200 OK",
        "Content-Type: text/html",
    )
    login = {site.url: Credentials(bearer="s3cret")}
    holes = [site.url, site.url.replace("127.0.0.1", "localhost")]
    with WebSearch(
        reader="direct",
        internal=holes,
        http=Http(credentials=login),
        read_options={"transcripts": "keep"},
    ) as web:
        assert SAID in web.read(f"{site.url}/kelp").content

    assert ["s3cret" in str(request) for request in site.requests] == [True, False]


@pytest.mark.enable_socket
def test_robots_txt_holds_for_transcripts(site, http):
    site.answers["/robots.txt"] = http(
        "User-agent: *\nDisallow: /c.vtt\n", "200 OK", "Content-Type: text/plain"
    )
    with WebSearch(
        reader="direct",
        internal=[site.url],
        robots=True,
        read_options={"transcripts": "keep"},
    ) as web:
        page = web.read(f"{site.url}/kelp")

    assert "/c.vtt" not in site.paths
    assert page.notes == (
        "a transcript at 127.0.0.1 could not be read: disallowed_by_robots",
    )


@pytest.mark.enable_socket
def test_a_transcript_of_any_length_is_cut(site, http):
    cue = "00:01.000 --> 00:03.000\nkelp\nalga\n\n"
    site.answers["/c.vtt"] = http(
        "WEBVTT\n\n" + cue * 9_000, "200 OK", "Content-Type: text/vtt"
    )
    settings = Settings(providers={"direct": {"max_bytes": 100_000}})
    with WebSearch(reader="direct", internal=[site.url], settings=settings) as web:
        page = web.read(f"{site.url}/kelp", transcripts="keep", max_length=10_000_000)

    assert 10_000 < len(page.content) < 50_000
    assert "kelp alga kelp" in page.content
