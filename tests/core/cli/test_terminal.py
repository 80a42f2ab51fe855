"""What a person sees on a terminal."""

from __future__ import annotations
import io
import re
import sys
from datetime import UTC, datetime

import pytest

from websearch_core._cli import output
from websearch_core.errors import MissingKey
from websearch_core.models import Image, Page, SearchResponse, SearchResult

ESCAPE = re.compile("\x1b\\[[0-9;]*m|\x1b\\]8;[^\x1b]*\x1b\\\\")
LONG = "https://docs.example/" + "a-very-long-path/" * 12


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def screen(monkeypatch):
    """Return a function that shows something on a terminal of a width, and returns what
    was written.
    """
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")

    def show(print_it, *arguments, width=80, stream="stdout"):
        written = Terminal()
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setattr(sys, stream, written)
        print_it(*arguments)
        return written.getvalue()

    return show


def plain(text):
    return ESCAPE.sub("", text)


def result(number=1, **fields):
    return SearchResult(
        title="Kelp", url="https://sea.example/", citation_id=number, **fields
    )


@pytest.mark.parametrize("width", [40, 80, 200])
def test_prose_is_wrapped_between_words(screen, width):
    words = (
        "Most businesses schedule their rotations quarterly and acknowledge them afterwards. "
        * 8
    )
    found = SearchResponse(query="x", results=(result(snippet=words),))

    shown = plain(screen(output.print_response, found, "text", width=width))

    assert max(map(len, shown.splitlines())) <= min(width, 100)
    assert " ".join(shown.split()).endswith(words.strip())


def test_a_long_url_stays_on_a_line_of_its_own(screen):
    found = SearchResponse(
        query="x", results=(result().model_copy(update={"url": LONG}),)
    )

    assert (
        f"   {LONG}" in plain(screen(output.print_response, found, "text")).splitlines()
    )


def test_wide_characters_count_as_two_columns(screen):
    from rich.cells import cell_len

    found = SearchResponse(
        query="x", results=(result(snippet="鍵を停止時間なしで更新するには、" * 12),)
    )

    lines = plain(screen(output.print_response, found, "text", width=60)).splitlines()
    assert len(lines) > 5
    assert max(map(cell_len, lines)) <= 60


def test_a_response_shows_everything_that_it_has(screen):
    found = SearchResponse(
        query="kelp",
        answer="An **alga**.",
        results=(
            result(
                author="Ann",
                published=datetime(2026, 2, 3, tzinfo=UTC),
                snippet="[red]brown[/red]",
            ),
            result(2, content="# Kelp\n\n- *brown*"),
        ),
        images=(
            Image(url="https://sea.example/kelp.png", description="A forest of kelp"),
        ),
        suggestions=("dulse",),
        notes=("bing did not answer",),
    )

    shown = plain(screen(output.print_response, found, "text"))

    for part in (
        "Answer\nAn alga.", "1. Kelp\n   https://sea.example/\n   Ann · 2026-02-03\n   [red]brown[/red]", "2. Kelp",
        " • brown", "A forest of kelp", "https://sea.example/kelp.png", "Try also: dulse", "Note: bing did not answer",
    ):  # fmt: skip
        assert part in re.sub(" +\n", "\n", shown)


def test_no_results_say_what_was_searched_for(screen):
    assert plain(
        screen(output.print_response, SearchResponse(query="zeppelin"), "text")
    ) == ("No results found for: zeppelin\n")


def test_a_title_that_is_the_url_is_shown_once(screen):
    found = SearchResponse(
        query="x",
        results=(result().model_copy(update={"title": "https://sea.example/"}),),
    )

    assert (
        plain(screen(output.print_response, found, "text")).splitlines()[0]
        == "1. https://sea.example/"
    )


def test_a_page_shows_its_facts_its_text_and_where_it_goes_on(screen):
    page = Page(
        url="https://sea.example/",
        title="Kelp",
        author="Ann",
        content="# Kelp\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nprint(1)\n```",
        content_length=60,
        original_length=4_000,
        next_offset=60,
        truncated=True,
        notes=("left out hidden text",),
    )

    shown = plain(screen(output.print_pages, [page], "text"))

    assert shown.startswith("https://sea.example/\nAnn\n\nKelp")
    for part in (
        "print(1)",
        "─",
        "Note: left out hidden text",
        "Characters 0 to 60 of 4,000; read on with --offset 60.",
    ):
        assert part in shown
    assert "```" not in shown


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_nothing_from_the_web_controls_the_terminal(screen, form):
    evil = "Kelp\x1b[31m\x07\x9b2J\u202egnp\x1b]0;title\x07"
    found = SearchResponse(
        query=evil,
        answer=evil,
        results=(
            SearchResult(
                title=evil,
                url="https://sea.example/\x1b[2J",
                snippet=evil,
                citation_id=1,
                author=evil,
            ),
            SearchResult(
                title=evil, url="javascript:alert(1)", content=evil, citation_id=2
            ),
        ),
        images=(Image(url=f"https://a.example/{evil}", description=evil),),
        suggestions=(evil,),
        notes=(evil,),
    )
    page = Page(
        url=f"https://sea.example/{evil}",
        title=evil,
        author=evil,
        content=evil,
        notes=(evil,),
    )

    for shown in (
        screen(output.print_response, found, form),
        screen(output.print_pages, [page], form),
    ):
        assert not set(plain(shown)) & set("\x1b\x07\x9b\u202e")
        assert "\x1b]0;" not in shown
        assert "\x1b]8;;javascript" not in shown


def test_a_link_cannot_end_the_sequence_that_it_is_in(screen):
    page = Page(
        url="https://sea.example/", content="[kelp](https://sea.example/\x1b\\\x1b[2J)"
    )

    assert "\x1b[2J" not in screen(output.print_pages, [page], "text")


def test_no_color_is_honoured(screen, monkeypatch):
    found = SearchResponse(query="x", results=(result(snippet="brown"),), notes=("n",))
    assert "\x1b[36m" in screen(output.print_response, found, "text")

    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(
        "\x1b\\[[0-9;]*3[0-7]m", screen(output.print_response, found, "text")
    )


def test_a_file_gets_plain_lines(capsys):
    output.print_response(
        SearchResponse(query="x", results=(result(snippet="brown " * 60),)), "text"
    )

    first, second = capsys.readouterr().out.splitlines()
    assert first == "1. Kelp — https://sea.example/"
    assert len(second) > 300


def test_an_error_is_wrapped_and_its_code_is_red(screen):
    shown = screen(
        output._print_error, MissingKey("set the variable " * 12), stream="stderr"
    )

    assert "\x1b[1;31mERROR [missing_key]\x1b[0m" in shown
    assert max(map(len, plain(shown).splitlines())) <= 80


def test_indexing_a_site_shows_a_bar_and_a_long_name_by_its_end(screen):
    def work():
        with output.show_progress("Indexing https://sea.example/", 200) as step:
            step("https://sea.example/" + "x" * 300 + "/the-end\x1b[2J")

    shown = screen(work, width=120, stream="stderr")

    assert "1/200" in shown
    assert "the-end" in shown
    assert "x" * 100 not in shown
    assert "\x1b[2J\x1b" not in shown


def test_a_table_wraps_its_cells_and_drops_nothing(screen):
    path = "/home/kelp/" + "folder/" * 20

    shown = plain(
        screen(output.print_table, ("provider", "state"), [("local", path)], width=60)
    )

    assert path in "".join(line[10:].strip() for line in shown.splitlines()[1:])


def test_the_further_lines_of_a_row_stand_below_its_first(screen):
    shown = plain(
        screen(
            output.print_rows,
            [("state", "ready " * 30), ("key", ""), ("free", "yes")],
            width=60,
        )
    )

    lines = shown.splitlines()
    assert lines[0].startswith("state  ready")
    assert lines[1].startswith("       ready")
    assert lines[-1] == "free   yes"


def test_a_file_gets_the_images_too(capsys):
    image = Image(
        url="https://sea.example/kelp.png", description="A forest\nof kelp\x1b[31m"
    )

    output.print_response(SearchResponse(query="x", images=(image,)), "text")

    assert capsys.readouterr().out.splitlines()[-1] == (
        "Image: A forest of kelp\\x1b[31m — https://sea.example/kelp.png"
    )


def test_a_table_keeps_short_cells_whole_at_eighty_columns(screen):
    rows = [
        (
            "semanticscholar",
            "yes",
            "no",
            "bad_response",
            "check base_url; if it is right, the service has changed. " * 2,
        )
    ]
    columns = ("provider", "configured", "reachable", "answers", "what to do")
    shown = plain(screen(output.print_table, columns, rows))

    assert max(map(len, shown.splitlines())) <= 80
    for word in (*columns[:4], *rows[0][:4], *rows[0][4].split()):
        assert word in shown
