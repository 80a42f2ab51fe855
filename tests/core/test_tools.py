"""What the tools of both frameworks share."""

import pytest
from pydantic import ValidationError

from websearch_core import WebSearch
from websearch_core.tools import PageArguments, page_options, search_options


def test_a_model_that_names_a_length_gets_it_whatever_is_configured(monkeypatch):
    monkeypatch.setenv("WEB_SEARCH_MAX_LENGTH", "2000")
    web = WebSearch("duckduckgo")
    said = {"offset": 0, "query": "", "find": ""}

    assert page_options(web, max_length=15_000, **said)["max_length"] == 15_000
    assert page_options(web, max_length=0, **said)["max_length"] is None
    assert PageArguments(url="https://sea.example/").max_length == 0
    with pytest.raises(ValidationError):
        PageArguments(url="https://sea.example/", max_length=-1)


def test_a_model_can_do_without_what_a_provider_does_not_support():
    options = search_options(limit=3, allowed_domains=["a.example"], time_range="week", read_top=0, passage_length=9)

    assert options["unsupported"] == "note"
    assert (options["limit"], options["time_range"]) == (3, "week")
