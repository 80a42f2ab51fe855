"""A local server that sends exactly the bytes that a test wants, however wrong."""

from __future__ import annotations
from collections.abc import Callable, Iterator

import pytest

from tests import server as faulty


@pytest.fixture
def server() -> Iterator[faulty.Server]:
    """A `Server`; tests that use it are marked ``enable_socket``."""
    running = faulty.Server()
    yield running
    running.close()


@pytest.fixture
def http() -> Callable[..., bytes]:
    return faulty.http


@pytest.fixture
def endless() -> Callable[..., Callable[..., None]]:
    return faulty.endless
