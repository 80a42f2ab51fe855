"""What templates have left in a page is left out; code, and text about templates,
stays.
"""

from __future__ import annotations

import pytest

from tests.core.reading.html.test_page import PARAGRAPHS, STORY, read
from websearch_core.reading._html.blocks import find_blocks
from websearch_core.reading._html.parse import parse

ORDINARY = [
    "<p>In a wiki, {{cite web}} names a source.</p>",
    "<pre>{{ title }}</pre>",
    "<p>Write <code>{{ title }}</code> where the title belongs.</p>",
    "<p><code>{{ title }}</code></p>",
    "<p><code>{{ title }}</code> or <code>{{ name }}</code></p>",
    "<p>Use {{name}} or {{title}}.</p>",
    "<p>By {{author}}</p>",
    "<pre>BEGIN:VCALENDAR END:VCALENDAR</pre>",
    "<p>It begins with BEGIN:VCALENDAR.</p><p>* * *</p>",
    "<table><tr><td>{{ user.name }}</td><td>the name</td></tr></table>",
    "<dl><dt>{{ user.mail }}</dt><dd>the address</dd></dl>",
    "<p>The list is [a_b], then [c_d x=1], then [/e_f].</p>",
    "<p>Use [vc_row] and [/vc_row] around it.</p>",
    "<pre>[vc_row][vc_column]a[/vc_column][/vc_row]</pre>",
    "<p>He said [sic] that [the] lamp {was} lit {twice}.</p>",
    "<p>x[i][j] = a[/tmp/x]</p>",
]


def texts(html: str, **options: bool) -> list[str]:
    found = find_blocks(parse(html.encode()).body, **options)
    return [text for text in found.block_texts if text]


@pytest.mark.parametrize("html", ORDINARY)
def test_ordinary_text_stays(html: str) -> None:
    bare = parse(html.encode()).body
    assert bare is not None

    assert "".join("".join(texts(html)).split()) == "".join(bare.text().split())


@pytest.mark.parametrize(
    ("html", "left"),
    [
        ("<h1>{{title}}</h1>", []),
        ("<p>{{ first }} - {{ last | upper }}</p>", []),
        ("<p>By {{author}} on {{date}}</p><p>Kelp</p>", ["Kelp"]),
        ("<p>By <a>{{author}}</a> on <time>{{date}}</time></p>", []),
        ("<ul><li v-for='one in all'>Name: {{ one.name }}</li></ul>", ["Name:"]),
        ("<div ng-repeat='one in all'><p>By {{one.author}}, {{one.day}}</p></div>", []),
        ("<p :title='x'>Hello {{name}}!</p>", ["Hello !"]),
        (
            "<p>[vc_row css=”.a{b:1}”][vc_column]</p><p>Kelp</p><p>[/vc_column][/vc_row]</p>",
            ["Kelp"],
        ),
        (
            "<p>[et_pb_section a='1'][et_pb_text]Kelp[/et_pb_text] farm[/et_pb_section]</p>",
            ["Kelp farm"],
        ),
    ],
)
def test_what_a_template_left_is_left_out(html: str, left: list[str]) -> None:
    assert texts(html) == left


def test_data_for_calendars_is_left_out() -> None:
    lines = (
        "BEGIN:VCALENDAR<br>VERSION:2.0<br>DTSTART:20260101T120000Z<br>END:VCALENDAR"
    )

    assert texts(f"<p>Kelp</p><div> {lines}</div><p>Algae</p>") == ["Kelp", "Algae"]


def test_a_title_that_is_a_place_to_fill_is_none() -> None:
    assert (
        read(
            f"<main><h1>The lamp</h1>{PARAGRAPHS}</main>",
            "<title>{{title}} | Acme</title>",
        ).title
        == "The lamp"
    )
    title = "What {{name}} means in a template"
    assert (
        read(
            f"<main><h1>{title}</h1>{PARAGRAPHS}</main>", f"<title>{title}</title>"
        ).title
        == title
    )


@pytest.mark.parametrize("options", [{"rendered": True}, {"opens": False}])
def test_what_a_browser_shows_and_what_no_page_wrote_stays(
    options: dict[str, bool],
) -> None:
    assert texts("<h1>{{title}}</h1>", **options) == ["{{title}}"]


def test_a_page_of_places_to_fill_has_no_content() -> None:
    page = read(
        "<main><h1>{{title}}</h1><p v-text='body'>{{body}}</p><p>Contact us</p></main>"
    )

    assert page.content == ""
    assert (
        "the page has no text that can be read without running its scripts"
        in page.notes
    )


def test_a_page_with_text_says_how_many_places_are_left_out() -> None:
    page = read(f"<main><h1>The lamp</h1>{PARAGRAPHS}<p>{{{{author}}}}</p></main>")

    assert [paragraph for paragraph in STORY if paragraph not in page.content] == []
    assert "{{" not in page.content
    assert "left out 1 place that only scripts fill" in page.notes


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (
            '<p>Ada, <a class="post-time" href="/p/1">1716383392</a></p>',
            "Ada, 2024-05-22",
        ),
        ("<p><time>1716383392000</time></p>", "2024-05-22"),
        (
            '<p><span data-livestamp="1716383392"><b>1716383392</b></span></p>',
            "2024-05-22",
        ),
        ('<p><a href="/isbn/1449355730">1449355730</a></p>', "1449355730"),
        ('<p class="times">1716383392</p>', "1716383392"),
        ("<p><time>0123456789</time></p>", "0123456789"),
    ],
)
def test_seconds_that_scripts_make_a_date_of_are_written_as_the_day(
    html: str, text: str
) -> None:
    assert texts(html) == [text]
