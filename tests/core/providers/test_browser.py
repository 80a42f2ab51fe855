"""The reader `browser`, without a browser: tests/browser has one."""

from __future__ import annotations

import pytest

from websearch_core.providers import Browser
from websearch_core.testing import read_checks, reply

TEXT = "Giant kelp adds up to half a metre a day in cold, bright, nutrient-rich water."
PROMISES = read_checks(
    Browser(), some=reply(f"<title>Kelp</title><h1>Kelp</h1><p>{TEXT}")
)


@pytest.mark.parametrize("promise", PROMISES, ids=str)
def test_it_keeps_the_promises_of_a_reader(promise):
    promise()
