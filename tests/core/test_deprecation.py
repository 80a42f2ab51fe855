"""A renamed public name keeps working, and names its replacement."""

from __future__ import annotations
import types

import pytest

from websearch_core import WebSearch
from websearch_core._deprecation import renamed


@pytest.fixture
def module():
    old = types.ModuleType("old_home")
    old.__getattr__ = renamed(
        "old_home", {"Search": "websearch_core:WebSearch"}, removal="0.3"
    )
    return old


def test_an_old_name_is_the_new_object_and_warns_where_it_is_used(module):
    with pytest.warns(
        DeprecationWarning,
        match=r"old_home\.Search .* 0\.3; use websearch_core\.WebSearch",
    ) as caught:
        found = module.Search

    assert found is WebSearch
    assert caught[0].filename == __file__


def test_an_unknown_name_is_still_an_attribute_error(module):
    with pytest.raises(AttributeError, match="'old_home' has no attribute 'Nothing'"):
        _ = module.Nothing
