"""The visible blocks of a page, and the tree of those that are kept."""

from __future__ import annotations
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_core.reading import read_bytes
from websearch_core.reading._element import Element
from websearch_core.reading._html.blocks import (
    MAX_CHARACTERS,
    MAX_ELEMENTS,
    find_blocks,
)
from websearch_core.reading._html.parse import parse
from websearch_core.reading._html.text_blocks import TextBlocks
from websearch_core.reading._html.tree import MAX_DEPTH, build_tree

PIECES = [
    *(f"<{name}>" for name in "div p ul li a span b table tr td h2 pre nav button br img hr noscript dialog".split()),
    *(f"</{name}>" for name in "div p ul li a span table h2 pre nav".split()),
    "<div class='side bar' id=x>", "<a href=/x>", "<p hidden>", "<script>x</script>", "<math alttext='a^2'>y</math>",
    "one", " two ", " \n ", "thr\u200bee", "\ue001", "\u200b", "&nbsp;", "four five six seven. " * 9,
]  # fmt: skip
markup = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


def blocks_of(body: str) -> TextBlocks:
    return find_blocks(parse(f"<body>{body}".encode()).body)


def runs_of(page: TextBlocks) -> list[str]:
    """Join the runs of each block."""
    texts = [""] * len(page.block_texts)
    for text, block in zip(page.run_texts, page.run_blocks, strict=True):
        texts[block] += text
    return texts


def depth(element: Element) -> int:
    """Return how many elements are around an element."""
    return 1 + depth(element.parent) if element.parent else 0


def bare(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize(
    ("body", "blocks"),
    [
        ("", []),
        (" \n <p> </p>", []),
        ("one", ["one"]),
        ("<p>one <b>t</b>wo</p>\n<p>three</p>", ["one two", "three"]),
        ("one<p>two</p>three", ["one", "two", "three"]),
        ("<div>one<div>two</div>three</div>", ["one", "two", "three"]),
        ("<p>one<br>two<img>three", ["one twothree"]),
        ("<span>one</span> <a href=/x>two</a>", ["one two"]),
        ("one<hr>two<button>three</button>four", ["one", "two", "three", "four"]),
        ("<table><tr><td>one<td><td>two</table>", ["one", "two"]),
        ("<ul><li>one<ul><li>two</ul></ul>", ["one", "two"]),
        ("<label>one</label><select><option>no</select>two", ["one", "two"]),
        (
            "one<script>no</script><style>no</style><!-- no --><template>no</template> two",
            ["one two"],
        ),
        ("one<svg><text>no</text></svg><video>no</video><iframe>no</iframe>", ["one"]),
        ("on\u200be\u00ad <b>\u202e</b>two", ["one two"]),
        ("<i>\ue001</i> one", ["one"]),
        ("<p>\u200b</p><p>one</p>", ["", "one"]),
        ("<dialog>no</dialog><dialog open>one</dialog>", ["one"]),
        ("so <math alttext='a^2'><mi>no</mi></math> is", ["so a^2 is"]),
        ("<noscript>no</noscript>one", ["one"]),
    ],
)
def test_text_is_divided_into_blocks(body: str, blocks: list[str]) -> None:
    assert blocks == blocks_of(body).block_texts


@given(markup)
def test_the_lists_of_blocks_are_consistent(body: str) -> None:
    page = blocks_of(body)
    count, runs = len(page.names), len(page.run_texts)
    assert {
        len(page.parents),
        len(page.attributes),
        len(page.marks),
        len(page.around),
    } == {count}
    assert [
        parent for element, parent in enumerate(page.parents) if parent >= element
    ] == []
    assert [number for number in page.stream if number >= 0] == list(range(1, count))
    assert [~number for number in page.stream if number < 0] == list(range(runs))
    assert len(page.block_elements) == len(page.block_linked) == len(page.block_texts)
    assert list(dict.fromkeys(page.run_blocks)) == list(range(len(page.block_texts)))
    assert [" ".join(text.split()).replace(" ", "") for text in runs_of(page)] == list(
        map(bare, page.block_texts)
    )
    for element, block in zip(page.run_elements, page.run_blocks, strict=True):
        around = element
        while around > page.block_elements[block]:
            around = page.parents[around]
        assert around == page.block_elements[block]


def test_the_parents_marks_and_links_of_elements_are_known() -> None:
    page = blocks_of(
        "<main class='a b'><p id=c role=note>one <a href=/x>two</a></p></main><footer>three</footer>"
    )
    assert page.names == ["body", "main", "p", "a", "footer"]
    assert page.marks == ["", "a b", " c note", "", ""]
    assert page.parents == [-1, 0, 1, 2, 0]
    assert [page.is_linked(element) for element in range(5)] == [
        False,
        False,
        False,
        True,
        False,
    ]
    assert page.block_linked == [len("two"), 0]
    assert list(page.links()) == ["/x"]


@pytest.mark.parametrize(
    ("body", "cut"),
    [
        ("<i>" * (MAX_ELEMENTS - 1), False),
        ("<i>" * (MAX_ELEMENTS + 1), True),
        ("x" * MAX_CHARACTERS, False),
        ("x" * (MAX_CHARACTERS + 1), True),
        ("<p>xxxxxxxxx" * (MAX_CHARACTERS // 9 + 1), True),
    ],
)
def test_the_number_of_elements_and_characters_is_bounded(body: str, cut: bool) -> None:
    page = blocks_of(body)
    assert page.cut is cut
    assert len(page.names) <= MAX_ELEMENTS + 1
    assert sum(map(len, page.run_texts)) <= MAX_CHARACTERS
    assert len("".join(page.run_texts)) == len("".join(page.block_texts))


def test_the_beginning_of_a_page_that_is_too_large_is_kept() -> None:
    page = blocks_of("<p>begin</p>" + "x" * MAX_CHARACTERS + "<p>end</p>")
    assert page.block_texts[0] == "begin"
    assert "end" not in page.block_texts
    assert sum(map(len, page.run_texts)) == MAX_CHARACTERS


LONG = "What only readers without scripts are told may be all that there is. " * 5


@pytest.mark.parametrize(
    ("body", "scriptless"),
    [
        (f"<p>Please wait</p><noscript><p>{LONG}</p></noscript>", True),
        (f"<p>{LONG}</p><noscript><p>{LONG * 3}</p></noscript>", False),
        ("<p>Please wait</p><noscript>Turn on your scripts</noscript>", False),
        (f"<p>Please wait</p><noscript><p hidden>{LONG}</p></noscript>", False),
    ],
)
def test_noscript_is_read_if_there_is_little_else(body: str, scriptless: bool) -> None:
    page = blocks_of(body)
    assert page.scriptless is scriptless
    assert (LONG.strip() in page.block_texts) is (
        scriptless or body.startswith(f"<p>{LONG}")
    )


def test_hidden_and_invisible_text_is_counted() -> None:
    page = blocks_of(
        "<p>on\u200be\u2060</p><p hidden>two</p><p hidden> </p><div hidden>three<p>four</p></div>"
    )
    assert (page.invisible, page.hidden) == (2, 2)


@given(markup, st.integers())
def test_the_tree_has_exactly_the_kept_blocks(body: str, seed: int) -> None:
    page = blocks_of(body)
    kept = {
        block
        for block in range(len(page.block_texts))
        if random.Random(seed + block).random() < 0.5
    }
    assert bare(build_tree(page).body.text()) == "".join(map(bare, page.block_texts))
    expected = [bare(page.block_texts[block]) for block in sorted(kept)]
    assert bare(build_tree(page, kept).body.text()) == "".join(expected)


@given(markup)
def test_links_can_be_left_out_with_their_text(body: str) -> None:
    page = blocks_of(body)
    unlinked = (
        text
        for text, within in zip(page.run_texts, page.run_elements, strict=True)
        if not page.is_linked(within)
    )
    assert bare(build_tree(page, linked=False).body.text()) == bare("".join(unlinked))


def shape(element: Element) -> str:
    inside = "".join(
        shape(child) if isinstance(child, Element) else child
        for child in element.children
    )
    return f"({element.name} {inside})" if inside else element.name


@pytest.mark.parametrize(
    ("body", "kept", "expected"),
    [
        ("<p>a</p><p>b</p>", "01", "(body (p b))"),
        (
            "<div><div><p>a</p></div></div><ul><li>b</ul>",
            "10",
            "(body (div (div (p a))))",
        ),
        ("<p>a</p><img><p>b</p>", "11", "(body (p a)img(p b))"),
        ("<p>a</p><a href=/x><img></a><p>b</p>", "11", "(body (p a)(a img)(p b))"),
        ("<p>a</p><div><img><p>x</p></div><p>b</p>", "101", "(body (p a)(p b))"),
        (
            "<p>a</p><div>x<figure><img></figure></div><p>b</p>",
            "101",
            "(body (p a)(p b))",
        ),
        (
            "<figure><img><figcaption>a</figcaption></figure><p>x</p>",
            "10",
            "(body (figure img(figcaption a)))",
        ),
        ("<img><p>a</p><img>", "1", "(body img(p a)img)"),
        ("<img><p>a</p><p>x</p><img>", "10", "(body (p a))"),
        ("<p>a<img>b</p>", "1", "(body (p aimgb))"),
        ("<p>a<br>b</p><br><p>x</p>", "10", "(body (p abrb))"),
        (
            "<table><tr><td>a<td><td>b</table>",
            "11",
            "(body (table (tbody (tr (td a)td(td b)))))",
        ),
        (
            "<table><tr><td>a<td><tr><td><td>x</table>",
            "10",
            "(body (table (tbody (tr (td a)td))))",
        ),
    ],
)
def test_around_kept_blocks_only_meaningful_elements_stay(
    body: str, kept: str, expected: str
) -> None:
    blocks = {block for block, keep in enumerate(kept) if keep == "1"}
    assert expected == shape(build_tree(blocks_of(body), blocks).body)


def test_white_space_is_collapsed_except_in_code() -> None:
    tree = build_tree(blocks_of("<p>a \n\t b&nbsp;c</p><pre>d \n\n  e</pre>")).body
    assert shape(tree) == "(body (p a b c)(pre d \n\n  e))"


@pytest.mark.parametrize("name", ["div", "span", "x-y", "blockquote", "ul", "q"])
def test_the_depth_of_a_tree_is_bounded(name: str) -> None:
    grown = build_tree(blocks_of(f"<{name}>a" * 1000))
    assert grown.flattened
    assert max(map(depth, grown.body.elements())) <= MAX_DEPTH
    assert bare(grown.body.text()).count("a") == 1000


def test_a_tree_of_little_depth_is_complete() -> None:
    grown = build_tree(blocks_of("<div>" * 70 + "a"))
    assert not grown.flattened
    assert max(map(depth, grown.body.elements())) == 70


CONSENT = (
    "<h2>We value your privacy</h2>"
    + "<table><tr><td>Vendor<td>stores cookies for a year to show what may please you</table>"
    * 40
)


@pytest.mark.parametrize(
    "box",
    [
        "<div id=CybotCookiebotDialog>",
        "<div class='cky-modal open'>",
        "<div id=onetrust-banner-sdk role=dialog>",
    ],
)
def test_a_box_that_asks_for_consent_is_left_out_before_anything_is_judged(box):
    page = read_bytes(
        f"{box}{CONSENT}</div><main><h1>An oak table</h1><p>Hardly used, to be fetched in Hamm.</main>".encode(),
        "https://ads.example/1",
        "text/html",
    )

    assert "privacy" not in page.content + page.rest
    assert "to be fetched in Hamm" in page.content


@pytest.mark.parametrize(
    "page",
    [
        "<div id=cm><h1>Centimetres</h1><p>Nothing about cookies that one cannot eat.</div>",
        "<div id=ccc><p>A club of cyclists.</div>",
    ],
)
def test_a_part_of_the_page_is_not_taken_for_such_a_box(page):
    assert find_blocks(parse(page.encode()).body).block_texts
