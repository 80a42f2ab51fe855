"""What is sent for a URL, and which addresses are those of one page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_core._text.urls import (
    are_of_one_site,
    as_slashes,
    canonicalize,
    find_page,
    identify,
    is_web_url,
    move,
    serialize,
)
from websearch_core.errors import UnsafeURL
from websearch_core.models._domains import parse_domain

SAME_PAGE = [
    ("https://sea.example/kelp", "http://www.sea.example/kelp/"),
    ("https://sea.example/kelp", "HTTPS://Sea.Example:443/kelp#holdfast"),
    (
        "https://sea.example/kelp",
        "https://sea.example/kelp?utm_source=x&UTM_Campaign=y&gclid=z",
    ),
    ("https://sea.example/?id=1", "https://sea.example?fbclid=x&id=1"),
    ("https://sea.example", "https://www.sea.example/"),
]
OTHER_PAGE = [
    ("https://sea.example/kelp", "https://sea.example/Kelp"),
    ("https://sea.example/?id=1", "https://sea.example/?id=2"),
    ("https://sea.example/?a=1&b=2", "https://sea.example/?b=2"),
    ("https://sea.example/#!/kelp", "https://sea.example/#!/dulse"),
    ("https://sea.example:8443/", "https://sea.example/"),
    ("https://blog.sea.example/", "https://sea.example/"),
    ("https://sea.example/?clid=1", "https://sea.example/"),
    ("file:///docs/kelp.md", "file:///docs/dulse.md"),
]


@pytest.mark.parametrize(("one", "other"), SAME_PAGE)
def test_addresses_under_which_services_list_one_page_are_known_as_one(one, other):
    assert find_page(one) == find_page(other)


@pytest.mark.parametrize(("one", "other"), OTHER_PAGE)
def test_addresses_of_different_pages_stay_different(one, other):
    assert find_page(one) != find_page(other)


ONE_URL = [  # RFC 3986, 6.2.2, and characters without a meaning of their own
    ("https://sea.example/%e6%97%a5", "https://sea.example/日"),
    ("https://sea.example/%7Eada", "https://sea.example/~ada"),
    ("https://sea.example/a%2Db%5f%2e", "https://sea.example/a-b_."),
    ("https://sea.example/Kelp_(alga)", "https://sea.example/Kelp_%28alga%29"),
    ("https://sea.example/C%2B%2B", "https://sea.example/C++"),
    (
        "https://sea.example/it's,a;b=c@d:e$&!*",
        "https://sea.example/it%27s%2ca%3bb%3dc%40d%3Ae%24%26%21%2A",
    ),
    ("https://sea.example/a?b=(c)'d", "https://sea.example/a?b=%28c%29%27d"),
    ("https://sea.example/a?b[]=1", "https://sea.example/a?b%5B%5D=1"),
    ("https://sea.example/a/./b/../c", "https://sea.example/a/%2E/x/.%2e/c"),
    ("https://sea.example/../..", "https://sea.example"),
    ("https://sea.example/a/..?b", "https://sea.example/?b"),
]
TWO_URLS = [
    ("https://sea.example/a%2Fb", "https://sea.example/a/b"),
    ("https://sea.example/a%3Fb", "https://sea.example/a?b"),
    ("https://sea.example/a%23b", "https://sea.example/a#b"),
    ("https://sea.example/a%252Fb", "https://sea.example/a%2Fb"),
    ("https://sea.example/?a=b%26c", "https://sea.example/?a=b&c"),
    ("https://sea.example/?a=b%2Bc", "https://sea.example/?a=b+c"),
    ("https://sea.example/?a%3Db", "https://sea.example/?a=b"),
    ("https://sea.example/a//b", "https://sea.example/a/b"),
    ("https://sea.example/a..", "https://sea.example/a"),
    ("https://sea.example/?a=/../b", "https://sea.example/?a=/b"),
    ("https://sea.example/..%2Fa", "https://sea.example/a"),
    ("https://sea.example/a/", "https://sea.example/a"),
]


@pytest.mark.parametrize(("one", "other"), ONE_URL)
def test_spellings_of_one_url_have_one_canonical_form(one, other):
    assert canonicalize(one) == canonicalize(other)


@pytest.mark.parametrize(("one", "other"), TWO_URLS)
def test_urls_that_differ_in_what_has_a_meaning_stay_different(one, other):
    assert canonicalize(one) != canonicalize(other)


@given(st.text(alphabet="aA./%2eEfF8?#&=+~()[]日' ", max_size=30))
def test_the_canonical_form_is_stable_and_that_of_what_is_sent(rest):
    url = f"https://sea.example/{rest}".strip()

    assert (
        canonicalize(canonicalize(url))
        == canonicalize(serialize(url))
        == canonicalize(url)
    )
    assert serialize(serialize(url)) == serialize(url)


def test_what_is_sent_is_what_was_written():
    url = "https://sea.example/%7eada/C%2B%2B/(x)?a=%2f&utm_source=b#c"

    assert serialize(url) == url
    assert serialize("HTTPS://Sea.example:443/日 a/../b") == "https://sea.example/b"


def test_what_has_no_canonical_form_is_identified_as_it_is_written():
    assert identify("file:///docs/a%7E#b") == "file:///docs/a%7E#b"
    assert identify("https://sea.example/%7E#b") == "https://sea.example/~"


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        # the script needs this joiner
        ("https://نامه\u200cای.com/", "https://xn--mgba3gch31f060k.com/"),
        ("https://bu\u0308cher.example/", "https://xn--bcher-kva.example/"),
    ],
)
def test_names_that_browsers_open_are_opened(url, sent):
    assert serialize(url) == sent


@pytest.mark.parametrize(
    "url",
    [
        "https://sea\u200c.example/",
        "https://se\u200da.example/",
        "https://♥.example/",
        "http:\\\\sea.example/",
    ],
)
def test_names_that_could_be_mistaken_are_refused_for_the_right_reason(url):
    assert not is_web_url(url)
    with pytest.raises(
        UnsafeURL, match=r"not a valid internationalized|not an absolute"
    ):
        serialize(url)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("sea.example/kelp?a=b", "; did you mean https://sea.example/kelp?a=b?"),
        ("//sea.example/kelp", "; did you mean https://sea.example/kelp?"),
        ("localhost:8000", "; did you mean http://localhost:8000?"),
        ("sea.example/?key=abcdefghijklmnop12345", "https://sea.example/?key=...?"),
        ("kelp", " such as https://example.com/"),
        ("", " such as https://example.com/"),
    ],
)
def test_a_url_without_its_scheme_is_refused_with_what_was_meant(written, meant):
    with pytest.raises(UnsafeURL) as caught:
        serialize(written)

    assert str(caught.value).startswith("not an absolute http(s) URL")
    assert str(caught.value).endswith(meant)


@pytest.mark.parametrize(
    ("written", "sent"),
    [("ΒΌΛΟΣ", "βόλοσ"), ("βόλος.ΒΌΛΟΣ", "βόλος.βόλοσ"), ("ΣΑΣ.gr", "σασ.gr")],
)
def test_a_capital_sigma_is_the_same_letter_at_the_end_of_a_name(written, sent):
    assert serialize(f"https://{written}/") == serialize(f"https://{sent}/")
    assert parse_domain(f"https://www.{written}.example") == parse_domain(
        f"{sent}.example"
    )
    assert parse_domain(f"HTTPS://{written}.") == parse_domain(sent)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://[1:2]/", "the IPv6 address is malformed"),
        ("http://[::1.2.3.999]/", "the IPv6 address is malformed"),
        ("http://xn--0.example/", "not valid punycode"),
        ("http://xn--zzzzzz.example/", "not valid punycode"),
    ],
)
def test_a_host_that_no_page_can_have_is_refused(url, why):
    with pytest.raises(UnsafeURL, match=why):
        canonicalize(url)


@pytest.mark.parametrize(
    ("address", "slashes"),
    [
        ("\\p1", "/p1"),
        ("..\\docs\\p2?a=\\b#\\c", "../docs/p2?a=\\b#\\c"),
        ("\\\\sea.example\\p", "//sea.example/p"),
        ("https://sea.example/a\\b", "https://sea.example/a/b"),
        (
            "https://sea.example\\.other.example/",
            "https://sea.example\\.other.example/",
        ),
        ("http:\\\\sea.example/", "http:\\\\sea.example/"),
        ("javascript:a\\b", "javascript:a\\b"),
        ("", ""),
    ],
)
def test_a_backslash_in_a_path_is_a_slash(address, slashes):
    assert as_slashes(address) == slashes


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        ("http://sea.example/b", True),
        ("https://www.sea.example/", True),
        ("https://sea.example:8443/", False),
        ("http://sea.example:443/", False),
        ("https://shop.sea.example/", False),
        ("https://wwwsea.example/", False),
    ],
)
def test_http_and_www_are_of_one_site(other, is_same):
    assert are_of_one_site("https://sea.example/a", other) is is_same


def test_a_path_that_looks_like_a_host_is_moved_as_a_path():
    there = move("http://www.sea.example//other.example/a?b#c", "https://sea.example/x")

    assert there == "https://sea.example//other.example/a?b#c"
