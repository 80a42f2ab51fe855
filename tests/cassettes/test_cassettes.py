"""
Replay recorded exchanges, and compare our results with those expected.

`tape` describes the files; `record` makes them.
"""

from __future__ import annotations
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import vcr

from tests.cassettes import record
from tests.cassettes import tape as tapes
from tests.clock import skip_pauses
from websearch_core._net.targets import Targets
from websearch_core.testing import stop_clock
from websearch_core.testing._cassettes import (
    MATCH_ON,
    REQUEST_HEADERS,
    RESPONSE_HEADERS,
)

NOW = datetime(2026, 11, 1, tzinfo=UTC)
CASSETTES = tapes.find_tapes()
SHAPED = "shaped after a captured answer, values invented"

each = pytest.mark.parametrize("path", CASSETTES, ids=tapes.name_of)


def replay(path: Path, *, concurrent: bool) -> tapes.Outcome:
    # No cassette contains a key, so the headers of a request cannot be matched.
    recorder = vcr.VCR(
        record_mode="none",
        match_on=MATCH_ON,
        filter_query_parameters=tapes.SECRET_PARAMETERS,
    )
    # The name of a page that your own server is to open would be looked up first.
    with (
        patch.object(Targets, "judge"),
        patch.object(Targets, "ajudge"),
        recorder.use_cassette(str(path)) as cassette,
    ):
        outcome = tapes.call(tapes.load(path), concurrent=concurrent)
    assert cassette.all_played, (
        f"{cassette.play_count} of {len(cassette)} exchanges were played"
    )
    return outcome


def check(expected: Any, found: Any, where: str = "") -> None:
    """Compare the expected facts with those found; an expected text only has to be a
    part of the text found.
    """
    if isinstance(expected, dict):
        for name, value in expected.items():
            assert name in found, f"{where}.{name}: missing in {found}"
            check(value, found[name], f"{where}.{name}")
    elif isinstance(expected, list):
        assert len(expected) == len(found), (
            f"{where}: {len(found)} instead of {len(expected)}"
        )
        for n, value in enumerate(expected):
            check(value, found[n], f"{where}[{n}]")
    elif isinstance(expected, str) and isinstance(found, str):
        assert expected in found, f"{where}: {expected!r} is not in {found!r}"
    else:
        assert expected == found, f"{where}: {found!r} instead of {expected!r}"


@each
def test_a_recorded_exchange_gives_the_expected_result_in_both_modes(path):
    expected = tapes.load(path)["expect"]
    with stop_clock(NOW), skip_pauses():
        blocking, concurrent = (
            tapes.facts(replay(path, concurrent=colour)) for colour in (False, True)
        )
    for one in (blocking, concurrent):
        one.pop("elapsed", None)
        for asked in one.get("outcomes", ()):
            asked.pop("seconds")

    assert blocking == concurrent
    check(expected, blocking)


def test_a_cassette_says_in_its_first_line_how_it_was_made():
    made = (
        r"recorded \d{4}-\d\d-\d\d from .+|written from the documentation: https://.+|"
        + SHAPED
        + r": \w+/.+"
    )
    for path in CASSETTES:
        first = path.read_text("utf-8").splitlines()[0]
        assert re.match(f"# (?:{made})", first), f"{path}: {first}"


def test_a_cassette_contains_no_key_and_only_the_headers_we_read():
    key = re.compile(r"(?i)\b(tvly-|pplx-|jina_|sk-|BSA)[A-Za-z0-9_-]{8,}|bearer ")
    secret = re.compile(rf"[?&](?:{'|'.join(tapes.SECRET_PARAMETERS)})=")
    for path in CASSETTES:
        # its place, not the key itself, which would be in every log
        match = key.search(path.read_text("utf-8"))
        assert match is None, f"{path}: a key at {match.span()}"
        for exchange in tapes.load(path)["interactions"]:
            request = exchange["request"]
            response = exchange["response"]
            assert not secret.search(request["uri"]), f"{path}: a key in the URL"
            sent = {name.lower() for name in request["headers"]}
            assert sent <= REQUEST_HEADERS, f"{path}: {sent - REQUEST_HEADERS}"
            answered = {name.lower() for name in response["headers"]}
            assert answered <= RESPONSE_HEADERS, (
                f"{path}: {answered - RESPONSE_HEADERS}"
            )


def test_what_the_terms_forbid_is_not_recorded():
    for path in CASSETTES:
        forbidden = tapes.why_not_recorded(tapes.name_of(path))
        first = path.read_text("utf-8").splitlines()[0]
        assert not forbidden or re.match(f"# (?:written from|{SHAPED})", first), (
            f"{path}: {forbidden}, and its first line is {first}"
        )


def test_the_recorder_refuses_a_service_whose_terms_forbid_it(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["record", "brave"])

    assert record.main() == 2
    assert (
        "brave: its terms do not allow keeping its results" in capsys.readouterr().err
    )


def test_a_cassette_is_small_enough_to_be_reviewed():
    for path in CASSETTES:
        size = path.stat().st_size
        assert size < 40_000, f"{path}: {size} bytes"
        assert tapes.load(path)["expect"], f"{path}: it expects nothing"
