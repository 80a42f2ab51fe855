"""Measure 40 concurrent searches of a server that takes half a second."""

from __future__ import annotations
import asyncio
import threading
from collections.abc import Awaitable, Callable
from functools import partial

import httpx

from benchmarks.calls.contestants import (
    BODY,
    HEADERS,
    QUERY,
    our_core,
    our_tool,
    their_tool,
)
from benchmarks.calls.server import SLOW, Server
from benchmarks.compare import Cost, compare, measure_cost
from benchmarks.report import Goal, Section, Table, milliseconds, times

_CALLS = 40
_ROUNDS = 7
_MAX_SECONDS = 1.0
_INTERVAL = 0.02  # seconds between two checks of the number of threads
_BARE = "bare `httpx.AsyncClient`"
_TOOL = "`WebSearchTool.ainvoke`"
_CORE = "`WebSearch.asearch`"
_THEIRS = "`TavilySearch.ainvoke`"

Search = Callable[[int], Awaitable[object]]


def measure(server: Server) -> Section:
    """Start 40 searches together, on a new event loop in each round."""
    url = f"{server.url}/slow"
    threads: dict[str, list[int]] = {}
    core, tool, theirs = our_core(url), our_tool(url), their_tool(url)
    searches: dict[str, Search] = {
        _BARE: partial(_bare, url),
        # identical ones would share a request
        _CORE: lambda n: core.asearch(f"{QUERY} {n}"),
        _TOOL: lambda n: tool.ainvoke({"query": f"{QUERY} {n}"}),
        _THEIRS: lambda n: theirs.ainvoke({"query": f"{QUERY} {n}"}),
    }

    def burst(name: str) -> Cost:
        def work() -> None:
            threads.setdefault(name, []).append(
                asyncio.run(_search_together(searches[name]))
            )

        return measure_cost(work)

    before = server.counts()
    result = compare(
        {name: partial(burst, name) for name in searches},
        reference=_BARE,
        rounds=_ROUNDS,
        warm_up=1,
    )
    requests = (server.counts() - before).requests
    expected = len(searches) * _CALLS * (_ROUNDS + 1)
    assert requests == expected, f"{requests} requests for {expected} searches"

    # after the warm-up
    started = {name: max(counts[1:]) for name, counts in threads.items()}
    slowest = {
        name: max(cost.wall for cost in costs) for name, costs in result.costs.items()
    }
    rows = [
        (
            name,
            milliseconds(result.wall(name)),
            milliseconds(slowest[name]),
            milliseconds(result.cpu(name)),
            str(started[name]),
        )
        for name in searches
    ]
    return Section(
        title="Many searches at once",
        method=(
            f"{_CALLS} searches start together with `asyncio.gather`, and the server "
            f"answers each after {SLOW} s; "
            f"{_ROUNDS} rounds after one to warm up. Every round has a new event loop, "
            f"as in a program that calls "
            "`asyncio.run`, so the measurement includes opening connections. One "
            "`WebSearch` serves all rounds. The "
            "bare client is recreated for each loop, because it would not survive a "
            "change of loop. The first async "
            "search of a process starts one thread, in which certificates are loaded; "
            "it is there after the warm-up."
        ),
        tables=[Table(("", "wall", "slowest round", "CPU", "threads started"), rows)],
        goals=[
            Goal(
                f"{_CALLS} concurrent searches of a server that takes {SLOW} s finish "
                f"in under {_MAX_SECONDS:.0f} s",
                f"{milliseconds(slowest[_CORE])} (`WebSearch`) and "
                f"{milliseconds(slowest[_TOOL])} (`WebSearchTool`) in "
                f"the slowest rounds, {milliseconds(slowest[_THEIRS])} for "
                f"langchain-tavily",
                max(slowest[_CORE], slowest[_TOOL]) < _MAX_SECONDS,
            ),
            Goal(
                "concurrent searches start no threads",
                f"{started[_CORE]} and {started[_TOOL]}, {started[_THEIRS]} for "
                f"langchain-tavily",
                started[_CORE] == started[_TOOL] == 0,
            ),
        ],
        remark=(
            f"Compared with the bare client, `WebSearch` uses "
            f"{times(result.cpu_ratio(_CORE))} times the CPU time, and "
            f"langchain-tavily, which uses aiohttp, {times(result.cpu_ratio(_THEIRS))} "
            f"times."
        ),
    )


async def _search_together(search: Search) -> int:
    """Search 40 times at once, and return the largest number of additional threads."""
    usual = most = threading.active_count()
    searching = asyncio.gather(*(search(n) for n in range(_CALLS)))
    while not searching.done():
        await asyncio.wait([searching], timeout=_INTERVAL)
        most = max(most, threading.active_count())
    await searching
    return most - usual


_clients: dict[asyncio.AbstractEventLoop, httpx.AsyncClient] = {}


async def _bare(url: str, n: int) -> httpx.Response:
    """Search with a client of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _clients:
        _clients.clear()
        _clients[loop] = httpx.AsyncClient()
    return (
        await _clients[loop].post(
            f"{url}/search", json={**BODY, "query": f"{QUERY} {n}"}, headers=HEADERS
        )
    ).raise_for_status()
