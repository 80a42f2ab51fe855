"""Markup in what should be plain text."""

import pytest

from websearch_core._text.markup import ends_html, strip_markup


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("<b>Brown</b> al<wbr>gae &amp; kelp", "Brown algae & kelp"),
        ("Brown<br>algae<br/>kelp", "Brown algae kelp"),
        ("<p>Brown.</p><p>Red.</p>", "Brown.  Red."),
        ("<h2 class='x'>Kelp</h2>", "Kelp"),
        ("List<int> and <T>", "List<int> and <T>"),
        ("5 < 6 &amp;amp; more", "5 < 6 &amp; more"),
        (" plain ", "plain"),
    ],
)
def test_tags_go_and_entities_are_unescaped_once(written, read):
    assert strip_markup(written) == read


@pytest.mark.parametrize(
    ("source", "ends"),
    [
        (b"<p>Kelp</html>", True),
        (b"<p>Kelp</HTML >\n", True),
        (b"<p>Kelp</html>\n<!-- kept until noon -->\n", True),
        (b"<p>Kelp</htm", False),
        (b"<p>Kelp</html", False),
        (b"<p>Kelp</html><!-- kept", False),
        (b"<p>Kelp</p>", False),
        (b"</html>" + b"<p>Kelp</p>" * 100, False),
    ],
)
def test_the_end_of_a_page_is_seen(source, ends):
    assert ends_html(source) is ends
