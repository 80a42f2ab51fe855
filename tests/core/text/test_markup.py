"""Markup in what should be plain text."""

import pytest

from websearch_core._text.markup import strip_markup


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
