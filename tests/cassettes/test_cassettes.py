"""
Replay recorded exchanges, and compare our results with those expected.

The first line of a cassette says how it was made. Then come its call, the expected result, and the exchanges in vcrpy's
format. ``tests/cassettes/record.py`` records a cassette again.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import vcr

from tests.cassettes import tape as tapes
from websearch_core.provider._ports import can, needs_network
from websearch_core.providers import known, provider_class

CASSETTES = tapes.find_tapes()

each = pytest.mark.parametrize("path", CASSETTES, ids=lambda path: f"{path.parent.name}/{path.stem}")


def replay(path: Path, *, concurrent: bool) -> tapes.Outcome:
    # No cassette contains a key, so the headers of a request cannot be matched.
    recorder = vcr.VCR(record_mode="none", match_on=["method", "scheme", "host", "port", "path", "query", "body"])
    with recorder.use_cassette(str(path)) as cassette:
        outcome = tapes.call(tapes.load(path), concurrent=concurrent)
    assert cassette.all_played, f"{cassette.play_count} of {len(cassette)} exchanges were played"
    return outcome


def check(expected: Any, found: Any, where: str = "") -> None:
    """Compare the expected facts with those found; an expected text only has to be a part of the text found."""
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
def test_a_recorded_exchange_gives_the_expected_result_in_both_modes(path):
    expected = tapes.load(path)["expect"]
    blocking, concurrent = (tapes.facts(replay(path, concurrent=colour)) for colour in (False, True))
    for one in (blocking, concurrent):
        one.pop("elapsed", None)

    assert blocking == concurrent
    check(expected, blocking)


@each
def test_a_cassette_says_in_its_first_line_how_it_was_made(path):
    first = path.read_text("utf-8").splitlines()[0]

    assert re.match(r"# (recorded \d{4}-\d\d-\d\d from .+|written from the documentation: https://.+)", first), first


@each
def test_a_cassette_contains_no_key_and_only_the_headers_we_read(path):
    tape = tapes.load(path)

    assert not re.search(r"(?i)\b(tvly-|pplx-|jina_|sk-|BSA)[A-Za-z0-9_-]{8,}|bearer ", path.read_text("utf-8"))
    for exchange in tape["interactions"]:
        assert {name.lower() for name in exchange["request"]["headers"]} <= tapes.REQUEST_HEADERS
        assert {name.lower() for name in exchange["response"]["headers"]} <= tapes.RESPONSE_HEADERS


def test_brave_is_never_recorded_since_its_terms_forbid_it():
    assert all("written from" in path.read_text("utf-8").splitlines()[0] for path in tapes.find_tapes("brave"))


@pytest.mark.parametrize("role", ["search", "read"])
def test_every_provider_has_a_cassette_for_each_thing_it_does(role):
    able = {name for name in known() if can(provider_class(name), role) and needs_network(provider_class(name))}
    recorded = {path.parent.name for path in CASSETTES if tapes.role(tapes.load(path)) == role}

    assert able == recorded & able


@each
def test_a_cassette_is_small_enough_to_be_reviewed(path):
    assert path.stat().st_size < 40_000
    assert json.dumps(tapes.load(path)["expect"]) != "{}"
