"""What `websearch doctor` tries."""

from __future__ import annotations

import pytest

from websearch_core._cli.checks import _check, find_in_use
from websearch_core.errors import MissingKey
from websearch_core.settings import Settings
from websearch_core.testing import play, reply

HIT = {"url": "https://sea.example/kelp", "title": "Kelp", "snippets": []}


def test_without_a_key_it_tries_whatever_a_search_would_ask(monkeypatch):
    assert find_in_use(Settings.load())[:3] == ["keenable", "you", "duckduckgo"]

    switched_off = Settings(providers={"you": {"enabled": False}})
    assert find_in_use(switched_off)[:2] == ["keenable", "duckduckgo"]

    monkeypatch.setenv("TAVILY_API_KEY", "key-of-a-test")
    assert find_in_use(Settings.load())[0] == "tavily"
    assert "duckduckgo" not in find_in_use(Settings.load())


def test_a_service_with_a_free_allowance_is_tried_without_a_key():
    played = play(
        _check("you", Settings.load(), ping=False), reply({"results": {"web": [HIT]}})
    )

    assert played.result.error is None
    assert "Authorization" not in played.requests[0].headers


@pytest.mark.parametrize("variable", ["TAVILY_API_KEY", "WEB_SEARCH_PROVIDER"])
def test_unless_another_service_searches_or_it_was_named(monkeypatch, variable):
    monkeypatch.setenv(variable, "you")

    check = play(_check("you", Settings.load(), ping=False)).result
    assert isinstance(check.error, MissingKey)
