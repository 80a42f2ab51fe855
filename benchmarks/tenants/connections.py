"""Count the connections of many tenants, and the keys that each connection carried."""

from __future__ import annotations
import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar

from benchmarks.report import Goal, Section, Table
from benchmarks.tenants.server import Counts, Server
from websearch_core import WebSearch
from websearch_core.tools._tenants import Tenants

_ROUNDS = 2
_key = ContextVar("key", default="")


def measure(server: Server) -> Section:
    """Let tenants search in turn, and ask the service what it saw."""
    rows: list[tuple[str, ...]] = []
    goals: list[Goal] = []
    for title, tenants, make, most in (
        ("1,000 keys, a `WebSearch` each", 1_000, _make_own, 1_000),
        ("1,000 policies, one key, through `configurable`", 1_000, _make_configured, 1),
        ("10 keys, 100 policies each, through `configurable`", 1_000, _make_mixed, 10),
        (
            "100 keys that a function returns to one `WebSearch`",
            100,
            _make_switching,
            100,
        ),
    ):
        seen = asyncio.run(_search(server, make(f"{server.url}/prompt"), tenants))
        rows.append(
            (
                title,
                f"{tenants * _ROUNDS:,}",
                f"{seen.keys:,}",
                f"{seen.connections:,}",
                str(seen.mixed),
            )
        )
        goals.append(
            Goal(
                f"{title}: as many connections as keys, and none with two keys",
                f"{seen.connections:,} connections for {seen.keys:,} keys, "
                f"{seen.mixed} with two",
                seen.mixed == 0 and seen.connections == seen.keys == most,
            )
        )
    return Section(
        "Connections",
        "Tenants search one after the other, twice each, on one event loop. The "
        "service notes the `Authorization` "
        "of every request of a connection.",
        [
            Table(
                (
                    "tenants",
                    "searches",
                    "keys",
                    "connections",
                    "connections with two keys",
                ),
                rows,
            )
        ],
        goals,
    )


_Search = Callable[[int], Awaitable[object]]


async def _search(server: Server, search: _Search, tenants: int) -> Counts:
    server.take_counts()
    for _ in range(_ROUNDS):
        for tenant in range(tenants):
            await search(tenant)
    return server.take_counts()


def _make_own(url: str) -> _Search:
    webs = [WebSearch("tavily", api_key=f"own-{n}", base_url=url) for n in range(1_000)]
    return lambda tenant: webs[tenant].asearch("keys")


def _make_configured(url: str) -> _Search:
    return _find(url, lambda tenant: {"blocked_domains": [f"rival-{tenant}.example"]})


def _make_mixed(url: str) -> _Search:
    return _find(
        url,
        lambda tenant: {
            "api_key": f"mixed-{tenant % 10}",
            "blocked_domains": [f"rival-{tenant // 10}.example"],
        },
    )


def _find(url: str, options: Callable[[int], dict[str, object]]) -> _Search:
    tenants = Tenants(
        None,
        {"provider": "tavily", "api_key": "developer", "base_url": url},
        ("api_key", "blocked_domains"),
    )
    return lambda tenant: tenants.find(options(tenant)).asearch("keys")


def _make_switching(url: str) -> _Search:
    web = WebSearch("tavily", api_key=_key.get, base_url=url)

    async def search(tenant: int) -> None:
        _key.set(f"switching-{tenant}")
        await web.asearch("keys")

    return search
