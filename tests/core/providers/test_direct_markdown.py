"""How the built-in reader asks for Markdown, and when it asks for HTML instead."""

from __future__ import annotations

import pytest

from tests.answers import drive
from websearch_core import WebSearch
from websearch_core._runtime.deadline import time_limit
from websearch_core._runtime.scope import WantedContent, scope
from websearch_core.errors import (
    AccessDenied,
    Blocked,
    NeedsBrowser,
    PageNotFound,
    RateLimited,
    TimedOut,
    Unavailable,
    UnsupportedContent,
)
from websearch_core.providers.direct import Direct
from websearch_core.settings import Settings
from websearch_core.testing import reply
from websearch_core.testing._play import Outcome

URL = "https://docs.example/guide/"
STORY = (
    "The north light burns with a range of nineteen miles, and its keeper lives beside it. "
    * 3
)
HTML = f"<html><head><title>Lights</title></head><body><main><h1>Lights</h1><p>{STORY}</p></main></body></html>"
MARKDOWN = f"---\ntitle: Lights\n---\n\n# Lights\n\n{STORY}"
APP = "<div id=root></div><script src=/app.js></script>"


def markdown(text=MARKDOWN, status=200):
    return reply(
        text, status, content_type="text/markdown; charset=utf-8", vary="accept"
    )


def play(flow, *answers):
    """Run *flow* with these answers to its requests, and everything else as it is."""
    page, requests = drive(flow, *answers)
    return Outcome(page, tuple(requests))


def accepts(outcome):
    return [request.headers["Accept"] for request in outcome.requests]


def test_markdown_is_asked_for_first_and_html_is_as_welcome_as_before():
    outcome = play(Direct().read(URL), reply(HTML))

    [accept] = accepts(outcome)
    assert accept.startswith(
        "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, "
    )
    assert accept.endswith(", */*;q=0.5")
    assert outcome.result.media_type == "text/html"
    assert outcome.result.notes == ()


def test_markdown_that_says_something_is_taken():
    outcome = play(Direct().read(URL), markdown())

    assert len(outcome.requests) == 1
    assert (outcome.result.media_type, outcome.result.title) == (
        "text/markdown",
        "Lights",
    )
    assert outcome.result.content == f"# Lights\n\n{STORY}"
    assert outcome.result.notes == ()


def test_it_need_not_be_asked_for():
    outcome = play(Direct(prefer_markdown=False).read(URL), reply(HTML))

    assert "markdown" not in accepts(outcome)[0]


STUBS = {
    "": "is empty",
    "---\ntitle: Lights\ndescription: all of them\n---\n": "is empty",
    "You need to enable JavaScript to run this app.": "asks for scripts",
    "# Lights\n\nPlease enable JavaScript and cookies in your browser to view this page properly.": "asks for scripts",
    "# Welcome back\n\nSign in to continue to Harbor Keys. New here? Register with your e-mail.": "asks to sign in",
    "# Lights\n\nDieser Artikel ist nur für Abonnenten. Bitte melden Sie sich an, um weiterzulesen.": "asks to sign in",
    "# Connexion\n\nConnectez-vous pour lire la suite de cet article de notre édition.": "asks to sign in",
    "# ログイン\n\nこのページを表示するにはログインしてください。": "asks to sign in",
    "# 404\n\nThe page that you are looking for has moved or never was. Try the search.": "reports an error",
    "# Page not found\n\nWe could not find it. Go [home](/) or use the search in the menu above.": "reports an error",
    "Something went wrong. Our engineers have been told, please come back in a few minutes.": "reports an error",
    '{"error": {"code": "render_failed", "message": "The page could not be converted to Markdown"}}': "reports an error",
    "# Lights\n\n[Home](https://docs.example/a/long/address/of/a/page)": "says next to nothing",
    "Checking your browser before accessing docs.example, this takes some seconds.": "is a challenge against robots",
}


@pytest.mark.parametrize("text", STUBS)
def test_a_stub_is_not_taken_and_html_is_asked_for(text):
    outcome = play(Direct().read(URL), markdown(text), reply(HTML))

    assert len(outcome.requests) == 2
    assert "markdown" not in accepts(outcome)[1]
    assert [request for request in outcome.requests if not request.guarded] == []
    assert "nineteen miles" in outcome.result.content
    assert outcome.result.notes == (
        f"the Markdown that the site offers {STUBS[text]}: this is its HTML",
    )


@pytest.mark.parametrize(
    "text",
    [
        "# Release 5\n\nHotfix for the broken timetable, and new colours for the line to Norrholm.",
        "北灯塔的光可以照到十九海里以外，守塔人住在塔旁边的小屋里。",
        f"# Sign in to your account\n\n{STORY * 3}",
        f"# 404\n\n{STORY * 3}",
        f"JavaScript must be enabled to use the map.\n\n{STORY * 3}",
        f"# Errors\n\nError 404 means that the page is missing. {STORY}",
    ],
)
def test_a_short_page_and_a_page_about_such_things_are_taken(text):
    assert len(play(Direct().read(URL), markdown(text)).requests) == 1


def test_a_file_of_markdown_is_what_it_is():
    outcome = play(Direct().read("https://raw.example/README.md"), markdown("# Kelp"))

    assert (len(outcome.requests), outcome.result.content) == (1, "# Kelp")


def test_html_that_calls_itself_markdown_is_read_without_another_request():
    outcome = play(Direct().read(URL), markdown(f"<!doctype html>{HTML}"))

    assert (len(outcome.requests), outcome.result.media_type) == (1, "text/html")


def test_html_that_calls_itself_markdown_and_says_nothing_is_asked_for_again():
    outcome = play(Direct().read(URL), markdown(f"<!doctype html>{APP}"), reply(HTML))

    assert "nineteen miles" in outcome.result.content
    assert outcome.result.notes == (
        "the Markdown that the site offers cannot be read: this is its HTML",
    )


@pytest.mark.parametrize("status", [406, 415])
def test_a_server_that_refuses_the_preference_is_asked_for_html(status):
    outcome = play(Direct().read(URL), reply("Not Acceptable", status), reply(HTML))

    assert (len(outcome.requests), outcome.result.notes) == (2, ())


@pytest.mark.parametrize("status", [404, 500, 502])
def test_an_error_of_the_markdown_alone_is_not_that_of_the_page(status):
    assert (
        "nineteen"
        in play(
            Direct().read(URL), markdown("# Oops", status), reply(HTML)
        ).result.content
    )


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, AccessDenied),
        (402, AccessDenied),
        (403, Blocked),
        (410, PageNotFound),
        (429, RateLimited),
    ],
)
def test_what_holds_for_the_page_in_any_format_is_not_asked_again(status, error):
    with pytest.raises(error):
        play(Direct().read(URL), markdown("# Oops", status))


@pytest.mark.parametrize(("status", "error"), [(404, PageNotFound), (503, Unavailable)])
def test_an_error_in_html_ends_the_read(status, error):
    with pytest.raises(error):
        play(Direct().read(URL), reply(HTML, status))


def test_the_error_of_the_html_counts():
    with pytest.raises(NeedsBrowser):
        play(Direct().read(URL), markdown("Please log in."), reply(APP))
    with pytest.raises(UnsupportedContent):
        play(Direct().read(URL), markdown(""), reply(""))


def test_little_is_better_than_nothing():
    page = play(
        Direct().read(URL), markdown("# Status\n\nAll lights burn."), reply(APP)
    ).result

    assert page.content == "# Status\n\nAll lights burn."


def test_a_server_that_knows_only_markdown_is_believed():
    outcome = play(Direct().read(URL), markdown("# Kelp"), markdown("# Kelp"))

    assert (len(outcome.requests), outcome.result.content, outcome.result.notes) == (
        2,
        "# Kelp",
        (),
    )


def test_a_redirect_to_the_markdown_is_followed_and_named():
    outcome = play(Direct().read(URL), reply("", 302, location="index.md"), markdown())

    assert outcome.result.final_url == "https://docs.example/guide/index.md"
    assert accepts(outcome)[0] == accepts(outcome)[1]


def test_a_crawl_asks_for_html_because_it_needs_the_menus():
    with scope(content=WantedContent(menus=True)):
        outcome = play(Direct().read(URL), reply(HTML))

    assert "markdown" not in accepts(outcome)[0]


@pytest.mark.enable_socket
def test_a_site_that_negotiates_is_read_as_markdown(server, http):
    def answer(connection):
        wants = server.requests[-1][1]["accept"].startswith("text/markdown")
        body, kind = (MARKDOWN, "text/markdown") if wants else (HTML, "text/html")
        connection.sendall(
            http(
                body,
                "200 OK",
                f"Content-Type: {kind}",
                "Vary: Accept",
                "Connection: close",
            )
        )

    server.answers["/guide/"] = answer
    with WebSearch(reader="direct", internal=[server.url], cache=True) as web:
        first, again = (
            web.read(f"{server.url}/guide/"),
            web.read(f"{server.url}/guide/"),
        )
    with WebSearch(
        reader="direct",
        internal=[server.url],
        cache=True,
        settings=Settings.load(providers={"direct": {"prefer_markdown": False}}),
    ) as web:
        other = web.read(f"{server.url}/guide/")

    assert (first.media_type, again.content, other.media_type) == (
        "text/markdown",
        first.content,
        "text/html",
    )
    assert len(server.requests) == 2


def page(
    *links,
    body=f"<main><h1>Lights</h1><p>{STORY}</p></main><nav><a href=/menu>Menu</a></nav>",
):
    facts = '<meta name="author" content="Ines Brandvold"><meta property="og:type" content="article"><title>Lights of the north</title>'
    return f"<html><head>{facts}{''.join(links)}</head><body>{body}</body></html>"


ALTERNATE = '<link rel="alternate" type="text/markdown" href="index.md">'
FOLLOWING = Direct(follow_alternates=True)
LONGER = f"# Lights\n\n{STORY}\n\nSee the [south light](../south/).\n"
NOT_USED = "the Markdown that the page names could not be used: this is its HTML"


def test_an_alternate_is_not_followed_unless_asked_for():
    assert len(play(Direct().read(URL), reply(page(ALTERNATE))).requests) == 1


@pytest.mark.parametrize(
    ("html", "header"),
    [
        (page(ALTERNATE), ""),
        (
            page(
                "<LINK REL='Nofollow ALTERNATE' TYPE='text/markdown; charset=utf-8' HREF=/guide/index.md>"
            ),
            "",
        ),
        (page('<link rel=alternate type="text/x-markdown" href=index.md>'), ""),
        (
            page(),
            '</feed>; rel="alternate"; type="application/rss+xml", <index.md>; rel=alternate; type="text/markdown"',
        ),
        (
            page(),
            '<index.md>; type=text/markdown; rel="canonical alternate"; title="a, \\"b\\" <c>"',
        ),
        (page("<!-- " + ALTERNATE.replace("index", "old") + " -->", ALTERNATE), ""),
    ],
)
def test_an_alternate_is_followed_with_the_facts_and_menus_of_its_page(html, header):
    outcome = play(
        FOLLOWING.read(URL),
        reply(html, link=header) if header else reply(html),
        markdown(LONGER),
    )

    assert [request.url for request in outcome.requests] == [
        URL,
        "https://docs.example/guide/index.md",
    ]
    assert [request for request in outcome.requests if not request.guarded] == []
    page = outcome.result
    assert (page.media_type, page.url, page.final_url) == ("text/markdown", URL, URL)
    assert (page.title, page.author) == ("Lights of the north", "Ines Brandvold")
    assert page.links == ("https://docs.example/menu",)
    assert "[south light](https://docs.example/south/)" in page.content
    assert page.notes == ("this is the Markdown that the page names as its alternate",)


@pytest.mark.parametrize(
    "link",
    [
        '<link rel="alternate" type="text/markdown" href="https://other.example/guide.md">',
        '<link rel="alternate" type="text/markdown" href="http://docs.example/guide.md">',
        '<link rel="alternate" type="text/markdown" href="https://docs.example:8443/guide.md">',
        '<link rel="alternate" type="text/markdown" href="javascript:alert(1)">',
        '<link rel="alternate" type="text/markdown" href="/llms.txt" title="for models">',
        '<link rel="alternate" type="text/markdown" href="/llms-full.txt">',
        f'<link rel="alternate" type="text/markdown" href="{URL}">',
        '<link rel="alternate" type="application/rss+xml" href="/feed.xml">',
        '<link rel="describedby" type="text/markdown" href="/about.md">',
        "<p>markdown</p>",
    ],
)
def test_what_is_no_alternate_of_this_page_at_its_origin_is_not_fetched(link):
    outcome = play(FOLLOWING.read(URL), reply(page(link)))

    assert (len(outcome.requests), outcome.result.notes) == (1, ())


@pytest.mark.parametrize(
    "answer",
    [
        markdown("# Not here", 404),
        markdown("# Oops", 500),
        markdown("Please log in to read this page."),
        markdown("# Lights\n\n"),
        markdown(
            "# Harbour\n\nEverything about ferries, tickets, timetables, museums and opening hours. "
            * 9
        ),
        reply(page()),
        reply("", 302, location="https://other.example/guide.md"),
        reply(b"%PDF-1.7", content_type="application/pdf"),
        Unavailable("no answer"),
    ],
    ids=str,
)
def test_the_html_is_the_page_if_the_alternate_fails_or_says_something_else(answer):
    outcome = play(FOLLOWING.read(URL), reply(page(ALTERNATE)), answer)

    assert outcome.result.media_type == "text/html"
    assert outcome.result.notes == (NOT_USED,)


@pytest.mark.parametrize(
    "location", ["/guide/v2.md", "http://docs.example/guide/v2.md"]
)
def test_an_alternate_may_redirect_within_its_origin(location):
    answers = (
        reply(page(ALTERNATE)),
        reply("", 302, location=location),
        markdown(),
    )

    assert play(FOLLOWING.read(URL), *answers).result.media_type == "text/markdown"


def test_an_alternate_that_is_sent_as_plain_text_is_markdown_too():
    link = ALTERNATE.replace("index.md", "?as=text")
    answers = reply(page(link)), reply(LONGER, content_type="Text/Plain; charset=utf-8")

    assert (
        "[south light](https://docs.example/south/)"
        in play(FOLLOWING.read(URL), *answers).result.content
    )


def test_an_alternate_says_what_the_scripts_of_the_page_would_show():
    outcome = play(FOLLOWING.read(URL), reply(page(ALTERNATE, body=APP)), markdown())

    assert "nineteen miles" in outcome.result.content
    with pytest.raises(NeedsBrowser):
        play(
            FOLLOWING.read(URL),
            reply(page(ALTERNATE, body=APP)),
            markdown("Please log in."),
        )


def test_a_challenge_is_not_evaded():
    challenge = "<title>Just a moment...</title><script>_cf_chl_opt={}</script>"
    with pytest.raises(Blocked):
        play(FOLLOWING.read(URL), reply(page(ALTERNATE, challenge, body="")))


def test_an_alternate_that_hangs_leaves_time_for_the_page():
    with time_limit(0.2):
        outcome = play(
            FOLLOWING.read(URL),
            reply(page(ALTERNATE)),
            TimedOut("no answer within the time allowed"),
        )

    assert outcome.result.notes == (NOT_USED,)


@pytest.mark.parametrize(
    "header", ["<" * 5_000, "<a>;" * 2_000, '<a>; rel="' + "\\" * 7_000, "; " * 4_000]
)
def test_a_hostile_header_names_nothing(header):
    assert len(play(FOLLOWING.read(URL), reply(page(), link=header)).requests) == 1
