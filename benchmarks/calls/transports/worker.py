"""
One transport in its own process, which is measured and checked on demand.

    python -m benchmarks.calls.transports.worker INDEX URL

Each line of the input is a JSON list: ``["measure", searches, in_flight]``, answered with the seconds of wall time and
of processor time of a search and with how many failed, or ``["check"]``, answered with what is wrong with each promise.
The process ends with its input.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from benchmarks.calls.asked import BODY, QUERY
from benchmarks.calls.transports import promises
from benchmarks.calls.transports.candidates import CANDIDATES, Candidate
from benchmarks.calls.transports.seam import AT_ONCE, Ask, Reply
from benchmarks.compare import measure_cost
from websearch_core._net.guard import Guard
from websearch_core._runtime.deadline import time_limit

_SECONDS = 15.0  # the deadline of a search
_GUARD = Guard.allowing(["127.0.0.0/8"])


class _InThreads:
    """A transport that blocks, used from as many threads as searches are in flight."""

    def __init__(self, candidate: Candidate) -> None:
        self._make = candidate.make
        self._transport: Any = candidate.make(_GUARD)
        self._threads = ThreadPoolExecutor(AT_ONCE)

    def measure(self, url: str, searches: int, in_flight: int) -> tuple[float, float, int]:
        """Search in bursts."""
        failures: list[Exception] = []

        def search(n: int) -> None:
            try:
                with time_limit(_SECONDS):
                    json.loads(self._transport.send(_ask(url, n)).content)
            except Exception as error:  # noqa: BLE001 - counted
                failures.append(error)

        def run() -> None:
            for first in range(0, searches, in_flight):
                list(self._threads.map(search, range(first, first + in_flight)))

        cost = measure_cost(run)
        return cost.wall / searches, cost.cpu / searches, _count(failures, searches)

    def call(self, guard: Guard, ask: Ask) -> Reply:
        """Send over a new transport."""
        transport = self._make(guard)
        try:
            reply: Reply = transport.send(ask)
            return reply
        finally:
            transport.close()


class _OnLoop:
    """A transport on an event loop."""

    def __init__(self, candidate: Candidate) -> None:
        self._make = candidate.make
        self._runner = asyncio.Runner()
        self._transport: Any = self._runner.run(self._make_here(_GUARD))

    async def _make_here(self, guard: Guard) -> Any:
        return self._make(guard)

    def measure(self, url: str, searches: int, in_flight: int) -> tuple[float, float, int]:
        """Search in bursts."""
        failures: list[Exception] = []

        async def search(n: int) -> None:
            try:
                with time_limit(_SECONDS):
                    json.loads((await self._transport.send(_ask(url, n))).content)
            except Exception as error:  # noqa: BLE001 - counted
                failures.append(error)

        async def run() -> None:
            for first in range(0, searches, in_flight):
                await asyncio.gather(*(search(n) for n in range(first, first + in_flight)))

        cost = measure_cost(lambda: self._runner.run(run()))
        return cost.wall / searches, cost.cpu / searches, _count(failures, searches)

    def call(self, guard: Guard, ask: Ask) -> Reply:
        """Send over a new transport."""

        async def send() -> Reply:
            transport = self._make(guard)
            try:
                reply: Reply = await transport.send(ask)
                return reply
            finally:
                await transport.close()

        return self._runner.run(send(), context=copy_context())  # with the deadline of the caller


def _ask(url: str, n: int) -> Ask:
    return Ask(f"{url}/search", {**BODY, "query": f"{QUERY} {n}"})  # identical searches would share a request


def _count(failures: list[Exception], searches: int) -> int:
    """Return how many searches failed. If most do, nothing was measured."""
    if len(failures) > searches / 10:
        raise RuntimeError(f"{len(failures)} of {searches} searches failed") from failures[0]
    return len(failures)


def main() -> None:
    """Serve the lines of the input."""
    candidate, url = CANDIDATES[int(sys.argv[1])], sys.argv[2]
    worker = (_OnLoop if candidate.way == "async" else _InThreads)(candidate)
    jobs: dict[str, Callable[..., Any]] = {
        "measure": lambda searches, in_flight: worker.measure(url, searches, in_flight),
        "check": lambda: promises.check(worker.call),
    }
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print(json.dumps(jobs[name](*arguments)), flush=True)


if __name__ == "__main__":
    main()
