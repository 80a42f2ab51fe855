"""A chain of readers goes on when a page cannot be read without a browser."""

from __future__ import annotations
import asyncio

import pytest

from websearch_core import WebSearch
from websearch_core.errors import NeedsBrowser
from websearch_core.models import Page
from websearch_core.provider import from_function
from websearch_core.provider._obstacles import needs_scripts

pytestmark = pytest.mark.enable_socket

SHELL = b"<div id=root></div><script src=/app.js></script>"
CHALLENGE = b"<title>Just a moment...</title><script>_cf_chl_opt={}</script>"


def browser(url):
    return Page(
        url=url, final_url=url, title="Atlas", content="What the scripts wrote."
    )


@pytest.mark.parametrize(
    ("body", "code"), [(SHELL, "needs_browser"), (CHALLENGE, "blocked")]
)
def test_the_next_reader_is_asked(server, http, body, code):
    server.answers["/app"] = http(body, "200 OK", "Content-Type: text/html")
    rendering = from_function("rendering", read=browser, internal=["127.0.0.0/8"])
    with WebSearch(
        "duckduckgo", reader=["direct", rendering], internal=["127.0.0.0/8"]
    ) as web:
        page = web.read(f"{server.url}/app")
        same = asyncio.run(web.aread(f"{server.url}/app"))

    assert page.content == same.content == "What the scripts wrote."
    assert page.notes == (f"direct failed ({code}); answered by rendering",)


def test_no_third_party_is_asked_unless_it_is_named(server, http):
    server.answers["/app"] = http(SHELL, "200 OK", "Content-Type: text/html")
    with (
        WebSearch("duckduckgo", internal=[server.url]) as web,
        pytest.raises(NeedsBrowser),
    ):
        web.read(f"{server.url}/app")


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("[](/a) [](/b)", True),
        ("[Home](/a) Brown algae of the northern seas", False),
        (f"[Please enable JavaScript]({'/a' * 5_000})", True),
        (f"Please enable JavaScript. [Why?]({'/a' * 5_000})", True),
        ("a" * 200_000, False),
    ],
    ids=[
        "links without words",
        "a menu",
        "a long target",
        "a long target after text",
        "a long text",
    ],
)
def test_the_words_of_links_count_and_their_targets_do_not(text, needs):
    assert needs_scripts(text, b"<script></script>") is needs


SCRIPT = "<script>run()</script>"


@pytest.mark.parametrize(
    ("text", "body", "needs"),
    [
        (
            "OverviewInstallFAQ",
            "<div><a>Overview</a><a>Install</a><a>FAQ</a></div>",
            True,
        ),
        (
            "TimesPrices",
            "<button>Times</button><button>Prices</button><div id=p></div>",
            True,
        ),
        ("# All crossings", "<h1>All crossings</h1><ul id=list></ul>", True),
        (
            "# Help\n\nHome Contact",
            "<header><nav>Home</nav></header><h1>Help</h1><footer>Contact</footer>",
            True,
        ),
        (
            " ".join(
                f"[Pier {letter}](/{letter})"
                for letter in "abcdefghijklmnopqrstuvwxyzABCD"
            ),
            "<div>" + "<a>Pier</a>" * 30 + "</div><div id=content></div>",
            True,
        ),
        (
            "OverviewInstallFAQ",
            "<div><span>Overview</span><span>Install</span><span>FAQ</span></div>",
            True,
        ),
        ("Harbour of Norrholm", "<div>Harbour of Norrholm</div>", True),
        (
            "# Crossings\n\nAll of them.",
            "<h1>Crossings</h1><p>All of them.</p><ul id=a>\n<!-- 1 --></ul>",
            True,
        ),
        (
            "# Crossings\n\nAll of them.",
            "<h1>Crossings</h1><p>All of them.</p><table><tbody></tbody></table>",
            True,
        ),
        (
            "Loading the timetable, one moment please",
            "<p>Loading the timetable, one moment please</p>",
            True,
        ),
        (
            "Please wait while we fetch all times",
            "<p>Please wait while we fetch all times</p>",
            True,
        ),
        ("# Help\n\nCall us.", "<h1>Help</h1><p>Call us.</p>", False),
        (
            "Harbour of Norrholm, pier 7",
            "<div>Harbour of Norrholm, pier 7</div>",
            False,
        ),
        (
            "[Ferry to Norrholm](/a) leaves from the inner pier, and carries forty people and their bicycles on deck, all year",
            "<p><a>Ferry to Norrholm</a> leaves from the inner pier, and carries forty people</p><ul></ul>",
            False,
        ),
        (
            " ".join(f"[Ferry of the north](/{letter})" for letter in "abcdefgh"),
            "<p>" + "<a>Ferry of the north</a>" * 8 + "</p>",
            False,
        ),
        ("# Kelp\n\n- Price: 12", "<h1>Other</h1>", False),
        (
            "# " + "a long heading " * 60,
            "<h1>" + "a long heading " * 60 + "</h1>",
            False,
        ),
    ],
)
def test_headings_and_controls_alone_are_a_shell_if_there_are_scripts(
    text, body, needs
):
    assert needs_scripts(text, f"{body}{SCRIPT}".encode()) is needs
    assert needs_scripts(text, body.encode()) is False


def test_a_few_words_beside_the_empty_element_that_scripts_fill_are_a_shell():
    words, empty = "Acme keeps your notes.", '<div id="root"></div>'

    assert needs_scripts(words, f"<p>{words}</p>{empty}{SCRIPT}".encode())
    assert not needs_scripts(words, f"<p>{words}</p>{SCRIPT}".encode())


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        (
            "## We value your privacy\n\nWe and our 834 partners store cookies.\n\nAccept allReject all",
            True,
        ),
        (
            "Wir verwenden Cookies, um Inhalte zu zeigen.\n\nAlle akzeptieren\n\nAblehnen",
            True,
        ),
        ("Cookies keep their crunch in a tin for a week.", False),
        (
            "The harbour asks every captain for the ship's papers and her last port. Its privacy officer may accept.",
            False,
        ),
        (
            "We set no cookies. If you write to us, we keep your letter until all of us agree.",
            False,
        ),
        (
            "Our privacy policy. "
            + "The harbour keeps the names of ships. " * 10
            + "Accept all",
            False,
        ),
    ],
    ids=[
        "a wall",
        "a German one",
        "about biscuits",
        "content first",
        "a sentence",
        "a long text",
    ],
)
def test_a_consent_wall_alone_is_a_shell_if_there_are_scripts(text, needs):
    body = f"<div><p>{text}</p><button>Accept all</button></div>"

    assert needs_scripts(text, f"{body}{SCRIPT}".encode()) is needs
    assert needs_scripts(text, body.encode()) is False


def test_what_a_route_names_only_scripts_can_show():
    page = b"<h1>Home</h1><p>Welcome to the harbour.</p>"

    assert needs_scripts(
        "# Home\n\nWelcome to the harbour.", page + SCRIPT.encode(), "#/b"
    )
    assert not needs_scripts("# Home\n\nWelcome to the harbour.", page, "#/b")


def test_a_few_words_around_an_empty_main_part_are_not_the_page():
    said = "The ferry to the northern islands leaves twice a day from the harbour of the old town."

    assert needs_scripts(
        said, f"<p>{said}</p><main></main><script src=a.js></script>".encode()
    )
    assert not needs_scripts(
        said, f"<p>{said}</p><main>Tickets</main><script src=a.js></script>".encode()
    )
