"""Measure what one search costs compared with a bare HTTP request."""

from __future__ import annotations
import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import httpx
from langchain_core.tools import BaseTool, tool

from benchmarks.calls.contestants import (
    BODY,
    HEADERS,
    QUERY,
    our_core,
    our_tool,
    their_tool,
)
from benchmarks.calls.server import Server
from benchmarks.compare import Comparison, compare, measure_cost
from benchmarks.report import Goal, Section, Table, milliseconds, times

_ROUNDS = 100
_SEARCHES = 10
_COUNTED = 5
_MAX_RATIO = 1.3
_MAX_LAYERS_RATIO = 1.15
_BARE = "bare `httpx.Client`"
_BARE_TOOL = "the same in a LangChain `@tool`"
_BARE_ASYNC = "bare `httpx.AsyncClient`"
_CORE = "`WebSearch.search`"
_WITHOUT_LAYERS = "`WebSearch.search`, `layers=None`"
_CORE_ASYNC = "`WebSearch.asearch`"
_ASYNC_WITHOUT_LAYERS = "`WebSearch.asearch`, `layers=None`"
_TOOL = "`WebSearchTool.invoke`"
_THEIRS = "`TavilySearch.invoke`"

Search = Callable[[], object]
AsyncSearch = Callable[[], Awaitable[object]]


def measure(server: Server) -> Section:
    """Search repeatedly, blocking and on an event loop."""
    url = f"{server.url}/prompt"
    blocking, asynchronous = _make_searches(url), _make_async_searches(url)
    connections = {
        name: _count_connections(server, search) for name, search in blocking.items()
    }
    result = compare(
        {
            name: partial(measure_cost, search, _SEARCHES)
            for name, search in blocking.items()
        },
        reference=_BARE,
        rounds=_ROUNDS,
        warm_up=5,
    )
    with asyncio.Runner() as loop:

        def several(search: AsyncSearch) -> None:
            loop.run(_repeat(search, _SEARCHES))

        def one(search: AsyncSearch) -> None:
            loop.run(_repeat(search, 1))

        async_connections = {
            name: _count_connections(server, partial(one, search))
            for name, search in asynchronous.items()
        }
        async_result = compare(
            {
                name: partial(measure_cost, partial(several, search))
                for name, search in asynchronous.items()
            },
            reference=_BARE_ASYNC,
            rounds=_ROUNDS,
            warm_up=5,
        )
    return Section(
        title="One search",
        method=(
            f"Five results of about 600 characters each. {_SEARCHES} searches in a "
            f"row, {_ROUNDS} rounds after five to "
            "warm up, with the garbage collector off and pooled connections already "
            "open. The bare clients send what "
            "`WebSearch` sends, check the status and decode the JSON. `WebSearch` "
            "turns that into typed, checked "
            "plain-text results, and our tool adds the text for the model and the JSON "
            "artifact. Theirs returns the "
            "decoded JSON, which LangChain serialises when a model calls the tool. "
            "Connections are counted over the "
            f"first {_COUNTED} searches, one after the other."
        ),
        tables=[
            _make_table(result, connections),
            _make_table(async_result, async_connections, _SEARCHES),
        ],
        goals=[
            Goal(
                f"a search costs at most {_MAX_RATIO} times the same request by a bare "
                f"pooled `httpx.Client`",
                f"{times(result.ratio(_CORE))} times wall, "
                f"{times(result.cpu_ratio(_CORE))} times CPU",
                result.ratio(_CORE) <= _MAX_RATIO,
            ),
            Goal(
                f"the default layers make a search at most {_MAX_LAYERS_RATIO} times "
                f"as expensive",
                f"{_describe_layers(result, _CORE, _WITHOUT_LAYERS)} blocking, "
                f"{_describe_layers(async_result, _CORE_ASYNC, _ASYNC_WITHOUT_LAYERS)} "
                f"async",
                result.between(_CORE, _WITHOUT_LAYERS) <= _MAX_LAYERS_RATIO
                and async_result.between(_CORE_ASYNC, _ASYNC_WITHOUT_LAYERS)
                <= _MAX_LAYERS_RATIO,
            ),
            Goal(
                f"{_COUNTED} searches use 1 connection",
                f"{connections[_CORE]} (ours), {connections[_THEIRS]} "
                f"(langchain-tavily)",
                connections[_CORE] == connections[_TOOL] == 1,
            ),
        ],
        remark=(
            f"On this machine our share of a search is "
            f"{milliseconds(result.wall(_CORE) - result.wall(_BARE))}, "
            f"LangChain's is "
            f"{milliseconds(result.wall(_BARE_TOOL) - result.wall(_BARE))}, and both "
            f"together, with the "
            f"texts for the model, "
            f"{milliseconds(result.wall(_TOOL) - result.wall(_BARE))}."
        ),
    )


def _describe_layers(result: Comparison, all_layers: str, none: str) -> str:
    wall, cpu = result.between(all_layers, none), result.cpu_between(all_layers, none)
    return f"{times(wall)} times wall and {times(cpu)} times CPU"


def _make_searches(url: str) -> dict[str, Search]:
    def bare(client: httpx.Client) -> Any:
        return (
            client.post(f"{url}/search", json=BODY, headers=HEADERS)
            .raise_for_status()
            .json()
        )

    ask = {"query": QUERY}
    return {
        _BARE: partial(bare, httpx.Client()),
        _BARE_TOOL: partial(_make_tool(partial(bare, httpx.Client())).invoke, ask),
        _CORE: partial(our_core(url).search, QUERY),
        _WITHOUT_LAYERS: partial(our_core(url, layers=None).search, QUERY),
        _TOOL: partial(our_tool(url).invoke, ask),
        _THEIRS: partial(their_tool(url).invoke, ask),
    }


def _make_async_searches(url: str) -> dict[str, AsyncSearch]:
    client = httpx.AsyncClient()

    async def bare() -> Any:
        return (
            (await client.post(f"{url}/search", json=BODY, headers=HEADERS))
            .raise_for_status()
            .json()
        )

    ask = {"query": QUERY}
    return {
        _BARE_ASYNC: bare,
        _CORE_ASYNC: partial(our_core(url).asearch, QUERY),
        _ASYNC_WITHOUT_LAYERS: partial(our_core(url, layers=None).asearch, QUERY),
        "`WebSearchTool.ainvoke`": partial(our_tool(url).ainvoke, ask),
        "`TavilySearch.ainvoke`": partial(their_tool(url).ainvoke, ask),
    }


def _make_tool(search: Callable[[], Any]) -> BaseTool:
    """Make a minimal LangChain tool, to measure what the framework itself costs."""

    @tool
    def bare_search(query: str) -> Any:
        """Search."""
        assert query == QUERY
        return search()

    return bare_search


async def _repeat(search: AsyncSearch, count: int) -> None:
    for _ in range(count):
        await search()


def _count_connections(server: Server, search: Search) -> int:
    before = server.counts()
    for _ in range(_COUNTED):
        search()
    counted = server.counts() - before
    assert counted.requests == _COUNTED, (
        f"{counted.requests} requests for {_COUNTED} searches"
    )
    return counted.connections


def _make_table(
    result: Comparison, connections: dict[str, int], searches: int = 1
) -> Table:
    head = (
        "",
        "wall",
        "CPU",
        "x bare, wall",
        "spread",
        "x bare, CPU",
        f"connections for {_COUNTED}",
    )
    rows = [
        (
            name,
            milliseconds(result.wall(name) / searches),
            milliseconds(result.cpu(name) / searches),
            times(result.ratio(name)),
            result.spread(name),
            times(result.cpu_ratio(name)),
            str(connections[name]),
        )
        for name in result.costs
    ]
    return Table(head, rows)
