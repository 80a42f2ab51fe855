"""What belongs to the program of a page is not a part of its text."""

from __future__ import annotations

import pytest

from websearch_core.reading import read_bytes
from websearch_core.reading._html.blocks import find_blocks
from websearch_core.reading._html.furniture import find_fields
from websearch_core.reading._html.parse import parse

PROSE = "<p>" + "The mill stands where the brook leaves the wood, and grinds rye. " * 6


def content_of(body: str, media_type: str = "text/html") -> str:
    source = f"<html><head><title>The mill</title></head><body><main><h1>The mill</h1>{PROSE}</p>{body}{PROSE}</p></main></body></html>"
    return read_bytes(source.encode(), "https://mill.example/", media_type).content


def texts_of(body: str) -> list[str]:
    return find_blocks(parse(body.encode()).body).block_texts


@pytest.mark.parametrize(
    "head",
    [
        "<div><h2>{}</h2><span><span>[</span><a href=/edit>change</a><span>]</span></span></div>",
        "<div><h2>{}</h2><a href=/edit>change</a></div>",
        "<h2><span>{}</span><span>[<a href=/edit>change</a>]</span></h2>",
    ],
)
def test_a_link_behind_every_heading_is_left_out(head):
    texts = texts_of(f"{head.format('Wheel')}<p>a</p>{head.format('Stones')}<p>b</p>")

    assert "".join(texts) == "WheelaStonesb"


@pytest.mark.parametrize(
    "body",
    [
        "<h2>Wheel <a href=/1>oak</a></h2><h2>Stones <a href=/2>oak</a></h2>",
        "<div><h2>Wheel</h2><a href=/1>oak</a></div><div><h2>Axle</h2><a href=/2>ash</a></div>",
        "<div><h2>Wheel</h2><div><a href=/1>oak</a></div></div><div><h2>Axle</h2><div><a href=/2>oak</a></div></div>",
    ],
)
def test_other_links_beside_headings_stay(body):
    assert "oak" in " ".join(texts_of(body))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<h2>Wheel</h2><span>[<a href=/edit>change</a>]</span><p>oak", "Wheel|oak"),
        ("<h2>Wheel <span>[<a href=/e>change</a> | <a href=/h>history</a>]</span></h2><div>oak</div>", "Wheel|oak"),
        ("<div><h2>Wheel</h2><div><a href=#>fold</a></div></div><p>oak", "Wheel|oak"),
        ("<h2>Wheel [<a href=/1871>1871</a>]</h2>", "Wheel [1871]"),
        ("<h2><span>1.</span> <a href=#>Wheel</a></h2>", "1. Wheel"),
        ("<h2>Wheel</h2><div><a href=/oak>Of oak</a></div>", "Wheel|Of oak"),
        ("<h2>Wheel</h2><span>[<a href=#oak>1</a>]</span>", "Wheel|[1]"),
    ],
)  # fmt: skip
def test_a_tool_behind_a_single_heading_is_left_out(body, text):
    assert "|".join(filter(None, texts_of(body))) == text


def test_a_note_in_a_line_has_its_mark_once():
    note = "<span><sup>3</sup><span><sup>3</sup><span>3</span>By weight.</span></span>"

    assert texts_of(f"<p>Two parts of rye.{note} Then water.") == [
        "Two parts of rye.3 (By weight.) Then water."
    ]
    assert texts_of("<p>x<sup>2</sup><sup>2</sup>") == ["x22"]


def test_lines_of_chinese_and_japanese_are_joined_without_a_space():
    assert texts_of("<p>水车在村\n  外的小河边。\n它磨面。") == [
        "水车在村外的小河边。它磨面。"
    ]
    assert texts_of("<p>물레방아는\n마을 밖에") == ["물레방아는 마을 밖에"]
    assert texts_of("<pre>水\n车</pre>") == ["水 车"]


def test_a_sentence_beside_the_text_is_parted_from_the_word_before_it():
    assert texts_of("<p>grinds rye<span>In spring it rests.</span> again") == [
        "grinds rye In spring it rests. again"
    ]
    assert texts_of("<p>a Mac<span>Book</span>") == ["a MacBook"]


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (
            "<p><span>Width: 13 cm</span><span>Height: 6 cm</span>",
            "Width: 13 cm Height: 6 cm",
        ),
        (
            "<div><span>Rye loaf 2</span><span class=by>Ann Miller</span></div>",
            "Rye loaf 2 Ann Miller",
        ),
        (
            "<p><span>On May 4, 2026</span><span>11:01 in Oslo</span>",
            "On May 4, 2026 11:01 in Oslo",
        ),
        (
            "<div><span class=a>Width</span><span class=b>33 cm</span></div>",
            "Width 33 cm",
        ),
        (
            "<div><span role=cell>Rye</span><span role=cell>Spelt</span></div>",
            "Rye Spelt",
        ),
        ("<p><span>$12</span><span>per month</span>", "$12 per month"),
        ("<p><span>4.5</span><span>stars</span>", "4.5 stars"),
        ("<p><span>21</span><span>st</span>", "21st"),
        ("<p>Desk<span>555-1234</span>", "Desk 555-1234"),
        (
            "<p><span>Beds</span><span>3</span><span>Baths</span><span>2</span>",
            "Beds 3 Baths 2",
        ),
        (
            "<p><span class=n>1,655</span><span class=m>14 silver stars</span>",
            "1,655 14 silver stars",
        ),
        (
            "<p><span class=x><span class=a>Iron: </span><span class=b>7</span><span class=c>mg</span></span><span class=y><span class=a>Zinc: </span><span class=b>3</span></span>",
            "Iron: 7mg Zinc: 3",
        ),
        ("<p><span>Plain</span><span class=b>$12.50</span>", "Plain $12.50"),
        ("<p><span>Loaves</span><span class=b>35 a day</span>", "Loaves 35 a day"),
        ("<p><a href=/a>rye</a><a href=/b>spelt</a>", "rye spelt"),
        ("<p><a href=/a>[1]</a><a href=/b>[2]</a>", "[1][2]"),
        ("<p><a href=/a>r</a><a href=/a>ye</a>", "rye"),
        ("<p><span>Width</span><span>33 cm</span>", "Width 33 cm"),
        ("<p><span>120</span><span>34</span>", "120 34"),
        ("<p><span>Rye</span><span>4,50 €</span>", "Rye 4,50 €"),
        (
            "<p><b>Width</b><span>33 cm</span> May<span>2026</span>",
            "Width 33 cm May 2026",
        ),
        ("<p>Dogs<span class=tag>not allowed</span>", "Dogs not allowed"),
        ("<p>CO<span>2</span> and mp<i>3</i>", "CO2 and mp3"),
        ("<p><span>12</span><span>loaves</span>", "12 loaves"),
        ("<p><span>1</span><span>2</span><span>st</span>", "12st"),
        ("<p><span class=a>W</span><span class=b>33</span>", "W33"),
        ("<p><span class=a>12.</span><span class=b>5</span>", "12.5"),
        ("<p><span>the old Mac</span><span>Book</span>", "the old MacBook"),
        ("<p><span>up to 1</span><span>9 percent</span>", "up to 19 percent"),
        ("<p><i>Width: 13 cm</i><i>Height: 6 cm</i>", "Width: 13 cmHeight: 6 cm"),
        (
            "<code><span>new kind</span><span>Of rye</span></code>",
            "new kindOf rye",
        ),
    ],
)
def test_items_of_several_words_in_a_row_are_parted(page, text):
    assert texts_of(page) == [text]


@pytest.mark.parametrize(
    "table",
    [
        "<table class=highlight><tr><td class='blob-num' data-line-number=1></td><td class=blob-code><b>def</b> level():</td></tr><tr><td class=blob-num></td><td>    return 1</td></tr></table>",
        "<table><tbody><tr><td class=lines-num><span data-line-number=1></span></td><td><code>def level():\n</code></td></tr><tr><td class=lines-num></td><td><code>    return 1</code></td></tr></tbody></table>",
        "<table><tr><td class=gutter><div>1</div><div>2</div></td><td><div><div><code>def</code> <code>level():</code></div><div><code>    </code><code>return 1</code></div></div></td></tr></table>",
        "<table><tr><td>1</td><td><pre>def level():</pre></td></tr><tr><td>2</td><td><pre>    return 1</pre></td></tr></table>",
        "<table><tr><td class=n data-line=1></td><td><code>def level():</code></td></tr><tr><td class=n data-line=2></td><td><code>    return 1</code></td></tr></table>",
        "<table><tr><td><pre>1\n2</pre></td><td><pre>def level():\n    return 1</pre></td></tr></table>",
        "<table><tr><td><span>1</span><br><span>2</span></td><td><div><pre><span class=line>def level():</span><br><span class=line>    return 1</span></pre></div></td></tr></table>",
    ],
)  # fmt: skip
def test_a_table_of_numbered_lines_is_code(table):
    assert "```\ndef level():\n    return 1\n```" in content_of(
        f"<p>It is short:</p>{table}"
    )


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            "<div><b>Ada Holt</b><span><time>May 3</time></span><a href=/c>21</a></div>",
            "Ada Holt May 3 21",
        ),
        ("<p>Opens<time>9:30</time>Closes<time>17:00</time></p>", "Opens 9:30 Closes 17:00"),
        ("<p>In the <time>1930</time>s, at <time>7</time>pm</p>", "In the 1930s, at 7pm"),
        ("<p>公開<time>2026年3月</time>更新<time>5月</time></p>", "公開2026年3月更新5月"),
        ("<pre>t=<time>3</time></pre>", "t=3"),
    ],
)  # fmt: skip
def test_a_time_is_parted_from_what_stands_right_beside_it(line, text):
    assert text in texts_of(line)


@pytest.mark.parametrize(
    "block",
    [
        "<div class=cm-content><div class=cm-line>def level():</div><div class=cm-line>    return 1</div></div>",
        "<div class='source code'><div class=line>def level():</div><div class=line>    <b>return</b> 1</div></div>",
        "<div class=code-body><div class='code-line a'>def level():</div>\n<div class='code-line b'>    return 1</div></div>",
    ],
)  # fmt: skip
def test_a_block_of_elements_that_are_lines_is_code(block):
    assert "```\ndef level():\n    return 1\n```" in content_of(
        f"<p>It is short:</p>{block}"
    )


@pytest.mark.parametrize(
    "block",
    [
        "<div class=code><div>one</div><div>two</div></div>",
        "<div class=poem><div class=line>one</div><div class=line>two</div></div>",
        "<div class=code-of-conduct><div class=headline>one</div><p>two</div>",
    ],
)
def test_other_blocks_of_lines_are_no_code(block):
    assert "```" not in content_of(f"<p>It is short:</p>{block}")


def test_a_table_whose_first_cells_are_numbers_stays_a_table():
    rows = "<tr><td>1<td>oak<tr><td>2<td>ash"

    assert "| 1 | oak |" in content_of(f"<table>{rows}</table>")
    assert "```" not in content_of(
        f"<table><tr><th class=gutter>No<th>Wood{rows}</table>"
    )


def test_what_stands_around_the_only_code_of_a_block_is_not_code():
    head = "<div><span>toml</span><button>Copy code</button></div>"

    content = content_of(
        f"<pre>{head}<div><code class=language-toml>[mill]\nstones = 2\nwheel = 'oak'</code></div></pre>"
    )
    assert "```toml\n[mill]\nstones = 2" in content
    assert "Copy code" not in content
    assert "usage: mill" in content_of("<pre>usage: mill [<code>--stones</code>]</pre>")


def test_an_anchor_without_a_target_is_no_link():
    outline = find_blocks(
        parse(b"<a name=top><p>The mill</p></a><a href=/x>Sluice</a>").body
    )

    assert outline.block_linked == [0, len("Sluice")]


def test_an_element_in_a_line_does_not_end_it():
    assert texts_of(
        "<div>Rye is $<div style='display:inline'><b>2.20</b></div> a pound."
    ) == ["Rye is $2.20 a pound."]


def test_a_hidden_field_between_two_words_parts_them():
    note = "<label for=n></label><input type=checkbox id=n><span>In spring there is more water.</span>"

    assert "grinds rye all day In spring" in content_of(
        f"<p>It grinds rye all day{note} and at night.</p>"
    )


def test_empty_elements_of_xhtml_are_closed():
    body = "<div class='line'/><script src='a.js'/><p>Bring your own sacks.</p>"

    assert "Bring your own sacks." in content_of(body, "application/xhtml+xml")


def test_rows_that_are_cards_too_are_kept_once():
    table = "<div><table><tr><th>Flour<th>Price<tr><td>Rye<td>2.20 euros a kilo<tr><td>Spelt<td>3.10 euros a kilo</table></div>"
    cards = "<div><div><h3>Rye</h3><p>2.20 euros a kilo</div><div><h3>Spelt</h3><p>3.10 euros a kilo</div></div>"

    content = content_of(f"<h2>Flour for sale</h2><p>By the kilo:{table}{cards}")
    assert content.count("2.20 euros a kilo") == 1
    assert content.count("Spelt") == 1


def test_braces_of_a_formula_are_written_as_such():
    formula = "<math><mo>{</mo><mi>x</mi><mo>}</mo><mo>%</mo><mtext>a_b</mtext></math>"

    assert "$\\{x\\}\\%\\text{a\\_b}$" in content_of(
        f"<p>The set {formula} is small.</p>"
    )


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (
            "<form><label for=n>Full name</label><input id=n><p>Rye</p></form>",
            [False, True],
        ),
        ("<form><label for=c>2 eggs</label><input type=checkbox id=c></form>", [True]),
        ("<div><label for=n>Full name</label><input id=n></div>", [True]),
        ("<form><label>Rye</label></form>", [True]),
        (
            "<form><label>Name<input></label><label>Land<select></select></label></form>",
            [False, False],
        ),
        ("<form><label><input type=radio>2 eggs</label></form>", [True]),
    ],
)
def test_labels_of_the_fields_of_a_form_are_no_content(form, expected):
    outline = find_blocks(parse(form.encode()).body)

    kept = set(range(len(expected))) - find_fields(outline)
    assert [block in kept for block in range(len(expected))] == expected
