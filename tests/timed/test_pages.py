"""What hostile pages cost. The limits are generous, for slow machines."""

from __future__ import annotations

import pytest

from tests.core.reading.excerpt.test_passages import (
    MANUAL,
    find_phrase,
    pick_passages,
    whole,
)
from tests.core.reading.html.test_metadata import ARTICLE as DATA
from tests.core.reading.html.test_metadata import TRAIL, linked, meta
from tests.core.reading.html.test_page_data import HOSTILE
from tests.core.reading.html.test_page_data import read as read_data
from tests.core.reading.markdown.test_writer import tree, write
from tests.core.reading.test_hostile import ARTICLE, PROSE
from tests.timed.cost import check_cost, check_ratio
from tests.whole import WHOLE
from websearch_core.reading import read_html
from websearch_core.reading._html import blocks
from websearch_core.reading._html.harden import harden

URL = "https://example.org/"
SECONDS = 60 if WHOLE else 30


@pytest.mark.parametrize(
    "html",
    [
        "<title>Kelp</title>"
        + meta(og__title="Forests grow back")
        + TRAIL
        + "<h2>Forests</h2>" * 20_000,
        "".join(
            f"<meta name=og:title content='{'seanews | ' * 30}{n}'>"
            for n in range(5_000)
        )
        + "<h1>Kelp</h1>" * 50,
        "<h1>Kelp</h1>" + "<p>Von " + "Aa-" * 30 + "</p>" * 20_000,
        "<h1>Kelp</h1>" + "<p>Von: Ada Lovelace und Bob, 4. Mai 2026" * 20_000,
        linked(*[DATA | {"headline": f"Kelp {n}", "url": URL} for n in range(5_000)])
        + "<h1>Kelp</h1>",
    ],
)
def test_thousands_of_titles_and_bylines_take_linear_time(html: str) -> None:
    check_cost(lambda: read_html(html.encode(), URL), 30)


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_hostile_data_costs_little(data):
    check_cost(lambda: read_data(data, "<ul><li>$5</li></ul>"), 5)


def test_deep_microdata_takes_bounded_time():
    for unit in (
        '<div itemscope itemtype="https://schema.org/Product" itemprop="name">',
        "<b itemprop=name>x</b>",
    ):
        check_cost(lambda body=unit * 20_000: read_data(body=body), 10)


@pytest.mark.parametrize(
    ("before", "piece"),
    [
        ("<a href=/x>", "<img alt='a b c'>"),
        ("<h2>", "<img alt='a b c d'><b>x</b>"),
        ("<figure>", "<img alt='a b c d'><b>x</b>"),
        ("<ul><li>" * 12, "<pre>x\ny</pre>"),
        ("<blockquote>" * 12, "x<br>"),
        ("<ul><li>a</li>", "<ul><li>b</li></ul>"),
        ("<ol><li>a</li>", "<ul><li>b</li>"),
        ("<table><tr><th>x", "<tr><td>x"),
        ("", "<span role=heading>x"),
        ("<div>" * 90 + "<p role=heading>", "<b><i>x</i></b>"),
        ("", "<span role=heading></span>x"),
        ("<p>", "[a<br>"),
        ("<table><tr>" + "<td rowspan=200>x" * 2000, "<tr><td>x"),
        ("<table><tr>" + "<th>x" * 2000, "<tr><td>x<td>y"),
        ("", "<span class=katex>"),
        ("", "<span class=katex>x</span>"),
        ("<sup>", "<a href='#fn1'>1</a>"),
    ],
)
def test_writing_takes_linear_time(before: str, piece: str) -> None:
    # a tree so deep takes long to build
    nests = piece in {"<span class=katex>", "<ul><li>b</li>"}
    root = tree(before + piece * (4_000 if nests else 10_000))
    check_cost(lambda: write(root), 15)


@pytest.mark.parametrize(
    "unit",
    [
        MANUAL,
        "[a](b) ",
        "- a\n",
        "# h\n",
        "日本語のテキスト。",
        "| a | b |\n",
        "`" * 3 + "\n",
    ],
)
def test_the_cost_grows_no_faster_than_the_page(unit: str) -> None:
    def pick(length: int) -> None:
        page = whole(unit * (length // len(unit)))
        pick_passages(page, "repository a h 日本", 15_000)
        find_phrase(page, "a", 15_000)

    check_ratio(lambda: pick(100_000), lambda: pick(25_000), 4 * 3)


@pytest.mark.parametrize(
    "unit",
    [
        "Why?\n\n",
        "- a\n\n  b\n\n  - c\n",
        "$1\n\n",
        "# h\n\n$1\n\n",
        "[a](/b)\n\n$1\n\n",
    ],
)
def test_the_cost_of_a_chain_of_ties_grows_no_faster_than_the_page(
    unit: str,
) -> None:
    def pick(length: int) -> None:
        page = whole(unit * (length // len(unit)))
        pick_passages(page, "why a b c h 1", 1500)

    check_ratio(lambda: pick(40_000), lambda: pick(10_000), 8)


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
def test_the_article_survives_hostile_markup(html: str) -> None:
    page = check_cost(lambda: read_html(html.encode(), URL, "text/html"), SECONDS)
    assert "quick brown fox" in page.content


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
def test_the_beginning_of_a_page_that_is_too_large_is_read(
    html: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not WHOLE:
        monkeypatch.setattr(blocks, "MAX_ELEMENTS", 25_000)  # a quarter of the time
    page = check_cost(lambda: read_html(html.encode(), URL, "text/html"), SECONDS)
    assert page.truncated
    assert 40_000 < page.content_length < 2_100_000
    assert "the page is larger than is read: this is its beginning" in page.notes


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
    check_cost(lambda: harden(piece.encode() * 300_000), 60)
