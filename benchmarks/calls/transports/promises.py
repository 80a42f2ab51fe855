"""
Check which of our promises a transport keeps, against a server that breaks the rules.

Each check makes a new transport, with its own guard. Whether something was reached is decided by the server.
"""

from __future__ import annotations

import os
import resource
import select
import socket
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.calls.asked import BODY
from benchmarks.calls.transports.seam import Ask, Reply
from tests.faults.server import Server, endless, head, http
from websearch_core._net.guard import Guard
from websearch_core._runtime.deadline import time_limit

Call = Callable[..., Reply]

_NAME = "page.example.org"  # no resolver but ours knows its address
_SECONDS = 0.5  # the deadline of a call that is answered slowly
_LATEST = 2.0  # seconds after which it has ended too late, on a busy machine
_ENDLESS = 3.0  # seconds that the server goes on for
_MOST = 100_000  # bytes
_BOMB = 64 * 2**20  # bytes, inflated
_OPEN = ("127.0.0.0/8",)


def check(call: Call) -> dict[str, str]:
    """
    Return what is wrong with each promise; empty if it is kept.

    Args:
        call: Sends an `Ask` over a new transport behind a `Guard`: ``call(guard, ask)``.

    """
    return {name: _try(promise, call) for name, promise in PROMISES.items()}


def _try(promise: Callable[[Call], str], call: Call) -> str:
    try:
        return promise(call)
    except Exception as error:  # noqa: BLE001 - whatever it is, the promise is not kept
        return f"{type(error).__name__}: {error}"[:200]


def _guard(*allow: str) -> Guard:
    return Guard.allowing(allow, resolve=lambda host, _: ["127.0.0.1"] if host == _NAME else [])


def _end(call: Call, guard: Guard, ask: Ask, seconds: float = 10.0) -> Reply | Exception:
    """Return how a call ended."""
    try:
        with time_limit(seconds):
            return call(guard, ask)
    except Exception as error:  # noqa: BLE001 - the caller looks at it
        return error


@contextmanager
def _serve() -> Iterator[Server]:
    server = Server([http(b"{}")])
    try:
        yield server
    finally:
        server.close()


def _check_guard(call: Call) -> str:
    """Only a judged address is connected to: a forbidden one never, and no other is looked up."""
    with _serve() as server:
        for url in (f"http://{_NAME}:{server.port}/", f"{server.url}/", f"http://localhost:{server.port}/"):
            _end(call, _guard(), Ask(url, BODY))
            if server.connections:
                return f"connects to {url.split('/')[2].split(':')[0]}"
        reply = _end(call, _guard(*_OPEN), Ask(f"http://{_NAME}:{server.port}/", BODY))
        return "" if isinstance(reply, Reply) and server.connections else "asks another resolver"


def _check_deadline(call: Call) -> str:
    """A head and a body that come in drops end with the deadline, and nothing goes on."""
    with _serve() as server:
        server.answers["/head"] = endless(b"X", b"HTTP/1.1 200 OK\r\nX: ", 0.05, _ENDLESS)
        server.answers["/body"] = endless(b"x", head(), 0.05, _ENDLESS)
        for path in ("/head", "/body"):
            began = time.monotonic()
            ended = _end(call, _guard(*_OPEN), Ask(server.url + path, BODY), _SECONDS)
            if isinstance(ended, Reply) or time.monotonic() - began > _LATEST:
                return f"not for a {path[1:]} in drops"
        time.sleep(0.2)
        left = any(thread.name == "websearch-work" for thread in threading.enumerate())
        return "leaves a thread behind" if left else ""


def _check_bound(call: Call) -> str:
    """Bodies and heads without end, and a bomb, are cut."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    bomb = b"".join([*(packer.compress(bytes(2**20)) for _ in range(_BOMB // 2**20)), packer.flush()])
    with _serve() as server:
        server.answers["/body"] = endless(b"x" * 2**16, head(), 0.0, _ENDLESS)
        server.answers["/bomb"] = http(bomb, "200 OK", "Content-Encoding: gzip")
        server.answers["/head"] = endless(b"X: " + b"x" * 1000 + b"\r\n", b"HTTP/1.1 200 OK\r\n", 0.0, _ENDLESS)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for path in ("/body", "/bomb"):
            ended = _end(call, _guard(*_OPEN), Ask(server.url + path, BODY, _MOST))
            if not isinstance(ended, Reply) or len(ended.content) > _MOST or not ended.truncated:
                return f"not for a {path[1:]}" + (f" ({type(ended).__name__})" if isinstance(ended, Exception) else "")
        began = time.monotonic()
        if isinstance(_end(call, _guard(*_OPEN), Ask(server.url + "/head", BODY)), Reply):
            return "accepts an endless head"
        if time.monotonic() - began > _LATEST:
            return "reads a head without end"
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        return f"takes {grown // 2**20} MB" if grown > _BOMB // 2 else ""


def _check_redirects(call: Call) -> str:
    """A redirect is reported, and not followed."""
    with _serve() as inside, _serve() as server:
        server.answers["/"] = http(b"", "302 Found", f"Location: {inside.url}/secret")
        ended = _end(call, _guard(*_OPEN), Ask(f"{server.url}/", BODY))
        if inside.connections:
            return "follows them"
        return "" if isinstance(ended, Reply) and ended.status == 302 else f"{ended!r}"[:80]


def _check_proxies(call: Call) -> str:
    """The proxies of the environment are not used for pages."""
    with _serve() as proxy, _serve() as server:
        named = dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"), proxy.url)
        with patch.dict(os.environ, named):
            ended = _end(call, _guard(*_OPEN), Ask(f"{server.url}/", BODY))
        if proxy.connections:
            return "uses them"
        return "" if isinstance(ended, Reply) and server.requests else f"{ended!r}"[:80]


def _check_cassettes(call: Call) -> str:
    """A call is recorded and replayed by vcrpy."""
    import vcr  # type: ignore[import-untyped]

    with _serve() as server, tempfile.TemporaryDirectory() as folder:
        server.answers["/"] = http({"kelp": 1})
        player: Any = vcr.VCR(record_mode="once")
        for _ in range(2):
            with player.use_cassette(str(Path(folder) / "one.yaml")):
                ended = _end(call, _guard(*_OPEN), Ask(f"{server.url}/", BODY))
        if len(server.requests) != 1:
            return "vcrpy does not see it"
        return "" if isinstance(ended, Reply) and b"kelp" in ended.content else f"{ended!r}"[:80]


def _check_sockets(call: Call) -> str:
    """pytest-socket keeps it from connecting."""
    import pytest_socket

    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        pytest_socket.disable_socket(allow_unix_socket=True)
        try:
            _end(call, _guard(*_OPEN), Ask(url, BODY), _SECONDS)
            return "pytest-socket does not stop it" if select.select([listening], [], [], 0)[0] else ""
        finally:
            pytest_socket.enable_socket()


PROMISES: dict[str, Callable[[Call], str]] = {
    "guard": _check_guard,
    "deadline": _check_deadline,
    "bound": _check_bound,
    "redirects": _check_redirects,
    "proxies": _check_proxies,
    "cassettes": _check_cassettes,
    "sockets": _check_sockets,
}
