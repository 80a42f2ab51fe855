"""Writing the tree of a piece of HTML as Markdown. The selection of content is tested
elsewhere.
"""

from __future__ import annotations
import subprocess
import sys
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from websearch_core.reading._element import Element
from websearch_core.reading._html import fragment
from websearch_core.reading._html.blocks import find_blocks
from websearch_core.reading._html.tree import build_tree
from websearch_core.reading._links import absolute
from websearch_core.reading._markdown.writer import (
    _CONVERSIONS,
    _load_markdownify,
    to_markdown,
)

URL = "https://e.org/docs/page"


def tree(html: str) -> Element:
    return build_tree(find_blocks(LexborHTMLParser(f"<body>{html}").body)).body


def markdown(html: str) -> str:
    return write(tree(html))


def write(root: Element) -> str:
    hrefs = (element.get("href") for element in root.elements() if element.name == "a")
    return to_markdown(
        root, {href: url for href in hrefs if (url := absolute(href, URL))}
    )


def element(name: str, *children: Element | str, **attributes: str) -> Element:
    """Return an element of the tree, for cases that HTML alone cannot express."""
    result = Element(name, attributes, None)
    for child in children:
        result.children.append(child)
        if isinstance(child, Element):
            child.parent = result
    return result


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h1>A</h1><h2>B</h2><h3>C</h3>", "# A\n\n## B\n\n### C"),
        (
            "<h1>A</h1><h2>B</h2><h1>C</h1><h2>D</h2><h6>E</h6>",
            "# A\n\n## B\n\n## C\n\n### D\n\n###### E",
        ),
        ("<h2>B</h2><h1>A</h1>", "## B\n\n# A"),
        (
            "<h2>With <a href=/x>a link</a> <a href=#b>#</a></h2>",
            "## With [a link](https://e.org/x)",
        ),
        ("<h2>Words <img alt='a picture of the words'></h2>", "## Words"),
        ("<h2><div>a</div><p>b</p></h2>", "## a b"),
        ("<h2>Two <a href='#two'>¶</a></h2>", "## Two"),
        ("<h2></h2><p>x", "x"),
        ("<h3><b>Bold</b> <em>title</em></h3>", "### Bold title"),
    ],
)
def test_there_is_one_title_and_the_headings_keep_their_order(
    html: str, expected: str
) -> None:
    assert expected == markdown(html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li>a<br>b<ul><li>c</ul>after</ul>", "- a\n  b\n  - c\n\n  after"),
        ("<ul><li>a<ul><li>b<ul><li>c</ul></ul><li>d</ul>", "- a\n  - b\n    - c\n- d"),
        ("<ul><li>a<ol><li>b</ol><li></li></ul>", "- a\n  1. b"),
        ("<ol><li>a<li>b</ol>", "1. a\n2. b"),
        ("<ol start=9><li>a<li><p>b</p><p>c</p></ol>", "9. a\n10. b\n\n    c"),
        ("<ol start=99999999999999999999><li>a</ol>", "1. a"),
        ("<ul><li>a</ul><ul><li>b</ul>", "- a\n\n- b"),
        ("<ul><li><ol><li>a<li>b</ol></ul>", "- 1. a\n  2. b"),
        ("<menu><li>a</menu>", "- a"),
        # A list directly inside a list is part of the item before it, though the
        # standard does not allow that.
        (
            "<ul><li>a</li><ul><li>b</li><ul><li>c</li></ul></ul><li>d</ul>",
            "- a\n  - b\n    - c\n- d",
        ),
        (
            "<ol start=9><li>a<li>b</li><ul><li>c</ul><li>d</ol>",
            "9. a\n10. b\n    - c\n11. d",
        ),
        ("<ul><li>a</li><ul><p>b</p><li>c</ul></ul>", "- a\n\n  b\n\n  - c"),
        ("<ul><ul><ul><li>a</ul></ul></ul>", "- a"),
        ("<div><li>a</li><ul><li>b</ul></div>", "- a\n\n- b"),
        ("<ul><li> <li>a</ul>", "- a"),
        ("<ul><li><pre>x\n\ny</pre></ul>", "- ```\n  x\n\n  y\n  ```"),
        (
            "<ul><li><blockquote><pre>x</pre></blockquote></ul>",
            "-\n  > ```\n  > x\n  > ```",
        ),
        ("<ul><li># a<li>> b</ul>", "- \\# a\n- \\> b"),
        ("<blockquote>a<blockquote>b</blockquote></blockquote>", "> a\n>\n> > b"),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"),
        ("<blockquote cite=/x><p>a<br># b</p></blockquote>", "> a\n> \\# b"),
    ],
)
def test_lists_and_quotations_nest(html: str, expected: str) -> None:
    assert expected == markdown(html)


def test_list_items_have_the_numbers_of_the_page() -> None:
    items = element("li", "a"), element("li", "b", value="7"), element("li", "c")
    assert write(element("div", element("ol", *items))) == "1. a\n7. b\n8. c"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            "<ol reversed><li>Third<li>Second<ul><li>x</ul><li>First</ol>",
            "- 3. Third\n- 2. Second\n  - x\n- 1. First",
        ),
        (
            "<ol reversed start=10><li>a<li value=7>b<li>c</ol>",
            "- 10. a\n- 7. b\n- 6. c",
        ),
        ("<ol type=a start=2><li>b<li>c</ol>", "- b. b\n- c. c"),
        ("<ol type=A start=26><li>y<li>z</ol>", "- Z. y\n- AA. z"),
        ("<ol type=i start=4><li>a<li>b</ol>", "- iv. a\n- v. b"),
        ("<ol type=I start=1999><li>a<ul><li>b</ul></ol>", "- MCMXCIX. a\n  - b"),
        ("<ol type=a start=0><li>a<li>b</ol>", "0. a\n- a. b"),
        ("<ol><li type=a>a<li>b</ol>", "- a. a\n2. b"),
        ("<ol start=-2><li>a<li>b<li>c</ol>", "- -2. a\n- -1. b\n0. c"),
        ("<ol start=123456789><li>a</ol>", "123456789. a"),
        ("<ol start=2019><li>a<ul><li>b</ul></ol>", "2019. a\n      - b"),
        ("<ol reversed><li><pre>x\ny</pre></ol>", "- 1.\n\n  ```\n  x\n  y\n  ```"),
    ],
)
def test_lists_count_as_the_page_does(html: str, expected: str) -> None:
    assert expected == markdown(html)


def test_task_list_items_show_whether_they_are_done() -> None:
    done = element("li", element("input", checked="yes"), "a")
    open_ = element("li", element("input"), "b")
    assert (
        write(element("div", element("ul", done, open_), element("input")))
        == "- [x] a\n- [ ] b"
    )


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<dl><dt>a<dd>b<dd>c<dt>d<dd>e</dl>", "a\n: b\n: c\n\nd\n: e"),
        ("<dl><dt>a<dd><p>b</p><p>c</p></dl>", "a\n: b\n\n  c"),
        ("<dl><dt>a<dd>b<dl><dt>c<dd>d</dl></dl>", "a\n: b\n\n  c\n  : d"),
        ("<dl><dt>a<dd><pre>b</pre></dl>", "a\n\n```\nb\n```"),
        ("<dl><dt><code>f(x)</code> <a href=#f>¶</a><dd>b</dl>", "`f(x)`\n: b"),
        ("<dl><div><dt>a</dt><dd>b</dd></div></dl>z", "a\n: b\n\nz"),
    ],
)
def test_terms_come_before_their_definitions(html: str, expected: str) -> None:
    assert expected == markdown(html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            "<table><caption>C</caption><thead><tr><th>A<th>B<tbody> <tr> <td>1</td> <td>2</td></table>",
            "C\n\n| A | B |\n| --- | --- |\n| 1 | 2 |",
        ),
        (
            "<table><tr><th>A<th>B<tr><td><ul><li>x<li>y</ul><td><p>a</p>b<br>c</table>",
            "| A | B |\n| --- | --- |\n| x; y | a b c |",
        ),
        (
            "<table><tr><th>A<th>B<tr><td><a href=/x>l|k</a><td><code>a|b</code></table>",
            "| A | B |\n| --- | --- |\n| [l\\|k](https://e.org/x) | `a\\|b` |",
        ),
        (
            "<table><tr><td>A<td>B<tr><td>1|2<td></table>",
            "| A | B |\n| --- | --- |\n| 1\\|2 | |",
        ),
        (
            "<table><tr><th colspan=2>A<tr><td>1<td>2</table>",
            "| A | |\n| --- | --- |\n| 1 | 2 |",
        ),
        ("<table><tr><th>A<tr><td>1<td>2</table>", "| A | |\n| --- | --- |\n| 1 | 2 |"),
        (
            "<table><tr><th>A<th>B<tr><td><p>1</p><p>2</p><td>3<br>4</table>",
            "| A | B |\n| --- | --- |\n| 1 2 | 3 4 |",
        ),
        (
            "<table><tr><td><h2>Title</h2><td>x<tr><td>a<td>b</table>",
            "## Title\n\nx\n\na\n\nb",
        ),
        (
            "<table><tr><th>A<th><th>B<tr><td>1<td><td>2</table>",
            "| A | B |\n| --- | --- |\n| 1 | 2 |",
        ),
        (
            "<table><tr><th colspan=2>A<th>B<tr><td>1<td>2<td>3</table>",
            "| A | | B |\n| --- | --- | --- |\n| 1 | 2 | 3 |",
        ),
        ("<table><tr><th>A<tr><td>1<tr><td>2</table>", "| A |\n| --- |\n| 1 |\n| 2 |"),
        (
            "<table><tr><th>A<th>B<br>(kg)<tr><td>a<br>b<br>c<td>1<br>2<br>3</table>",
            "| A | B (kg) |\n| --- | --- |\n| a | 1 |\n| b | 2 |\n| c | 3 |",
        ),
        (
            "<table><tr><th>A<th>B<tr><td>a<br>b<br>c<td>at 1<br>daily<br>only</table>",
            "| A | B |\n| --- | --- |\n| a b c | at 1 daily only |",
        ),
        ("<table><tr><th>A<tr><td>1</table>", "A\n\n1"),
        ("<table><tr><td>A<tr><td>1<tr><td>2</table>", "A\n\n1\n\n2"),
        ("<table><tr><th>A<tr><td>1<tr><th>B<tr><td>2</table>", "A\n\n1\n\nB\n\n2"),
        (
            f"<table><tr><th>A<tr><td>1<tr><td>{'word ' * 50}</table>",
            f"A\n\n1\n\n{('word ' * 50).strip()}",
        ),
        (
            "<table><tr><td>a<td>b<tr><td><ul><li>x</ul><td>c</table>",
            "a\n\nb\n\n- x\n\nc",
        ),
        (
            "<table><tr><td><table><tr><th>A<th>B<tr><td>1<td>2</table><td>x</table>",
            "| A | B |\n| --- | --- |\n| 1 | 2 |\n\nx",
        ),
        (
            "<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>",
            "a\n\nb\n\nc\n\nd",
        ),
        (
            f"<table><tr><td>a<td>b<tr><td>{'word ' * 400}<td>c</table>",
            f"a\n\nb\n\n{('word ' * 400).strip()}\n\nc",
        ),
    ],
)
def test_tables_hold_data_or_dissolve(html: str, expected: str) -> None:
    assert expected == markdown(html)


def test_a_cell_that_reaches_down_leaves_its_place_free_below() -> None:
    rows = (
        element("tr", element("th", "A"), element("th", "B"), element("th", "C")),
        element(
            "tr",
            element("td", "1"),
            element("td", "2", rowspan="2"),
            element("td", "3"),
        ),
        element("tr", element("td", "4"), element("td", "5")),
        element("tr", element("td", "6"), element("td", "7"), element("td", "8")),
    )
    assert write(element("div", element("table", *rows))) == (
        "| A | B | C |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 4 | | 5 |\n| 6 | 7 | 8 |"
    )


def test_a_cell_without_a_number_of_rows_reaches_to_the_end() -> None:
    html = "<table><tr><th>A<th>B<tr><td rowspan=0>x<td>1<tr><td>2<tr><td>3</table>"
    assert markdown(html) == "| A | B |\n| --- | --- |\n| x | 1 |\n| | 2 |\n| | 3 |"


def test_a_table_too_wide_to_read_is_a_list_of_records() -> None:
    head = "".join(f"<th>h{n}" for n in range(13))
    row = "".join(f"<td>{n or ''}" for n in range(13))
    expected = "- " + "; ".join(f"h{n}: {n}" for n in range(1, 13))
    assert expected == markdown(f"<table><tr>{head}<tr>{row}</table>")
    assert markdown(f"<table><tr>{row}<tr>{row}</table>").startswith("| 1 | 2 |")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<pre><code class='hljs language-js'>x</code></pre>", "```js\nx\n```"),
        ("<pre><code class='language-none'>x</code></pre>", "```\nx\n```"),
        ("<pre class='lang-rust'>x</pre>", "```rust\nx\n```"),
        (
            "<div class='highlight highlight-source-shell'><pre>x</pre></div>",
            "```shell\nx\n```",
        ),
        (
            "<div class='highlight-c++ notranslate'><div class=highlight><pre>x</pre></div></div>",
            "```c++\nx\n```",
        ),
        (
            "<pre>a\n\n\n    b  # [c](d) ![e](f) &lt;p></pre>",
            "```\na\n\n\n    b  # [c](d) ![e](f) <p>\n```",
        ),
        ("<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"),
        (
            "<pre><div>a</div><div>b</div><span>c<br>d</span></pre>",
            "```\na\nb\nc\nd\n```",
        ),
        ("<pre class='brush: php; gutter: true'>x</pre>", "```php\nx\n```"),
        ("<pre class=python>x</pre>", "```python\nx\n```"),
        ("<div class='highlight'><pre class=sh>x</pre></div>", "```sh\nx\n```"),
        ("<div class=python><pre>x</pre></div>", "```\nx\n```"),
        ("<pre><span>a</span>\n<span>b</span></pre>", "```\na\nb\n```"),
        ("<pre><button>Copy</button>a<br>b</pre>", "```\na\nb\n```"),
        (
            "<pre><table><tr><td class=lineno>1<td>a<tr><td class=lineno>2<td>b</table></pre>",
            "```\na\nb\n```",
        ),
        (
            "<table><tr><td class=gutter><pre>1\n2</pre><td><pre>a\nb</pre></table>",
            "```\na\nb\n```",
        ),
        ("<code>a<br>b</code>", "```\na\nb\n```"),
        ("<p>a</p><button>Copy code</button><pre>b</pre>", "a\n\n```\nb\n```"),
        ("<p>say <code>a `b` c</code></p>", "say `` a `b` c ``"),
        ("<code>`</code> <code>a</code><code>b</code>", "`` ` `` `a` `b`"),
        ("<kbd>Ctrl</kbd>+<samp>x</samp>", "`Ctrl`+`x`"),
        ("<pre> </pre>", ""),
        (
            "<ul><li><code>```python</code> opens it</ul>",
            "- ```` ```python ```` opens it",
        ),
        ("<p><code>``</code></p>", "``` `` ```"),
        (
            "<div class='language-js highlighter-rouge'><div class=highlight><pre><code>x</code></pre></div></div>",
            "```js\nx\n```",
        ),
        ("<div class=highlighter-rouge><pre><code>x</code></pre></div>", "```\nx\n```"),
        ("<div class=highlighted><pre class=highlights>x</pre></div>", "```\nx\n```"),
        ("<pre class=brush:php>x</pre>", "```php\nx\n```"),
        (
            "<pre data-syntaxhighlighter-params='brush: php; gutter: false'>x</pre>",
            "```php\nx\n```",
        ),
        ("<pre>if x:<br>&nbsp;&nbsp;y()</pre>", "```\nif x:\n  y()\n```"),
        (
            "<pre><span class=line>a</span><span class=line>  b</span></pre>",
            "```\na\n  b\n```",
        ),
        (
            "<pre><span class=line>a</span>\n<span class=line></span>\n<span class=line>b</span></pre>",
            "```\na\n\nb\n```",
        ),
        (
            "<pre><span class=line><i>a\n</i></span><span class=line>b\n</span></pre>",
            "```\na\nb\n```",
        ),
        ("<pre><span class=linear>a</span><span>b</span></pre>", "```\nab\n```"),
    ],
)
def test_code_is_written_as_code(html: str, expected: str) -> None:
    assert expected == markdown(html)


@pytest.mark.parametrize("attribute", ["data-lang", "data-language"])
def test_attributes_name_the_language_too(attribute: str) -> None:
    assert (
        write(element("div", element("pre", "x", **{attribute: "Go"})))
        == "```go\nx\n```"
    )


_KATEX = (
    "<span class=katex><span class=katex-mathml><math><semantics><mrow><mi>a</mi></mrow>"
    "<annotation encoding='application/x-tex'>a^2</annotation></semantics></math></span>"
    "<span class=katex-html aria-hidden=true>a2</span></span>"
)
_WIKIPEDIA = (
    "<span class=mwe-math-element><span style='display: none'><math alttext='{\\displaystyle E=mc^{2}}'><mi>E</mi></math>"
    "</span><img class=mwe-math-fallback-image-inline aria-hidden=true alt='{\\displaystyle E=mc^{2}}'></span>"
)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"so {_KATEX} is", "so $a^2$ is"),
        (f"so <span class=katex-display>{_KATEX}</span>is", "so\n\n$$a^2$$\n\nis"),
        (f"so {_WIKIPEDIA}.", "so $E=mc^{2}$."),
        ("<math display=block alttext='x'><mi>y</mi></math>", "$$x$$"),
        (
            "<math><mfrac><mi>a</mi><msqrt><mn>2</mn></msqrt></mfrac></math>",
            "$\\frac{a}{\\sqrt{2}}$",
        ),
        (
            "<math><msubsup><mo>∑</mo><mn>0</mn><mi>n</mi></msubsup><mi>sin</mi><mi>x</mi></math>",
            "$∑_{0}^{n}\\sin x$",
        ),
        (
            "<math><mover><mi>v</mi><mo>→</mo></mover><mo>=</mo><mroot><mi>y</mi><mn>3</mn></mroot></math>",
            "$\\vec{v}=\\sqrt[3]{y}$",
        ),
        (
            "<math><mtable><mtr><mtd>1</mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd></mtr></mtable></math>",
            "$\\begin{matrix} & 2 \\\\ 3\\end{matrix}$",
        ),
        (
            "<mjx-container display=true><mjx-math aria-hidden=true>x</mjx-math><math><mi>x</mi></math></mjx-container>",
            "$$x$$",
        ),
        (
            "<table><tr><th>A<th>B<tr><td><math alttext='|x|'></math><td>2</table>",
            "| A | B |\n| --- | --- |\n| $\\vert x\\vert $ | 2 |",
        ),
        ("<math alttext='f[x](y)<b'></math>", "$f[x] (y)< b$"),
        ("<math></math>x<span class=math>y</span>", "xy"),
    ],
)
def test_formulas_are_written_once_as_tex(html: str, expected: str) -> None:
    assert expected == markdown(html)


def test_the_second_form_of_a_formula_does_not_count_as_hidden() -> None:
    assert find_blocks(LexborHTMLParser(f"<body>{_KATEX}{_WIKIPEDIA}").body).hidden == 0


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            "a<sup><a href=#fn1>1</a></sup><ol><li id=fn1>One. <a href=#fnref1>↩</a></ol>",
            "a[1]\n\n1. One.",
        ),
        (
            "a<sup><a href=#cite_note-n>[note 1]</a></sup><ul><li id=cite_note-n><b><a href=#cite_ref-n>^</a></b> One.</ul>",
            "a[note 1]\n\n- [note 1] One.",
        ),
        (
            "<p>a<a href=#_ftn1>[1]</a></p><p><a id=_ftn1 href=#_ftnref1>[1]</a> One.</p>",
            "a[1]\n\n[1] One.",
        ),
        (
            "<p>a<sup><a href=#footnote-2>*</a></sup></p><p id=footnote-2>* One.</p>",
            "a[*]\n\n[*] One.",
        ),
        ("<p>a<sup><a href=#note-9>9</a></sup></p>", "a[9]"),
        (
            "<p><a href=#notes>Notes</a></p><p id=notes>x</p>",
            "[Notes](https://e.org/docs/page#notes)\n\nx",
        ),
        (
            "<p><a href=#part2>2</a></p><p id=part2>x</p>",
            "[2](https://e.org/docs/page#part2)\n\nx",
        ),
    ],
)
def test_footnotes_begin_with_their_mark(html: str, expected: str) -> None:
    assert expected == markdown(html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢(kan)"),
        ("<ruby>漢<rt>kan</rt></ruby>", "漢(kan)"),
        ("<b>a</b><b>b</b> <b><strong>c</strong></b> <i>d </i>e", "**ab** **c** *d* e"),
        ("<s>a</s> <del>b</del> <mark>c</mark> <u>d</u>", "~~a~~ ~~b~~ c d"),
        (
            "<q>a</q> <abbr title=Bee>b</abbr> <time datetime=2026-01-01>c</time> <cite>d</cite>",
            '"a" b c d',
        ),
        (
            "10<sup>6</sup> and H<sub>2</sub>O and 1<sup>st</sup>",
            "10^6 and H2O and 1st",
        ),
        ("<b>a <b>b</b></b> <i>a <i>b</i> c</i>", "**a b** *a b c*"),
        ("<i>it</i><b>bo</b>ld<em><strong>x</strong></em>", "it**bo**ld***x***"),
        ("<b>bo</b><i>it</i> <b>a <i>b</i></b> <i>c</i>", "**bo**it **a *b*** *c*"),
        ("<b>Note:</b>text a<i>(b)</i>c", "**Note**:text a(*b*)c"),
        ("<b><a href=/x>y</a></b>z", "[y](https://e.org/x)z"),
        ("<em>*</em> <b>2*3</b> <i><code>*</code></i>", "*\\** **2\\*3** *`*`*"),
        ("<p><em>a<br>b</em></p>", "*a\nb*"),
        ("<p><em>a<br><br>b</em></p>", "a\n\nb"),
        ("<h2>foo ##</h2><h3>C#</h3><h3>#</h3>", "## foo \\##\n\n### C#\n\n### \\#"),
        ("<b><p>a</p><p>b</p></b><b><p>c</p></b>d", "a\n\nb\n\n**c**\n\nd"),
        ("<p>a</p>\n\n\n<div><div><div></div></div></div><p>b</p>", "a\n\nb"),
        ("<p>a<br>b<br><br>c</p>", "a\nb\n\nc"),
        (
            "<p>an <img src=x alt='a picture of a fox'> image</p>",
            "an a picture of a fox image",
        ),
        (
            "<details open><summary>Why?</summary><p>So.</p></details>",
            "**Why?**\n\nSo.",
        ),
        (
            "<details><summary><h3>Why?</h3></summary><p>So.</p></details>",
            "### Why?\n\nSo.",
        ),
        (
            "<figure><img alt='a red fox runs'><figcaption>A red fox runs away</figcaption></figure>",
            "A red fox runs away",
        ),
        (
            "<img alt='a red fox runs'><p>A fox.</p><img alt='A red  fox runs'>",
            "a red fox runs\n\nA fox.",
        ),
        (
            "<img alt='A red fox runs'><h3>A red fox <i>runs</i></h3>",
            "### A red fox runs",
        ),
        (
            "<table><tr><th>Fox<th>Runs<tr><td>a<td><img alt='yes, it runs'><tr><td>b<td><img alt='yes, it runs'></table>",
            "| Fox | Runs |\n| --- | --- |\n| a | yes, it runs |\n| b | yes, it runs |",
        ),
        (
            "<p>A fox runs in red snow.</p><img alt='A red fox runs'><p>b</p>",
            "A fox runs in red snow.\n\nb",
        ),
        (
            "<p>A dog sleeps.</p><img alt='A red fox runs'><p>b</p>",
            "A dog sleeps.\n\nA red fox runs\n\nb",
        ),
        ("<hr><p>a</p><hr><hr><p>b</p><hr>", "a\n\n---\n\nb"),
        ("<b> a</b><i></i> <b>  </b>b", "**a** b"),
        (
            "<p>A dog.</p><img alt='seven words that nobody wrote as text'>",
            "A dog.\n\n(Image: seven words that nobody wrote as text)",
        ),
        (
            "<a href=/x><img alt='seven words that nobody wrote as text'></a>",
            "[seven words that nobody wrote as text](https://e.org/x)",
        ),
        (
            "<table><tr><th>A<th>B<tr><td>a<td><img alt='seven words that nobody wrote as text'></table>",
            "| A | B |\n| --- | --- |\n| a | seven words that nobody wrote as text |",
        ),
        ("a <img alt=''> <span> </span> b", "a b"),
    ],
)
def test_other_elements(html: str, expected: str) -> None:
    assert expected == markdown(html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("log<sub>10</sub>100", "log_10 100"),
        ("log<sub>2</sub>8", "log_2 8"),
        ("101<sub>2</sub>, 10<sub>16</sub>", "101_2, 10_16"),
        ("x<sub>i+1</sub> = x<sub>i</sub> + a<sub>i,j</sub>", "x_(i+1) = xi + a_(i,j)"),
        ("C<sub>6</sub>H<sub>12</sub>O<sub>6</sub> CO<sub>2</sub>", "C6H12O6 CO2"),
        ("T<sub>1/2</sub> v<sub>max</sub>", "T1/2 vmax"),
        (
            "10<sup>1.5</sup> 10<sup>–3</sup> 10<sup>−19</sup> 10<sup>-3</sup>",
            "10^(1.5) 10^–3 10^−19 10^-3",
        ),
        (
            "10<sup>n+1</sup> e<sup>x</sup> e<sup>−x²</sup> x<sup>2n</sup>",
            "10^(n+1) e^x e^(−x²) x^(2n)",
        ),
        ("10<sup>6</sup>5 and m<sup>2</sup>", "10^6 5 and m^2"),
        ("10<sup>2,3</sup>", "10^(2,3)"),
        (
            "10<sup>x<sup>2</sup></sup> e<sup>−x<sup>2</sup>/2</sup>",
            "10^(x^2) e^(−x^2/2)",
        ),
        (
            "1<sup>st</sup> 2<sup>e</sup> n<sup>o</sup> K<sup>TM</sup> M<sup>me</sup>",
            "1st 2e no KTM Mme",
        ),
        ("1<sup>1</sup>/<sub>2</sub> or <sup>3</sup>⁄<sub>4</sub>", "1 1/2 or 3/4"),
        (
            "<a href=/x>m<sup>2</sup></a> <b>CO<sub>2</sub></b>",
            "[m^2](https://e.org/x) **CO2**",
        ),
        ("a<a href=#fn1><sup>1</sup></a><p id=fn1>One.", "a[1]\n\n[1] One."),
    ],
)
def test_numbers_beside_raised_and_lowered_ones_stay_what_they_are(
    html: str, expected: str
) -> None:
    assert expected == markdown(f"<p>{html}")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            "<a href=/x><span>News</span><h3>Title</h3><p>Text</p></a>",
            "News\n\n### [Title](https://e.org/x)\n\nText",
        ),
        (
            "<a href=/x><h3>Title</h3><p>Summary</p></a>",
            "### [Title](https://e.org/x)\n\nSummary",
        ),
        (
            "<a href=/x><h3>Title</h3></a><p>Summary</p>",
            "### [Title](https://e.org/x)\n\nSummary",
        ),
        ("<li><a href=/x><b><h3>Title</h3></b></a>", "- ### [Title](https://e.org/x)"),
        ("a <a href=/x><img alt=Home></a> b", "a [Home](https://e.org/x) b"),
        ("<a href=/x><b>bold</b></a>", "[**bold**](https://e.org/x)"),
        ("<a href=/x>C:\\dir\\</a>", "[C:\\dir\\\\](https://e.org/x)"),
        ("<a href=/x>[1</a>", "[\\[1](https://e.org/x)"),
        ("x<a href=/x></a>y", "xy"),
        ("<a href=/x>  </a>", ""),
        (
            "<a href=/x><p>a</p></a><a href=/y><p>b</p></a>",
            "[a](https://e.org/x)\n\n[b](https://e.org/y)",
        ),
        ("<a href=/x>a<br>b</a>", "[a b](https://e.org/x)"),
        ("<a href=/x><ul><li>a<li>b</ul></a>", "- [a](https://e.org/x)\n- b"),
        (
            "<a href=/x><img alt=Play></a> <a href=/x>Watch</a>",
            "[Watch](https://e.org/x)",
        ),
        ("<a href=/big.jpg?w=9><img alt=fox></a>x", "x"),
        # A name that many pictures share says nothing of where each of them leads.
        (
            "<a href=/x><img alt=Shot></a> <a href=/y><img alt=shot></a> <a href=/z><img alt=Shot></a> a",
            "a",
        ),
        (
            "<a href=/x><img alt=Play></a> <a href=/y><img alt=Play></a>",
            "[Play](https://e.org/x) [Play](https://e.org/y)",
        ),
        ("a <a href=#top>↑</a> <a href=/next>→</a>", "a [→](https://e.org/next)"),
        ("<a href=/x>a <code>b</code></a>", "[a `b`](https://e.org/x)"),
    ],
)
def test_links_are_on_their_labels(html: str, expected: str) -> None:
    assert expected == markdown(html)


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("/x", "https://e.org/x"),
        ("x?y=1#z", "https://e.org/docs/x?y=1#z"),
        ("//cdn.example.net/x", "https://cdn.example.net/x"),
        ("/a (1)", "https://e.org/a%20%281%29"),
        ("javascript:alert(1)", None),
        ("java\nscript:alert(1)", None),
        ("data:text/html,x", None),
        ("file:///etc/passwd", None),
        ("mailto:a@b.c", None),
        ("https://user:pw@example.org/", None),
        ("http://[bad", None),
        ("https:\\\\example.org", None),
        ("", None),
    ],
)
def test_links_are_http_or_become_text(href: str, url: str | None) -> None:
    assert (f"[there]({url})" if url else "there") == markdown(
        f"<p><a href='{href}'>there</a></p>"
    )


def image(alt: str, **attributes: str) -> Element:
    return element("img", alt=alt, **attributes)


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        (element("h2", image("a picture of words")), "## a picture of words"),
        (element("p", "so ", image("\\alpha", **{"class": "latex"})), "so $\\alpha$"),
        (
            element("figure", image("a red fox runs"), element("figcaption", "By me")),
            "a red fox runs\n\nBy me",
        ),
        (element("a", image("a red fox runs"), href="/big.jpg"), "a red fox runs"),
        (element("a", image("fox"), href="/fox"), "[fox](https://e.org/fox)"),
        (element("p", "x", image("A red fox runs.JPG")), "x"),  # the name of a file
        (
            element("a", image("A red fox runs.jpg"), href="/fox"),
            "[A red fox runs.jpg](https://e.org/fox)",
        ),
        (
            element("div", image("a red fox runs"), element("br"), "x", image("fox")),
            "a red fox runs\nx",
        ),
    ],
)
def test_a_picture_is_written_as_its_description(root: Element, expected: str) -> None:
    assert expected == write(element("div", root))


def test_an_empty_block_separates_its_neighbours_even_in_code() -> None:
    assert write(element("div", "a", element("div"), "b")) == "a\nb"
    lines = element("div", "a"), element("div"), element("div", "b")
    assert write(element("div", element("pre", *lines))) == "```\na\n\nb\n```"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>![x](http://evil.example/?q=1)</p>", "! [x]\\(http://evil.example/?q=1)"),
        ("<p>[x](javascript:alert(1))</p>", "[x]\\(javascript:alert(1))"),
        (
            "<p><span>[x]</span><span>(http://evil.example)</span></p>",
            "[x]\\(http://evil.example)",
        ),
        ("<p>Hello!<a href=/x>there</a></p>", "Hello! [there](https://e.org/x)"),
        ("<p>&lt;img src=http://evil.example></p>", "&lt;img src=http://evil.example>"),
        ("<p>&lt;<b></b>img src=x></p>", "&lt;img src=x>"),
        ("<p>1 &lt; 2</p>", "1 < 2"),
        ("<p>```<br>not code</p>", "\\```\nnot code"),
        (
            "<p>x <img alt='![a](http://evil.example/) b c'> y</p>",
            "x ! [a]\\(http://evil.example/) b c y",
        ),
        ("<p>snake_case and 2 * 3 * 4</p>", "snake_case and 2 * 3 * 4"),
        ("<p># a</p>", "\\# a"),
        ("<p>#a</p>", "#a"),
        ("<p><span>#</span> a</p>", "\\# a"),
        ("<p>&gt; a</p>", "\\> a"),
        ("<p>- a<br>1. b</p>", "- a\n1. b"),
        ("<p>1986. A year.</p>", "1986\\. A year."),
        ("<p>1.</p><p>A place.</p>", "1\\.\n\nA place."),
        ("<p>a<br>---</p>", "a\n\\---"),
        ("<p>a<br>===</p>", "a\n\\==="),
        ("<p>~~~ a</p>", "\\~~~ a"),
        ("<p>[a]: javascript:x</p><p>[a]</p>", "\\[a]: javascript:x\n\n[a]"),
        ("<p>- [a]: javascript:x</p>", "- \\[a]: javascript:x"),
        ("<blockquote>[a]: javascript:x</blockquote>", "> \\[a]: javascript:x"),
        ("<ul><li>a<p>[b]: javascript:x</ul>", "- a\n\n  \\[b]: javascript:x"),
        ("<p>see [a]: b</p>", "see [a]: b"),
        ("<code>a[0](b)</code> c[0](d)", "`a[0](b)` c[0]\\(d)"),
        ("` <code>a[0](b)</code>", "\\` `a[0]\\(b)`"),
        ("\\<code>a[0](b)</code>", "\\\\`a[0]\\(b)`"),
        ("<code>a\\</code>b`", "`a\\`b\\`"),
        ("a ` b and c ` d", "a ` b and c ` d"),
        ("<a href=/x>a`b</a> c`", "[a\\`b](https://e.org/x) c\\`"),
        ("\\<em>a</em> \\\\<b>b</b>", "\\\\*a* \\\\**b**"),
        ("<code>![ -f x ]</code> ![y]", "`![ -f x ]` ! [y]"),
        (
            "<b>[a]</b><b>(http://b)</b> <b>!</b><b><a href=/x>a</a></b>",
            "**[a]\\(http://b)** **! [a](https://e.org/x)**",
        ),
        ("` <code>&lt;img src=//a></code>", "\\` `&lt;img src=//a>`"),
        ("---a", "---a"),
        ("<p>a * b_c * d</p>", "a * b_c * d"),
    ],
)
def test_text_is_escaped_only_where_it_would_read_as_syntax(
    html: str, expected: str
) -> None:
    assert expected == markdown(html)


@pytest.mark.parametrize(
    "name",
    [
        "soup",
        "list",
        "hn",
        "h99",
        "tag",
        "_document_",
        "div",
        "x-y",
        "table",
        "td",
        "li",
    ],
)
def test_elements_of_any_name_keep_their_text(name: str) -> None:
    assert "a" in markdown(f"<{name}>a</{name}>")


def test_internal_marks_in_a_page_are_removed() -> None:
    assert (
        markdown("<p>a &#xe001;b&#xe002;http://evil.example&#xe003;</p>")
        == "a bhttp://evil.example"
    )
    assert (
        markdown("<p>a&#1;b&#2;http://evil.example&#3; &#4;0&#4; &#14;&#15;</p>")
        == "abhttp://evil.example 0"
    )


def test_writing_needs_little_of_the_stack() -> None:
    root = tree("<ul><li>" * 10 + "<div>" * 60 + "x")

    def deep(levels: int) -> str:
        return deep(levels - 1) if levels else to_markdown(root, {})

    frames, frame = 0, sys._getframe()
    while frame := frame.f_back:  # type: ignore[assignment]
        frames += 1
    assert deep(sys.getrecursionlimit() - frames - 40) == "- " * 10 + "x"


@pytest.mark.repository
def test_decision_8_names_the_conversions_that_are_markdownifys() -> None:
    (record,) = (Path(__file__).parents[4] / "docs" / "decisions").glob("0008-*.md")
    theirs = {
        name
        for name, convert in _CONVERSIONS.items()
        if _load_markdownify.__name__ in convert.__code__.co_names
    }
    named = (
        record.read_text("utf-8")
        .replace("\n", " ")
        .partition("markdownify's own (")[2]
        .partition(")")[0]
    )

    assert theirs
    assert {name.strip(" `") for name in named.split(",")} == theirs


@pytest.mark.parametrize(
    ("body", "modules"),
    [
        ("<h1>a</h1><p>b<br>c<ul><li>d</ul>", "set()"),
        ("<p>a <q>b</q>", "{'markdownify'}"),
    ],
)
def test_only_a_page_that_needs_markdownify_imports_it(body: str, modules: str) -> None:
    program = (
        "import sys; from websearch_core.reading import read_html; "
        f"read_html({body.encode()!r}, 'https://page.example/'); "
        "print({'markdownify'} & set(sys.modules))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == modules


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<div><h2>Tides</h2><span>[<a href='/edit?s=1'>edit</a>]</span></div><p>High.</p>", "## Tides\n\nHigh."),
        ("<h2>Wind <span>[<a href='/e'>edit</a> | <a href='/s'>edit source</a>]</span></h2><p>West.</p>", "## Wind\n\nWest."),
        ("<div><h3>Rain</h3> <div><a href='#'>bearbeiten</a></div></div><p>Much.</p>", "### Rain\n\nMuch."),
        ("<h2>Law <a href='/law'>2019</a></h2><p>Old.</p>", "## Law [2019](https://a.example/law)\n\nOld."),
        ("<h2>Kelp</h2><p>[<a href='/s'>source</a>] says so.</p>", "## Kelp\n\n[[source](https://a.example/s)] says so."),
    ],
)  # fmt: skip
def test_links_that_edit_a_heading_are_left_out(source, text):
    assert fragment.read_fragment(source, "https://a.example/")[0].strip() == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>once a day<label></label><span>In winter, it is slow.</span> and on.</p>", "once a day In winter, it is slow. and on."),
        ("<p>an i<span>Phone</span></p>", "an iPhone"),
        ("<p>a <span>Note that stands here.</span></p>", "a Note that stands here."),
    ],
)  # fmt: skip
def test_a_sentence_beside_the_text_does_not_touch_the_word_before_it(source, text):
    assert fragment.read_fragment(source, "")[0].strip() == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<pre><div>sql</div><button>Copy code</button><div><code>SELECT 1;\nEND;</code></div></pre>", "```\nSELECT 1;\nEND;\n```"),
        ("<pre><div><span>app.py</span></div><div><code class='language-py'>x = 1</code></div></pre>", "```py\nx = 1\n```"),
        ("<pre>$ <span><code>ls</code></span> shows</pre>", "```\n$ ls shows\n```"),
    ],
)  # fmt: skip
def test_what_stands_above_the_code_in_its_block_is_no_code(source, text):
    assert fragment.read_fragment(source, "")[0].strip() == text


@pytest.mark.parametrize(
    ("sign", "tex"), [("{", "\\{"), ("%", "\\%"), ("_", "\\_"), ("#", "\\#")]
)
def test_signs_of_a_formula_that_mean_something_in_tex_are_escaped(sign, tex):
    source = f"<p>Let <math><mi>a</mi><mo>{sign}</mo><mi>b</mi></math> be.</p>"

    assert fragment.read_fragment(source, "")[0].strip() == f"Let $a{tex}b$ be."
