"""niquests with a resolver that asks our guard. Installing it replaces urllib3, so it has its own environment."""

from __future__ import annotations

import asyncio
import socket
from functools import partial
from typing import Any

import niquests
from niquests.packages.urllib3.contrib.resolver import BaseResolver
from niquests.packages.urllib3.contrib.resolver._async import AsyncBaseResolver
from niquests.packages.urllib3.contrib.resolver.protocols import ProtocolResolver

from benchmarks.calls.transports.seam import AT_ONCE, SENT, Ask, Reply, begin, feed, finish, place
from websearch_core._net.guard import Guard
from websearch_core._net.lookup import FOR_PAGES, Line
from websearch_core._net.resolve import aresolve, resolve
from websearch_core._runtime.deadline import in_time, timeout_left

_LIMITS: dict[str, Any] = {"pool_connections": 4, "pool_maxsize": AT_ONCE, "disable_http2": True, "disable_http3": True}


def _describe(addresses: list[str], port: Any) -> list[Any]:
    return [
        (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (one, int(port), 0, 0))
        if ":" in one
        else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, int(port)))
        for one in addresses
    ]


def _decode(host: Any) -> str:
    return host.decode() if isinstance(host, bytes) else str(host)


class _Resolver(BaseResolver):
    protocol, implementation = ProtocolResolver.CUSTOM, "guard"

    def __init__(self, guard: Guard) -> None:
        super().__init__(None)
        self._guard, self._line = guard, Line(FOR_PAGES)

    def close(self) -> None:
        pass

    def is_available(self) -> bool:
        return True

    def getaddrinfo(self, host: Any, port: Any, *_: Any, **__: Any) -> list[Any]:
        return _describe(resolve(self._line, self._guard, _decode(host), int(port)), port)


class _AsyncResolver(AsyncBaseResolver):
    protocol, implementation = ProtocolResolver.CUSTOM, "guard"

    def __init__(self, guard: Guard) -> None:
        super().__init__(None)
        self._guard, self._line = guard, Line(FOR_PAGES)

    async def close(self) -> None:
        pass

    def is_available(self) -> bool:
        return True

    async def getaddrinfo(self, host: Any, port: Any, *_: Any, **__: Any) -> list[Any]:
        return _describe(await aresolve(self._line, self._guard, _decode(host), int(port)), port)


class BlockingNiquests:
    """Its blocking session. Past the deadline, its thread is left behind."""

    def __init__(self, guard: Guard) -> None:
        self._guard, self._session = guard, niquests.Session(resolver=_Resolver(guard), **_LIMITS)
        self._session.trust_env = False

    def send(self, ask: Ask) -> Reply:
        return in_time(partial(self._send, ask))

    def _send(self, ask: Ask) -> Reply:
        url, _, _ = place(ask.url, self._guard)
        reply = self._session.post(
            url, data=ask.content, headers=SENT, allow_redirects=False, stream=True, timeout=timeout_left()
        )
        with reply:
            body = begin(reply.status_code, reply.headers.get("content-encoding"), ask)
            if body is not None:
                for chunk in reply.iter_raw():
                    if not feed(body, chunk):
                        break
        return finish(reply.status_code, body)

    def close(self) -> None:
        self._session.close()


class AsyncNiquests:
    """Its session for an event loop."""

    def __init__(self, guard: Guard) -> None:
        self._guard, self._session = guard, niquests.AsyncSession(resolver=_AsyncResolver(guard), **_LIMITS)
        self._session.trust_env = False

    async def send(self, ask: Ask) -> Reply:
        async with asyncio.timeout(timeout_left()):
            url, _, _ = place(ask.url, self._guard)
            reply = await self._session.post(url, data=ask.content, headers=SENT, allow_redirects=False, stream=True)
            try:
                body = begin(reply.status_code, reply.headers.get("content-encoding"), ask)
                if body is not None:
                    async for chunk in await reply.iter_raw():
                        if not feed(body, chunk):
                            break
            finally:
                await reply.close()
        return finish(reply.status_code, body)

    async def close(self) -> None:
        await self._session.close()
