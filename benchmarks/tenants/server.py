"""A search service and a website on this machine. Some pages of it are hostile, and it
notes the keys of connections.

It runs in its own process. ``POST /search`` answers as Tavily does, after 20 ms, ``POST
/prompt/search`` at once, and ``POST /hang/search`` never. ``GET /page`` is an article.
The others are what a tenant may find on a site that is slow or hostile: ``/drip`` sends
a byte every 50 ms, ``/hang`` nothing, ``/huge`` text without an end; ``/deep`` is
elements inside elements, ``/dense`` a little less than 1 MiB of list items, ``/bomb`` 1
GiB in 1 MiB of gzip, and ``/loop`` redirects to itself. It listens only on 127.0.0.1,
and ends when the process that started it ends.
"""

from __future__ import annotations
import asyncio
import gzip
import json
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from benchmarks.program import Program, serve

DELAY = 0.02  # seconds

_TEXT = (
    "Create the successor of a key, deploy that beside it, and revoke the old one when "
    "nothing uses it any more. "
)
_FOUND = json.dumps(
    {
        "results": [
            {
                "url": f"https://example.org/{n}",
                "title": "Keys",
                "content": _TEXT,
                "score": 1,
            }
            for n in range(5)
        ]
    }
).encode()
_PAGE = f"<html><title>Keys</title><body><h1>Keys</h1>{f'<p>{_TEXT}</p>' * 100}</body></html>".encode()
_DEEP = b"<html><body>" + b"<div>" * 20_000 + b"deep"
_DENSE = b"<html><body><ul>" + b"<li>a key" * 110_000


@dataclass(frozen=True)
class Counts:
    """What the service saw.

    Args:
        connections: How many connections carried a key.
        mixed: How many of them carried more than one.
        keys: How many keys there were.
    """

    connections: int
    mixed: int
    keys: int


class Server(Program):
    """The service and the website."""

    def __init__(self) -> None:
        super().__init__("benchmarks.tenants.server")

    def take_counts(self) -> Counts:
        """Return the counts since the last call."""
        return Counts(*self.ask())


_carried: list[set[str]] = []


async def _serve_connection(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    keys: set[str] = set()
    _carried.append(keys)
    # the last: when it ends
    with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
        while True:
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            fields = {
                name.lower(): value
                for name, _, value in (line.partition(": ") for line in lines)
            }
            await reader.readexactly(int(fields.get("content-length", 0)))
            if key := fields.get("authorization"):
                keys.add(key)
            await _answer(first.split()[1], writer)
    writer.close()


async def _answer(path: str, writer: asyncio.StreamWriter) -> None:
    if path.endswith("/search") and not path.startswith("/hang"):
        await asyncio.sleep(0 if path.startswith("/prompt") else DELAY)
        await _send(writer, _FOUND, "Content-Type: application/json")
        return
    match path.partition("?")[0].split("/")[1]:
        case "hang":
            await asyncio.sleep(60)
        case "drip":
            await _send_forever(writer, b"x", 0.05)
        case "huge":
            await _send_forever(writer, _TEXT.encode() * 500, 0)
        case "loop":
            await _send(writer, b"", f"Location: {path}", status="302 Found")
        case "bomb":
            await _send(
                writer,
                _make_bomb(),
                "Content-Type: text/html",
                "Content-Encoding: gzip",
            )
        case name:
            await _send(
                writer,
                {"deep": _DEEP, "dense": _DENSE}.get(name, _PAGE),
                "Content-Type: text/html",
            )


async def _send(
    writer: asyncio.StreamWriter, body: bytes, *headers: str, status: str = "200 OK"
) -> None:
    head = "\r\n".join([f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}"])
    writer.write(head.encode() + b"\r\n\r\n" + body)
    await writer.drain()


async def _send_forever(
    writer: asyncio.StreamWriter, piece: bytes, pause: float
) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    while True:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(pause)


@cache
def _make_bomb() -> bytes:
    return gzip.compress(b"<p>boom " * 2**21) * 64  # 64 members of 16 MiB


def _describe() -> list[int]:
    carried = [keys for keys in _carried if keys]
    found = [
        len(carried),
        sum(len(keys) > 1 for keys in carried),
        len(set().union(*carried)),
    ]
    for keys in _carried:
        keys.clear()
    return found


async def _serve() -> None:
    await serve(
        await asyncio.start_server(_serve_connection, "127.0.0.1", 0, backlog=2048),
        _describe,
    )


if __name__ == "__main__":
    asyncio.run(_serve())
