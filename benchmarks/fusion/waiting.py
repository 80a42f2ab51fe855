"""Measure how long a fused search waits, with a server on this machine that answers
late.
"""

from __future__ import annotations
import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from benchmarks.compare import Cost, compare
from benchmarks.report import Goal, Section, Table, milliseconds, times
from websearch_core import WebSearch
from websearch_core.provider import (
    Flow,
    Request,
    SearchQuery,
    SearchResponse,
    parse_results,
)

_DELAYS = (0.1, 0.15, 0.2, 0.25, 0.3)  # seconds
_ROUNDS = 15
_MOST = 1.1  # times the slowest alone


@dataclass(frozen=True)
class Late:
    """A provider whose server answers after some seconds."""

    name: str
    base_url: str
    seconds: float

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search."""
        response = yield Request(
            url=self.base_url, params={"seconds": str(self.seconds), "name": self.name}
        )
        results = parse_results(response.json()["results"], self.name)
        return SearchResponse(query=query.text, results=results, provider=self.name)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # or the body would wait for the client's acknowledgement of the headers
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answer late."""
        values = dict(
            pair.split("=") for pair in self.path.partition("?")[2].split("&")
        )
        time.sleep(float(values["seconds"]))
        hosts = [f"page-{n}" for n in range(15)] + [
            f"{values['name']}-{n}" for n in range(5)
        ]
        found = [
            {"title": host, "url": f"https://{host}.example/", "snippet": "Kelp. " * 40}
            for host in hosts
        ]
        body = json.dumps({"results": found}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Say nothing."""


def measure_waiting() -> Section:
    """Compare five providers at once with the slowest of them, blocking and async."""
    rows, ratios = [], []
    with _server() as url:
        late = [Late(f"late{n}", url, seconds) for n, seconds in enumerate(_DELAYS)]
        with WebSearch(late[-1]) as slowest, WebSearch(late, combine="fuse") as fused:
            for kind, cost in (("blocking", _blocking), ("async", _async)):
                measured = compare(
                    {"slowest": cost(slowest), "fused": cost(fused)},
                    reference="slowest",
                    rounds=_ROUNDS,
                    warm_up=3,
                )
                ratios.append(measured.ratio("fused"))
                walls = (
                    milliseconds(measured.wall(name)) for name in ("slowest", "fused")
                )
                rows.append((kind, *walls, times(ratios[-1]), measured.spread("fused")))
    return Section(
        title="Waiting",
        method=(
            f"{len(_DELAYS)} providers whose server, on this machine, answers after "
            f"{', '.join(f'{delay:.2f}' for delay in _DELAYS)} s with 20 results each: "
            f"all of them with "
            f"`combine='fuse'`, and the slowest alone. They take turns, {_ROUNDS} "
            f"rounds; the ratio is the median of "
            "the ratios within a round, and its spread goes from the first to the "
            "third quartile."
        ),
        tables=[
            Table(("", "the slowest alone", "all, fused", "ratio", "spread"), rows)
        ],
        goals=[
            Goal(
                f"fusing {len(_DELAYS)} providers takes at most {_MOST} times the "
                f"slowest",
                " and ".join(times(ratio) for ratio in ratios),
                max(ratios) <= _MOST,
            )
        ],
    )


def _blocking(web: WebSearch) -> Callable[[], Cost]:
    def search() -> Cost:
        started, cpu = time.perf_counter(), time.process_time()
        web.search("kelp", limit=10)
        return Cost(time.perf_counter() - started, time.process_time() - cpu)

    return search


def _async(web: WebSearch) -> Callable[[], Cost]:
    async def search() -> Cost:
        await web.asearch("kelp", limit=10)  # connects
        started, cpu = time.perf_counter(), time.process_time()
        await web.asearch("kelp", limit=10)
        cost = Cost(time.perf_counter() - started, time.process_time() - cpu)
        await web.aclose()
        return cost

    return lambda: asyncio.run(search())


@contextmanager
def _server() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
