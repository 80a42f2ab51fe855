"""What is known about the providers: `websearch_core.providers`."""

from __future__ import annotations
import dataclasses
import pickle
from typing import Annotated

import pytest

from websearch_core import SearchQuery, SearchResponse, WebSearch, register
from websearch_core.errors import ConfigurationError, MissingKey
from websearch_core.flow import Flow, Request
from websearch_core.provider import Env, Limits
from websearch_core.providers import (
    Brave,
    Direct,
    ProviderInfo,
    get,
    get_all,
    get_configured,
    get_default,
    known,
    provider_class,
)
from websearch_core.settings import Settings


class Ebb:
    """A plain class from another package: not a dataclass, and its name is a
    property.
    """

    def __init__(self, token: Annotated[str, Env("EBB_TOKEN")], depth: int = 1) -> None:
        self.token, self.depth = token, depth

    @property
    def name(self) -> str:
        return "ebb"

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        yield Request(url="https://ebb.example/")
        return SearchResponse(query=query.text)


@pytest.fixture
def ebb(monkeypatch):
    monkeypatch.setattr("websearch_core._registry._registered", {})
    register("ebb", Ebb)


def info(name: str) -> ProviderInfo:
    return next(one for one in get_all() if one.name == name)


def test_a_class_is_found_by_name_and_alias():
    assert get("brave") is Brave
    assert get("ddg") is provider_class("duckduckgo")
    assert get("nonsense") is None


def test_every_provider_is_listed_with_what_it_can_do():
    assert [one.name for one in get_all()] == known()
    brave = info("brave")

    assert (brave.label, brave.search, brave.read) == ("Brave Search", True, False)
    assert brave.secrets == ("api_key",)
    assert brave.limits == {
        "results_per_request": 20,
        "results": 200,
        "query_length": 400,
        "query_words": 50,
    }
    assert "time_range" in brave.options
    assert info("direct").limits == {}
    assert info("direct").secrets == ()


def test_every_built_in_provider_has_a_label():
    for name in known():
        assert info(name).label
        assert isinstance(getattr(provider_class(name), "label", ""), str)


def test_whether_it_is_configured_follows_the_environment_and_the_settings(monkeypatch):
    assert not info("brave").configured
    assert info("brave").missing == ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")
    assert "brave" not in [one.name for one in get_configured()]

    monkeypatch.setenv("BRAVE_API_KEY", "SECRET")
    assert "brave" in [one.name for one in get_configured()]
    assert info("brave").problem is None
    assert "SECRET" not in repr(get_all())

    monkeypatch.delenv("BRAVE_API_KEY")
    settings = Settings.load(providers={"brave": {"api_key": "SECRET"}})
    assert "brave" in [one.name for one in get_configured(settings)]
    assert "SECRET" not in repr(get_all(settings))


def test_the_default_is_the_provider_that_a_websearch_uses_first(monkeypatch):
    assert get_default().name == "keenable"
    assert get_default(role="read").name == "direct"
    assert get_default() == info("keenable")

    monkeypatch.setenv("BRAVE_API_KEY", "SECRET")
    assert get_default().name == "brave" == WebSearch().provider.name
    assert get_default(Settings.load(provider="searxng, brave", providers={"searxng": {"base_url": "http://localhost"}}),
                       role="search").name == "searxng"  # fmt: skip
    assert get_default(Settings.load(reader="jina"), role="read").name == "jina"


def test_a_default_that_cannot_be_used_is_an_error():
    with pytest.raises(MissingKey, match="BRAVE_API_KEY"):
        get_default(Settings.load(provider="brave"))
    with pytest.raises(ConfigurationError, match="cannot search"):
        get_default(Settings.load(provider="direct"))


@pytest.mark.usefixtures("ebb")
def test_a_plain_class_works_like_any_other(monkeypatch):
    assert get("ebb") is Ebb
    shown = info("ebb")
    assert (shown.label, shown.search, shown.read, shown.configured) == (
        "Ebb",
        True,
        False,
        False,
    )
    assert shown.secrets == ("token", "depth")  # it cannot say which
    assert shown.limits == {}

    monkeypatch.setenv("WEB_SEARCH_PROVIDER", "ebb")
    settings = Settings.load(providers={"ebb": {"token": "t"}})
    assert "ebb" in [one.name for one in get_configured(settings)]
    assert get_default(settings).name == "ebb"


@pytest.mark.usefixtures("ebb")
def test_a_plug_in_may_call_itself_something_else(monkeypatch):
    monkeypatch.setattr(Ebb, "name", property(lambda _: "low tide"))
    settings = Settings.load(provider="ebb", providers={"ebb": {"token": "t"}})

    assert get_default(settings).name == "ebb"


@pytest.mark.usefixtures("ebb")
def test_attributes_of_the_wrong_type_are_ignored(monkeypatch):
    for label, limits in ((3, [1]), (None, "many"), (property(lambda _: "x"), None)):
        monkeypatch.setattr(Ebb, "label", label, raising=False)
        monkeypatch.setattr(Ebb, "limits", limits, raising=False)
        assert info("ebb").label == "Ebb"
        assert info("ebb").limits == {}


def test_a_record_cannot_be_changed_and_shares_nothing_with_the_class():
    brave = info("brave")
    with pytest.raises(dataclasses.FrozenInstanceError):
        brave.label = "Another"  # type: ignore[misc]
    brave.limits["results"] = 1

    assert info("brave").limits["results"] == 200
    assert hash(brave) == hash(info("brave"))
    assert pickle.loads(pickle.dumps(brave)) == brave


def test_limits_are_a_plain_dictionary():
    assert Limits(results_per_request=3) == {"results_per_request": 3}
    assert Direct().name == "direct"
