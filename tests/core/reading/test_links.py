"""Links take a fast path where they can, and the result must be that of the full
resolution.
"""

from __future__ import annotations
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_core.reading import _links
from websearch_core.reading._links import absolute

BASES = [
    "https://example.org/docs/page.html",
    "http://e.org",
    "https://e.org/?q=/x",
    "https://e.org:8080/a/b#c/d",
    "https://[::1]/x",
    "https://E.org/é",
    "https://user@e.org/",
    "https://e.org/a/../b/./c",
    "https://e.org//a//b",
    "https://e.org/a/?b=/c/d",
]
BEGINNINGS = [
    "",
    "/",
    "//",
    "/../",
    "/./",
    "?",
    "#",
    "a",
    "a/b-c.html?d=/",
    "http://e.org",
    "https://e.org/",
    "https://a-b.example/x/",
    "HTTP://e.org/",
]
_ALPHABET = "ab0/..//:?#%&=~-_+,;@!$*()'\"<>[]{}|^\\` \t\n\x00\u200bé"


def slowly(href: str, base: str) -> str | None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_links, "_ABSOLUTE", re.compile("(?!)"))
        patch.setattr(_links, "_FROM_ROOT", re.compile("(?!)"))
        patch.setattr(_links, "_FROM_HERE", re.compile("(?!)"))
        return absolute(href, base)


@given(
    st.sampled_from(BEGINNINGS), st.text(_ALPHABET, max_size=12), st.sampled_from(BASES)
)
def test_the_fast_path_gives_the_same_result(
    beginning: str, rest: str, base: str
) -> None:
    assert slowly(beginning + rest, base) == absolute(beginning + rest, base)


@pytest.mark.parametrize(
    "href",
    [
        "/a/../b",
        "/a/./b",
        "//other.example/x",
        "/a//b",
        "/.",
        "/..",
        "/a?b#c",
        "https://e.org/a?",
        "https://e.org/a/../b",
        "/a b",
    ],
)
def test_links_that_need_resolving_do_not_take_the_fast_path(href: str) -> None:
    assert slowly(href, BASES[0]) == absolute(href, BASES[0])


def test_the_fast_path_is_taken_for_common_links(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_links, "urljoin", None)
    assert absolute("/a/b-c_d.html", BASES[0]) == "https://example.org/a/b-c_d.html"
    assert absolute("/a?b=c&d=%20#e", BASES[0]) == "https://example.org/a?b=c&d=%20#e"
    assert absolute("b-c.html#d", BASES[0]) == "https://example.org/docs/b-c.html#d"
    assert absolute("b/", BASES[0]) == "https://example.org/docs/b/"
    assert absolute("#e", BASES[0]) == "https://example.org/docs/page.html#e"
    assert (
        absolute("https://other.example/a?b=c&d=%20", BASES[0])
        == "https://other.example/a?b=c&d=%20"
    )


@pytest.mark.parametrize("base", BASES)
def test_half_of_a_surrogate_pair_makes_no_host(base: str) -> None:
    assert absolute("https://kelp\udc00.example/", base) is None
    assert (absolute("/kelp\udc00", base) or "").isascii()
