"""Measure what one search costs, beside a bare request, a floor and another tool.

All contestants do the same work: each search has a query of its own, so that nothing is
shared, and the tools search in one conversation, as an agent does.
"""

from __future__ import annotations
import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from itertools import count
from typing import Any

import httpx
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool
from pydantic import BaseModel

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
_TOGETHER = 100
_ROUNDS_TOGETHER = 20
_COUNTED = 5
_CONVERSATION: RunnableConfig = {"configurable": {"thread_id": "1"}}
_BARE = "bare `httpx.Client`"
_FLOOR = "floor: `httpx`, JSON, models, text, a bare tool"
_CORE = "`WebSearch.search`"
_WITHOUT_LAYERS = "`WebSearch.search`, `layers=None`"
_TOOL = "`WebSearchTool.invoke`"
_THEIRS = "`TavilySearch.invoke`"
_BARE_ASYNC = "bare `httpx.AsyncClient`"
_FLOOR_ASYNC = "the same floor, async"
_CORE_ASYNC = "`WebSearch.asearch`"
_ASYNC_WITHOUT_LAYERS = "`WebSearch.asearch`, `layers=None`"
_TOOL_ASYNC = "`WebSearchTool.ainvoke`"
_THEIRS_ASYNC = "`TavilySearch.ainvoke`"
# The most that each may cost: what costs it, compared with what, how often.
_MAX_SEARCH = 1.4  # a search, of a bare request
_MAX_TOOL = 1.15  # our tool, of theirs, one at a time
_MAX_TOGETHER = 1.5  # the same with a hundred in flight
_MAX_FLOOR = 1.35  # our tool, of the floor

Search = Callable[[str], object]
AsyncSearch = Callable[[str], Awaitable[object]]


class _Result(BaseModel):
    url: str
    title: str
    content: str
    score: float


class _Numbered:
    """A search that asks something else each time, so that no answer is shared."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._numbers = count()

    def __call__(self) -> object:
        return self._search(f"{QUERY} {next(self._numbers)}")


class _NumberedTogether:
    """The same on an event loop, with several searches in flight."""

    def __init__(
        self, search: AsyncSearch, loop: asyncio.Runner, together: int
    ) -> None:
        self._search = search
        self._loop = loop
        self._together = together
        self._numbers = count()

    def __call__(self) -> None:
        self._loop.run(self._gather())

    async def _gather(self) -> None:
        queries = [f"{QUERY} {next(self._numbers)}" for _ in range(self._together)]
        await asyncio.gather(*map(self._search, queries))


def measure(server: Server) -> Section:
    """Search repeatedly: blocking, on an event loop, and with many in flight."""
    url = f"{server.url}/prompt"
    blocking = _measure_blocking(server, url)
    with asyncio.Runner() as loop:
        single, together = _measure_async(server, url, loop)
    return Section(
        title="One search",
        method=_describe_method(),
        tables=[
            _make_table(blocking, _BARE, _FLOOR, _THEIRS),
            _make_table(single, _BARE_ASYNC, _FLOOR_ASYNC, _THEIRS_ASYNC),
            _make_table(together, None, _FLOOR_ASYNC, _THEIRS_ASYNC, _TOGETHER),
        ],
        goals=_judge(blocking, single, together),
        remark=(
            "The first table is blocking, the second on an event loop, one search at a "
            f"time; in the third, {_TOGETHER} are in flight. `httpx` alone has no row "
            "there: its pool takes time that grows with the square of the requests in "
            "flight, so it cannot serve as a floor."
        ),
    )


def _describe_method() -> str:
    return (
        "Five results of about 600 characters each. Every search has a query of its "
        "own, and the tools search in one conversation (`thread_id`). "
        f"{_SEARCHES} searches in a row, {_ROUNDS} rounds after five to warm up "
        f"({_TOGETHER} together, {_ROUNDS_TOGETHER} rounds), with the garbage "
        "collector off and pooled connections already open. The bare clients send "
        "what `WebSearch` sends, check the status and decode the JSON. The floor adds "
        "typed results, a text for the model and a bare LangChain tool: what a tool "
        "of this kind has to do anyway. `TavilySearch` returns the decoded JSON, "
        "which LangChain serialises when a model calls the tool. Ratios are medians "
        "over the rounds, of processor time."
    )


def _measure_blocking(server: Server, url: str) -> Comparison:
    searches = {name: _Numbered(search) for name, search in _make_searches(url).items()}
    for search in searches.values():
        _check_requests(server, search, _COUNTED)
    costs = {
        name: partial(measure_cost, search, _SEARCHES)
        for name, search in searches.items()
    }
    return compare(costs, reference=_BARE, rounds=_ROUNDS, warm_up=5)


def _measure_async(
    server: Server, url: str, loop: asyncio.Runner
) -> tuple[Comparison, Comparison]:
    searches = _make_async_searches(url)
    single = {
        name: _NumberedTogether(search, loop, 1) for name, search in searches.items()
    }
    for search in single.values():
        _check_requests(server, search, _COUNTED)
    costs = {
        name: partial(measure_cost, search, _SEARCHES)
        for name, search in single.items()
    }
    one = compare(costs, reference=_BARE_ASYNC, rounds=_ROUNDS, warm_up=5)
    bursts = {
        name: _NumberedTogether(search, loop, _TOGETHER)
        for name, search in searches.items()
        if name != _BARE_ASYNC
    }
    costs = {name: partial(measure_cost, burst) for name, burst in bursts.items()}
    many = compare(costs, reference=_FLOOR_ASYNC, rounds=_ROUNDS_TOGETHER, warm_up=3)
    return one, many


def _check_requests(server: Server, search: Callable[[], object], calls: int) -> None:
    """Make sure that each call sends a request of its own."""
    before = server.counts()
    for _ in range(calls):
        search()
    sent = (server.counts() - before).requests
    assert sent == calls, f"{sent} requests for {calls} searches"


def _make_searches(url: str) -> dict[str, Search]:
    client = httpx.Client()

    def ask(query: str) -> Any:
        body = {**BODY, "query": query}
        response = client.post(f"{url}/search", json=body, headers=HEADERS)
        return response.raise_for_status().json()

    @tool(response_format="content_and_artifact")
    def floor(query: str) -> tuple[str, dict[str, Any]]:
        """Search."""
        return _read_answer(ask(query))

    return {
        _BARE: ask,
        _FLOOR: partial(_invoke, floor),
        _CORE: our_core(url).search,
        _WITHOUT_LAYERS: our_core(url, layers=None).search,
        _TOOL: partial(_invoke, our_tool(url)),
        _THEIRS: partial(_invoke, their_tool(url)),
    }


def _make_async_searches(url: str) -> dict[str, AsyncSearch]:
    client = httpx.AsyncClient(limits=httpx.Limits(max_connections=_TOGETHER))

    async def ask(query: str) -> Any:
        body = {**BODY, "query": query}
        response = await client.post(f"{url}/search", json=body, headers=HEADERS)
        return response.raise_for_status().json()

    @tool(response_format="content_and_artifact")
    async def floor(query: str) -> tuple[str, dict[str, Any]]:
        """Search."""
        return _read_answer(await ask(query))

    return {
        _BARE_ASYNC: ask,
        _FLOOR_ASYNC: partial(_ainvoke, floor),
        _CORE_ASYNC: our_core(url).asearch,
        _ASYNC_WITHOUT_LAYERS: our_core(url, layers=None).asearch,
        _TOOL_ASYNC: partial(_ainvoke, our_tool(url)),
        _THEIRS_ASYNC: partial(_ainvoke, their_tool(url)),
    }


def _invoke(searcher: BaseTool, query: str) -> object:
    return searcher.invoke({"query": query}, _CONVERSATION)


async def _ainvoke(searcher: BaseTool, query: str) -> object:
    return await searcher.ainvoke({"query": query}, _CONVERSATION)


def _read_answer(answer: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the text for a model and the artifact of an answer."""
    results = [_Result.model_validate(result) for result in answer["results"]]
    parts = [
        f"[{number}] {result.title}\n{result.url}\n{result.content}"
        for number, result in enumerate(results, start=1)
    ]
    return "\n\n".join(parts), {"results": [one.model_dump() for one in results]}


def _judge(
    blocking: Comparison, single: Comparison, together: Comparison
) -> list[Goal]:
    search = blocking.cpu_between(_CORE, _BARE)
    invoked = blocking.cpu_between(_TOOL, _THEIRS)
    awaited = single.cpu_between(_TOOL_ASYNC, _THEIRS_ASYNC)
    in_flight = together.cpu_between(_TOOL_ASYNC, _THEIRS_ASYNC)
    floors = [
        blocking.cpu_between(_TOOL, _FLOOR),
        single.cpu_between(_TOOL_ASYNC, _FLOOR_ASYNC),
    ]
    return [
        Goal(
            f"a search takes at most {_MAX_SEARCH} times the processor time of the "
            f"same request by a bare pooled `httpx.Client`",
            times(search),
            search <= _MAX_SEARCH,
        ),
        Goal(
            f"our tool takes at most {_MAX_TOOL} times the processor time of "
            f"langchain-tavily, one at a time",
            f"{times(invoked)} blocking, {times(awaited)} async",
            max(invoked, awaited) <= _MAX_TOOL,
        ),
        Goal(
            f"and at most {_MAX_TOGETHER} times with {_TOGETHER} in flight",
            times(in_flight),
            in_flight <= _MAX_TOGETHER,
        ),
        Goal(
            f"our tool takes at most {_MAX_FLOOR} times the floor",
            f"{times(floors[0])} blocking, {times(floors[1])} async",
            max(floors) <= _MAX_FLOOR,
        ),
    ]


def _make_table(
    result: Comparison, bare: str | None, floor: str, theirs: str, searches: int = 1
) -> Table:
    columns = {"x bare": bare, "x floor": floor, "x langchain-tavily": theirs}
    references = {head: name for head, name in columns.items() if name is not None}
    rows = [
        (
            name,
            milliseconds(result.wall(name) / searches),
            milliseconds(result.cpu(name) / searches),
            *(times(result.cpu_between(name, other)) for other in references.values()),
        )
        for name in result.costs
    ]
    return Table(("", "wall", "CPU", *references), rows)
