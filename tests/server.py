"""The server of the tests: it sends exactly the bytes that a test wants, however wrong,
and remembers what it was asked.

    with Server() as server:
        server.answers["/kelp"] = http("Kelp.", "200 OK", "Content-Type: text/html")
        ...
        assert server.paths == ["/kelp"]
"""

from __future__ import annotations
import contextlib
import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Self

# path, headers (with the method as ``:method``, as in HTTP/2) and body
Received = tuple[str, dict[str, str], bytes]
Talk = Callable[[socket.socket], None]
Answer = bytes | Talk


def http(
    body: bytes | str | dict[str, Any] = b"", status: str = "200 OK", *headers: str
) -> bytes:
    """Build a well-formed response."""
    if isinstance(body, dict):
        body = json.dumps(body)
        headers = ("Content-Type: application/json", *headers)
    if isinstance(body, str):
        body = body.encode()
    return head(status, f"Content-Length: {len(body)}", *headers) + body


def head(status: str = "200 OK", *headers: str) -> bytes:
    """Build the head of a response, without a length: the body ends with the
    connection.
    """
    return "\r\n".join([f"HTTP/1.1 {status}", *headers]).encode("latin-1") + b"\r\n\r\n"


def endless(
    chunk: bytes, head: bytes = b"", pause: float = 0.0, seconds: float = 60.0
) -> Callable[[socket.socket], None]:
    """Send *head*, then *chunk* again and again, until the client closes the
    connection.
    """

    def answer(connection: socket.socket) -> None:
        end = time.monotonic() + seconds
        connection.sendall(head)
        while time.monotonic() < end:
            connection.sendall(chunk)
            if not chunk and _is_closed(connection):
                return
            time.sleep(pause)

    return answer


def closing(data: bytes) -> Callable[[socket.socket], None]:
    """Send *data* and hang up."""
    return lambda connection: connection.sendall(data)


def say_nothing(connection: socket.socket) -> None:
    """Wait until the client hangs up."""
    connection.recv(1)


def resetting(data: bytes) -> Callable[[socket.socket], None]:
    """Send *data* and reset the connection."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(data)
        connection.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )

    return answer


def late(data: bytes, seconds: float) -> Callable[[socket.socket], None]:
    """Send *data* after a pause."""

    def answer(connection: socket.socket) -> None:
        time.sleep(seconds)
        connection.sendall(data)

    return answer


class Server:
    """Answers each path from ``answers``, else from ``others``, keeps connections
    alive, and counts them.

    Args:
        others: The answers to all other requests, one after the other; the last is
            repeated. None: 404.
        tls: Makes it a server for https.
        reply: Makes the answer to each request that has none.
        address: Where it listens.
        talk: Has each connection from its first byte, instead of answers.

    """

    def __init__(
        self,
        others: Sequence[Answer] | None = None,
        tls: ssl.SSLContext | None = None,
        reply: Callable[[Received], Answer] | None = None,
        address: str = "127.0.0.1",
        talk: Talk | None = None,
    ) -> None:
        self.answers: dict[str, Answer] = {}
        self.requests: list[Received] = []
        self.connections = 0
        self.delay = 0.0
        self._others = list(others or [http(b"nothing here", "404 Not Found")])
        self._tls = tls
        self._reply = reply
        self._converse = talk or self._answer_requests
        self._lock = threading.Lock()
        self._listening = socket.create_server(
            (address, 0),
            family=socket.AF_INET6 if ":" in address else socket.AF_INET,
            backlog=256,
        )
        self._open: set[socket.socket] = set()
        self.port = self._listening.getsockname()[1]
        scheme = "https" if tls else "http"
        host = f"[{address}]" if ":" in address else address
        self.url = f"{scheme}://{host}:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def paths(self) -> list[str]:
        return [path for path, _, _ in self.requests]

    @property
    def open_connections(self) -> int:
        return len(self._open)

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
                threading.Thread(
                    target=self._serve, args=(connection,), daemon=True
                ).start()

    def _serve(self, plain: socket.socket) -> None:
        with contextlib.suppress(OSError), plain:
            if self._tls is None:
                self._converse(plain)
            else:
                with self._tls.wrap_socket(plain, server_side=True) as connection:
                    self._converse(connection)
        self._open.discard(plain)

    def _answer_requests(self, connection: socket.socket) -> None:
        while request := receive(connection):
            self.requests.append(request)
            time.sleep(self.delay)
            answer = self.answers.get(request[0].partition("?")[0]) or self._take(
                request
            )
            if not isinstance(answer, bytes):
                answer(connection)
                return
            connection.sendall(answer)

    def _take(self, request: Received) -> Answer:
        if self._reply:
            return self._reply(request)
        with self._lock:
            return self._others.pop(0) if len(self._others) > 1 else self._others[0]


def receive(connection: socket.socket) -> Received | None:
    """Read a request; None if the client has hung up."""
    data = b""
    while b"\r\n\r\n" not in data:
        arrived = connection.recv(65536)
        if not arrived:
            return None
        data += arrived
    top, _, body = data.partition(b"\r\n\r\n")
    lines = top.decode("latin-1").split("\r\n")
    headers = {
        name.lower(): value.strip()
        for name, _, value in (line.partition(":") for line in lines[1:])
    }
    while len(body) < int(headers.get("content-length", 0)):
        if not (arrived := connection.recv(65536)):
            return None
        body += arrived
    method, path, _ = lines[0].split(" ")
    return path, {":method": method, **headers}, body


def _is_closed(connection: socket.socket) -> bool:
    """Return whether the client has hung up: sending nothing does not tell."""
    try:
        return connection.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) == b""
    except (BlockingIOError, ssl.SSLError, ValueError):
        return False
