"""The web that all contestants read: real pages on many hosts, each an address of
127.0.0.0/8. See `Program`.

``/17`` is the 17th page of the corpus on every host, and comes after 20 ms. A host
whose last number is above 100 takes requests and never answers.
"""

from __future__ import annotations
import asyncio
from collections import Counter
from contextlib import suppress

from benchmarks.program import serve
from training.corpus import CONTENT_TYPE, ROOT, wcxb

LATENCY = 0.02  # seconds
FOLDERS = ("wcxb", "wcxb_more")
_HEAD = "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n"


class Site:
    """All hosts, and what each was asked at a time."""

    def __init__(self) -> None:
        self._pages = [page.data for folder in FOLDERS for page in wcxb(ROOT / folder)]
        self._open: Counter[str] = Counter()
        self._most = self._requests = 0

    def describe(self) -> dict[str, int]:
        """Return what was asked since the last time: requests, and the most at a time
        for one host.
        """
        seen = {"requests": self._requests, "most": self._most}
        self._most = self._requests = 0
        return seen

    async def visit(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer the requests of a connection."""
        host = writer.get_extra_info("sockname")[0]
        with suppress(OSError, asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                self._requests += 1
                self._open[host] += 1
                self._most = max(self._most, self._open[host])
                try:
                    writer.write(
                        await self._answer(host, head.split(b" ", 2)[1].decode())
                    )
                finally:
                    self._open[host] -= 1
                await writer.drain()
        writer.close()

    async def _answer(self, host: str, path: str) -> bytes:
        await asyncio.sleep(3600 if int(host.rpartition(".")[2]) > 100 else LATENCY)
        number = path[1:]
        if not number.isdecimal():
            return _HEAD.format("404 Not Found", "text/plain", 0).encode()
        body = self._pages[int(number) % len(self._pages)]
        return _HEAD.format("200 OK", CONTENT_TYPE, len(body)).encode() + body


async def _main() -> None:
    site = Site()
    await serve(
        await asyncio.start_server(site.visit, "0.0.0.0", 0, backlog=4096),
        site.describe,
    )


if __name__ == "__main__":
    asyncio.run(_main())
