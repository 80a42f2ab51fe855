"""Elements without text are never selected: they are kept with the nearest text."""

from __future__ import annotations

import pytest

from websearch_core.reading._html import fragment
from websearch_core.reading._html.blocks import find_blocks
from websearch_core.reading._html.fragment import bare, read_fragment
from websearch_core.reading._html.parse import parse
from websearch_core.reading._html.text_blocks import TextBlocks
from websearch_core.reading._html.together import whole_rows
from websearch_core.reading._html.tree import build_tree
from websearch_core.reading._markdown.writer import to_markdown

URL = "https://lamps.example/"


def seen(html: str) -> TextBlocks:
    return find_blocks(parse(html.encode()).body)


def kept(html: str, without: str = "", *, linked: bool = True) -> str:
    """Return the Markdown of all blocks except those whose text is *without*."""
    page = seen(html)
    chosen = {block for block, text in enumerate(page.block_texts) if text != without}
    return to_markdown(build_tree(page, chosen, linked=linked).body, {"/x": f"{URL}x"})


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("b<div></div>c", "b\nc"),
        ("<p>b<span><div> </div></span>c</p>", "b\n\nc"),
        ("<p>b<span></span>c</p>", "bc"),
        ("<pre><div>one</div><div></div><div>two</div></pre>", "```\none\n\ntwo\n```"),
        ("<h2>Lamps<a href='/x'></a></h2>", "## Lamps"),
    ],
)
def test_empty_elements_separate_their_neighbours(html: str, expected: str) -> None:
    assert expected == kept(html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<div role=heading aria-level=3>Lamps</div>x", "### Lamps\n\nx"),
        ("<div role=heading>Lamps</div>x", "## Lamps\n\nx"),
        ("<span role=heading aria-level=0><b>Lamps</b></span>", "## Lamps"),
        ("<p role=heading aria-level=99>Lamps</p>", "## Lamps"),
        ("<h4 role=heading aria-level=2>Lamps</h4>", "#### Lamps"),
        ("<ul><li role=heading>Lamps</ul>", "- Lamps"),
        (
            "<div role=heading><p>Lamps</p><p>of Norrholm</p></div>",
            "Lamps\n\nof Norrholm",
        ),
        (f"<div role=heading>{'lamp ' * 50}</div>", ("lamp " * 50).strip()),
        (f"<div role=heading>{'<b>lamp</b> ' * 50}</div>", " ".join(["**lamp**"] * 50)),
        ("<div role>Lamps</div>", "Lamps"),
        ("<b><span role=heading>Lamps</span></b>", "## Lamps"),
    ],
)
def test_a_short_text_with_the_role_of_a_heading_is_one(
    html: str, expected: str
) -> None:
    assert expected == kept(html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            "<p>No lamp.</p><h2><img alt='The lamp of Norrholm'></h2><p>It is lit.</p>",
            "It is lit.",
        ),
        (
            "<h2><img alt='The lamp of Norrholm'></h2><p>It is lit.</p>",
            "## The lamp of Norrholm\n\nIt is lit.",
        ),
        (
            "<p>It is lit.</p><figure><img alt='The lamp of Norrholm'></figure>",
            "It is lit.\n\nThe lamp of Norrholm",
        ),
        (
            "<a href='/x'><picture><img alt='Norrholm'></picture></a>",
            f"[Norrholm]({URL}x)",
        ),
        ("<img alt='The lamp of Norrholm'>", "The lamp of Norrholm"),
        ("<p>It is <img class=tex alt='x^2'></p>", "It is $x^2$"),
    ],
)
def test_pictures_stay_with_the_text_they_are_nearest_to(
    html: str, expected: str
) -> None:
    assert expected == kept(html, without="No lamp.").replace("No lamp.", "")


@pytest.mark.parametrize(
    ("html", "stays"),
    [
        ("<main><p>It is lit.</p><img alt='{}'></main><p>Subscribe</p>", True),
        ("<p>Subscribe</p><main><img alt='{}'><p>It is lit.</p></main>", True),
        ("<p>It is lit.<img alt='{}'></p><p>Subscribe</p>", True),
        ("<p>It is lit.</p><img alt='{}'><p>Subscribe</p>", False),
        ("<p>It is lit.</p><div><img alt='{}'>Subscribe</div>", False),
        ("<p>Subscribe</p><header><img alt='{}'></header><p>It is lit.</p>", False),
        (
            "<header><img alt='{}'></header><main><p>It is lit.</p></main><p>Subscribe</p>",
            False,
        ),
    ],
)
def test_pictures_next_to_dropped_text_are_dropped_unless_nearer_to_kept_text(
    html: str, stays: bool
) -> None:
    alt = "The lamp of Norrholm"
    assert (alt in kept(html.format(alt), without="Subscribe")) is stays


def test_a_picture_in_a_link_is_dropped_with_the_links() -> None:
    assert (
        kept(
            "<p>a <a href='/x'><img alt='The lamp of Norrholm'></a> b</p>", linked=False
        )
        == "a b"
    )


def test_checkboxes_of_tasks_are_kept_and_those_of_forms_dropped() -> None:
    tasks = "<ul><li><input type=checkbox checked disabled> wick<li><input type=CheckBox> oil"
    form = "<li><input type=checkbox name=brand> Nordlys<li><input type=text> search<li><input> free"
    assert kept(tasks + form) == "- [x] wick\n- [ ] oil\n- Nordlys\n- search\n- free"


def test_children_of_an_input_are_dropped_with_it() -> None:
    html = "<p>Lamps</p><math><input><mi></mi></input></math><p>are lit.</p>"
    assert kept(html) == "Lamps\n\nare lit."


def test_empty_cells_keep_their_columns_next_to_dropped_text() -> None:
    rows = "<table><tr><th>year<th>lit<th>by<tr><td>1866<td><td>oil<tr><td>1901<td>twice<td>"
    table = (
        "| year | lit | by |\n| --- | --- | --- |\n| 1866 | | oil |\n| 1901 | twice | |"
    )
    assert table == kept(f"{rows}</table><p>Subscribe</p>", without="Subscribe")


def test_a_row_is_kept_or_dropped_as_a_whole() -> None:
    page = seen("<table><tr><td>1866<td>oil<tr><td>menu<td>on")
    assert whole_rows(page, {0}) == {0, 1}


def test_a_row_whose_cells_have_several_blocks_is_not_a_row_of_data() -> None:
    story = "It is lit in the evening. " * 20
    page = seen(f"<table><tr><td>menu<td><p>The lamp</p><p>{story}</p></table>")
    assert whole_rows(page, {1, 2}) == {1, 2}


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ol><li>a<li>x<li>b</ol>", "1. a\n3. b"),
        ("<ol><li>x<li>b</ol>", "2. b"),
        ("<ol><li><p>x</p><li value=7>b<li>c</ol>", "7. b\n8. c"),
        ("<ul><li>a<ol><li>x<li>b</ol></ul>", "- a\n\n  2. b"),
        ("<ol><li value=5><p>x</p><li>b</ol>", "6. b"),
        ("<ul><li>x<li>b</ul>", "- b"),
        ("<p>a</p><ol><li>x</ol>", "a"),
    ],
)
def test_the_items_after_a_dropped_one_keep_their_numbers(
    html: str, expected: str
) -> None:
    assert expected == kept(html, without="x")


def test_text_after_an_empty_anchor_is_not_its_footnote() -> None:
    note = "<p>lit<a href='#fn1'>[1]</a></p><p><a id=fn1></a>[1] By the keeper.</p>"
    assert kept(note).count("[1]") == 2


@pytest.mark.parametrize(
    ("opener", "shown"),
    [
        ("<a href='#more'>more</a>", f"[more]({URL}#more)"),
        ("<button aria-controls=more>more</button>", "more"),
        (
            "<button role=tab id=tab>more</button><p role=tabpanel aria-labelledby=tab hidden>No.</p>",
            "more",
        ),
    ],
)
def test_controls_in_a_fragment_never_reveal_hidden_text(
    opener: str, shown: str
) -> None:
    hidden = (
        "<div id=more hidden>The keeper's password. " + "It is long. " * 200 + "</div>"
    )
    assert read_fragment(f"<p>It is lit.</p>{opener}{hidden}", URL)[0].split() == [
        "It",
        "is",
        "lit.",
        shown,
    ]
    assert bare(f"lit {hidden}") == "lit"
    assert "password" not in read_fragment(hidden, URL)[0]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>港口每天\n    开放。\n渡轮</p>", "港口每天开放。渡轮"),
        ("<p>港口 每天\nopen</p>", "港口 每天 open"),
        ("<p>항구는\n매일</p>", "항구는 매일"),
    ],
)
def test_the_end_of_a_line_between_ideographs_is_no_space(source, text):
    assert fragment.read_fragment(source, "")[0].strip() == text
