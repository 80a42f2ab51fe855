"""aiohttp with a resolver that asks our guard, alone and below httpx; it has no blocking client."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Any

import aiohttp
import httpx
import httpx_aiohttp

from benchmarks.calls.transports.over_httpx import AsyncThroughClient
from benchmarks.calls.transports.seam import AT_ONCE, SENT, Ask, Reply, begin, feed, finish, place
from websearch_core._net.guard import Guard
from websearch_core._net.lookup import FOR_PAGES, Line
from websearch_core._net.resolve import aresolve
from websearch_core._runtime.deadline import timeout_left
from websearch_core._text.urls import parse_address


class _Resolver(aiohttp.abc.AbstractResolver):
    """Resolves names through the guard."""

    def __init__(self, guard: Guard) -> None:
        self._guard, self._line = guard, Line(FOR_PAGES)

    async def resolve(self, host: str, port: int = 0, family: int = socket.AF_INET) -> list[Any]:
        addresses = await aresolve(self._line, self._guard, host, port)
        facts = {"hostname": host, "port": port, "proto": 0, "flags": socket.AI_NUMERICHOST}
        return [facts | {"host": one, "family": socket.AF_INET6 if ":" in one else family} for one in addresses]

    async def close(self) -> None:
        pass


def _make_session(guard: Guard) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(
        limit=AT_ONCE, resolver=_Resolver(guard), use_dns_cache=False, ssl=ssl.create_default_context()
    )
    return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False)


def _judge_address(url: str, guard: Guard) -> str:
    """Return the checked URL. An address in it is judged here, since aiohttp asks its resolver only about names."""
    checked, host, port = place(url, guard)
    if parse_address(host):
        guard.judge(host, port, [host])
    return checked


class AsyncAiohttp:
    """aiohttp alone."""

    def __init__(self, guard: Guard) -> None:
        self._guard, self._session = guard, _make_session(guard)

    async def send(self, ask: Ask) -> Reply:
        async with asyncio.timeout(timeout_left()):
            url = _judge_address(ask.url, self._guard)
            async with self._session.post(url, data=ask.content, headers=SENT, allow_redirects=False) as reply:
                body = begin(reply.status, reply.headers.get("content-encoding"), ask)
                if body is not None:
                    async for chunk in reply.content.iter_any():
                        if not feed(body, chunk):
                            break
        return finish(reply.status, body)

    async def close(self) -> None:
        await self._session.close()


class AsyncBelowHttpx(AsyncThroughClient):
    """httpx over aiohttp, with the transport of ``httpx-aiohttp``."""

    def __init__(self, guard: Guard) -> None:
        transport = httpx_aiohttp.AiohttpTransport(client=_make_session(guard))
        self._guard, self._client = guard, httpx.AsyncClient(transport=transport, trust_env=False)

    async def send(self, ask: Ask) -> Reply:
        _judge_address(ask.url, self._guard)
        return await super().send(ask)
