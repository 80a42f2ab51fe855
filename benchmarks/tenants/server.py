"""
A search service and a website on this machine, of which some pages are hostile. It notes the keys of connections.

It runs in its own process. ``POST /search`` answers as Tavily does, after 20 ms, ``POST /prompt/search`` at once.
``GET /page`` is an article;
``/drip`` sends a byte every 50 ms, ``/hang`` nothing, ``/huge`` text without an end, and ``/deep`` elements inside
elements. It listens only on 127.0.0.1, and ends when the process that started it ends.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

DELAY = 0.02  # seconds

_TEXT = "Create the successor of a key, deploy that beside it, and revoke the old one when nothing uses it any more. "
_FOUND = json.dumps(
    {"results": [{"url": f"https://example.org/{n}", "title": "Keys", "content": _TEXT, "score": 1} for n in range(5)]}
).encode()
_PAGE = f"<html><title>Keys</title><body><h1>Keys</h1>{f'<p>{_TEXT}</p>' * 100}</body></html>".encode()
_DEEP = b"<html><body>" + b"<div>" * 20_000 + b"deep"


@dataclass(frozen=True)
class Counts:
    """
    What the service saw.

    Args:
        connections: How many connections carried a key.
        mixed: How many of them carried more than one.
        keys: How many keys there were.

    """

    connections: int
    mixed: int
    keys: int


@dataclass
class Server:
    """
    The service and the website, for the duration of the ``with`` block.

    Attributes:
        url: The base URL of both.

    """

    url: str = ""
    _process: subprocess.Popen[str] = field(init=False, repr=False)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.url = f"http://127.0.0.1:{self._read_line()}"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=10)  # closes its standard input, which ends the process

    def take_counts(self) -> Counts:
        """Return the counts since the last call."""
        assert self._process.stdin is not None
        self._process.stdin.write("counts\n")
        return Counts(*json.loads(self._read_line()))

    def _read_line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


_carried: list[set[str]] = []


async def _serve_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    keys: set[str] = set()
    _carried.append(keys)
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            await reader.readexactly(int(fields.get("content-length", 0)))
            if key := fields.get("authorization"):
                keys.add(key)
            await _answer(first.split()[1], writer)
    writer.close()


async def _answer(path: str, writer: asyncio.StreamWriter) -> None:
    if path.endswith("/search") and not path.startswith("/hang"):
        await asyncio.sleep(0 if path.startswith("/prompt") else DELAY)
        _send(writer, "application/json", _FOUND)
    elif path.startswith("/hang"):
        await asyncio.sleep(60)
    elif path in {"/drip", "/huge"}:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        while True:
            writer.write(b"x" if path == "/drip" else _TEXT.encode() * 500)
            await writer.drain()
            await asyncio.sleep(0.05 if path == "/drip" else 0)
    else:
        _send(writer, "text/html", _DEEP if path == "/deep" else _PAGE)
    await writer.drain()


def _send(writer: asyncio.StreamWriter, kind: str, body: bytes) -> None:
    writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)


async def _serve() -> None:
    server = await asyncio.start_server(_serve_connection, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    loop, commands = asyncio.get_running_loop(), asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while await commands.readline():  # until the parent process closes the pipe or dies
        carried = [keys for keys in _carried if keys]
        print(
            json.dumps([len(carried), sum(len(keys) > 1 for keys in carried), len(set().union(*carried))]), flush=True
        )
        for keys in _carried:
            keys.clear()
    server.close()


if __name__ == "__main__":
    asyncio.run(_serve())
