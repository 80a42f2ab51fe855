"""Measure what a call through the MCP server costs, and write benchmarks/results/mcp.md.

python -m benchmarks.mcp
"""

from __future__ import annotations
import asyncio
import time
from collections.abc import Awaitable, Callable
from importlib import import_module, metadata
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.report import Table, store
from websearch_core.mcp import make_server
from websearch_core.testing import FakeWeb
from websearch_core.tools import Run, WebTools

PAGE = Path(__file__).resolve().parents[1] / "benchmarks" / "results" / "mcp.md"
_CALLS, _WARM, _IN_FLIGHT = 500, 50, 200
_RESULTS = [
    {
        "title": f"Kelp {n}",
        "url": f"https://sea.example/{n}",
        "snippet": "Kelp is a brown alga of cold seas. " * 8,
    }
    for n in range(5)
]


def make_idle_server(like: Any, answer: Any) -> Any:
    """Return a server of the SDK with the tools of another, which do nothing but return
    an *answer*.
    """
    sdk, types = import_module("mcp.server.lowlevel"), import_module("mcp.types")
    result = types.CallToolResult.model_validate(answer)

    async def call(*_: Any) -> Any:
        return result

    server = sdk.Server("idle")
    listed = like.get_request_handler("tools/list").handler
    server.add_request_handler("tools/list", types.PaginatedRequestParams, listed)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call)
    server.get_tool_input_schema = like.get_tool_input_schema
    return server


async def measure(call: Callable[[], Awaitable[object]]) -> int:
    """Return the processor time of a call, in nanoseconds."""
    began = time.process_time_ns()
    await call()
    return time.process_time_ns() - began


async def compare(mode: str) -> tuple[float, float, float]:
    """Return the times of a direct call, of an idle tool, and of a call through the
    server, in milliseconds: medians.

    They take turns. A loop over one of them alone would find its code in the
    processor's caches, the shorter the more.
    """
    client = import_module("mcp").Client
    tools = WebTools(provider=FakeWeb(results=_RESULTS))
    asked = {"query": "kelp"}
    server = make_server(WebTools(provider=FakeWeb(results=_RESULTS)))
    async with client(server, mode=mode) as ours:
        answer = (await ours.session.call_tool("web_search", asked)).model_dump(
            by_alias=True
        )
    async with (
        client(make_idle_server(server, answer), mode=mode) as idle,
        client(server, mode=mode) as ours,
    ):
        numbers = iter(range(10**9))
        kinds: list[Callable[[], Awaitable[object]]] = [
            lambda: tools.asearch(asked, Run(conversation=next(numbers))),
            lambda: idle.session.call_tool("web_search", asked),
            lambda: ours.session.call_tool("web_search", asked),
        ]
        taken = [[await measure(kind) for kind in kinds] for _ in range(_WARM + _CALLS)]
    direct, nothing, through = (
        median(column) / 1e6 for column in zip(*taken[_WARM:], strict=True)
    )
    return direct, nothing, through


async def fly() -> tuple[int, float]:
    """Return how many of many calls at once ended with results, and the processor time
    of each in seconds.
    """
    tools = WebTools(provider=FakeWeb(results=_RESULTS, delay=0.2))
    async with import_module("mcp").Client(make_server(tools), mode="legacy") as client:
        began = time.process_time()
        calls = (
            client.session.call_tool("web_search", {"query": f"kelp {n}"})
            for n in range(_IN_FLIGHT)
        )
        results = await asyncio.gather(*calls)
        return sum(not result.is_error for result in results), (
            time.process_time() - began
        ) / _IN_FLIGHT


def main() -> None:
    """Measure, and write the page."""
    rows = []
    for mode, name in (
        ("legacy", "2025-11-25, JSON-RPC over memory"),
        ("auto", "2026-07-28, in the process"),
    ):
        direct, nothing, through = asyncio.run(compare(mode))
        more = through / (direct + nothing) - 1
        rows.append(
            (
                name,
                *(f"{time:.2f}" for time in (direct, nothing, through)),
                f"{more:+.1%}",
            )
        )
        print(rows[-1])
    ended, each = asyncio.run(fly())
    heads = (
        "specification",
        "the tool alone, ms",
        "an idle tool of the SDK, ms",
        "through the server, ms",
        "more",
    )
    store(
        PAGE,
        f"""<!-- Written by `make bench-mcp`. Do not edit. -->

# MCP

What a call of `web_search` costs in processor time, client included, with a provider that answers five results at once:
the same call of the tool without a server; a tool of that SDK ({metadata.version("mcp")}) with the same schemas that
does nothing but return that answer; and the call through [the server](../../docs/mcp.md). The three take turns, so that each
finds the processor as the others leave it; medians of {_CALLS:,} calls. More: beyond the sum of the first two. The goal
is 10 %.

{Table(heads, rows)}

Of {_IN_FLIGHT} calls in flight at once, {ended} ended with results, at {each * 1e3:.1f} ms of processor time each.
""",
    )


if __name__ == "__main__":
    main()
