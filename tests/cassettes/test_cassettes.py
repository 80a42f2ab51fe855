"""
Replay recorded exchanges, and compare our results with those expected.

`tape` describes the files; `record` makes them.
"""

from __future__ import annotations
import re

import pytest

from tests.cassettes import tape as tapes
from tests.cassettes.exchange import replay
from tests.clock import skip_pauses
from websearch_core.testing._cassettes import REQUEST_HEADERS, RESPONSE_HEADERS

CASSETTES = tapes.find_tapes()
SHAPED = "shaped after a captured answer, values invented"

each = pytest.mark.parametrize("path", CASSETTES, ids=tapes.name_of)


@each
def test_a_recorded_exchange_gives_the_expected_result_in_both_modes(path):
    tape = tapes.load(path)
    with skip_pauses():
        blocking, concurrent = (
            tapes.facts(replay(tape, concurrent=colour)) for colour in (False, True)
        )
    for one in (blocking, concurrent):
        one.pop("elapsed", None)
        for asked in one.get("outcomes", ()):
            asked.pop("seconds")

    assert blocking == concurrent
    assert tapes.find_mismatch(tape["expect"], blocking) == ""


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


def test_a_cassette_is_small_enough_to_be_reviewed():
    for path in CASSETTES:
        size = path.stat().st_size
        assert size < 40_000, f"{path}: {size} bytes"
        assert tapes.load(path)["expect"], f"{path}: it expects nothing"
