from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import pytest

from websearch_core.models import Page
from websearch_core.reading import read_html

URL = "https://example.org/docs/page.html"
PROSE = "<p>" + "The quick brown fox jumps over the lazy dog, and then it does so again. " * 6 + "</p>"


def read(body: str, head: str = "") -> Page:
    return read_html(f"<html><head>{head}</head><body>{body}</body></html>".encode(), URL, "text/html")


def markdown(body: str) -> str:
    """The Markdown of *body* alone, in a main part long enough to be believed."""
    content = read(f"<main>{PROSE}<hr>{body}</main>").content
    return content.partition("---\n\n")[2]


def test_importing_the_package_loads_no_parser() -> None:
    code = "import sys, websearch_core.reading; print({'bs4', 'markdownify', 'selectolax'} & set(sys.modules))"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
        == "set()"
    )


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a href='/x'>abs</a>", "[abs](https://example.org/x)"),
        ("<a href='x?y=1#z'>rel</a>", "[rel](https://example.org/docs/x?y=1#z)"),
        ("<a href='//cdn.example.net/x'>proto</a>", "[proto](https://cdn.example.net/x)"),
        ("<a href='/a (1)'>p</a>", "[p](https://example.org/a%20%281%29)"),
        ("<a href='javascript:alert(1)'>js</a>", "js"),
        ("<a href='java\nscript:alert(1)'>js</a>", "js"),
        ("<a href='data:text/html,x'>data</a>", "data"),
        ("<a href='file:///etc/passwd'>file</a>", "file"),
        ("<a href='mailto:a@b.c'>mail</a>", "mail"),
        ("<a href='https://user:pw@example.org/'>login</a>", "login"),
        ("<a href='http://[bad'>bad</a>", "bad"),
        ("<a href='https:\\\\example.org'>back</a>", "back"),
        ("<a>none</a>", "none"),
        ("x<a href='/x'></a>y", "xy"),
        ("<a href='/x'>  </a>", ""),
        ("<a href='/x'><b>bold</b></a>", "[**bold**](https://example.org/x)"),
        ("<a href='/x'>[1</a>", "[\\[1](https://example.org/x)"),
    ],
)
def test_links_lead_to_the_web_or_are_text(html: str, expected: str) -> None:
    assert expected == markdown(f"<p>{html}</p>").strip()


def test_a_link_around_blocks_leaves_them_blocks() -> None:
    assert markdown("<a href=/x><h3>Title</h3><p>Summary</p></a>") == "### [Title](https://example.org/x)\n\nSummary"


def test_the_base_of_a_page_counts_if_it_is_on_the_web() -> None:
    link = f"<main>{PROSE}<a href=x>l</a></main>"
    assert "[l](https://other.example/d/x)" in read(link, "<base href='https://other.example/d/'>").content
    assert "[l](https://example.org/docs/x)" in read(link, "<base href='javascript:alert(1)//'>").content


def test_links_are_listed_once_and_only_those_that_lead_away() -> None:
    page = read(f"<nav><a href=/nav>n</a></nav><main>{PROSE}<a href=/a>1</a><a href=#x>2</a><a href=/a>3</a></main>")
    assert page.links == ("https://example.org/nav", "https://example.org/a")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h2>Two <a href='#two'>¶</a></h2>", "## Two"),
        ("<h2></h2><p>x", "x"),
        ("<h3><b>Bold</b> <em>title</em></h3>", "### Bold title"),
        ("<p>a</p>\n\n\n<div><div><div></div></div></div><p>b</p>", "a\n\nb"),
        ("<p>a<br>b<br><br>c</p>", "a\nb\n\nc"),
        ("<p>snake_case and 2 * 3 * 4</p>", "snake_case and 2 * 3 * 4"),
        ("<p>10<sup>6</sup> and H<sub>2</sub>O and 1<sup>st</sup></p>", "10^6 and H2O and 1st"),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"),
        ("<p>an <img src=x alt='a picture of a fox'> image</p>", "an a picture of a fox image"),
        ("<a href=/x><img src=x alt=Home></a>", "[Home](https://example.org/x)"),
        ("<p>say <code>a `b` c</code></p>", "say `` a `b` c ``"),
        ("<b><p>a</p><p>b</p></b><b><p>c</p></b>d", "a\n\nb\n\n**c**\n\nd"),
    ],
)
def test_markdown_is_plain_and_tight(html: str, expected: str) -> None:
    assert expected == markdown(html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>![x](http://evil.example/?q=1)</p>", "! [x]\\(http://evil.example/?q=1)"),
        ("<p>[x](javascript:alert(1))</p>", "[x]\\(javascript:alert(1))"),
        ("<p><span>[x]</span><span>(http://evil.example)</span></p>", "[x]\\(http://evil.example)"),
        ("<p>Hello!<a href=/x>there</a></p>", "Hello! [there](https://example.org/x)"),
        ("<p>&lt;img src=http://evil.example></p>", "&lt;img src=http://evil.example>"),
        ("<p>&lt;<b></b>img src=x></p>", "&lt;img src=x>"),
        ("<p>1 &lt; 2</p>", "1 < 2"),
        ("<p>```<br>not code</p>", "\\```\nnot code"),
        ("<p>a &#xe001;b&#xe002;http://evil.example&#xe003;</p>", "a bhttp://evil.example"),
        ("<p><img src=x alt='![a](http://evil.example/) b c'></p>", "! [a]\\(http://evil.example/) b c"),
    ],
)
def test_text_that_looks_like_markup_stays_text(html: str, expected: str) -> None:
    assert expected == markdown(html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li>a<ul><li>b<ul><li>c</ul></ul><li>d</ul>", "- a\n  - b\n    - c\n- d"),
        ("<ol><li>a<li>b</ol>", "1. a\n2. b"),
        ("<ol start=9><li>a<li>b<p>more</p></ol>", "9. a\n10. b\n\n    more"),
        ("<ol start=99999999999999999999><li>a</ol>", "1. a"),
        ("<ul><li>a<ol><li>b</ol><li></li></ul>", "- a\n  1. b"),
    ],
)
def test_lists_are_nested_and_numbered(html: str, expected: str) -> None:
    assert expected == markdown(html)


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<pre><code class='language-python'>{}</code></pre>", "python"),
        ("<pre class='lang-rust'>{}</pre>", "rust"),
        ("<div class='highlight highlight-source-shell'><pre>{}</pre></div>", "shell"),
        ("<div class='highlight-c++ notranslate'><div class=highlight><pre>{}</pre></div></div>", "c++"),
        ("<pre><code class='language-none'>{}</code></pre>", ""),
        ("<pre>{}</pre>", ""),
    ],
)
def test_code_is_fenced_and_says_its_language(html: str, language: str) -> None:
    code = "def f(x):\n\n\n    return x  # [a](b) ![c](d) &lt;p>"
    expected = f"```{language}\n{code.replace('&lt;', '<')}\n```"
    assert expected == markdown(html.format(code))


def test_a_fence_is_longer_than_what_it_holds() -> None:
    assert markdown("<pre>```\nx\n```</pre>") == "````\n```\nx\n```\n````"


def test_lines_of_code_stay_lines() -> None:
    assert markdown("<pre><div>a</div><div>b</div><span>c<br>d</span></pre>") == "```\na\nb\nc\nd\n```"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<table><tr><th>A<th>B<tr><td>1<td>2</table>", "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        ("<table><tr><td>A<td>B<tr><td>1|2<td></table>", "| A | B |\n| --- | --- |\n| 1\\|2 | |"),
        ("<table><tr><th colspan=2>A<tr><td>1<td>2</table>", "| A | |\n| --- | --- |\n| 1 | 2 |"),
        ("<table><tr><th>A<tr><td>1<td>2</table>", "| A | |\n| --- | --- |\n| 1 | 2 |"),
        ("<table><tr><th>A<th>B<tr><td><p>1</p><p>2</p><td>3<br>4</table>", "| A | B |\n| --- | --- |\n| 1 2 | 3 4 |"),
        ("<table><tr><td><h2>Title</h2><td>x<tr><td>a<td>b</table>", "## Title\n\nx\n\na\n\nb"),
        ("<table><caption>C</caption><tr><td>A<td>B<tr><td>1<td>2</table>", "C\n\n| A | B |\n| --- | --- |\n| 1 | 2 |"),
    ],
)
def test_tables_of_data_are_pipes_and_tables_of_layout_are_not(html: str, expected: str) -> None:
    assert expected == markdown(html)


def test_the_chrome_around_the_text_is_left_out() -> None:
    page = read(
        f"""<header>Site header</header><nav>Navigation</nav><div class="cookie-banner">Cookies!</div>
        <div id="sidebar">Sidebar words</div><div class="ad-slot">Buy this</div>
        <article><h1>Title</h1>{PROSE * 3}<aside><a href=/r>Related things</a></aside></article>
        <form><label>Your mail</label><input><button>Send</button></form>
        <ul class=x><li><a href=/1>Other page one</a><li><a href=/2>Other page two</a></ul><footer>© Us</footer>"""
    )
    assert page.content.startswith("# Title\n\nThe quick brown fox")
    assert page.content.endswith("and then it does so again.")
    for chrome in ("header", "Navigation", "Cookies", "Sidebar", "Buy", "Related", "mail", "Other", "© Us"):
        assert chrome not in page.content


@pytest.mark.parametrize(
    "body",
    [
        f"<div><div class=x><p>short</p></div><div class=y><div>{PROSE * 3}</div></div></div>",
        f"<div role=main>{PROSE}</div><div>elsewhere</div>",
        f"<main><p>tiny</p></main><div>{PROSE * 5}</div>",
        f"<div class=sidebar>{PROSE}</div>",
        f"<form>{PROSE}<input></form>",
        f"<nav>{PROSE}</nav>",
    ],
)
def test_the_text_is_found_wherever_it_is(body: str) -> None:
    assert "quick brown fox" in read(body).content


@pytest.mark.parametrize(
    "body", ["<p>Hi.</p>", "Hi.", "<nav>Hi.</nav>", "<footer><p>Hi.</p></footer>", "<a href=/x>Hi.</a>"]
)
def test_a_page_of_few_words_keeps_them(body: str) -> None:
    assert "Hi." in read(body).content


def test_a_page_for_readers_without_scripts_is_read_if_there_is_no_other() -> None:
    page = read(f"<div id=app></div><noscript>{PROSE}</noscript>")
    assert "quick brown fox" in page.content
    assert "this is what the page tells readers without scripts" in page.notes
    assert "please enable" not in read(f"<main>{PROSE}</main><noscript>please enable scripts</noscript>").content


@pytest.mark.parametrize("body", ["", "<script>x()</script>", "<div id=app></div>", "<p hidden>x</p>"])
def test_a_page_without_text_says_so(body: str) -> None:
    page = read(body)
    assert page.content == ""
    assert "the page has no text that can be read without running its scripts" in page.notes


HEAD = """
<title>Plain &amp; simple - Site</title>
<meta name="description" content="What it is about.">
<meta name="author" content="Ada Lovelace">
<meta property="article:published_time" content="2026-05-04T09:08:07Z">
"""
LD = """<script type="application/ld+json">{"@context": "https://schema.org", "@graph": [{"@type": "WebSite"},
{"@type": "Article", "datePublished": "2026-05-04", "author": [{"name": "Ada"}, {"name": "Bob"}]}]}</script>"""


def test_metadata_is_read_from_meta() -> None:
    page = read_html(f"<html lang=en-GB><head>{HEAD}</head>{PROSE}".encode(), URL)
    assert page.title == "Plain & simple - Site"
    assert page.description == "What it is about."
    assert page.author == "Ada Lovelace"
    assert datetime(2026, 5, 4, 9, 8, 7, tzinfo=UTC) == page.published
    assert page.language == "en-GB"
    assert (page.url, page.final_url, page.media_type) == (URL, URL, "text/html")


def test_metadata_is_read_from_open_graph_and_json_ld() -> None:
    graph = "<meta property=og:title content='Graph title'><meta property=og:locale content=pt_BR>"
    page = read(PROSE, f"<title>x</title>{graph}{LD}")
    assert (page.title, page.language, page.author) == ("Graph title", "pt-BR", "Ada, Bob")
    assert datetime(2026, 5, 4, tzinfo=UTC) == page.published


@pytest.mark.parametrize(
    "json", ["{", "[" * 100_000, '{"author": 1, "datePublished": []}', "null", '{"author": {"name": 2}}']
)
def test_broken_json_ld_is_no_metadata(json: str) -> None:
    page = read(PROSE, f'<html lang="not a language!"><script type="application/ld+json">{json}</script>')
    assert (page.author, page.published, page.language) == (None, None, None)


def test_the_html_step_can_cut_its_own_window() -> None:
    page = read_html(f"<main>{PROSE * 20}</main>".encode(), URL, None, 1000)
    assert page.content_length == len(page.content) <= 1000
    assert page.truncated
    assert page.next_offset == page.content_length


@pytest.mark.parametrize(
    ("links", "content", "listed"),
    [
        ("keep", "See [the guide](https://example.org/a) first.", ("https://example.org/a",)),
        ("text", "See the guide first.", ()),
        ("drop", "See first.", ()),
    ],
)
def test_links_keep_their_targets_or_their_text_or_nothing(links, content, listed):
    page = read_html(
        f"<main>{PROSE}<p>See <a href=/a>the guide</a> first.</main>".encode(), "https://example.org/", links=links
    )

    assert content in " ".join(page.content.split())
    assert page.links == listed
