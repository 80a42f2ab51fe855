"""Hostile pages: each must be read in a few seconds. The limit is generous, for slow
machines.
"""

from __future__ import annotations
import sys
import time

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.whole import WHOLE
from websearch_core.models import Page
from websearch_core.reading import read_html
from websearch_core.reading._html import blocks
from websearch_core.reading._html.harden import harden

URL = "https://example.org/"
PROSE = "<p>The quick brown fox jumps over the lazy dog, and then it does it again for good measure.</p>"
ARTICLE = f"<article><h1>Real title</h1>{PROSE * 20}</article>"
SECONDS = 60 if WHOLE else 30


def read(html: str) -> Page:
    begin = time.thread_time()
    page = read_html(html.encode(), URL, "text/html")
    assert time.thread_time() - begin < SECONDS
    return page


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000 + ARTICLE,
        "<div>" * 100_000 + ARTICLE + "</div>" * 100_000,
        "<div><marquee>" * 50_000 + ARTICLE,
        "<div></span>" * 100_000 + ARTICLE,
        "<div/>" * 100_000 + ARTICLE,
        "<!-->" + "<div>" * 100_000 + ARTICLE,
        "<math>" + "<a>" * 100_000 + "</math>" + ARTICLE,
        "<span><object></span></object>" * 20_000 + ARTICLE,
        "<svg><style>" + "<x>" * 100_000 + "</style></svg>" + ARTICLE,
        ARTICLE + "<b>" * 100_000 + "x",
        ARTICLE + "<b><i></b>x" * 200_000,
        ARTICLE + "<a href=x>" * 50_000,
        ARTICLE + "<ul><li>x" * 5_000,
        ARTICLE + "<blockquote>x" * 5_000,
        ARTICLE + "<table><tr><td>x" * 3_000,
        ARTICLE + "<font><p>x" * 5_000,
        ARTICLE + "<svg><foreignObject><math><mi><p>" * 2_000,
        ARTICLE + "<select>" + "<option>x" * 100_000,
        ARTICLE + "<ol>" + "<li>x" * (50_000 if WHOLE else 12_500),
        ARTICLE + "<table>" + "<tr><td colspan=1000>a</td></tr>" * 10_000,
        f"<div {' '.join(f'a{i}=1' for i in range(1_000_000))}>{ARTICLE}</div>",
        f"<div {' '.join(f'a{i}={chr(39)}>{chr(39)}' for i in range(200_000))}>{ARTICLE}</div>",
        f"<div class='{'x y ' * 2_500_000}'>{ARTICLE}</div>",
        f"<script>{'var x=1;' * 1_000_000}</script>{ARTICLE}",
        ARTICLE + "<!--" + "x" * 5_000_000,
        ARTICLE + "<" * 5_000_000,
        ARTICLE + "<pre>" + " " * 400_000 + "x</pre>",
        ARTICLE + "<pre>" + "\n" * 1_000_000 + "x</pre>",
        ARTICLE + "<pre>" + "`" * 500_000 + "</pre>",
        ARTICLE + "<p>" + " " * 2_000_000 + "x",
        ARTICLE + "<p>" + "_*[](" * 300_000,
        ARTICLE + "<p>" + "&amp;&#x41;&lt;" * 200_000,
        ARTICLE.replace("fox", "f\x00ox") + "\x00" * 100_000,
        ARTICLE.replace("fox", "f\u200box") + "\U000e0041" * 1_000_000,
    ],
)
@pytest.mark.no_cover
def test_the_article_survives_hostile_markup(html: str) -> None:
    assert "quick brown fox" in read(html).content


@pytest.mark.parametrize(
    "html",
    [
        f"<article>{PROSE * 200_000}</article>",
        "<article><p>" + "word " * 2_000_000,
        "<p>" + "a" * 10 * 2**20,
        "<p>" + "a" * 2_000_001,
        "<p>" + "a\u200b" * 1_200_000,
        "<article><p>" + "<span>x</span> " * 300_000,
        "<article>" + "<h2>h</h2><p>text text text</p>" * 100_000,
        "<table>" + "<tr><td>a</td><td>b</td></tr>" * 80_000,
    ],
)
@pytest.mark.no_cover
def test_the_beginning_of_a_page_that_is_too_large_is_read(
    html: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not WHOLE:
        monkeypatch.setattr(blocks, "MAX_ELEMENTS", 25_000)  # a quarter of the time
    page = read(html)
    assert page.truncated
    assert 40_000 < page.content_length < 2_100_000
    assert "the page is larger than is read: this is its beginning" in page.notes


def test_structure_lost_to_deep_nesting_gives_a_note() -> None:
    note = "elements were nested too deeply: some structure is lost"
    assert note in read("<div>" * 3_000 + ARTICLE).notes
    assert note not in read("<div>" * 50 + ARTICLE).notes


def test_deep_nesting_keeps_the_structure_of_what_is_inside() -> None:
    assert "# Real title\n\nThe quick" in read("<div>" * 400 + ARTICLE).content


def test_a_caller_deep_in_its_own_stack_gets_the_whole_page() -> None:
    html = ("<main>" + "<div>" * 70 + PROSE * 20).encode()

    def deep(levels: int) -> Page:
        return deep(levels - 1) if levels else read_html(html, URL)

    frames, frame = 0, sys._getframe()
    while frame := frame.f_back:  # type: ignore[assignment]
        frames += 1
    page = deep(sys.getrecursionlimit() - frames - 150)
    assert "quick brown fox" in page.content
    assert page.notes == ()


def test_an_ordinary_page_is_not_changed() -> None:
    page = (
        "<ul>"
        + "<li><a class='x y' href=/x title='a > b'>word</a>\n" * 5_000
        + "</ul>"
        + "<p>x<br>" * 5_000
    )
    assert harden(page.encode()) == (page.encode(), False, False)


@pytest.mark.parametrize(
    "piece",
    [
        "<a ",
        "<a x='",
        '<a x="',
        "<a x",
        "<!--",
        "<script>",
        "</",
        "<a/b",
        "<a x=y",
        "<a b='c' ",
    ],
)
def test_hardening_takes_linear_time(piece: str) -> None:
    begin = time.thread_time()
    harden(piece.encode() * 300_000)
    assert time.thread_time() - begin < 60


@pytest.mark.parametrize("instruction", ["<?e ", "<?xml-stylesheet ", f"<?{'e' * 50}ï"])
def test_a_processing_instruction_does_not_crash_the_parser(instruction: str) -> None:
    for length in range(0, 300, 7):
        page = read(f"<p>before {instruction}{'ï' * length}< l=d<plaintext>after")
        assert "before" in page.content


def test_open_styles_do_not_multiply_with_the_paragraphs_after_them() -> None:
    """Without a limit, each paragraph would get all of them: 8 million elements from
    400 kB.
    """
    styles = "".join(f"<b id={n}>" for n in range(200))
    source = harden(f"<p>{styles}</p>{'<p>x</p>' * 40_000}".encode()).source
    assert len(LexborHTMLParser(source).css("b")) < 100_000


def test_the_parser_does_not_see_comments_scripts_and_styles() -> None:
    around = (
        "<!-- a --!><script>b</script><style>c</style><textarea>d</textarea><?e?>" * 100
    )
    source = harden(
        f"{around}<script type='application/ld+json'>{{}}</script>{ARTICLE}".encode()
    ).source
    kept = "<script></script><style></style><textarea></textarea>" * 100
    assert (
        source.decode()
        == f"{kept}<script type='application/ld+json'>{{}}</script>{ARTICLE}"
    )
