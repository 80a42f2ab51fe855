"""What belongs together stays together, whatever the model thinks of its parts."""

from __future__ import annotations

import pytest

from websearch_core.reading import read_bytes
from websearch_core.reading._html.blocks import find_blocks
from websearch_core.reading._html.parse import parse
from websearch_core.reading._html.together import (
    drop_actions,
    drop_copies,
    drop_headings,
    drop_repeats,
    fill_headings,
    keep_sources,
    whole_lists,
    whole_panels,
    whole_rows,
)

LONG = "A sentence about the lighthouse and those who kept its lamp. " * 2


def thread(*posts: str) -> str:
    return f"<ol>{''.join(f'<li>{post}' for post in posts)}</ol>"


def decide(function, html: str, content: str) -> str:
    outline = find_blocks(parse(html.encode()).body)
    assert len(outline.block_texts) == len(content)
    kept = {block for block, keep in enumerate(content) if keep == "1"}
    decided = function(outline, kept)
    return "".join("01"[block in decided] for block in range(len(content)))


@pytest.mark.parametrize(
    ("html", "content", "expected"),
    [
        ("<ul><li>two eggs<li>a cup of flour<li>salt</ul>", "110", "111"),
        ("<ol><li>stir<li>bake it for an hour</ol>", "10", "00"),
        ("<ul><li>all<ul><li>apples<li>pears</ul><li>none</ul>", "1101", "1111"),
        ("<ul><li><p>eggs<button>Add</button><li>flour</ul>", "101", "101"),
        ("<ul><li>one<li>two</ul>", "00", "00"),
        (f"<ul><li>{LONG * 9}<li>short</ul>", "10", "11"),
        (f"<ul><li>{LONG * 9}<li>short<li>brief</ul>", "010", "000"),
        (f"<ul><li><p>{LONG * 9}<li>one<li>two<li>six</ul>", "0110", "1111"),
        (f"<ul><li><p>{LONG * 9}<ul><li>no<li>so</ul><li>one<li>a", "01000", "00000"),
        (f"<ol><li>type<pre>{'x' * 2000}</pre><li>run</ol>", "110", "111"),
        (f"<ul><li>{LONG * 9}<li><h2>Readers on</h2><a>Tides</a></ul>", "100", "111"),
        (f"<ul><li>{LONG * 9}<li><h2>Read</h2><a>Tides today</a></ul>", "100", "100"),
        ("<ul><li>a lamp and its oil<li><a>wicks</a></ul>", "10", "11"),
        ("<ul><li><a>a lamp and its oil</a><li><a>wicks</a></ul>", "10", "11"),
    ],
)
def test_a_list_is_kept_whole_or_not_at_all(html, content, expected):
    assert decide(whole_lists, html, content) == expected


OPEN = "<summary>When?</summary>"
BUTTON = "<button aria-expanded=false>"


def folded(*labels: str) -> str:
    return "".join(f"<h3>{BUTTON}{label}</button></h3><p>So." for label in labels)


@pytest.mark.parametrize(
    ("html", "content", "expected"),
    [
        (f"<details>{OPEN}<p>At five.</details>" * 2, "1101", "1101"),
        (f"<div><details>{OPEN}<p>At ten.</details></div>" * 3, "001100", "011101"),
        (folded("Why?", "Who?"), "0001", "0101"),
        (folded("Why?", "Who?", "How?", "What?"), "00000001", "00000001"),
        (f"<h3>{BUTTON}Why?</button></h3><p>So.", "00", "00"),
        ("<b role=tab id=a>A</b><p role=tabpanel aria-labelledby=a>x", "10", "10"),
    ],
)
def test_an_accordion_of_which_a_third_is_kept_is_kept_whole(html, content, expected):
    assert decide(whole_panels, f"<main>{html}</main>", content) == expected


@pytest.mark.parametrize(
    ("html", "content", "expected"),
    [
        ("<blockquote><p>Light!<footer>Ada</footer></blockquote><p>x", "100", "110"),
        ("<blockquote><p>Light!<footer><a>Ada</a></footer></blockquote>", "10", "11"),
        ("<blockquote><p>Light!<footer>Ada</footer></blockquote>", "00", "00"),
        ("<blockquote><p>Light!<p>Share</blockquote>", "10", "10"),
        ("<footer><blockquote><p>Light!<p>Ada</blockquote></footer>", "10", "10"),
    ],
)
def test_a_quotation_keeps_who_said_it(html, content, expected):
    assert decide(keep_sources, html, content) == expected


CARD = "<h3>Lamp</h3><p>Buy now<p>New"


@pytest.mark.parametrize(
    ("html", "content", "expected"),
    [
        ("<h2>Hours</h2><p>From nine to five.<h2>Way</h2><p>By tram.", "1011", "1111"),
        ("<h2>Hours</h2><p>From nine to five.<button>Call</button>", "100", "110"),
        (f"<h2>Hours</h2><p>{LONG * 9}<h2>Way</h2><p>By tram.", "1011", "0011"),
        ("<h2>More</h2><a href=/a>A day at sea</a><h2>Way</h2><p>x", "1011", "0011"),
        ("<h2><a href=/a>A day at sea</a></h2><p>by Ames<h2>Way</h2>", "101", "101"),
        ("<h2>Hours</h2><h3>Summer</h3><p>From nine to five.", "111", "111"),
        ("<h1>Hours</h1><p>From nine to five.", "10", "10"),
        ("<h2>Hours</h2><h3>Summer</h3><p>Nine to five.<h2>Way", "1001", "1111"),
        (f"<h2>Hours</h2><h3>Summer</h3><p>{LONG * 9}<h2>Way", "1101", "0001"),
        ("<h3>Hours</h3><h2>Way</h2><p>By tram.", "111", "111"),
        (f"{CARD * 3}<h3>Way</h3>", "100" * 3 + "1", "000" * 3 + "1"),
        (f"{CARD * 2}<h3>Way</h3>", "100" * 2 + "1", "111" * 2 + "1"),
        (f"{CARD}<p>Buy now<p>New<h3>Oil</h3><p>Cold oil<p>New", "10000100", "1" * 8),
    ],
)
def test_no_heading_stands_over_nothing(html, content, expected):
    assert decide(fill_headings, html, content) == expected


def test_a_heading_whose_text_is_left_out_later_goes_with_it():
    html = "<h2>Hours</h2><h3>Summer</h3><p>Nine to five.<h2>Way</h2><h2>Fare</h2><p>2"

    assert decide(drop_headings, html, "110111") == "000111"
    assert decide(drop_headings, html, "111111") == "111111"


ACTIONS = "<tr><td>a lamp<td><p>Rate it<p>1 of 5<button>Save</button>"


@pytest.mark.parametrize(
    ("html", "content", "expected"),
    [
        ("<table><tr><td>a<td>b<tr><td>c<td>d</table>", "1000", "1100"),
        ("<table><tr><td><p>7 May<p>noon<td>case 12</table>", "100", "111"),
        (f"<table><tr><td><p>{LONG * 5}<p>x<td>menu</table>", "100", "100"),
        ("<table><tr><td>lamp<td>9 EUR<button>Buy</button></table>", "100", "110"),
        (f"<table>{ACTIONS * 3}</table>", "1000" * 3, "1000" * 3),
        (f"<table>{ACTIONS * 2}</table>", "1000" * 2, "1110" * 2),
    ],
)
def test_a_row_is_kept_whole(html, content, expected):
    assert decide(whole_rows, html, content) == expected


@pytest.mark.parametrize(
    ("html", "content", "expected"),
    [
        (f"<div><p>{LONG}</div><div><p>{LONG}</div>", "11", "10"),
        (
            f"<ol><li>a<li>{LONG}</ol><div><ol><li>b<li>{LONG}</ol></div>",
            "1111",
            "1111",
        ),
        (
            f"<ol><li>a<li>{LONG}</ol><div><ol><li>a<li>{LONG}</ol></div>",
            "1111",
            "1100",
        ),
        (
            thread(f"<p>{LONG}<p>{LONG * 9}", f"<div><p>{LONG}</div>I agree."),
            "1111",
            "1101",
        ),
        (thread(f"<p>{LONG * 9}", f"<q><p>{LONG * 9}</q><p>No."), "111", "101"),
        (thread(f"<p>{LONG}", f"<div><p>{LONG}</div>I agree."), "111", "111"),
        (f"<p>{LONG}" + thread(f"<p>{LONG}", f"<p>{LONG * 9}"), "111", "111"),
    ],
)
def test_what_is_there_twice_is_kept_once_but_lists_stay_whole(html, content, expected):
    assert decide(drop_repeats, html, content) == expected


@pytest.mark.parametrize(
    "icon",
    [
        "<img src=/i.svg alt=Yes>",
        "<svg role=img aria-label=Yes><path d=M0 /></svg>",
        "<svg><title>Yes</title></svg>",
        "<span><i title=Yes></i></span>",
    ],
)
def test_a_cell_with_only_an_icon_says_what_it_shows(icon):
    table = f"<table><tr><th>Cabin<th>Window<th>Bath<tr><td>Outer<td>{icon}<td>No<tr><td>Inner<td>No<td>{icon}</table>"
    facts = f"<dl><dt>Dogs<dd>{icon}<dt>Beds<dd>two</dl>"
    source = f"<main><h1>Cabins</h1><p>{LONG * 3}{table}{facts}<p>{LONG * 3}</main>"

    content = read_bytes(source.encode(), "https://ship.example/", "text/html").content
    assert "| Outer | Yes | No |" in content
    assert "| Inner | No | Yes |" in content
    assert "Dogs\n: Yes" in content


def test_a_cell_says_no_names_of_files_and_nothing_hidden():
    cells = "<td><img src=/a alt='photo_7.jpg'><td><svg aria-hidden=true><title>x</title></svg>"
    source = f"<main><h1>Cabins</h1><p>{LONG * 3}<table><tr><th>Cabin<th>A<th>B<tr><td>Outer{cells}</table><p>{LONG * 3}</main>"

    content = read_bytes(source.encode(), "https://ship.example/", "text/html").content
    assert "| Outer | | |" in content


WIDE = "<b>The lamp of the north</b><p>Lit each day at nine<p>Free"


def nested(html: str, levels: int) -> str:
    return "<div>" * levels + html + "</div>" * levels


@pytest.mark.parametrize(
    ("html", "content", "expected"),
    [
        (nested(WIDE, 2) * 2, "111111", "111000"),
        (nested(WIDE, 6) * 2, "111111", "111000"),
        (nested(WIDE, 2) + nested(f"{WIDE}<button>Share", 2), "1111111", "1110000"),
        (nested(WIDE, 2) + nested(f"{WIDE}<p>Sold out", 2), "1111111", "1111111"),
    ],
)
def test_a_copy_for_narrow_screens_is_left_out(html, content, expected):
    assert decide(drop_copies, f"<main>{html}</main>", content) == expected


@pytest.mark.parametrize(
    ("html", "content", "expected"),
    [
        ("<h3>Low tide walk</h3><button>Save this event: Low tide walk", "11", "10"),
        ("<h3>Oil for lamps</h3><p>9 EUR<button>Add Oil for lamps now", "111", "110"),
        ("<h3>Low tide walk</h3><button>About Low tide walk", "11", "11"),
        ("<h3>Low tide walk</h3><button>Who may join us?", "11", "11"),
        ("<button>Save this event: Low tide walk</button><p>Low tide walk", "11", "11"),
    ],
)
def test_a_button_for_what_stands_before_it_is_left_out(html, content, expected):
    assert decide(drop_actions, f"<main>{html}", content) == expected
