"""pyreqwest, which is reqwest of Rust. It takes no resolver, but a table of names: so each name has its own client."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from pyreqwest.client import ClientBuilder, SyncClientBuilder

from benchmarks.calls.transports.seam import SENT, Ask, Reply, begin, feed, finish, place
from websearch_core._net.guard import Guard
from websearch_core._net.lookup import FOR_PAGES, Line
from websearch_core._net.resolve import aresolve, resolve
from websearch_core._runtime.deadline import time_left, timeout_left


class _Clients:
    """A client for each name and its judged address, to which it stays tied."""

    def __init__(self, builder: type[Any], guard: Guard) -> None:
        self._builder, self._guard, self._line = builder, guard, Line(FOR_PAGES)
        self._clients: dict[tuple[str, str], Any] = {}

    def _get(self, host: str, port: int, addresses: list[str]) -> Any:
        key = host, addresses[0]
        if key not in self._clients:
            builder = self._builder().no_proxy().follow_redirects(enable=False).resolve(host, addresses[0], port)
            for encoding in ("gzip", "brotli", "zstd", "deflate"):
                getattr(builder, encoding)(enable=False)
            self._clients[key] = builder.build()
        return self._clients[key]

    @staticmethod
    def _build(client: Any, url: str, ask: Ask) -> Any:
        left = min(time_left(), 86_400)
        request = client.post(url).headers(SENT).body_bytes(ask.content).timeout(timedelta(seconds=left))
        return request.build_streamed()


class BlockingPyreqwest(_Clients):
    """Its blocking client."""

    def __init__(self, guard: Guard) -> None:
        super().__init__(SyncClientBuilder, guard)

    def send(self, ask: Ask) -> Reply:
        url, host, port = place(ask.url, self._guard)
        client = self._get(host, port, resolve(self._line, self._guard, host, port))
        with self._build(client, url, ask) as reply:
            body = begin(reply.status, reply.headers.get("content-encoding"), ask)
            if body is not None:
                reader = reply.body_reader
                while (chunk := reader.read_chunk()) is not None:
                    if not feed(body, chunk.to_bytes()):
                        break
        return finish(reply.status, body)

    def close(self) -> None:
        for client in self._clients.values():
            client.close()


class AsyncPyreqwest(_Clients):
    """Its client for event loops, which runs on its own threads."""

    def __init__(self, guard: Guard) -> None:
        super().__init__(ClientBuilder, guard)

    async def send(self, ask: Ask) -> Reply:
        async with asyncio.timeout(timeout_left()):
            url, host, port = place(ask.url, self._guard)
            client = self._get(host, port, await aresolve(self._line, self._guard, host, port))
            async with self._build(client, url, ask) as reply:
                body = begin(reply.status, reply.headers.get("content-encoding"), ask)
                if body is not None:
                    reader = reply.body_reader
                    while (chunk := await reader.read_chunk()) is not None:
                        if not feed(body, chunk.to_bytes()):
                            break
        return finish(reply.status, body)

    async def close(self) -> None:
        for client in self._clients.values():
            await client.close()
