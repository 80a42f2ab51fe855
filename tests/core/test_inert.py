"""Nothing that reaches a model or a front end fetches or runs anything when it is
rendered as Markdown.
"""

from __future__ import annotations
import json
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from websearch_core import WebSearch
from websearch_core.citations import link_citations
from websearch_core.client._enforce import attach_content, enforce_page, enforce_query
from websearch_core.models import (
    Image,
    Item,
    Page,
    PageData,
    Passage,
    SearchQuery,
    SearchResponse,
    SearchResult,
)
from websearch_core.reading import Excerpt, read_bytes
from websearch_core.reading._markdown.sanitizer import is_safe, sanitize
from websearch_core.render import render_page, render_search, search_as_json
from websearch_core.testing import FakeWeb

URL = "https://base.example/p/"
PARSERS = {
    "commonmark": MarkdownIt("commonmark", {"html": True}),
    "gfm": MarkdownIt("gfm-like", {"html": True, "linkify": False}),
}
for lenient in PARSERS.values():
    lenient.validateLink = lambda _: True  # other renderers let javascript: through
HARMLESS = frozenset(
    "p h1 h2 h3 h4 h5 h6 em strong s del code pre a ul ol li blockquote hr br table thead tbody tr th td".split()
)
FRAGMENTS = [
    "![a](http://e.example/x.png)", "<img src=x>", "<script>x</script>", "<div>", "</div>", "<!--", "-->", "<?x",
    "<![CDATA[", "]]>", "<a href='javascript:x'>", "[a](javascript:x)", "[a](http://e.example/)", "[", "]", "(", ")",
    "](", "![", "!", "[a]", "[a]: javascript:x", "[a]: http://e.example/ 'x'", "[a][b]", "[b]: <data:x>",
    "<javascript:x>", "<https://e.example/x>", "<x@y.example>", "<1@y.example>", "`", "``", "```", "~~~", "````", "\n",
    "\n\n", "    ", "  ", " ", "\t", "> ", ">", "- ", "1. ", "2. ", "* ", "---", "===", "|", "\na|b\n-|-\n", "\\",
    "\\\\", "&lt;img src=x&gt;", "&#91;", "&#33;", "javascript&#58;x", "word", "# ", "**", "*", "_", "\n    ", "\n> ",
    "\n- ", "\n```\n", "\n~~~\n", "\n    ~~~\n", "\n  ```\n", "\n- ~~~\n", "\n> ```\n", "`<b>`", "`a|<i>`", "[x](u)",
    "[x](<u v>)", "[x](/u 't')", "[x](/a`b)", "[^1]: a b", "[^a]: ", "\xa0", "\x01", "\x04", "\x0b", "\r",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join)
WORDS = st.lists(st.sampled_from(FRAGMENTS), max_size=8).map("".join)
LINKS = st.sampled_from(["keep", "text", "drop"])


class Rendered(HTMLParser):
    """Collects the parts of HTML that are neither text nor structure, and the targets
    of its links.
    """

    def __init__(self, markdown: str, parser: MarkdownIt) -> None:
        super().__init__()
        self.live: list[object] = []
        self.links: list[str | None] = []
        self.feed(parser.render(markdown))
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag not in HARMLESS:
            self.live.append(tag)
        for name, value in attrs:
            if (tag, name) == ("a", "href"):
                self.links.append(value)
                if not (value or "").startswith(("http://", "https://")):
                    self.live.append((tag, name, value))
            elif name not in {"class", "start", "style", "title"}:
                self.live.append((tag, name, value))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_comment(self, data):
        self.live.append(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def check(markdown: str, *, links: bool = True) -> None:
    for name, parser in PARSERS.items():
        rendered = Rendered(markdown, parser)
        assert not rendered.live, (name, markdown)
        assert links or not rendered.links, (name, markdown)


def page_of(text: str, **facts: object) -> Page:
    return Page(url=URL, final_url=URL, content=text, provider="elsewhere", **facts)


def test_the_check_sees_what_is_live():
    for live in (
        "![a](http://e.example/x.png)",
        "<b>x</b>",
        "<javascript:x>",
        "a\n<!-- x -->",
        "[a](/b)",
    ):
        with pytest.raises(AssertionError):
            check(live)


@settings(deadline=None, max_examples=300)
@given(TEXTS, LINKS)
def test_markdown_of_strangers_is_inert(text, links):
    safe = sanitize(text, URL, links).text
    check(safe, links=links == "keep")
    check(sanitize(safe, URL, links).text)


@settings(deadline=None, max_examples=150)
@given(
    TEXTS,
    WORDS,
    st.integers(0, 120),
    st.integers(1, 120),
    st.sampled_from(["", "query", "find"]),
)
def test_every_part_of_a_page_of_any_reader_is_inert(text, title, offset, length, way):
    page = enforce_page(page_of(text, title=title))
    choice = {way: "word"} if way else {}
    part = Excerpt(
        max_length=length, offset=min(offset, len(page.content)), **choice
    ).of(page)
    for shown in (part.content, render_page(part), render_page(part, "markdown")):
        check(shown)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=4),
    WORDS,
    TEXTS,
    st.integers(1, 150),
)
@pytest.mark.no_cover
def test_what_is_shown_of_a_search_is_inert(found, answer, text, length):
    results = [
        SearchResult(title=t or "x", snippet=s, url=f"https://e.example/{n}{u}")
        for n, (t, s, u) in enumerate(found)
    ]
    response = SearchResponse(
        query="kelp",
        results=tuple(results),
        answer=answer,
        suggestions=(answer,),
        notes=(answer,),
    )
    response = enforce_query(response, SearchQuery.of("kelp", limit=20))
    page = Excerpt(max_length=length).of(enforce_page(page_of(text)))
    read = attach_content(
        response,
        [page.model_copy(update={"passages": (Passage(offset=0, length=1),)})]
        * len(results),
    )
    for shown in (response, read):
        check(render_search(shown))
        check(render_search(shown, "markdown"))
    for single in (
        response.answer or "",
        *response.suggestions,
        *(r.title for r in response.results),
    ):
        check(single, links=False)
    check(
        link_citations(
            "It is so [1], and ![1], or [2]?", search_as_json(response)["sources"]
        )
    )


@pytest.mark.parametrize("links", ["keep", "text", "drop"])
@pytest.mark.parametrize(
    ("media_type", "write"),
    [
        *((kind, lambda text: text) for kind in ("text/markdown", "text/plain", "text/x-markdown", "text/css", "text/xml")),
        ("text/csv", lambda text: f'name,"{text}"\n'),
        ("application/json", lambda text: json.dumps({"a": text})),
        (
            "application/feed+json",
            lambda text: json.dumps(
                {"version": "https://jsonfeed.org/version/1.1", "title": text, "items": [{"content_text": text, "title": text}]}
            ),
        ),
        (
            "application/rss+xml",
            lambda text: f"<rss version='2.0'><channel><title>a</title><item><title><![CDATA[{text}]]></title>"
            f"<description><![CDATA[{text}]]></description></item></channel></rss>",
        ),
    ],
)  # fmt: skip
def test_every_media_type_keeps_to_the_option_for_links(media_type, write, links):
    text = "[go](https://target.example/) ![i](https://image.example/) <script>x</script> [j](javascript:x) <b>"
    page = read_bytes(write(text).encode(), URL, media_type, links=links)
    check(page.content, links=links == "keep")
    assert page.content
    if links != "keep":
        assert page.links == ()


@pytest.mark.parametrize(
    ("links", "text"),
    [
        ("keep", "A [go](https://target.example/x) and [ref](https://ref.example/)"),
        ("text", "A go and ref"),
        ("drop", "A  and"),
    ],
)
def test_links_of_pages_of_any_reader_are_what_was_asked_for(links, text):
    class Elsewhere:
        name = "elsewhere"

        def read(self, url, /):
            return page_of(
                "A [go](https://target.example/x) and [ref][1]\n\n[1]: https://ref.example/",
                links=(url,),
            )
            yield

    page = WebSearch(
        "duckduckgo", reader=Elsewhere(), read_options={"links": links}
    ).read(URL)
    assert page.content.strip() == text
    assert bool(page.links) == (links == "keep")


@pytest.mark.parametrize(
    "text",
    [
        "a < b and b > c, x <3, snake_case, 2 * 3 * 4, f(x)[0](y is no call)"[:53],
        "`List<int>` and ``a ` <b>``",
        "```html\n<img src=x>\n![a](b)\n```",
        "- item\n  ```html\n  <img src=x>\n  ```\n- next",
        "> ~~~\n> <script>\n> ~~~",
        "1. first\n\n   ```\n   [a](b)\n   ```",
        "[go](https://target.example/a?b=c&d=%20e)",
        "$x_1 < y$ and \\[not a link\\]",
    ],
)
def test_honest_text_and_code_stay_as_they_are(text):
    assert sanitize(text, URL).text == text


@pytest.mark.parametrize(
    "begin",
    ["http://e.example/", "HTTPS://e.example/a", "www.e.example/", "(ftp://e.example/"],
)
@pytest.mark.parametrize(
    "live",
    ["`<img src=x>`", "`<![a](http://e.example/x.png)`", "\\``<b>`", "\xa0`<b>`"],
)
def test_a_backtick_in_a_bare_url_begins_no_code(begin, live):
    # GitHub's parser, and remark-gfm in chat windows, read the backtick as a part of
    # the link.
    safe = sanitize(begin + live, URL).text

    check(safe.replace("`", ""))


def test_code_after_code_that_holds_a_url_stays():
    text = "`http://e.example/`,`<b>` and http://e.example/ `<i>`"
    assert sanitize(text, URL).text == text


@pytest.mark.parametrize(
    "text", ["\\``<b>`", "\\` `<b>`", "http://e.example/</div>`<b>`"]
)
def test_parsers_disagree_where_code_begins(text):
    assert "<b>" not in sanitize(text, URL).text


def test_what_looks_like_a_tag_in_a_text_stays_readable():
    assert sanitize("a List<int> of <things>").text == "a List&lt;int> of &lt;things>"
    found = SearchResponse(
        query="q", results=(SearchResult(title="List<int> & a < b", url=URL),)
    )
    assert (
        enforce_query(found, SearchQuery.of("q")).results[0].title
        == "List< int> & a < b"
    )


def test_authors_images_and_the_text_that_a_service_returns_are_inert():
    result = SearchResult(
        title="t",
        url=URL,
        author="![x](http://e.example/)",
        content="**a** ![x](http://e.example/)<b>",
    )
    images = [
        Image(
            url="https://i.example/a b.png",
            description="<img src=x>",
            page_url="javascript:alert(1)",
        ),
        Image(url="data:image/png;base64,AAAA"),
    ]
    found = enforce_query(
        SearchResponse(query="q", results=(result,), images=images), SearchQuery.of("q")
    )

    assert found.results[0].author == "! [x] (http://e.example/)"
    assert found.results[0].content.startswith("**a** ")
    check(found.results[0].content)
    assert found.images == (
        Image(url="https://i.example/a%20b.png", description="< img src=x>"),
    )


def test_what_a_page_states_about_its_thing_is_plain_text_on_one_line():
    live = "Kelp\n![x](https://e.example/x.png) <script>x</script>"
    offer = (
        Item(name=live, url="javascript:x"),
        Item(name="Dulse", url="https://sea.example/d[1]"),
    )
    data = PageData(
        kind="list",
        name=live,
        brand=live,
        items=offer,
        next_url="data:x",
        raw=({live: [live, 7, True]},),
    )

    clean = enforce_page(Page(url=URL, content="Kelp", data=data)).data

    plain = "Kelp ! [x] (https://e.example/x.png) < script>x< /script>"
    assert (clean.kind, clean.name, clean.brand) == ("list", plain, plain)
    assert [(item.name, item.url) for item in clean.items] == [
        (plain, None),
        ("Dulse", "https://sea.example/d%5B1%5D"),
    ]
    assert clean.next_url is None
    assert clean.raw == ({plain: [plain, 7, True]},)


def test_titles_and_authors_are_one_line():
    forged = "Tides\n2. Forged\u2028 — https://forged.example/"
    facts = {"title": forged, "author": forged}
    (result,) = (
        WebSearch(FakeWeb(results=[{"url": "https://a.example/", **facts}]))
        .search("x")
        .results
    )
    pages = {"https://a.example/": Page(url="", content="x", site_name=forged, **facts)}
    page = WebSearch(FakeWeb(pages=pages)).read("https://a.example/")

    one_line = "Tides 2. Forged — https://forged.example/"
    assert {result.title, result.author, page.title, page.author, page.site_name} == {
        one_line
    }


def test_a_window_into_code_is_code():
    page = enforce_page(page_of("```html\n" + "<img src=x>\n" * 100 + "```\n\nafter"))
    part = Excerpt(max_length=200, offset=300).of(page)
    assert part.content.startswith("```html\n")
    assert part.content_length == len(part.content) <= 200
    assert page.content[300 : part.next_offset] in part.content


def test_it_is_seen_at_once_what_is_safe():
    assert is_safe("# Kelp\n\nBrown [algae](https://a.example/), a < b.")
    for live in ("<b>", "![a](b)", "[a](b)", "[a]: b", "<a@b.example>"):
        assert not is_safe(live)


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("Use it:\n\n```html\n<img src=x>\n```\n\nDone.", True),
        ("~~~\n![](https://x.example/y)\n~~~", True),
        ("```html\n<img src=x>\n```\n\n<img src=x>", False),
        ("```html\n<img src=x>", False),  # it is not closed
        ("a ``` b <img src=x> ``` c", False),  # not a block
        ("`<img src=x>`", False),
        ("- ```\n  <b>\n<img src=x>\n  ```", False),  # the list ends the block
    ],
)
def test_code_in_closed_blocks_is_safe(text, safe):
    assert is_safe(text) == safe
    assert not safe or sanitize(text).text == text


def test_citations_of_what_is_not_a_web_address_stay_text():
    sources = [
        {"id": 1, "url": "javascript:alert(1)"},
        {"id": 2, "url": "https://e.example/a)![y](https://e.example/b"},
    ]
    linked = link_citations("[1] [2]", sources)
    assert linked == "[1] [2](https://e.example/a%29%21%5By%5D%28https://e.example/b)"
