"""What a control opens keeps its label, and a label what it opens: tabs, accordions,
summaries.
"""

from __future__ import annotations

import pytest

from websearch_core.reading import Excerpt, read_bytes
from websearch_core.reading._html.blocks import find_blocks
from websearch_core.reading._html.controls import find_controls
from websearch_core.reading._html.parse import parse

STORY = (
    "<p>The ferry to the island leaves from the old quay, and takes about an hour in "
    "calm weather. Tickets are sold on board, and the captain takes coins and cards.</p>"
    "<p>In winter there are two crossings a day, in summer there are five. The last one "
    "always waits for the train from the capital, however late that may be.</p>"
)
FIRST = "Children under six travel free, and so does every dog that stays on deck."
SECOND = "A bicycle costs four crowns each way, and must be tied to the rail."
TABS = [
    # the order of tabs and panels
    (
        f"<div><div role=tablist><button role=tab>Families</button><button role=tab>Cyclists</button></div>"
        f"<div><div role=tabpanel><p>{FIRST}</div><div role=tabpanel hidden><p>{SECOND}</div></div></div>"
    ),
    # the ids of the panels
    (
        f"<ul role=tablist><li><a role=tab href='#f'>Families</a><li><a role=tab href='#c'>Cyclists</a></ul>"
        f"<div id=f><p>{FIRST}</div><div id=c style='display:none'><p>{SECOND}</div>"
    ),
    (
        f"<ul role=tablist><li role=tab aria-controls=f><a href='#f'>Families</a>"
        f"<li role=tab aria-controls=c><a href='#c'>Cyclists</a></ul>"
        f"<div id=f><p>{FIRST}</div><div id=c><p>{SECOND}</div>"
    ),
    # radio buttons, their labels before all panels
    (
        f"<div><input type=radio name=who id=w1><input type=radio name=who id=w2>"
        f"<div><label for=w1>Families</label><label for=w2>Cyclists</label></div>"
        f"<div><div><p>{FIRST}</div><div><p>{SECOND}</div></div></div>"
    ),
    # radio buttons, each before its panel
    (
        f"<div><input type=radio name=who id=w1><label for=w1>Families</label><div><p>{FIRST}</div>"
        f"<input type=radio name=who id=w2><label for=w2>Cyclists</label><div><p>{SECOND}</div></div>"
    ),
    # links to parts right after each other, also hidden ones
    (
        f"<ul><li><a href='#f'>Families</a><li><a href='#c'>Cyclists</a></ul>"
        f"<div id=f>{FIRST}</div><section id=c style='display:none'>{SECOND}</section>"
    ),
    (
        f"<div><ul class=tabs><li><a href='#f'>Families</a><li><a href='#c'>Cyclists</a></ul></div>"
        f"<div><div id=f><p>{FIRST}</div><div id=c><p>{SECOND}</div></div>"
    ),
    (
        f"<nav><a href='#f'>Families</a> <a href='#c'>Cyclists</a></nav>"
        f"<div id=f><p>{FIRST}</div><div id=c><p>{SECOND}</div>"
    ),
    # buttons that are alike, each before its panel
    (
        f"<button class=b>Families</button><div><p>{FIRST}</div>"
        f"<button class=b>Cyclists</button><div><p>{SECOND}</div>"
    ),
    (
        f"<div><div role=button>Families</div><p>{FIRST}</div>"
        f"<div><div role=button>Cyclists</div><p>{SECOND}</div>"
    ),
]


def content_of(body: str, **options: object) -> str:
    source = f"<title>The ferry</title><main><h1>The ferry</h1>{STORY}{body}{STORY.replace('ferry', 'boat')}</main>"
    page = read_bytes(source.encode(), "https://ferry.example/fares", "text/html")
    return Excerpt(**options).of(page).content if options else page.content  # type: ignore[arg-type]


@pytest.mark.parametrize("tabs", TABS)
def test_each_panel_stands_below_the_label_of_its_tab(tabs):
    content = content_of(tabs)

    assert f"**Families**\n\n{FIRST}" in content
    assert f"**Cyclists**\n\n{SECOND}" in content
    assert "- " not in content


@pytest.mark.parametrize(
    "head",
    [
        "<h3><button aria-expanded=false aria-controls=p{0}>{1}</button></h3>",
        "<div role=button data-bs-target='#p{0}' data-bs-toggle=collapse>{1}</div>",
        "<h3><button aria-expanded=false>{1}</button></h3>",
    ],
)
def test_each_part_of_an_accordion_has_its_title(head):
    parts = "".join(
        f"<div>{head.format(number, title)}<div id=p{number}><p>{text}</div></div>"
        for number, (title, text) in enumerate(
            [("Families", FIRST), ("Bicycles", SECOND)]
        )
    )

    lines = content_of(parts).splitlines()
    for title, text in (("Families", FIRST), ("Bicycles", SECOND)):
        above = lines[lines.index(text) - 2]
        assert above.strip("#* ") == title
        assert above[0] in "#*"


def test_a_question_finds_what_a_tab_opens():
    assert SECOND in content_of(TABS[0], find="bicycle costs")
    assert "Cyclists" in content_of(TABS[0], query="Cyclists rail", max_tokens=120)


def test_a_control_below_it_opens_a_part():
    hidden = f"<div id=more hidden><p>{SECOND}</div>"

    assert SECOND in content_of(f"{hidden}<button aria-controls=more>More</button>")
    assert SECOND not in content_of(
        f"{hidden}<button aria-controls=other>More</button>"
    )
    assert SECOND not in content_of(
        f"{hidden}<div style='display:none'><button aria-controls=more>More</button></div>"
    )


def test_what_all_controls_say_is_not_a_part_of_their_names():
    parts = "".join(
        f"<h3><button aria-controls=p{name}>{name}<span>Show</span></button></h3><div id=p{name}><p>{FIRST} {name}.</div>"
        for name in ("Dogs", "Cats", "Birds")
    )

    content = content_of(parts)
    assert "Show" not in content
    assert "### Dogs" in content


@pytest.mark.parametrize(
    "markup",
    [
        "<button aria-controls=g>Back</button><button aria-controls=g>On</button><div id=g>pictures</div>",
        "<div id=g>text</div><button aria-controls=g>Less</button>",
        "<a href='#g'>Chapter</a><div id=g>text</div>",
        "<button aria-haspopup=menu aria-controls=g>Menu</button><div id=g>text</div>",
        "<ul><li><a href='#g'>One</a><li><a href='#h'>Two</a></ul><div id=g><h2>A</h2></div><div id=h>b</div>",
        "<div role=button>A</div><div role=button>B</div>",
        "<div><details><summary>A</summary></details></div><div><details><summary>B</summary></details></div>",
        "<div role=button><a href=/a>A</a></div><p>a</p><div role=button><a href=/b>B</a></div><p>b</p>",
        "<button aria-controls=g>&hellip;</button><div id=g>text</div>",
        "<button aria-controls=g>Open</button><div id=g>a</div><button aria-controls=h>Open</button><div id=h>b</div>",
    ],
)
def test_some_controls_name_nothing(markup):
    assert find_controls(find_blocks(parse(markup.encode()).body)) == []


@pytest.mark.parametrize(
    "between", ["<button>Copy</button>", "<pre>cd ferry</pre>", "<p>shell</p>"]
)
def test_code_is_kept_behind_a_few_words(between):
    code = "ferry --timetable --season winter"

    assert code in content_of(
        f"<p>Print the timetable first.</p>{between}<pre>{code}</pre>"
    )


@pytest.mark.parametrize("between", ["", "<button>Copy</button>", "<p>toml</p>"])
def test_code_keeps_the_name_of_its_file(between):
    assert "fares/ferry.toml\n" in content_of(
        f"<div><span>fares/ferry.toml</span>{between}<pre>crowns = 4</pre></div>"
    )
