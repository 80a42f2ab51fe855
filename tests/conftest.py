"""
The network of all tests: none, and for those marked ``enable_socket`` this machine alone.

pytest-socket turns sockets off (see ``addopts``); the mark turns them on again for 127.0.0.1.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import pytest_socket

from websearch_core.provider import environment
from websearch_core.providers import known, provider_class


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("enable_socket"):
        pytest_socket.socket_allow_hosts(["127.0.0.1", "::1"], allow_unix_socket=True)


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test sees a key, a proxy or a settings file of whoever runs it."""
    names = {
        name for provider in known() for several in environment(provider_class(provider)).values() for name in several
    }
    for name in [*names, *(name for name in os.environ if name.startswith("WEB_SEARCH_"))]:
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.chdir(tmp_path_factory.mktemp("cwd"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Where the real peers have to be there, a test that skips for want of one fails."""
    report = yield
    if report.skipped and item.get_closest_marker("e2e") and os.environ.get("WEBSEARCH_REQUIRE_PEERS"):
        report.outcome = "failed"
        report.longrepr = f"skipped where it must not be: {report.longrepr}"
    return report
