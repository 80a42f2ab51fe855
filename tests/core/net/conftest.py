"""Each test that asks for them runs with both HTTP libraries, blocking and async."""

from __future__ import annotations
import zlib
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """Leave half of the four to `make test-apart`: what stays is each library once and
    each mode once, and tests differ in which goes with which.
    """
    for item in items:
        params = item.callspec.params if hasattr(item, "callspec") else {}
        if item.path.parent != HERE or not {"library", "colour"} <= params.keys():
            continue
        name = item.originalname.encode()
        turn = (params["library"] == "httpx2") + (params["colour"] == "async")
        if (zlib.crc32(name) + turn) % 2:
            item.add_marker("apart")


@pytest.fixture(params=["httpx", "httpx2"])
def library(request):
    return request.param


@pytest.fixture(params=["blocking", "async"])
def colour(request):
    return request.param
