"""httpx and httpx2: bare, behind the guard with their own pools, and behind `Sender`, whose pool is ours."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

from benchmarks.calls.asked import HEADERS
from benchmarks.calls.transports.seam import AT_ONCE, SENT, Ask, Reply, begin, feed, finish, place
from websearch_core._net import clients
from websearch_core._net.backend import AsyncGuardedBackend, GuardedBackend
from websearch_core._net.guard import Guard
from websearch_core._net.lookup import FOR_PAGES, Line
from websearch_core._net.sender import Sender
from websearch_core._runtime.deadline import clamp, time_left, timeout_left
from websearch_core.flow import Request

_CORES = {"httpx": "httpcore", "httpx2": "httpcore2"}


class Bare:
    """A client as people write it by hand: it keeps none of the promises."""

    def __init__(self, library: str, _: Guard) -> None:
        self._client = import_module(library).Client()

    def send(self, ask: Ask) -> Reply:
        reply = self._client.post(ask.url, json=ask.body, headers=HEADERS)
        return Reply(reply.status_code, reply.content)

    def close(self) -> None:
        self._client.close()


class AsyncBare:
    """The same on an event loop."""

    def __init__(self, library: str, _: Guard) -> None:
        self._client = import_module(library).AsyncClient()

    async def send(self, ask: Ask) -> Reply:
        reply = await self._client.post(ask.url, json=ask.body, headers=HEADERS)
        return Reply(reply.status_code, reply.content)

    async def close(self) -> None:
        await self._client.aclose()


def _make_client(library: str, kind: str) -> tuple[Any, Any, Any]:
    """Return a client that keeps its connections itself, its pool, and the module of its connections."""
    http = import_module(library)
    limits = http.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)
    client = getattr(http, kind)(limits=limits, trust_env=False)
    return client, client._transport._pool, import_module(_CORES[library])


class Guarded:
    """A client whose pool is its own, with our guard as its network backend."""

    def __init__(self, library: str, guard: Guard) -> None:
        self._client, pool, core = _make_client(library, "Client")
        pool._network_backend = GuardedBackend(core, pool._network_backend, guard, Line(FOR_PAGES))
        self._guard = guard

    def send(self, ask: Ask) -> Reply:
        url, _, _ = place(ask.url, self._guard)
        request = self._client.build_request("POST", url, content=ask.content, headers=SENT, timeout=time_left())
        reply = self._client.send(request, stream=True, follow_redirects=False)
        try:
            body = begin(reply.status_code, reply.headers.get("content-encoding"), ask)
            if body is not None:
                for chunk in reply.iter_raw():
                    if not feed(body, chunk):
                        break
                    clamp(None)
        finally:
            reply.close()
        return finish(reply.status_code, body)

    def close(self) -> None:
        self._client.close()


class AsyncThroughClient:
    """What is sent through an ``httpx.AsyncClient`` that is made elsewhere."""

    _client: Any
    _guard: Guard

    async def send(self, ask: Ask) -> Reply:
        async with asyncio.timeout(timeout_left()):
            url, _, _ = place(ask.url, self._guard)
            request = self._client.build_request("POST", url, content=ask.content, headers=SENT)
            reply = await self._client.send(request, stream=True, follow_redirects=False)
            try:
                body = begin(reply.status_code, reply.headers.get("content-encoding"), ask)
                if body is not None:
                    async for chunk in reply.aiter_raw():
                        if not feed(body, chunk):
                            break
            finally:
                await reply.aclose()
        return finish(reply.status_code, body)

    async def close(self) -> None:
        await self._client.aclose()


class AsyncGuarded(AsyncThroughClient):
    """A client whose pool is its own, over anyio, with our guard as its network backend."""

    def __init__(self, library: str, guard: Guard) -> None:
        self._client, pool, _ = _make_client(library, "AsyncClient")
        pool._network_backend = AsyncGuardedBackend(pool._network_backend, guard, Line(FOR_PAGES))
        self._guard = guard


class Sending:
    """Our own `Sender`, sending as it does for pages, but for the number of connections that it keeps."""

    def __init__(self, library: str, guard: Guard) -> None:
        clients._MAX_IDLE = AT_ONCE
        self._sender = Sender(guard, library=library)  # type: ignore[arg-type]

    def send(self, ask: Ask) -> Reply:
        return _read(self._sender.send(_make_request(ask)))

    def close(self) -> None:
        self._sender.close()


class AsyncSending(Sending):
    """The same on an event loop."""

    async def send(self, ask: Ask) -> Reply:  # type: ignore[override]
        return _read(await self._sender.asend(_make_request(ask)))

    async def close(self) -> None:  # type: ignore[override]
        await self._sender.aclose()


def _make_request(ask: Ask) -> Request:
    return Request(url=ask.url, method="POST", json=ask.body, headers=HEADERS, max_bytes=ask.most, guarded=True)


def _read(response: Any) -> Reply:
    return Reply(response.status, response.content, response.truncated)
