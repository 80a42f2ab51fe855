"""
Measure what one search costs the processor over different HTTP libraries, many at a time.

Each contestant keeps the same promises, as far as its library lets it: the address is judged at the moment of
connecting and several addresses are raced, one deadline covers the exchange, redirects are not followed, and a body is
inflated by us, up to a limit. Those marked *bare* keep none of them: they are what people write by hand.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

import httpx

from benchmarks.calls.contestants import BODY, HEADERS, KEY, QUERY, our_core, our_tool, their_tool
from benchmarks.calls.server import NEAR, Server
from benchmarks.compare import Comparison, Cost, compare, measure_cost
from benchmarks.report import Goal, Section, Table, milliseconds, times
from websearch_core import WebSearch
from websearch_core._deadline import time_limit
from websearch_core._net.body import OFFERED, BoundedBody
from websearch_core._net.guard import Guard
from websearch_core._net.lookup import FOR_PAGES, Line
from websearch_core._net.resolve import aresolve
from websearch_core.flow import Request

_LIBRARIES: tuple[Literal["httpx", "httpx2"], ...] = ("httpx", "httpx2")
_IN_FLIGHT = (100, 10)
_SEARCHES = 200  # in a round
_ROUNDS = 9
_SECONDS = 15.0  # the deadline of a search
_MAX_BYTES = 10 * 2**20
_GUARD = Guard.allowing(["127.0.0.0/8"])

_BARE = "bare `httpx.AsyncClient`"
_OURS = "`Sender.asend` over httpx (the default)"
_CORE = "`WebSearch.asearch`"
_TOOL = "`WebSearchTool.ainvoke`"
_THEIRS = "`TavilySearch.ainvoke`"

AsyncSearch = Callable[[int], Awaitable[object]]


def measure(server: Server) -> Section:
    """Search, 100 and 10 at a time, in bursts and steadily."""
    url = f"{server.url}/near"
    tables, results = [], {}
    with asyncio.Runner() as loop:
        contestants, close = loop.run(_make_contestants(url))
        for in_flight in _IN_FLIGHT:
            result = compare(
                {name: partial(_measure, loop, search, in_flight) for name, search in contestants.items()},
                reference=_BARE,
                rounds=_ROUNDS,
                warm_up=1,
            )
            results[in_flight] = result
            tables.append(_make_table(result, in_flight))
        loop.run(close())
    many = results[_IN_FLIGHT[0]]
    theirs = [one.cpu(_TOOL) / one.cpu(_THEIRS) for one in results.values()]
    return Section(
        title="HTTP transports",
        method=(
            f"Processor time of one search of a server on this machine that answers after {NEAR * 1000:.0f} ms, with "
            f"100 and with 10 searches in flight: so many start together, and the next so many when all have ended. "
            f"{_ROUNDS} rounds of {_SEARCHES} searches after one to warm up, with the garbage collector off. In the "
            "first rows the answer is read, inflated and decoded as JSON, behind the same guard, deadline and limit, "
            "except for the bare clients. The rows below them do the rest of a search, too: checks, layers, texts."
        ),
        tables=tables,
        goals=[
            Goal(
                "a search costs at most a third of the same request by a bare `httpx.AsyncClient`, 100 in flight",
                f"{times(many.cpu_ratio(_CORE))} times",
                many.cpu_ratio(_CORE) <= 1 / 3,
            ),
            Goal(
                "our tool costs no more than that of langchain-tavily, which uses aiohttp",
                f"{times(theirs[0])} times with 100 in flight, {times(theirs[1])} times with 10",
                max(theirs) <= 1,
            ),
        ],
        remark=(
            "TavilySearch opens a connection for each search and checks none of the results. "
            "[Decision 29](../decisions/0029-connections-are-kept-by-us.md) says why the default is not aiohttp."
        ),
    )


def _make_table(result: Comparison, in_flight: int) -> Table:
    rows = [
        (name, milliseconds(result.cpu(name)), times(result.cpu_ratio(name)), milliseconds(result.wall(name)))
        for name in result.costs
    ]
    return Table((f"{in_flight} in flight", "CPU", "CPU / bare", "wall / search"), rows)


def _measure(loop: asyncio.Runner, search: AsyncSearch, in_flight: int) -> Cost:
    cost = measure_cost(lambda: loop.run(_search_in_bursts(search, in_flight)))
    return Cost(cost.wall / _SEARCHES, cost.cpu / _SEARCHES)


async def _search_in_bursts(search: AsyncSearch, in_flight: int) -> None:
    for first in range(0, _SEARCHES, in_flight):
        await asyncio.gather(*(search(n) for n in range(first, first + in_flight)))


async def _make_contestants(url: str) -> tuple[dict[str, AsyncSearch], Callable[[], Coroutine[Any, Any, None]]]:
    """Return the contestants, and a function that closes what they opened. What is not installed is left out."""
    ours = {
        library: WebSearch("tavily", api_key=KEY, base_url=url, http_library=library)
        for library in _LIBRARIES
        if find_spec(library)
    }
    clients = [import_module(library).AsyncClient() for library in ours]
    session, over_aiohttp = _make_aiohttp()
    core, tool, theirs = our_core(url), our_tool(url), their_tool(url)
    searches: dict[str, AsyncSearch] = {_BARE: partial(_bare, clients[0], url)}
    if len(clients) > 1:
        searches["bare `httpx2.AsyncClient`"] = partial(_bare, clients[1], url)
    searches |= {
        "httpcore's pool over anyio, guarded": partial(_through_httpcore, _make_httpcore(), url),
        _OURS: partial(_through_sender, ours["httpx"], url),
    }
    if "httpx2" in ours:
        searches["`Sender.asend` over httpx2"] = partial(_through_sender, ours["httpx2"], url)
    if over_aiohttp is not None:
        searches["httpx over aiohttp (httpx-aiohttp), guarded"] = partial(_through_client, over_aiohttp, url)
        clients.append(over_aiohttp)
    searches |= {
        "aiohttp, guarded": partial(_through_aiohttp, session, url),
        _CORE: lambda n: core.asearch(f"{QUERY} {n}"),  # identical ones would share a request
        _TOOL: lambda n: tool.ainvoke({"query": f"{QUERY} {n}"}),
        _THEIRS: lambda n: theirs.ainvoke({"query": f"{QUERY} {n}"}),
    }

    async def close() -> None:
        for client in clients:
            await client.aclose()
        for web in (*ours.values(), core):
            await web.aclose()
        await session.close()

    return searches, close


def _body(n: int) -> dict[str, Any]:
    return {**BODY, "query": f"{QUERY} {n}"}


async def _bare(client: httpx.AsyncClient, url: str, n: int) -> Any:
    return (await client.post(f"{url}/search", json=_body(n), headers=HEADERS)).raise_for_status().json()


async def _through_sender(web: WebSearch, url: str, n: int) -> Any:
    request = Request(url=f"{url}/search", method="POST", json=_body(n), headers=HEADERS)
    with time_limit(_SECONDS):
        return (await web._sender.asend(request)).json()


async def _through_client(client: httpx.AsyncClient, url: str, n: int) -> Any:
    """Send through the client, as before the pool was ours; its transport is what is compared."""
    headers = {**HEADERS, "Accept-Encoding": OFFERED}
    async with asyncio.timeout(_SECONDS):
        request = client.build_request("POST", f"{url}/search", json=_body(n), headers=headers)
        reply = await client.send(request, stream=True, follow_redirects=False)
        body = BoundedBody(reply.headers.get("content-encoding", ""), _MAX_BYTES)
        try:
            async for chunk in reply.aiter_raw():
                if not body.add(chunk):
                    break
        finally:
            await reply.aclose()
    return httpx.Response(reply.status_code, content=bytes(body)).json()


def _make_httpcore() -> httpx.AsyncClient:
    """Make a client over httpcore's own pool and streams, with our guard as its network backend."""
    from websearch_core._net.backend import AsyncGuardedBackend

    client = httpx.AsyncClient(limits=httpx.Limits(max_connections=100, max_keepalive_connections=20))
    pool: Any = client._transport._pool  # type: ignore[attr-defined]
    pool._network_backend = AsyncGuardedBackend(pool._network_backend, _GUARD, Line(FOR_PAGES))
    return client


_through_httpcore = _through_client


def _make_aiohttp() -> tuple[Any, httpx.AsyncClient | None]:
    """Make a session of aiohttp that resolves names through our guard, and httpx over such a session."""
    import aiohttp

    class Resolver(aiohttp.abc.AbstractResolver):
        async def resolve(self, host: str, port: int = 0, family: int = socket.AF_INET) -> list[Any]:
            addresses = await aresolve(_line, _GUARD, host, port)
            facts = {"hostname": host, "port": port, "proto": 0, "flags": socket.AI_NUMERICHOST}
            return [facts | {"host": one, "family": socket.AF_INET6 if ":" in one else family} for one in addresses]

        async def close(self) -> None:
            pass

    class Connector(aiohttp.TCPConnector):
        async def _resolve_host(self, host: str, port: int, traces: Any = None) -> list[Any]:
            del traces  # aiohttp does not ask its resolver about addresses
            return await self._resolver.resolve(host, port, self._family)

    _line = Line(FOR_PAGES)

    def make() -> aiohttp.ClientSession:
        connector = Connector(limit=100, resolver=Resolver(), ssl=ssl.create_default_context())
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False)

    if find_spec("httpx_aiohttp") is None:
        return make(), None
    transport = import_module("httpx_aiohttp").AiohttpTransport(client=make())
    return make(), httpx.AsyncClient(transport=transport)


async def _through_aiohttp(session: Any, url: str, n: int) -> Any:
    headers = {**HEADERS, "Accept-Encoding": OFFERED}
    async with (
        asyncio.timeout(_SECONDS),
        session.post(f"{url}/search", json=_body(n), headers=headers, allow_redirects=False) as reply,
    ):
        body = BoundedBody(reply.headers.get("content-encoding", ""), _MAX_BYTES)
        async for chunk in reply.content.iter_any():
            if not body.add(chunk):
                break
    return httpx.Response(reply.status, content=bytes(body)).json()
