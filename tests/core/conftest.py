"""A local server that sends exactly the bytes that a test wants, however wrong."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

Answer = bytes | Callable[[socket.socket], None]


def http(body: bytes | str | dict[str, Any] = b"", status: str = "200 OK", *headers: str) -> bytes:
    """Build a well-formed response."""
    if isinstance(body, dict):
        body, headers = json.dumps(body), ("Content-Type: application/json", *headers)
    if isinstance(body, str):
        body = body.encode()
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body


def endless(
    chunk: bytes, head: bytes = b"", pause: float = 0.0, seconds: float = 20.0
) -> Callable[[socket.socket], None]:
    """Send *head*, then *chunk* again and again, until the client closes the connection."""

    def answer(connection: socket.socket) -> None:
        end = time.monotonic() + seconds
        connection.sendall(head)
        while time.monotonic() < end:
            connection.sendall(chunk)
            time.sleep(pause)

    return answer


class Server:
    """Answers each path from ``answers``, keeps connections alive, and counts them."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.connections = 0
        self.delay = 0.0
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=256)
        self._open: set[socket.socket] = set()
        self.port = self._listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def paths(self) -> list[str]:
        return [path for path, _, _ in self.requests]

    def close(self) -> None:
        for one in (self._listening, *self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                self.connections += 1
                self._open.add(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            while request := self._receive(connection):
                self.requests.append(request)
                time.sleep(self.delay)
                path = request[0].partition("?")[0]
                answer = self.answers.get(path, http(b"nothing here", "404 Not Found"))
                if not isinstance(answer, bytes):
                    answer(connection)
                    return
                connection.sendall(answer)
        self._open.discard(connection)

    def _receive(self, connection: socket.socket) -> tuple[str, dict[str, str], bytes] | None:
        data = b""
        while b"\r\n\r\n" not in data:
            arrived = connection.recv(65536)
            if not arrived:
                return None
            data += arrived
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        while len(body) < int(headers.get("content-length", 0)):
            body += connection.recv(65536)
        return lines[0].split(" ")[1], headers, body


@pytest.fixture
def server() -> Iterator[Server]:
    """A `Server`; tests that use it are marked ``enable_socket``."""
    running = Server()
    yield running
    running.close()


@pytest.fixture(name="http")
def _http() -> Callable[..., bytes]:
    return http


@pytest.fixture(name="endless")
def _endless() -> Callable[..., Callable[[socket.socket], None]]:
    return endless
