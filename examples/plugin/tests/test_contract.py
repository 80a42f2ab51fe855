"""The provider keeps the promises of every provider, and is found by its entry
point.
"""

from __future__ import annotations
from pathlib import Path

import pytest
import yaml
from websearch_ellersund import Ellersund

from websearch_core import WebSearch
from websearch_core.flow import Response
from websearch_core.providers import get_all
from websearch_core.testing import Check, reply, search_checks

CASSETTES = Path(__file__).parents[1] / "cassettes" / "ellersund"


def recorded(scenario: str) -> Response:
    cassette = yaml.safe_load((CASSETTES / f"{scenario}.yaml").read_text("utf-8"))
    # JSON is YAML
    return reply(
        yaml.safe_load(cassette["interactions"][0]["response"]["body"]["string"])
    )


@pytest.mark.parametrize(
    "check",
    search_checks(
        Ellersund(), some=recorded("search"), none=recorded("nothing"), markup=False
    ),
    ids=str,
)
def test_it_keeps_its_promises(check: Check) -> None:
    check()


def test_it_is_found_by_name() -> None:
    assert WebSearch("ellersund").provider.name == "ellersund"
    assert "ellersund" in [info.name for info in get_all()]
