"""Bing's API is gone, and whoever asks for it learns what to use instead."""

from __future__ import annotations

import pytest

from websearch_core import WebSearch
from websearch_core.errors import UnknownProvider
from websearch_core.providers import get, known


def test_bing_is_refused_with_its_end_and_what_to_use_instead():
    with pytest.raises(UnknownProvider, match=r"bing: .*ended .*2025-08-11.*brave.*serpapi"):
        WebSearch(provider="bing")


def test_bing_is_not_listed():
    assert "bing" not in known()
    assert get("bing") is None
