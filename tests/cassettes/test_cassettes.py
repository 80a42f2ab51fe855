"""
Recorded exchanges, replayed: what each service answers, and what we make of it.

A cassette says at its top how it was made, then which call it belongs to and what has to come of it, then holds the
exchanges as vcrpy keeps them. tests/record.py records one anew.
"""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
import vcr
import yaml

from websearch_core import WebSearch, WebSearchError
from websearch_core.provider._ports import can, needs_network
from websearch_core.providers import known, provider_class

FOLDER = Path(__file__).resolve().parents[2] / "cassettes"
CASSETTES = sorted(FOLDER.glob("*/*.yaml"))
REQUEST_HEADERS = {"accept", "content-type"}
RESPONSE_HEADERS = {"content-encoding", "content-type", "location", "retry-after"} | {
    f"x-ratelimit-{name}" for name in ("limit", "policy", "remaining", "reset")
}

each = pytest.mark.parametrize("path", CASSETTES, ids=lambda path: f"{path.parent.name}/{path.stem}")


def call(tape: dict[str, Any], colour: str) -> Any:
    web = WebSearch(**tape["web"], attempts=1)
    verb = "search" if "search" in tape else "read"
    argument, options = tape[verb]
    try:
        if colour == "blocking":
            with web:
                return getattr(web, verb)(argument, **options)
        return asyncio.run(getattr(web, f"a{verb}")(argument, **options))
    except WebSearchError as error:
        return error


def replay(path: Path, colour: str) -> Any:
    # The key is in none of our cassettes, so what a request needs it for cannot be matched on: headers are not.
    recorder = vcr.VCR(record_mode="none", match_on=["method", "scheme", "host", "port", "path", "query", "body"])
    with recorder.use_cassette(str(path)) as cassette:
        outcome = call(yaml.safe_load(path.read_text("utf-8")), colour)
    assert cassette.all_played, f"{cassette.play_count} of {len(cassette)} exchanges were played"
    return outcome


def facts(outcome: Any) -> dict[str, Any]:
    """What a cassette can expect of an outcome."""
    if isinstance(outcome, WebSearchError):
        wait = getattr(outcome, "retry_after", None)
        return {"error": outcome.code, "message": str(outcome), **({"retry_after": wait} if wait is not None else {})}
    return outcome.model_dump(mode="json")


def check(expected: Any, found: Any, where: str = "") -> None:
    """Compare what is expected with what is found, as far as it is expected; a text is a part of what is found."""
    if isinstance(expected, dict):
        for name, value in expected.items():
            check(value, found[name], f"{where}.{name}")
    elif isinstance(expected, list):
        assert len(expected) == len(found), f"{where}: {len(found)} instead of {len(expected)}"
        for n, value in enumerate(expected):
            check(value, found[n], f"{where}[{n}]")
    elif isinstance(expected, str) and isinstance(found, str):
        assert expected in found, f"{where}: {expected!r} is not in {found!r}"
    else:
        assert expected == found, f"{where}: {found!r} instead of {expected!r}"


@each
def test_a_recorded_exchange_gives_what_it_gave_in_both_colours(path):
    expected = yaml.safe_load(path.read_text("utf-8"))["expect"]
    blocking, concurrent = facts(replay(path, "blocking")), facts(replay(path, "async"))
    for one in (blocking, concurrent):
        one.pop("elapsed", None)

    assert blocking == concurrent
    check(expected, blocking)


@each
def test_a_cassette_says_at_its_top_how_it_was_made(path):
    first = path.read_text("utf-8").splitlines()[0]

    assert re.match(r"# (recorded \d{4}-\d\d-\d\d from .+|written from the documentation: https://.+)", first), first


@each
def test_a_cassette_holds_no_key_and_no_headers_but_those_we_read(path):
    tape = yaml.safe_load(path.read_text("utf-8"))

    assert not re.search(r"(?i)\b(tvly-|pplx-|jina_|sk-|BSA)[A-Za-z0-9_-]{8,}|bearer ", path.read_text("utf-8"))
    for exchange in tape["interactions"]:
        assert {name.lower() for name in exchange["request"]["headers"]} <= REQUEST_HEADERS
        assert {name.lower() for name in exchange["response"]["headers"]} <= RESPONSE_HEADERS


def test_brave_is_never_recorded_since_its_terms_forbid_it():
    assert all("written from" in path.read_text("utf-8").splitlines()[0] for path in FOLDER.glob("brave/*.yaml"))


@pytest.mark.parametrize("role", ["search", "read"])
def test_every_provider_has_a_cassette_for_each_thing_it_does(role):
    able = {name for name in known() if can(provider_class(name), role) and needs_network(provider_class(name))}
    recorded = {
        path.parent.name for path in CASSETTES for tape in [yaml.safe_load(path.read_text("utf-8"))] if role in tape
    }

    assert able == recorded & able


@each
def test_a_cassette_is_small_enough_to_be_reviewed(path):
    assert path.stat().st_size < 40_000
    assert json.dumps(yaml.safe_load(path.read_text("utf-8"))["expect"]) != "{}"
