"""Hostile pages: each must be read in a few seconds. The limit is generous, for slow
machines.
"""

from __future__ import annotations
import sys

import pytest
from selectolax.lexbor import LexborHTMLParser

from websearch_core.models import Page
from websearch_core.reading import read_html
from websearch_core.reading._html.harden import harden

URL = "https://example.org/"
PROSE = "<p>The quick brown fox jumps over the lazy dog, and then it does it again for good measure.</p>"
ARTICLE = f"<article><h1>Real title</h1>{PROSE * 20}</article>"


def read(html: str) -> Page:
    return read_html(html.encode(), URL, "text/html")


def test_structure_lost_to_deep_nesting_gives_a_note() -> None:
    note = "elements were nested too deeply: some structure is lost"
    assert note in read("<div>" * 3_000 + ARTICLE).notes
    assert note not in read("<div>" * 50 + ARTICLE).notes


def test_deep_nesting_keeps_the_structure_of_what_is_inside() -> None:
    assert "# Real title\n\nThe quick" in read("<div>" * 400 + ARTICLE).content


@pytest.mark.parametrize(
    "control",
    ["<details><summary>s</summary>", "<div id=b><a role=tab aria-controls=b>s</a>"],
)
@pytest.mark.parametrize("levels", [130, 250, 500])
def test_controls_that_are_nested_too_deeply_are_read(
    control: str, levels: int
) -> None:
    page = read_html(f"<h1>Kelp</h1>{control * levels}<p>Kelp grows.</p>".encode(), URL)

    assert "Kelp grows." in page.content


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
