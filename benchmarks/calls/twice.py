"""Measure calls that need no request of their own: answers from the cache, and
identical calls at the same time.
"""

from __future__ import annotations
import asyncio
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import httpx
from pydantic import SecretStr

from benchmarks.calls.contestants import BODY, HEADERS, KEY, QUERY, our_core
from benchmarks.calls.server import Server
from benchmarks.compare import compare, measure_cost
from benchmarks.report import Goal, Section, Table, times
from websearch_core import WebSearch
from websearch_core.flow import Request, Response, run
from websearch_core.layers import Cache, SingleFlight
from websearch_core.models import SearchQuery, SearchResponse
from websearch_core.provider import Flow
from websearch_core.providers.tavily import Tavily

_ROUNDS = 50
_SEARCHES = 20
_TOGETHER = 1000
_MAX_HIT = 0.1
_BARE = "bare `httpx.Client`"
_SEARCH = "`WebSearch.search`"
_HIT = "the same, from the cache"
_LAYER = "the layer `Cache` alone, from the cache"
_FLIGHT = "the layer `SingleFlight` alone, around nothing"
_SHARED = f"one of {_TOGETHER:,} identical `asearch` at once"


class _Nothing:
    name = "nothing"

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        return SearchResponse(query=query.text)
        yield


def measure(server: Server) -> Section:
    """Search, with an answer in the cache and without."""
    url, query = f"{server.url}/prompt", SearchQuery.of(QUERY)
    with tempfile.TemporaryDirectory() as folder, httpx.Client() as client:
        file = str(Path(folder) / "answers.db")
        cached = WebSearch("tavily", api_key=KEY, base_url=url, cache=file)
        layer = Cache(location=file)(Tavily(api_key=SecretStr(KEY), base_url=url))
        flight = SingleFlight()(_Nothing())
        cached.search(QUERY)
        run(layer.search(query), partial(_send, client))
        requests = server.counts()
        once: dict[str, Callable[[], object]] = {
            _BARE: lambda: client.post(
                f"{url}/search", json=BODY, headers=HEADERS
            ).json(),
            _SEARCH: partial(our_core(url).search, QUERY),
            _HIT: partial(cached.search, QUERY),
            _LAYER: lambda: run(layer.search(query), _refuse),
            _FLIGHT: lambda: run(flight.search(query), _refuse),
        }
        costs = {
            name: partial(measure_cost, search, _SEARCHES)
            for name, search in once.items()
        }
        result = compare(costs, reference=_BARE, rounds=_ROUNDS, warm_up=3)
        used = (server.counts() - requests).requests
        expected = 2 * _SEARCHES * (_ROUNDS + 3)
        assert used == expected, f"{used} requests for {expected} searches"

        web, before = our_core(url), server.counts()
        together = measure_cost(lambda: asyncio.run(_search_together(web)))
        sent = (server.counts() - before).requests
        before = server.counts()
        _search_in_threads(our_core(f"{server.url}/slow"))
        sent_by_threads = (server.counts() - before).requests
    rows = [
        (
            name,
            _microseconds(result.wall(name)),
            times(result.ratio(name)),
            result.spread(name),
            _microseconds(result.cpu(name)),
            times(result.cpu_ratio(name)),
        )
        for name in once
    ]
    rows.append((_SHARED, _microseconds(together.wall / _TOGETHER), "", "", "", ""))
    return Section(
        title="Nothing paid twice",
        method=(
            f"{_SEARCHES} searches in a row, {_ROUNDS} rounds after three to warm up. "
            f"The cache is a file. A hit is "
            "read from it, checked, and goes through everything that an answer of the "
            "service goes through. CPU "
            "time is that of this process, without the server's."
        ),
        tables=[
            Table(
                (
                    "",
                    "wall, each",
                    "of the bare request",
                    "spread",
                    "CPU",
                    "of the bare request",
                ),
                rows,
            )
        ],
        goals=[
            Goal(
                f"an answer from the cache costs under {_MAX_HIT} of a bare request to "
                f"this machine",
                f"{times(result.ratio(_HIT))} wall and {times(result.cpu_ratio(_HIT))} "
                f"CPU; "
                f"{times(result.ratio(_LAYER))} and {times(result.cpu_ratio(_LAYER))} "
                f"in the layer alone",
                result.ratio(_HIT) < _MAX_HIT,
            ),
            Goal(
                f"{_TOGETHER:,} identical searches at once send 1 request",
                f"{sent} by tasks of a loop, {sent_by_threads} by threads",
                sent == sent_by_threads == 1,
            ),
        ],
    )


async def _search_together(web: WebSearch) -> None:
    await asyncio.gather(*(web.asearch(QUERY) for _ in range(_TOGETHER)))


def _search_in_threads(web: WebSearch) -> None:
    """Search in many threads, which all wait for a server that takes half a second."""
    ready = threading.Barrier(_TOGETHER)

    def search() -> None:
        ready.wait()
        web.search(QUERY)

    threads = [threading.Thread(target=search) for _ in range(_TOGETHER)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:,.0f} µs"


def _send(client: httpx.Client, request: Request) -> Response:
    answer = client.post(request.url, json=request.json, headers=HEADERS)
    return Response(
        status=answer.status_code,
        headers=dict(answer.headers),
        content=answer.content,
    )


def _refuse(request: Request) -> Response:
    raise AssertionError(f"nothing should be sent: {request}")
