"""A fast search service on this machine that speaks Tavily's JSON, and counts
connections and requests.

It runs in its own process, so that it takes no time from the interpreter being
measured. The first part of the URL's path selects its behaviour: ``<url>/prompt``
answers at once, ``<url>/near`` after 20 ms, ``<url>/slow`` after half a second,
``<url>/hang`` never; ``<url>/html`` is a page, and ``<url>/distant`` the same after
200 ms. It listens only on 127.0.0.1, and ends when the process that
started it ends.
"""

from __future__ import annotations
import asyncio
import json
from dataclasses import dataclass
from typing import cast

from benchmarks.program import Program, serve

SLOW = 0.5  # seconds
NEAR = 0.02  # seconds
DISTANT = 0.2  # seconds
_DELAYS = {"slow": SLOW, "near": NEAR, "distant": DISTANT}

_SNIPPET = (
    "Rotate a key by creating its successor, deploying that beside it, and revoking "
    "the old one when nothing uses it "
    "any more. A key that is never rotated is a key that leaks once and works for "
    "ever. "
)
_FOUND = {
    "query": "how to rotate a key",
    "follow_up_questions": None,
    "answer": None,
    "images": [],
    "results": [
        {
            "url": f"https://example.org/keys/{n}",
            "title": f"Rotating keys, part {n}",
            "content": _SNIPPET * 3,
            "score": 0.9 - n / 10,
            "raw_content": None,
        }
        for n in range(1, 6)
    ],
    "response_time": 0.01,
    "request_id": "5f0c4b3e-6f57-4d0e-9a3f-0d6a3f0c8b11",
}


# an address, since a reader that is not the vendor's resolves names
PAGE_URL = "https://93.184.215.14/keys/manual"
_PARAGRAPH = (
    f"{_SNIPPET}See [the manual](https://example.org/keys/manual/{{n}}) on step {{n}} "
    f"of the rotation.\n\n"
)
_PAGE = "".join(_PARAGRAPH.format(n=n) for n in range(1_000))[:40_000]
_READ = {
    "results": [{"url": PAGE_URL, "raw_content": _PAGE, "images": []}],
    "failed_results": [],
    "response_time": 0.01,
}
_HTML = "".join(
    (
        "<!doctype html><title>Rotating keys</title><main><h1>Rotating keys</h1>",
        *(f"<p style='margin: 1em'>{_SNIPPET}Step {n}." for n in range(9)),
        "</main>",
    )
)


def _answer(status: str, body: object, *headers: str) -> bytes:
    content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    kind = "text/html" if isinstance(body, str) else "application/json"
    head = [
        f"HTTP/1.1 {status}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(content)}",
        *headers,
    ]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + content


def _error(text: str) -> dict[str, dict[str, str]]:
    return {"detail": {"error": text}}


ANSWERS: dict[str, bytes | None] = {
    "prompt": _answer("200 OK", _FOUND),
    "page": _answer("200 OK", _READ),
    "html": _answer("200 OK", _HTML),
    "distant": _answer("200 OK", _HTML),
    "near": _answer("200 OK", _FOUND),
    "slow": _answer("200 OK", _FOUND),
    "401": _answer(
        "401 Unauthorized", _error("Unauthorized: missing or invalid API key.")
    ),
    "429": _answer(
        "429 Too Many Requests",
        _error("You are sending too many requests."),
        "Retry-After: 60",
    ),
    "502": _answer("502 Bad Gateway", "<html><h1>Bad Gateway</h1></html>"),
    "portal": _answer("200 OK", "<html><h1>Log in to use this network</h1></html>"),
    "hang": None,
}


@dataclass
class Counts:
    """How many connections were opened and how many requests arrived."""

    connections: int = 0
    requests: int = 0

    def __sub__(self, earlier: Counts) -> Counts:
        return Counts(
            self.connections - earlier.connections, self.requests - earlier.requests
        )


class Server(Program):
    """The service; add ``/prompt``, ``/slow`` and so on to its URL."""

    def __init__(self) -> None:
        super().__init__("benchmarks.calls.server")

    def counts(self) -> Counts:
        """Return the counts so far."""
        return Counts(*self.ask())


class _Connection(asyncio.Protocol):
    """A persistent connection; each request is answered as its path says."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._arrived = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._counts.connections += 1
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._arrived += data
        head, end, body = self._arrived.partition(b"\r\n\r\n")
        if not end or len(body) < _content_length(head):
            return
        self._arrived = b""  # no client here pipelines requests
        self._counts.requests += 1
        behaviour = head.split(b"/", 2)[1].decode()
        answer = ANSWERS[behaviour]
        if answer is not None:
            asyncio.get_running_loop().call_later(
                _DELAYS.get(behaviour, 0), self._transport.write, answer
            )


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


async def _serve() -> None:
    counts = Counts()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: _Connection(counts), "127.0.0.1", 0, backlog=256
    )
    await serve(server, lambda: [counts.connections, counts.requests])


if __name__ == "__main__":
    asyncio.run(_serve())
