"""Measure what a tenant costs: time and memory, made and after its first search."""

from __future__ import annotations
import asyncio
import gc
import json
import os
import ssl
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import certifi

from benchmarks.report import Goal, Section, Table, milliseconds
from benchmarks.tenants.server import Server
from websearch_core import WebSearch

TENANTS = 1_000
_OWN = 100  # with certificates of their own, which take much more


def measure(server: Server) -> Section:
    """Measure it in processes of their own."""
    url = f"{server.url}/prompt"
    shared = _ask("--plain", url, TENANTS)
    traced = _ask("--trace", url, TENANTS)
    own = _ask("--own", url, _OWN)
    rows = [
        ("time to make one", milliseconds(shared["made"]), milliseconds(own["made"])),
        (
            "time of its first search",
            *(milliseconds(a["first"]) for a in (shared, own)),
        ),
        (
            "time of its second search",
            *(milliseconds(a["second"]) for a in (shared, own)),
        ),
        (
            "memory when made, resident",
            _kilobytes(shared["made_size"]),
            _kilobytes(own["made_size"]),
        ),
        (
            "memory after two searches, resident",
            _kilobytes(shared["used_size"]),
            _kilobytes(own["used_size"]),
        ),
        (
            "the same, allocated by Python (tracemalloc)",
            _kilobytes(traced["traced"]),
            "",
        ),
    ]
    total = shared["used_size"] * TENANTS / 2**20
    return Section(
        "What a tenant costs",
        f"{TENANTS:,} tenants in one process: each has a `WebSearch` with its own key, "
        f"domain policy and budget, and "
        f"searches twice on one event loop, one after the other. For comparison, "
        f"{_OWN} tenants who each load the "
        "trusted certificates, as every client of `httpx` does by itself.",
        [Table(("for each tenant", "certificates shared", "certificates each"), rows)],
        [
            Goal(
                "making one takes less than 3 ms",
                milliseconds(shared["made"]),
                shared["made"] < 0.003,
            ),
            Goal(
                f"{TENANTS:,} tenants take less than 100 MiB",
                f"{total:.0f} MiB",
                total < 100,
            ),
        ],
    )


def _ask(kind: str, url: str, count: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.tenants.cost", kind, url, str(count)]
    answer: dict[str, float] = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
    )
    return answer


def _kilobytes(size: float) -> str:
    return f"{size / 1024:.0f} KiB"


def _resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf(
        "SC_PAGE_SIZE"
    )


async def _run(kind: str, url: str, count: int) -> dict[str, float]:
    def make(number: int) -> WebSearch:
        own: dict[str, Any] = {}
        if kind == "--own":
            own["verify"] = ssl.create_default_context(cafile=certifi.where())
        return WebSearch(
            "tavily",
            api_key=f"key-{number}",
            base_url=url,
            budget=f"{100 + number} calls",
            blocked_domains=[f"rival-{number}.example"],
            **own,
        )

    async def search() -> float:
        start = time.perf_counter()
        for web in webs[1:]:
            await web.asearch("how to rotate a key")
        return (time.perf_counter() - start) / count

    webs = [make(-1)]
    await webs[0].asearch("how to rotate a key")  # imports what the first one needs
    if kind == "--trace":
        tracemalloc.start()
    before = _resident()
    start = time.perf_counter()
    webs += [make(number) for number in range(count)]
    made = (time.perf_counter() - start) / count
    made_size = _resident() - before
    first, second = await search(), await search()
    return {
        "made": made,
        "first": first,
        "second": second,
        "made_size": made_size / count,
        "used_size": (_resident() - before) / count,
        "traced": tracemalloc.get_traced_memory()[0] / count,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_run(sys.argv[1], sys.argv[2], int(sys.argv[3])))))
