"""The hardened source never costs the parser much, and keeps all visible text."""

from __future__ import annotations
import gzip
import json
import re
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborNode

from tests.corpora import CORPORA, needs
from websearch_core.reading._charset import to_utf8
from websearch_core.reading._html.harden import harden
from websearch_core.reading._html.normalize import normalize
from websearch_core.reading._html.parse import parse

MOST = 16 * 2**20  # bytes of elements: the room is 11 MiB
PAGES = CORPORA / "reading" / "wcxb" / "dev" / "html"


def nodes(source: bytes) -> Iterator[tuple[int, LexborNode]]:
    """Yield the depth of each node of the parsed *source*, and the node."""
    node, depth = parse(source).root, 0
    while node is not None:
        yield depth, node
        if node.first_child is not None:
            node, depth = node.first_child, depth + 1
            continue
        while node is not None and node.next is None:
            node, depth = node.parent, depth - 1
        node = node.next if node is not None else None


def size(source: bytes) -> int:
    """Return the bytes that the nodes of the parsed *source* take, including the values
    of attributes.
    """
    return sum(
        192 + sum(240 + len(value or "") for value in node.attributes.values())
        if node.is_element_node
        else 136
        for _, node in nodes(source)
    )


def seen(source: bytes) -> list[str]:
    return [node.text_content or "" for _, node in nodes(source) if node.is_text_node]


AGAIN = "<p>x</p>" * 2_000  # each reopens the styles that are still open


@pytest.mark.parametrize(
    "trick",
    [
        "<b id={n}><!-- </b> -->",
        "<b id={n}><xmp></b></xmp>",
        "<b id={n}><iframe></b></iframe>",
        "<b id={n}><noframes></b></noframes>",
        "<b id={n}><noembed></b></noembed>",
        "<b id={n}><textarea></b></textarea>",
        "<b id={n}><title></b></title>",
        "<b id={n}><script></b></scripts></b></script>",
        "<b id={n}><script type=ld+json><!--<script></script></b></script>",
        "<svg><script type=ld+json><b id={n}></script></svg>",
        "<xmp><p title='</xmp><b id={n}>'>",
        "<title><p title='</title><b id={n}>'>",
        "<p title='<b id={n}></b>'><b id={n} title='</b>'>",
        "<b id={n}></b\v>",
        "<B ID={n}></C>",
        "<<!---->b id={n}>",
        "<<?x>b id={n}>",
        "<b id={n}><!doctype </b>>",
        "<b id={n}><select></b></select>",
        "<b id={n}><object></b></object>",
        "<b id={n}><table></b></table>",
        "<table><b id={n}><td></b></table>",
        "<b id={n}><svg><desc><div></desc></b></svg>",
        "<b id={n}><svg><desc><span></desc></b></svg>",
        "<b id={n}><math><mi></b></math>",
        "<b id={n}>" + "<div>" * 9 + "</b>" + "</div>" * 9,
        "<b id={n}>" + "<li><dd>" * 5 + "</b>",
        "<b id={n}><i><div></b></div>",
        "<a href={n}><table><td></table>",
        "<nobr id={n}><table>",
    ],
)
def test_styles_that_seem_closed_are_counted(trick: str) -> None:
    """Otherwise four hundred styles would become two million elements."""
    html = "<div>" + "".join(trick.format(n=n) for n in range(400)) + "</div>" + AGAIN
    assert size(harden(html.encode()).source) < MOST


@pytest.mark.parametrize(
    "end",
    ["</p>x<p>", "</span>x", "<li>x", "</div><div>x", "<h1>x", "<td>x", "<option>x"],
)
@pytest.mark.parametrize(
    "style",
    [
        "<b {many}>",
        "<a {many}>",
        "<b title='{long}'>",
        "<a href='{long}'>",
        "<b {many}><i {many}><u {many}>",
        "<a {many}><svg><a>",
        "<p><b {many}><div></b>",
    ],
)
def test_every_copy_of_a_style_is_counted(style: str, end: str) -> None:
    written = style.format(
        many=" ".join(f"a{n}=1" for n in range(120)), long="x" * 18_000
    )
    html = "<span>" * 2_000 + "<div>" * 500 + "<p>" + written + end * 2_000
    assert size(harden(html.encode()).source) < MOST


@pytest.mark.parametrize(
    ("around", "inside"),
    [
        ("<ruby>" + "<rt><q>" * 700, "<rt><rp></rp></rt>x</q>x" * 700),
        (
            "<q><s-x><s-y>" * 700,
            (
                "<svg>"
                + "<q><s-x><s-y>" * 9
                + "<span></span>"
                + "</s-y>x</s-x>x</q>x" * 9
            )
            * 70,
        ),
        ("<q>" * 700, "<svg><q/></q>x" * 700),
        ("<q>" * 700, "<q><div></q>x" * 700),
        ("<q>" * 700, "<q><i></q>x</i>" * 700),
        ("<q>" * 700, "<q></br></q>x" * 700),
    ],
)
def test_end_tags_that_close_outer_elements_are_counted(
    around: str, inside: str
) -> None:
    """The end tag of what looks like a pair closes an element around the style, which
    is then copied.
    """
    style = f"<b {' '.join(f'a{n}=1' for n in range(120))}>"
    assert size(harden(f"{around}{style}{inside}".encode()).source) < MOST


def test_small_pages_are_hardened_too() -> None:
    """These 3 kB would take 18 MB."""
    styles = "".join(
        f"<{name} {' '.join(f'a{n}' for n in range(60))}>" for name in "bius"
    )
    assert size(harden(f"<p>{styles}{'<p>x' * 550}".encode()).source) < MOST


@pytest.mark.parametrize(
    "piece",
    [
        "<<!---->div>",
        "<<?x>div>",
        "<li><dd>",
        "<li><div><li><ul></div>",
        "<form><div></form>",
        "<body><div></body>",
        "<noscript><div></noscript>",
        "<svg><div></svg>",
        "<desc><div></desc>",
        "<title/><div>",
    ],
)
@pytest.mark.no_cover
def test_nesting_that_is_not_obvious_is_bounded(piece: str) -> None:
    """60,000 nested elements take the parser nine seconds, 300,000 take four
    minutes.
    """
    source = harden(piece.encode() * 15_000).source
    assert max(depth for depth, _ in nodes(source)) < 2_000


WORDS = st.sampled_from(
    "<b>|<B ID=1>|</b>|</b x>|<p>|</p>|<a href=x>|</a>|<svg>|</svg>|<title>|</title>|<title/>|<script>|</script>|<xmp>|"
    "<script type=ld+json>|</scripts>|<style>|</style>|<textarea>|</textarea>|<iframe>|<plaintext>|<!--|-->|<!-->|--!>|"
    "<![CDATA[|]]>|<?|<!x|<!doctype|<!doctype html>|</ |</|<|>|'|\"|=|/| |\v|\r|\0|x|é|&|&lt;|lt;|<p a='|<p a=\"|<p a b|"
    "<p a=b/>|<p a = 'b'c>|<p <b>|<p a=<b>|<div<b>".split("|")
)
TAG = (
    rb"<(?:/[a-zA-Z][^\s/>\"'<=]*[ \t\n\f\r]*"
    rb"|[a-zA-Z][^ \t\n\f\r/>\"'<=]*"
    rb"(?:[ \t\n\f\r/]+[^ \t\n\f\r/>\"'<=]+(?:[ \t\n\f\r]*=[ \t\n\f\r]*(?:\"[^\"<]*\"|'[^'<]*'|[^ \t\n\f\r>\"'<=]+))?)*"
    rb"[ \t\n\f\r/]*|!(?i:doctype)[^<>]*)>"
)
UNAMBIGUOUS = re.compile(
    rb"(?:[^<]|" + TAG.replace(rb"[^\s/>", rb"[^ \t\n\f\r/>") + rb")*"
)


@given(st.lists(WORDS, max_size=30).map("".join))
def test_normalized_markup_has_only_tags_and_text(html: str) -> None:
    once = normalize(html.encode()).source
    assert UNAMBIGUOUS.fullmatch(once)
    assert normalize(once).source == once


@given(st.lists(WORDS, max_size=30).map("".join), st.integers(0, 200))
def test_a_page_that_is_cut_off_anywhere_is_normalized(html: str, length: int) -> None:
    assert UNAMBIGUOUS.fullmatch(normalize(html.encode()[:length]).source)


@given(st.lists(st.sampled_from("<b>|</b>|<p>|</p>|<i>|</i>|<a href=x>|</a>|<ul>|<li>|</ul>|<h1>|</h1>|x|<|é|<!--y-->|<br>|"
                                "<td>|<table>|</table>|<script>y</script>|<p title='<b>'>|<p a'b>|&amp;|< ".split("|")),
                max_size=30).map("".join))  # fmt: skip
def test_the_text_of_a_small_page_is_complete(html: str) -> None:
    """The text is that of the original source. It is compared as a whole, since
    comments divide a text in two.
    """
    everything = [node.text_content or "" for _, node in nodes(html.encode()) if node.is_text_node
                  and node.parent is not None and node.parent.tag != "script"]  # fmt: skip
    assert "".join(seen(harden(html.encode()).source)) == "".join(everything)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("a < b << c", "a &lt; b &lt;&lt; c"),
        ("<title>a <b> c</title>", "<title>a &lt;b> c</title>"),
        ("<svg><title/><p>x", "<svg><title></title><p>x"),
        ("<p title='a < b'>x", '<p title="a &lt; b">x'),
        ("""<p title='"<"'>x""", '<p title="&quot;&lt;&quot;">x'),
        ("<p hidden open>x", '<p hidden="" open="">x'),
        ('<p a="1"b="2">x', '<p a="1" b="2">x'),
        ('<p a"b c=1>x', '<p c="1">x'),
        ("<p hidden class=y>x</p >", "<p hidden class=y>x</p >"),
        ("<p>x</p id=1>", "<p>x</p>"),
        ("<!DOCTYPE html><p>x", "<!DOCTYPE html><p>x"),
        ("x<!--><b>y", "x<b>y"),
        ("x<!-- a --!><b>y", "x<b>y"),
        ("x<!-- never ended <b>y", "x"),
        ("<script>a</scripts></b></script>x", "<script></script>x"),
        ("<p>x<b class='never ended", "<p>x"),
    ],
)
def test_ambiguous_markup_is_rewritten(html: str, expected: str) -> None:
    assert harden(html.encode()) == (expected.encode(), False, False)


@pytest.mark.parametrize("around", ["{}", "<!-- {} -->", "\n<![CDATA[ {} ]]>\n"])
def test_json_ld_keeps_its_meaning_without_less_than_signs(around: str) -> None:
    data = {"description": "<p>1 < 2</p></b><!-- x -->"}
    html = f"<script type='application/ld+json'>{around.format(json.dumps(data))}</script><p>x"
    script = parse(harden(html.encode()).source).css_first("script")
    assert script is not None
    assert "<" not in script.text()
    assert json.loads(script.text()) == data


def test_only_the_first_attributes_of_an_element_are_kept() -> None:
    html = f"<p {' '.join(f'a{n}=1' for n in range(200))}>x"
    hardened = harden(html.encode())
    assert hardened.simpler
    (paragraph,) = parse(hardened.source).css("p")
    assert list(paragraph.attributes) == [f"a{n}" for n in range(128)]


def test_an_attribute_that_is_too_long_is_left_out() -> None:
    html = f"<p title='{'x' * 30_000}' id=y>x"
    assert harden(html.encode()) == (b'<p id="y">x', False, False)


@pytest.mark.parametrize(
    "page",
    [
        lambda: "<p><b><i>x</i></b> <a href=/x><span>x</span></a></p>" * 1_500,
        lambda: (
            "<a href=/x><div><div><h2>x</h2><p>x</p><ul><li>x</li></ul></div></div></a>"
            * 500
        ),
        lambda: "<b><table><tr><td><b>x</b></td></tr></table></b>" * 500,
        lambda: "<font color=red><p>x<p>x<p>x</font>" * 1_000,
        lambda: "<p>" + "<a name=x>x" * 3_000,
        lambda: "<table>" + "<tr><td><a href=x>x</a><td><b>x</b>" * 1_500,
        lambda: "<dl>" + "<dt>x<dd>x" * 3_000 + "</dl><ul>" + "<li>x" * 3_000,
    ],
)
def test_sloppy_pages_lose_nothing(page: Callable[[], str]) -> None:
    html = page()
    assert harden(html.encode()) == (html.encode(), False, False)


@needs(PAGES)
def test_real_pages_are_not_cut() -> None:
    for path in sorted(PAGES.glob("*.gz"))[::10]:
        source = to_utf8(gzip.decompress(path.read_bytes()), limit=10**8).data
        assert harden(source)[1:3] == (False, False), path.name
