"""Fuzz each target of `targets.py` for a few seconds; `run.py` does so for as long as
you like.
"""

from __future__ import annotations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FOUND = [
    path
    for path in sorted(Path(__file__).with_name("found").glob("*/*"))
    if path.is_file()
]

# The target is the same for all examples, and only the first page is slow, because it
# imports the parser.
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@settings(max_examples=120, suppress_health_check=QUIET)
@given(data=st.data())
def test_no_input_breaks_a_target(target, data):
    piece = st.one_of(st.sampled_from(target.words), st.binary(max_size=4))
    target.check(b"".join(data.draw(st.lists(piece, max_size=15))))


@settings(max_examples=60)
@given(data=st.binary(max_size=200))
def test_no_bytes_break_a_target(target, data):
    target.check(data)


@pytest.mark.parametrize(
    "path", FOUND, ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_inputs_that_once_failed_pass(path, targets):
    targets[path.parent.name].check(path.read_bytes())
