"""Which addresses are those of one page."""

from __future__ import annotations

import pytest

from websearch_core._urls import find_page

SAME_PAGE = [
    ("https://sea.example/kelp", "http://www.sea.example/kelp/"),
    ("https://sea.example/kelp", "HTTPS://Sea.Example:443/kelp#holdfast"),
    ("https://sea.example/kelp", "https://sea.example/kelp?utm_source=x&UTM_Campaign=y&gclid=z"),
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
