"""Fixtures that test agents without the web: ``fake_web`` and ``cassette``.

pytest loads this module when it starts, so it imports nothing else: the rest is loaded
by the first test that uses one.
"""

from __future__ import annotations
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from websearch_core.testing import FakeWeb

__all__ = ["cassette", "fake_web", "pytest_addoption"]

_MODES = ("none", "once", "new_episodes", "all")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--websearch-record``."""
    parser.getgroup("websearch").addoption(
        "--websearch-record",
        choices=_MODES,
        default="none",
        help="what the fixture `cassette` does: none replays (default), once records "
        "what has no cassette yet, "
        "new_episodes adds what is missing, all records again",
    )


@pytest.fixture
def fake_web() -> Iterator[FakeWeb]:
    """A `websearch_core.testing.FakeWeb` for the test to fill: ``fake_web.results =
    [...]``.

    During the test it also takes the place of every provider that is chosen by name, so
    an agent that makes its own ``WebSearch("tavily")`` can be tested unchanged. What
    was made before the test keeps its providers.
    """
    from websearch_core.testing import FakeWeb

    with FakeWeb().replace_providers() as web:
        yield web


@pytest.fixture
def cassette(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Replays the HTTP exchanges of a test from ``cassettes/MODULE/TEST.yaml`` beside
    its file; needs vcrpy.

    ``pytest --websearch-record=once`` records them. No key, cookie or other header that
    identifies anybody is kept.
    """
    from websearch_core.testing._cassettes import use_cassette

    name = "".join(
        sign if sign.isalnum() or sign in "-_[]." else "-" for sign in request.node.name
    )
    path = request.path.parent / "cassettes" / request.path.stem / f"{name}.yaml"
    mode: str = request.config.getoption("--websearch-record", "none") or "none"
    if mode == "none" and not path.exists():
        pytest.fail(
            f"there is no cassette {path}: record it with pytest "
            f"--websearch-record=once",
            pytrace=False,
        )
    with use_cassette(path, mode) as tape:
        yield tape
