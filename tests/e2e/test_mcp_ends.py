"""A signal ends ``websearch mcp``, and what its calls held is given back."""

from __future__ import annotations
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing

import pytest

from tests.waiting import wait_until

pytest.importorskip("mcp", reason="the extra mcp is not installed")

pytestmark = [
    pytest.mark.apart,
    pytest.mark.e2e,
    pytest.mark.enable_socket,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals"),
]
_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
_SETTINGS = """
provider = "searxng"
timeout = 600
[throttle]
shared = "{redis}"
concurrent = 1
[budget]
limit = "100 calls/day"
usage_file = "{usage}"
[providers.searxng]
base_url = "{searxng}"
"""


def count_calls(usage):
    """Return how many calls the file of the budget counts."""
    with closing(sqlite3.connect(usage)) as file:
        (millionths,) = file.execute("SELECT total(calls) FROM usage").fetchone()
        return millionths / 1_000_000


def count_leases(redis):
    """Return how many places the throttle counts as taken."""
    return sum(redis.zcard(name) for name in redis.keys("*:leases"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_places_and_what_is_reserved_are_given_back(
    start_redis, port, tmp_path, number
):
    redis = pytest.importorskip("redis")
    with ExitStack() as stack:
        stack.enter_context(start_redis(port))
        client = stack.enter_context(redis.Redis(port=port))
        # it accepts, and never answers
        silent = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        usage, settings = tmp_path / "usage.db", tmp_path / "websearch.toml"
        home = f"http://127.0.0.1:{silent.getsockname()[1]}"
        address = f"redis://127.0.0.1:{port}/0?socket_timeout=30"
        settings.write_text(
            _SETTINGS.format(redis=address, usage=usage, searxng=home), "utf-8"
        )
        child = stack.enter_context(
            subprocess.Popen(
                [sys.executable, "-m", "websearch_core", "mcp"],
                env={**os.environ, "WEB_SEARCH_CONFIG": str(settings)},
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
        )  # fmt: skip

        def send(**message):
            child.stdin.write(
                json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
            )
            child.stdin.flush()

        send(id=1, method="initialize", params=_HELLO)
        child.stdout.readline()
        send(method="notifications/initialized")
        for one in (2, 3):
            send(
                id=one,
                method="tools/call",
                params={"name": "web_search", "arguments": {"query": f"kelp {one}"}},
            )
        stack.enter_context(silent.accept()[0])
        wait_until(lambda: count_leases(client) == 1 and count_calls(usage) == 2)
        child.send_signal(number)
        assert child.wait(120) == 128 + number
        assert b"Traceback" not in child.stderr.read()
        assert count_leases(client) == 0
        assert count_calls(usage) == 1  # the one that has been sent
