"""``websearch cache``, and ``--no-cache``."""

from __future__ import annotations
import json
import os

import pytest
import typer.testing

from websearch_core import _registry
from websearch_core._cli.app import app
from websearch_core.models import Page
from websearch_core.provider import provider

calls = []


@provider
# not in a function, where it might hold anything: its answers would stay in the memory
# of the process
class Counted:
    name = "counted"

    def read(self, url, /):
        calls.append(url)
        return Page(
            url=url,
            final_url=url,
            content=f"time {len(calls)}",
            content_length=6,
            original_length=6,
        )
        yield


@pytest.fixture
def websearch(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv(
        "WEB_SEARCH_CACHE", json.dumps({"location": str(tmp_path / "answers.db")})
    )

    def call(*words):
        return typer.testing.CliRunner().invoke(app, list(words))

    return call


@pytest.fixture
def asked(monkeypatch):
    monkeypatch.setattr(_registry, "_registered", {"counted": Counted})
    calls.clear()
    return calls


def test_the_cache_shows_how_full_it_is_and_can_be_emptied(websearch, asked, tmp_path):
    assert "entries" in websearch("cache").output
    for _ in range(2):
        assert (
            "time 1"
            in websearch("read", "https://a.example/", "--reader", "counted").output
        )
    stats = json.loads(websearch("cache", "stats", "-f", "json").output)
    assert (stats["entries"], stats["location"]) == (1, str(tmp_path / "answers.db"))
    assert stats["size"] > 50
    assert "empty: " in websearch("cache", "clear").output
    assert json.loads(websearch("cache", "-f", "json").output)["entries"] == 0
    assert (
        "time 2"
        in websearch("read", "https://a.example/", "--reader", "counted").output
    )


def test_no_cache_asks_the_service(websearch, asked):
    for _ in range(2):
        websearch("read", "https://a.example/", "--reader", "counted", "--no-cache")
    assert len(asked) == 2
    assert (
        "time 2"
        in websearch("read", "https://a.example/", "--reader", "counted").output
    )


def test_a_cache_that_cannot_be_used_is_an_error(websearch, tmp_path):
    (tmp_path / "answers.db").write_bytes(b"notes " * 1000)
    result = websearch("cache", "clear")

    assert result.exit_code == 2
    assert "the cache cannot be used" in result.stderr


@pytest.mark.skipif(
    not hasattr(os, "geteuid"), reason="no permissions like those of Unix"
)
def test_a_cache_that_others_may_write_is_an_error_that_says_what_to_do(
    websearch, tmp_path
):
    path = tmp_path / "answers.db"
    path.touch()
    path.chmod(0o666)

    assert "chmod go-w" in websearch("cache", "stats").stderr.replace("\n", " ")
