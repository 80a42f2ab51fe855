"""Measure what the other tenants feel while one of them is slow or hostile."""

from __future__ import annotations
import asyncio
import os
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import fmean, quantiles
from typing import Any

from benchmarks.report import Goal, Section, Table, milliseconds, times
from benchmarks.tenants.server import Server
from websearch_core import Timeout, WebSearch
from websearch_core.errors import WebSearchError
from websearch_core.layers import Breaker, Retry, Throttle

_OTHERS = 20
_IN_FLIGHT = 50  # calls of the hostile tenant at a time
_SECONDS = 2.0  # of each measurement
_ROUNDS = 3
_PAUSE = 0.05  # seconds between two calls of one of the others
_MOST = 2.0  # times that the 99th percentile may grow

_Call = Callable[[int], Awaitable[object]]
_COLUMNS = (
    "the hostile tenant",
    "the others'",
    "calls",
    "99 % alone",
    "alone again",
    "99 % with it",
    "ratio",
    "control",
)


@dataclass
class _Times:
    """How long calls took, in seconds.

    Args:
        searches: Each search.
        pages: Each page.
        stood_still: The longest that the event loop took from one round to the next.
    """

    searches: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    stood_still: float = 0.0


def measure(server: Server) -> Section:
    """Measure the others alone, with each kind of hostile tenant, and alone again, in
    turns.
    """
    _let_names_hang()
    began_with = os.getloadavg()[0]
    rows, goals, controls, stalls = [], [], [], []
    with Server() as site:
        for title, make in _KINDS.items():
            alone, beside, again = asyncio.run(_compare(server.url, make(site.url)))
            stalls.append(
                (
                    title,
                    milliseconds(alone.stood_still),
                    milliseconds(beside.stood_still),
                )
            )
            for what in ("searches", "pages"):
                first, during, second = (
                    _last_percentile(getattr(one, what))
                    for one in (alone, beside, again)
                )
                ratio, control = during / fmean((first, second)), second / first
                controls.append(control)
                calls = f"{len(getattr(beside, what)):,}"
                spent = map(milliseconds, (first, second, during))
                rows.append((title, what, calls, *spent, times(ratio), times(control)))
                claim = (
                    f"{title}: the 99th percentile of the others' {what} at most "
                    f"doubles"
                )
                goals.append(Goal(claim, f"{times(ratio)} times", ratio <= _MOST))
    least, *_, most = quantiles(controls, n=10)
    return Section(
        "One hostile tenant",
        f"{_OTHERS} tenants search (20 ms at the service) and read an article, each "
        f"with a pause of 50 ms between two "
        f"calls, for {_SECONDS:.0f} seconds alone, as long with a hostile tenant that "
        f"has {_IN_FLIGHT} calls in "
        f"flight, and as long alone again; {_ROUNDS} times in turn, all in one process "
        f"on one event loop. The service "
        "of the others and the site of the hostile tenant are two more processes on "
        "the same machine. A 99th "
        "percentile is that of all turns together; the ratio is to the mean of both "
        "times alone, and the control that "
        "of one to the other.",
        [
            Table(_COLUMNS, rows),
            Table(
                ("the hostile tenant", "the loop was blocked, alone", "with it"), stalls
            ),
        ],
        goals,
        f"Eight of ten controls are between {times(least)} and {times(most)}: a ratio "
        f"inside that range says nothing. "
        f"The load of the machine was {began_with:.1f} at the beginning and "
        f"{os.getloadavg()[0]:.1f} at the end, on "
        f"{os.cpu_count()} cores.",
    )


async def _compare(url: str, attack: _Call) -> tuple[_Times, _Times, _Times]:
    others = [
        WebSearch(
            "tavily",
            api_key=f"other-{n}",
            base_url=url,
            internal=["127.0.0.0/8"],
            budget="1000000 calls",
        )
        for n in range(_OTHERS)
    ]
    alone, beside, again = _Times(), _Times(), _Times()
    await _watch(others, url, 0.5, _Times())  # opens connections
    for _ in range(_ROUNDS):
        await _watch(others, url, _SECONDS, alone)
        attackers = [
            asyncio.create_task(_repeat(attack, number)) for number in range(_IN_FLIGHT)
        ]
        await asyncio.sleep(0.2)
        await _watch(others, url, _SECONDS, beside)
        for attacker in attackers:
            attacker.cancel()
        await asyncio.gather(*attackers, return_exceptions=True)
        await asyncio.sleep(0.5)
        await _watch(others, url, _SECONDS, again)
    for web in others:
        await web.aclose()
    return alone, beside, again


async def _repeat(attack: _Call, number: int) -> None:
    while True:
        with suppress(WebSearchError):
            await attack(number)
        # a refusal costs nothing: without a pause, this would only measure a busy loop
        await asyncio.sleep(0.01)
        number += _IN_FLIGHT


async def _watch(
    others: list[WebSearch], url: str, seconds: float, found: _Times
) -> None:
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

    async def watch_the_loop() -> None:
        while (start := time.perf_counter()) < end:
            await asyncio.sleep(0.005)
            found.stood_still = max(
                found.stood_still, time.perf_counter() - start - 0.005
            )

    await asyncio.gather(watch_the_loop(), *map(use, others))


def _last_percentile(spent: list[float]) -> float:
    return quantiles(spent, n=100)[98]


def _make(url: str, **options: Any) -> WebSearch:
    return WebSearch(
        "tavily",
        api_key="hostile",
        base_url=url,
        internal=["127.0.0.0/8"],
        retry=1,
        **options,
    )


def _reading(path: str) -> Callable[[str], _Call]:
    def make(url: str) -> _Call:
        web = _make(url, timeout=Timeout(read=2))
        return lambda number: web.aread(f"{url}/{path}?{number}")

    return make


def _unresolved(url: str) -> _Call:
    web = _make(url, timeout=Timeout(read=2))
    return lambda number: web.aread(f"http://name-{number}.hang.example/")


def _over_budget(url: str) -> _Call:
    web = _make(url, budget="1 call")
    return lambda number: web.asearch(f"keys {number}")


def _throttled(url: str) -> _Call:
    web = _make(url, throttle=Throttle(requests_per_second=1))
    return lambda number: web.asearch(f"keys {number}")


def _broken(url: str) -> _Call:
    web = WebSearch(
        "tavily",
        api_key="hostile",
        base_url=f"{url}/hang",
        retry=Retry(attempts=1),
        layers=[Breaker(failures=2)],
        timeout=Timeout(search=2),
    )
    return lambda number: web.asearch(f"keys {number}")


_KINDS: dict[str, Callable[[str], _Call]] = {
    "reads ordinary pages": _reading("page"),
    "reads pages that drip": _reading("drip"),
    "reads pages that hang": _reading("hang"),
    "reads pages without an end": _reading("huge"),
    "reads deeply nested pages": _reading("deep"),
    "reads pages of 1 MiB": _reading("dense"),
    "reads bombs": _reading("bomb"),
    "reads pages that redirect forever": _reading("loop"),
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
