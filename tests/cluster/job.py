"""A job of Ray Data that reads a loopback web of 200 hosts, while one of its workers is
killed; prints what happened.

    python tests/cluster/job.py PAGES REDIS-PORT

Each host is an address of 127.0.0.0/8. Some are slow, fail, redirect, refuse robots,
never answer, or mean harm: markup without end, redirects in a circle, bytes that are
not a page, and a few that unpack to 256 MiB.
"""

from __future__ import annotations
import asyncio
import gzip
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

import ray
from ray.data import ActorPoolStrategy, DataContext, from_items

from websearch_core.layers import Throttle
from websearch_core.ray import ReadPages, partition_by_host

HOSTS = 200
PER_SECOND = 5.0
AT_ONCE = 2
BURST = 10  # requests before the pace begins, and after a rest
_NAMED = (
    "redirects",
    "slow",
    "fails",
    "robots",
    "hangs",
    "endless",
    "circles",
    "binary",
    "bomb",
)
_HEAVY = {"endless", "circles", "bomb"}
KINDS = dict(enumerate(_NAMED))  # of every twentieth host
BOMB = gzip.compress(bytes(2**28), 9)


class Web:
    """Answers for all hosts, and notes when each was asked."""

    def __init__(self) -> None:
        self.starts: defaultdict[str, list[float]] = defaultdict(list)
        self.open: Counter[str] = Counter()
        self.most_open: Counter[str] = Counter()
        self.port = 0
        ready = threading.Event()
        threading.Thread(
            target=lambda: asyncio.run(self._serve(ready)), daemon=True
        ).start()
        ready.wait()

    async def _serve(self, ready: threading.Event) -> None:
        server = await asyncio.start_server(self._visit, "0.0.0.0", 0, backlog=4096)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await server.serve_forever()

    def _kind(self, host: str) -> str | None:
        return KINDS.get(int(host.split(":", maxsplit=1)[0].split(".")[3]) % 20)

    async def _visit(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                path = head.split(" ", 2)[1]
                host = next(
                    line[6:]
                    for line in head.split("\r\n")
                    if line.lower().startswith("host: ")
                )
                self.starts[host].append(time.monotonic())
                # a client may be long gone
                self.open[host] += self._kind(host) != "hangs"
                self.most_open[host] = max(self.most_open[host], self.open[host])
                try:
                    writer.write(await self._answer(host, path))
                    await writer.drain()
                finally:
                    self.open[host] -= self._kind(host) != "hangs"
        writer.close()

    async def _answer(self, host: str, path: str) -> bytes:
        kind = self._kind(host)
        if path == "/robots.txt":
            return reply(
                f"User-agent: *\nDisallow: {'/' if kind == 'robots' else ''}\n",
                kind="text/plain",
            )
        # one page in ten, since each takes seconds
        if kind in _HEAVY and int(path[1:]) // HOSTS % 10:
            kind = None
        if kind == "slow":
            await asyncio.sleep(0.3)
        if kind == "hangs":
            await asyncio.sleep(60)
        if kind == "fails":
            return reply("", "500 Internal Server Error")
        if kind == "redirects" and not path.startswith("/to"):
            return reply("", f"302 Found\r\nLocation: /to{path}")
        if kind == "circles":
            return reply("", f"302 Found\r\nLocation: {path}")
        if kind == "endless":
            return reply("<p>" * 2_000_000)
        if kind == "binary":
            return reply(bytes(range(256)) * 400, kind="application/octet-stream")
        if kind == "bomb":
            return reply(BOMB, "200 OK\r\nContent-Encoding: gzip")
        return reply(
            f"<title>{host}{path}</title>"
            + "<p>Kelp grows in cold seas, and needs light.</p>" * 20
        )


def reply(body: str | bytes, status: str = "200 OK", kind: str = "text/html") -> bytes:
    data = body.encode() if isinstance(body, str) else body
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n\r\n".encode()
        + data
    )


class NamedReadPages(ReadPages):
    """Leaves the number of its process where the killer finds it."""

    def __init__(self, folder: str, **options: Any) -> None:
        super().__init__(**options)
        Path(folder, str(os.getpid())).touch()


def kill_one(folder: Path, web: Web, pages: int, killed: list[int]) -> None:
    """Kill a worker when a quarter of the pages was asked for."""
    while sum(map(len, list(web.starts.values()))) < pages / 4:
        time.sleep(0.05)
    pid = int(random.choice(list(folder.iterdir())).name)
    os.kill(pid, signal.SIGKILL)
    killed.append(pid)


def main(pages: int, redis_port: int) -> None:
    web, killed = Web(), list[int]()
    hosts = [f"127.0.{1 + n // 100}.{1 + n % 100}:{web.port}" for n in range(HOSTS)]
    urls = [{"url": f"http://{hosts[n % HOSTS]}/{n}"} for n in range(pages)]
    ray.init(
        num_cpus=4, include_dashboard=False, logging_level="ERROR", log_to_driver=False
    )
    DataContext.get_current().enable_progress_bars = False
    shared = f"redis://127.0.0.1:{redis_port}/0"
    throttle = Throttle(
        shared=shared, host_requests_per_second=PER_SECOND, host_concurrent=AT_ONCE
    )
    with tempfile.TemporaryDirectory() as folder:
        options = {
            "folder": folder,
            "throttle": throttle,
            "cache": shared,
            "robots": True,
            "retry": False,
            "timeout": 20,  # a busy machine answers late
            "internal": ["127.0.0.0/8"],
        }
        threading.Thread(
            target=kill_one, args=(Path(folder), web, pages, killed), daemon=True
        ).start()
        began = time.monotonic()
        read = partition_by_host(from_items(urls), 32).map_batches(
            NamedReadPages,
            fn_constructor_kwargs=options,
            compute=ActorPoolStrategy(min_size=3, max_size=3),
            batch_size=None,
        )
        rows = read.select_columns(["url", "code"]).take_all()
    counts = Counter(row["url"] for row in rows)
    print(json.dumps({
        "seconds": time.monotonic() - began,
        "killed": len(killed),
        "missing": len({one["url"] for one in urls} - counts.keys()),
        "repeated": sum(count > 1 for count in counts.values()),
        "codes": Counter(f"{KINDS.get(int(row['url'].split(':')[1].split('.')[3]) % 20)}: {row['code']}" for row in rows),
        "requests": sum(map(len, web.starts.values())),
        "most_at_once": max(web.most_open.values()),
        "beyond_pace": max(map(count_beyond_pace, web.starts.values())),
    }))  # fmt: skip


def count_beyond_pace(times: list[float]) -> float:
    """Return how many requests a host got at most beyond `PER_SECOND`, in any time;
    `BURST` are allowed.
    """
    return max(
        (last - first + 1 - PER_SECOND * (times[last] - times[first])
         for first in range(len(times)) for last in range(first, len(times))),
        default=0.0,
    )  # fmt: skip


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
