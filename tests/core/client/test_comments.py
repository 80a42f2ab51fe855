"""What a call wants of pages: `comments` and `reviews` of `read`, of `WebSearch`, of
the settings and of `direct`.
"""

from __future__ import annotations
import asyncio

import pytest
from typer.testing import CliRunner

from websearch_core import WebSearch
from websearch_core._cli.app import app
from websearch_core.errors import ConfigurationError, InvalidOption
from websearch_core.provider import from_function
from websearch_core.settings import Settings

STORY = "".join(
    f"<p>Paragraph {n} of a long report on the lights of the north and who keeps them.</p>"
    for n in range(9)
)
SAID = (
    "I kept the light for thirty winters, and this report has it the wrong way round."
)
PAGE = f"<title>Lights</title><main><h1>Lights</h1>{STORY}<div class=comments><p>{SAID}</p><p>{SAID[::-1]}</p></div></main>"


@pytest.fixture
def url(server, http):
    server.answers["/lights"] = http(PAGE, "200 OK", "Content-Type: text/html")
    return f"{server.url}/lights"


def make(url, **arguments):
    return WebSearch(reader="direct", internal=[url.rpartition("/")[0]], **arguments)


@pytest.mark.enable_socket
def test_a_call_says_what_it_wants(url):
    with make(url) as web:
        assert SAID not in web.read(url, comments="drop").content
        assert SAID in web.read(url, comments="keep").content
        assert SAID not in asyncio.run(web.aread(url, comments="drop")).content
        assert [
            SAID in page.content for page in web.read_many([url], comments="keep")
        ] == [True]


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    "arguments",
    [
        {"read_options": {"comments": "drop"}},
        {"settings": Settings(read_options={"comments": "drop"})},
        {"settings": Settings(providers={"direct": {"comments": "drop"}})},
        {
            "settings": Settings(
                providers={"direct": {"comments": "keep"}},
                read_options={"comments": "drop"},
            )
        },
    ],
    ids=str,
)
def test_a_call_wins_over_websearch_and_that_over_the_reader(url, arguments):
    with make(url, **arguments) as web:
        assert SAID not in web.read(url).content
        assert SAID in web.read(url, comments="keep").content


@pytest.mark.enable_socket
def test_the_environment_sets_it(url, monkeypatch):
    monkeypatch.setenv("WEB_SEARCH_COMMENTS", "drop")
    with make(url) as web:
        assert SAID not in web.read(url).content


@pytest.mark.enable_socket
def test_pages_with_and_without_are_kept_apart(url, server):
    with make(url, cache=True) as web:
        wanted = [
            SAID in web.read(url, comments=choice).content
            for choice in ("keep", "drop", "keep", "drop")
        ]

    assert wanted == [True, False, True, False]
    assert server.paths == ["/lights"] * 2


@pytest.mark.enable_socket
def test_calls_at_the_same_time_are_kept_apart(url):
    async def both(web):
        return await asyncio.gather(
            web.aread(url, comments="keep"), web.aread(url, comments="drop")
        )

    with make(url) as web:
        kept, dropped = asyncio.run(both(web))
    assert (SAID in kept.content, SAID in dropped.content) == (True, False)


@pytest.mark.enable_socket
def test_the_command_line_takes_it(url):
    for choice in ("keep", "drop"):
        run = CliRunner().invoke(
            app,
            ["read", url, "--comments", choice, "--internal", url.rpartition("/")[0]],
        )

        assert run.exit_code == 0
        assert (SAID in run.output.replace("\n", " ")) is (choice == "keep")


def test_a_wrong_choice_is_an_error():
    with pytest.raises(
        InvalidOption, match="comments: must be drop or keep, not 'none'"
    ):
        WebSearch().read("https://page.example/", comments="none")
    with pytest.raises(ConfigurationError, match="reviews"):
        WebSearch(read_options={"reviews": "all"})


def test_a_reader_that_cannot_choose_says_so():
    web = WebSearch(
        reader=from_function("shelf", read=lambda _: "# Lights\n\nNorth and south.")
    )

    assert web.read("https://page.example/").notes == ()
    assert web.read("https://page.example/", comments="drop").notes == (
        "shelf cannot choose comments: they are as it returned them",
    )
