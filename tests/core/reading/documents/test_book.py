"""Books: the order of their chapters, their titles, notes and formulas."""

from __future__ import annotations

import pytest

from tests.core.reading.documents.test_office import BOOK, URL, archive, replace_part
from websearch_core.reading import read_bytes
from websearch_core.reading._sniff import EPUB

SPACES = (
    "xmlns='http://www.w3.org/1999/xhtml' xmlns:epub='http://www.idpf.org/2007/ops'"
)
MATHS = "http://www.w3.org/1998/Math/MathML"


def read(*spine, manifest="", parts=(), **chapters):
    """Read a book with these chapters, in the order of its spine."""
    items = "".join(f"<item id='{name}' href='{name}.xhtml'/>" for name in chapters)
    refs = "".join(f"<itemref idref='{name}'/>" for name in spine or chapters)
    container = (
        "<container><rootfiles><rootfile full-path='in/o.opf'/></rootfiles></container>"
    )
    made = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": container,
        "in/o.opf": f"<package><manifest>{items}{manifest}</manifest><spine>{refs}</spine></package>",
        **dict(parts),
    }
    for name, text in chapters.items():
        made[f"in/{name}.xhtml"] = f"<html {SPACES}><body>{text}</body></html>"
    return read_bytes(archive(made), URL, EPUB)


def test_a_book_has_links_to_the_web_only_and_closes_its_marks():
    chapter = (
        "<html><head><title/><script src='a.js'/></head><body><p><a id='p1'/>See <a href='b.xhtml'>two</a> and "
        "<a href='https://sea.example/kelp'>kelp</a>.</p><p>Next<br/>line.</p></body></html>"
    )
    page = read_bytes(replace_part(BOOK, "a.xhtml", chapter), URL, EPUB)

    assert page.content == (
        "See two and [kelp](https://sea.example/kelp).\n\nNext\nline."
    )
    assert page.links == ("https://sea.example/kelp",)


@pytest.mark.parametrize(
    ("spine", "text"),
    [
        (("b", "a"), "Ebb\n\nKelp"),
        (("a", "b", "a"), "Kelp\n\nEbb"),
        (("a", "missing"), "Kelp"),
    ],
)
def test_chapters_come_in_the_order_of_the_spine(spine, text):
    assert read(*spine, a="<p>Kelp</p>", b="<p>Ebb</p>").content == text


def test_what_a_package_has_in_comments_is_no_part_of_it():
    package = "<package><manifest><item id='a' href='a.xhtml'/></manifest><!-- <itemref idref='a'/> --><spine>%s</spine></package>"
    page = read_bytes(replace_part(BOOK, "o.opf", package % ""), URL, EPUB)
    assert page.content == ""
    package = package % "<itemref idref='a'/>"
    assert (
        "algae" in read_bytes(replace_part(BOOK, "o.opf", package), URL, EPUB).content
    )


NAV = "<item id='n' href='n.xhtml' properties='nav scripted'/>"
NCX = "<item id='x' href='toc.ncx' media-type='application/x-dtbncx+xml'/>"
CONTENTS = "<nav><ol><li><a class='i' href='a.xhtml'>Of &amp; on</a></li><li><a href='b.xhtml#x'>Later</a></li></ol></nav>"
OLD = (
    "<ncx><navMap><navPoint id='p'><navLabel><text> Of &amp; on </text></navLabel><content src='a.xhtml'/></navPoint>"
    "<navPoint id='q'><navLabel><text>Later</text></navLabel><content src='b.xhtml#x'/></navPoint></navMap></ncx>"
)


@pytest.mark.parametrize(
    ("chapter", "text"),
    [
        ("<p>Kelp is brown.</p>", "# Of & on\n\nKelp is brown."),
        ("<p><b>OF &amp; ON</b></p><p>Kelp is brown.</p>", "# Of & on\n\nKelp is brown."),
        ("<h2>Kelp</h2><p>It is brown.</p>", "## Kelp\n\nIt is brown."),
        ("", ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("manifest", "name", "contents"), [(NAV, "in/n.xhtml", CONTENTS), (NCX, "in/toc.ncx", OLD)]
)  # fmt: skip
def test_a_chapter_without_a_heading_has_its_title_of_the_contents(
    chapter, text, manifest, name, contents
):
    page = read(manifest=manifest, parts=[(name, contents)], a=chapter, b="<p>Ebb</p>")
    assert page.content == f"{text}\n\nEbb".strip()


def test_the_table_of_contents_is_no_chapter():
    parts = [("in/n.xhtml", CONTENTS)]
    page = read("n", "a", manifest=NAV, parts=parts, a="<h1>Kelp</h1>")
    assert page.content == "# Kelp"
    alone = read("n", manifest=NAV, parts=parts, a="")
    assert "Later" in alone.content


@pytest.mark.parametrize(
    ("chapter", "text"),
    [
        ("<p>A crew of 12<a epub:type='noteref' href='#n'>3</a> left.</p>", "A crew of 12^3 left."),
        ("<p>In 2019<sup><a href='#n' role='doc-noteref'>3</a></sup> it sank.</p>", "In 2019^3 it sank."),
        ("<p>A crew of 1<span epub:type='pagebreak' id='p4'>4</span>2 left.</p>", "A crew of 12 left."),
        ("<p>A crew<span role='doc-pagebreak' title='4'/> left.</p>", "A crew left."),
        ("<div epub:type='pagebreak'>4</div><p>A crew left.</p>", "A crew left."),
        (f"<p>It is <m:math xmlns:m='{MATHS}'><m:msup><m:mi>x</m:mi><m:mn>3</m:mn></m:msup></m:math>.</p>", "It is $x^{3}$."),
        (f"<p>It is <math xmlns='{MATHS}'><msup><mi>x</mi><mn>3</mn></msup></math>.</p>", "It is $x^{3}$."),
        ("<table><tr><th>a</th><th>b</th></tr><tr><td rowspan='2'>1</td><td>2</td></tr><tr><td>3</td></tr></table>",
         "| a | b |\n| --- | --- |\n| 1 | 2 |\n| | 3 |"),
        ("<p hidden='hidden'>ask Ada</p><p>Kelp</p>", "Kelp"),
    ],
)  # fmt: skip
def test_a_chapter_reads_as_it_looks(chapter, text):
    assert read(a=chapter).content == text
