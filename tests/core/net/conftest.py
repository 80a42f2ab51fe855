"""Each test that asks for them runs with both HTTP libraries, blocking and async."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["httpx", "httpx2"])
def library(request):
    return request.param


@pytest.fixture(params=["blocking", "async"])
def colour(request):
    return request.param
