"""Services whose API ended are refused with what to use instead."""

from __future__ import annotations

import pytest

from websearch_core import WebSearch
from websearch_core.errors import UnknownProvider
from websearch_core.providers import get, known


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("bing", r"bing: .*ended .*2025-08-11.*brave.*serpapi"),
        (
            "google",
            r'google: .*2027-01-01; .*write provider="serper", "serpapi" or "searchapi"',
        ),
    ],
)
def test_a_service_whose_api_ended_is_refused_with_its_end_and_what_to_use_instead(
    name, says
):
    with pytest.raises(UnknownProvider, match=says):
        WebSearch(provider=name)
    with pytest.raises(UnknownProvider, match=says):
        WebSearch(provider=["duckduckgo", name])


@pytest.mark.parametrize("name", ["bing", "google"])
def test_a_service_whose_api_ended_is_not_listed(name):
    assert name not in known()
    assert get(name) is None
