"""Measure what the other tenants feel while one of them is slow or hostile."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

from benchmarks.report import Goal, Section, Table, milliseconds, times
from benchmarks.tenants.server import Server
from websearch_core import WebSearch
from websearch_core.errors import WebSearchError
from websearch_core.layers import Breaker, Retry, Throttle

_OTHERS = 20
_IN_FLIGHT = 50  # calls of the hostile tenant at a time
_SECONDS = 2.0  # of each measurement
_ROUNDS = 3
_PAUSE = 0.05  # seconds between two calls of one of the others
_MOST = 2.0  # times that the 99th percentile may grow

_Call = Callable[[int], Awaitable[object]]


@dataclass(frozen=True)
class _Times:
    searches: list[float]
    pages: list[float]


def measure(server: Server) -> Section:
    """Measure the others alone and beside each kind of hostile tenant, in turns."""
    _let_names_hang()
    rows, goals = [], []
    for title, make in _KINDS.items():
        alone, beside = asyncio.run(_compare(server.url, make(server.url)))
        for what in ("searches", "pages"):
            pairs = [
                (_last_percentile(getattr(a, what)), _last_percentile(getattr(b, what)))
                for a, b in zip(alone, beside, strict=True)
            ]
            before, during = (median(side) for side in zip(*pairs, strict=True))
            ratio = median(b / a for a, b in pairs)
            calls = sum(len(getattr(one, what)) for one in beside)
            rows.append((title, what, f"{calls:,}", milliseconds(before), milliseconds(during), times(ratio)))
            goals.append(
                Goal(
                    f"{title}: the 99th percentile of the others' {what} at most doubles",
                    f"{times(ratio)} times",
                    ratio <= _MOST,
                )
            )
    return Section(
        "One hostile tenant",
        f"{_OTHERS} tenants search (20 ms at the service) and read an article, each with a pause of 50 ms between two "
        f"calls, for {_SECONDS:.0f} seconds alone and as long beside one tenant with {_IN_FLIGHT} hostile calls in "
        f"flight; {_ROUNDS} times in turn, all in one process on one event loop. Ratios are medians of the turns.",
        [Table(("the hostile tenant", "the others'", "calls", "99 % alone", "99 % beside it", "ratio"), rows)],
        goals,
        "Reading takes the processor and a place for parsing, which all tenants of a process share: many slow or "
        "expensive pages at a time are felt by those who read, and hardly by those who search. "
        f"The load of the machine was {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.",
    )


async def _compare(url: str, attack: _Call) -> tuple[list[_Times], list[_Times]]:
    others = [
        WebSearch("tavily", api_key=f"other-{n}", base_url=url, allow=["127.0.0.0/8"], budget="1000000 calls")
        for n in range(_OTHERS)
    ]
    await _watch(others, url, 0.5)  # opens connections
    alone, beside = [], []
    for _ in range(_ROUNDS):
        alone.append(await _watch(others, url, _SECONDS))
        attackers = [asyncio.create_task(_repeat(attack, number)) for number in range(_IN_FLIGHT)]
        await asyncio.sleep(0.2)
        beside.append(await _watch(others, url, _SECONDS))
        for attacker in attackers:
            attacker.cancel()
        await asyncio.gather(*attackers, return_exceptions=True)
        await asyncio.sleep(0.5)
    for web in others:
        await web.aclose()
    return alone, beside


async def _repeat(attack: _Call, number: int) -> None:
    while True:
        with suppress(WebSearchError):
            await attack(number)
        await asyncio.sleep(0.01)  # a refusal costs nothing: without a pause, this would only measure a busy loop
        number += _IN_FLIGHT


async def _watch(others: list[WebSearch], url: str, seconds: float) -> _Times:
    found = _Times([], [])
    end = time.perf_counter() + seconds

    async def use(web: WebSearch) -> None:
        while time.perf_counter() < end:
            for call, argument, spent in (
                (web.asearch, "keys", found.searches),
                (web.aread, f"{url}/page", found.pages),
            ):
                start = time.perf_counter()
                await call(argument)
                spent.append(time.perf_counter() - start)
                await asyncio.sleep(_PAUSE)

    await asyncio.gather(*map(use, others))
    return found


def _last_percentile(spent: list[float]) -> float:
    return quantiles(spent, n=100)[98]


def _make(url: str, **options: Any) -> WebSearch:
    return WebSearch("tavily", api_key="hostile", base_url=url, allow=["127.0.0.0/8"], attempts=1, **options)


def _reading(path: str) -> Callable[[str], _Call]:
    def make(url: str) -> _Call:
        web = _make(url, read_timeout=2)
        return lambda number: web.aread(f"{url}/{path}?{number}")

    return make


def _unresolved(url: str) -> _Call:
    web = _make(url, read_timeout=2)
    return lambda number: web.aread(f"http://name-{number}.hang.example/")


def _over_budget(url: str) -> _Call:
    web = _make(url, budget="1 call")
    return lambda number: web.asearch(f"keys {number}")


def _throttled(url: str) -> _Call:
    web = _make(url, layers=[Throttle(requests_per_second=1)])
    return lambda number: web.asearch(f"keys {number}")


def _broken(url: str) -> _Call:
    web = WebSearch(
        "tavily",
        api_key="hostile",
        base_url=f"{url}/hang",
        search_timeout=2,
        layers=[Retry(attempts=1), Breaker(failures=2)],
    )
    return lambda number: web.asearch(f"keys {number}")


_KINDS: dict[str, Callable[[str], _Call]] = {
    "reads pages that drip": _reading("drip"),
    "reads pages that hang": _reading("hang"),
    "reads pages without an end": _reading("huge"),
    "reads deeply nested pages": _reading("deep"),
    "reads pages of names that never resolve": _unresolved,
    "has used up its budget": _over_budget,
    "waits for its throttle": _throttled,
    "is refused by its breaker": _broken,
}


def _let_names_hang() -> None:
    real = socket.getaddrinfo

    def look_up(host: Any, *arguments: Any, **options: Any) -> Any:
        if str(host).endswith(".hang.example"):
            time.sleep(2)
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        return real(host, *arguments, **options)

    socket.getaddrinfo = look_up
