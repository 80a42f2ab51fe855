"""Feeds of every format, and sitemaps."""

from __future__ import annotations
import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from websearch_core.errors import UnsupportedContent
from websearch_core.reading import read_bytes
from websearch_core.reading._excerpt.window import cut_window

URL = "https://sea.example/news/feed"

RSS = b"""<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel><title>Kelp &amp; co</title><link>https://sea.example/</link><description>All of it</description>
<language>en-gb</language>
<item><title>Brown [algae]</title><link>/kelp</link><dc:creator>Ada</dc:creator>
 <pubDate>Mon, 04 May 2026 23:00:00 -0200</pubDate>
 <description>&lt;p&gt;Short&lt;/p&gt;</description>
 <content:encoded><![CDATA[<h1>Habitat</h1><p>Cold <b>seas</b>, <a href="depth">shallow</a>.
   <img src="https://evil.example/?q" alt="A frond of kelp on the shore"><span style="display:none">ignore</span> Deep.]]></content:encoded>
 <enclosure url="https://sea.example/1.mp3" type="audio/mpeg" length="9"/></item>
<item><title>Cut &lt;b&gt;short</title><guid>https://sea.example/cut</guid><description>&lt;a href="/x</description></item>
<item><description>Only words</description></item>
</channel></rss>"""

READ = """All of it

## [Brown \\[algae\\]](https://sea.example/kelp)

2026-05-05 · Ada

### Habitat

Cold **seas**, [shallow](https://sea.example/depth). (Image: A frond of kelp on the shore) Deep.

[audio/mpeg](https://sea.example/1.mp3)

## [Cut short](https://sea.example/cut)

## Untitled

Only words"""

ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>Kelp</title><subtitle>All of it</subtitle>
<updated>2026-05-05T00:00:00Z</updated><author><name>Ada</name></author>
<entry><title type="html">Brown &lt;i&gt;algae&lt;/i&gt;</title><link href="../kelp"/><updated>2026-05-04T10:00:00Z</updated>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Cold seas.</p></div></content></entry></feed>"""

RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel><title>Kelp</title><link>https://sea.example/</link><description>All of it</description></channel>
<item><title>Brown algae</title><link>https://sea.example/kelp</link><description>Cold seas.</description></item></rdf:RDF>"""

JSON = json.dumps(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Kelp",
        "description": "All of it",
        "home_page_url": "https://sea.example/",
        "items": [
            {
                "title": "Brown algae",
                "url": "/kelp",
                "content_html": "<p>Cold seas.",
                "date_published": "2026-05-04",
            },
            {
                "url": "/dulse",
                "content_text": "Red.",
                "authors": [{"name": "Bob"}],
                "attachments": [{"url": "/a.mp3"}],
            },
            "no entry",
        ],
    }
).encode()


@pytest.mark.parametrize(
    ("source", "title"),
    [
        (b"<![CDATA[Tom &#8217;s blog]]>", "Tom ’s blog"),
        (b"Foo &amp;amp; Bar", "Foo & Bar"),
        (b"News &lt;b&gt;today&lt;/b&gt;", "News today"),
        (b"Safe &lt;script&gt;alert(1)&lt;/script&gt; words", "Safe words"),
        (b"Kelp &amp; co", "Kelp & co"),
        (b"a &lt; b", "a < b"),
    ],
)
def test_the_title_of_a_feed_is_decoded_as_those_of_its_entries_are(source, title):
    page = read_bytes(RSS.replace(b"Kelp &amp; co", source), URL)
    entry = read_bytes(RSS.replace(b"Brown [algae]", source), URL)

    assert page.title == title
    assert f"## [{title}](" in entry.content.replace("&lt;", "<")


def test_a_feed_becomes_its_entries_under_headings():
    page = read_bytes(RSS, URL, "application/rss+xml")

    assert page.content == READ
    assert (page.title, page.description, page.language) == (
        "Kelp & co",
        "All of it",
        "en-GB",
    )
    assert page.links == (
        "https://sea.example/kelp", "https://sea.example/depth", "https://sea.example/1.mp3", "https://sea.example/cut",
    )  # fmt: skip
    assert page.notes == ("3 entries",)


@pytest.mark.parametrize(
    ("declared", "noted"),
    [
        (None, False),
        ("text/xml", False),
        ("application/xml", False),
        ("text/html", True),
        ("application/atom+xml", True),
    ],
)
def test_a_feed_is_recognized_by_its_content(declared, noted):
    page = read_bytes(RSS, URL, declared)

    assert (page.content, page.media_type) == (READ, "application/rss+xml")
    assert (
        f"declared as {declared}, but it is application/rss+xml" in page.notes
    ) == noted


def test_atom():
    page = read_bytes(ATOM, URL, "text/html")

    assert (
        page.content
        == "All of it\n\n## [Brown algae](https://sea.example/kelp)\n\n2026-05-04\n\nCold seas."
    )
    assert (page.title, page.author, page.modified.isoformat()) == (
        "Kelp",
        "Ada",
        "2026-05-05T00:00:00+00:00",
    )


@pytest.mark.parametrize(
    "data", [RDF, RDF.replace(b"item>", b"item >").replace(b"</rdf:RDF>", b"")]
)
def test_rdf_even_if_broken(data):
    page = read_bytes(data, URL)

    assert (
        page.content
        == "All of it\n\n## [Brown algae](https://sea.example/kelp)\n\nCold seas."
    )
    assert page.media_type == "application/rdf+xml"


@pytest.mark.parametrize("version", ["0.91", "0.92", "1.0"])
def test_old_feeds(version):
    data = f"<rss version='{version}'><channel><title>Kelp</title><item><title>A</title></item></channel></rss>"
    assert read_bytes(data.encode(), URL).content == "## A"


def test_json_feed():
    page = read_bytes(JSON, URL, "application/json")

    assert page.content == (
        "All of it\n\n## [Brown algae](https://sea.example/kelp)\n\n2026-05-04\n\nCold seas.\n\n"
        "## [https://sea.example/dulse](https://sea.example/dulse)\n\nBob\n\nRed.\n\n[file](https://sea.example/a.mp3)"
    )
    assert (page.media_type, page.notes) == ("application/feed+json", ("2 entries",))


@pytest.mark.parametrize("data", [RSS, ATOM, RDF, JSON])
def test_the_targets_of_links_can_be_left_out(data):
    page = read_bytes(data, URL, links="text")
    assert "](" not in page.content
    assert page.links == ()


def test_no_image_survives():
    images = b"![x](https://evil.example/) &lt;img src=y&gt; &amp;lt;img src=z&amp;gt;"
    data = b"<rss><channel><title>%b</title><item><title>%b</title><description>%b</description></item></channel></rss>"
    content = read_bytes(data % (images, images, images), URL).content
    assert "![" not in content
    assert "<img" not in content


def test_the_charset_of_the_header_takes_precedence():
    data = (
        RSS.decode()
        .replace("All of it", "Café")
        .replace("utf-8", "punycode")
        .encode("cp1252")
    )
    assert (
        read_bytes(data, URL, "application/rss+xml; charset=iso-8859-1").description
        == "Café"
    )


@pytest.mark.parametrize(
    "data",
    [
        b"<rss>\xc3\xa9</rss>",
        b"<feed/>",
        b'{"version": "https://jsonfeed.org/version/1", "items": [',
    ],
)
def test_data_that_only_begins_like_a_feed_is_text(data):
    assert data.decode() in read_bytes(data, URL).content


ENTITIES = b"".join(
    b"<!ENTITY %c '%s'>" % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(12)
)


@pytest.mark.parametrize(
    "sample", [RSS, ATOM, RDF, JSON], ids=["rss", "atom", "rdf", "json"]
)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_damaged_feed_is_read_and_its_windows_join(sample, data):
    place = data.draw(st.integers(0, len(sample)))
    junk = data.draw(
        st.sampled_from(
            [b"", b"<", b"&", b"]]>", b"<!--", b"\x00", b"\xff", b"</item>", b'"']
        )
    )
    try:
        page = read_bytes(
            sample[:place] + junk + sample[place + data.draw(st.integers(0, 300)) :],
            URL,
        )
    except UnsupportedContent:  # binary now
        assert junk in {b"\x00", b"\xff"}
        return
    text, offset = "", 0
    while offset is not None:
        part = cut_window(page, 100, offset)
        text, offset = text + part.content, part.next_offset
    assert text == page.content


SITEMAP = b"""<?xml version="1.0"?><!-- made by hand -->
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="i">
<url><loc>https://sea.example/kelp?a=1&amp;b=2</loc><image:image><image:loc>https://sea.example/i.png</image:loc>
</image:image><lastmod>2026-05-04T10:00:00Z</lastmod></url>
<url><loc> <![CDATA[/dulse]]></loc></url><url><loc>javascript:x</loc><lastmod>2026</lastmod></url></urlset>"""


def test_a_sitemap():
    page = read_bytes(SITEMAP, URL, "application/xml")

    assert (
        page.content
        == "- https://sea.example/kelp?a=1&b=2 (2026-05-04)\n- https://sea.example/dulse"
    )
    assert page.links == (
        "https://sea.example/kelp?a=1&b=2",
        "https://sea.example/dulse",
    )
    assert (page.title, page.notes, page.media_type) == (
        "Sitemap of sea.example",
        ("2 addresses",),
        "application/xml",
    )


@pytest.mark.parametrize("prefix", ["", "s:"])
def test_an_index_of_sitemaps(prefix):
    tags = "<{0}sitemapindex><{0}sitemap><{0}loc>https://sea.example/a.xml</{0}loc></{0}sitemap></{0}sitemapindex>"
    page = read_bytes(tags.format(prefix).encode(), URL, "text/xml")
    assert (page.content, page.notes) == (
        "- https://sea.example/a.xml",
        ("1 sitemaps",),
    )


def test_a_sitemap_of_many_addresses_is_cut_with_a_note():
    page = read_bytes(
        b"<urlset>" + b"<url><loc>https://sea.example/kelp</loc></url>" * 60_000, URL
    )
    assert page.truncated
    assert page.notes == (
        "the first 37038 addresses",
        "some of its links were left out",
    )
    assert len(page.links) == 50_000


def test_a_compressed_sitemap():
    page = read_bytes(gzip.compress(SITEMAP), URL, "application/gzip")
    assert page.links == (
        "https://sea.example/kelp?a=1&b=2",
        "https://sea.example/dulse",
    )


@pytest.mark.parametrize(
    "data", [gzip.compress(b"kelp", mtime=0), b"\x1f\x8b\x08rubbish"]
)
def test_what_is_compressed_otherwise_has_no_text(data):
    with pytest.raises(UnsupportedContent):
        read_bytes(data, URL, "application/gzip")


PERSONS = [
    "author",
    "dc:creator",
    "managingEditor",
    "webMaster",
    "dc:publisher",
    "itunes:author",
    "itunes:owner",
]
NAMES = {
    "a long word": "1" * 100_000,
    "words": "ab " * 30_000,
    "elements": "1<b/>" * 20_000,
    "a comment": "1<!--</author>-->" * 10_000,
    "unclosed": "1" * 100_000 + "<author>",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("element", PERSONS)
def test_a_name_that_is_longer_than_any_name_is_left_out_and_the_rest_is_read(
    element, name
):
    spaces = 'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"'
    item = f"<item><title>Kelp</title><{element}>{name}</{element}></item>"
    feed = f'<rss version="2.0" {spaces}><channel><title>Algae</title><item><title>Dulse</title></item>{item}</channel></rss>'
    page = read_bytes(feed.encode(), URL, "application/rss+xml")
    assert page.title == "Algae"
    assert "## Kelp" in page.content
    assert "111" not in page.content
    assert "ab ab" not in page.content


def test_names_that_people_have_are_kept():
    person = "<name>Ada Lovelace</name><uri>https://sea.example/people/ada</uri><email>ada@sea.example</email>"
    entry = f"<entry><title>Kelp</title><author>{person}</author></entry>"
    feed = (
        f'<feed xmlns="http://www.w3.org/2005/Atom"><title>Algae</title>{entry}</feed>'
    )
    assert (
        "Ada Lovelace" in read_bytes(feed.encode(), URL, "application/atom+xml").content
    )
