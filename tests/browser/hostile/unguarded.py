"""A plain browser without a gate: what the attacks do there says whether they are
alive.
"""

from __future__ import annotations
import asyncio
import contextlib
import dataclasses
import sys
import time
from collections.abc import Callable
from pathlib import Path

from websearch_core._browser.launch import Launch, Process
from websearch_core._browser.pipe import CommandFailed, Connection, Gone

_DROPPED = (
    "--proxy",
    "--host-resolver",
    "--force-webrtc",
    "--webrtc",
    "--disable-quic",
    "--blink-settings",
    "--no-pings",
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Unguarded(Launch):
    """Starts a browser without the flags that hold it."""

    def make_flags(self, proxy: str, address: str, profile: str) -> list[str]:
        """Return the other flags."""
        return [
            flag
            for flag in super().make_flags(proxy, address, profile)
            if not flag.startswith(_DROPPED)
        ]


async def open_unguarded(
    path: Path,
    urls: list[str],
    *,
    at_once: int,
    seconds: float,
    is_done: Callable[[str], bool] = lambda _: False,
) -> None:
    """
    Open each page for a while.

    Args:
        path: The browser.
        urls: The pages.
        at_once: How many to open at a time.
        seconds: How long each stays open.
        is_done: Returns whether a page need not stay open any longer.

    """
    process = Process(
        Unguarded(path=path, flags=("--allow-loopback-in-peer-connection",)), "", ""
    )
    connection = Connection(process.read_fd, process.write_fd)
    slots = asyncio.Semaphore(at_once)

    async def show(url: str) -> None:
        async with slots:
            context = (await connection.send("Target.createBrowserContext"))[
                "browserContextId"
            ]
            new = {"url": url, "browserContextId": context}
            with contextlib.suppress(CommandFailed, TimeoutError):
                async with asyncio.timeout(5):
                    await connection.send("Target.createTarget", new)
            ends = time.monotonic() + seconds
            while time.monotonic() < ends and not is_done(url):
                await asyncio.sleep(0.05)
            with contextlib.suppress(CommandFailed, TimeoutError):
                async with asyncio.timeout(3):
                    await connection.send(
                        "Target.disposeBrowserContext", {"browserContextId": context}
                    )

    try:
        await asyncio.gather(*map(show, urls))
    except Gone as error:
        sys.exit(f"the browser ended: {error}")
    finally:
        process.end()
