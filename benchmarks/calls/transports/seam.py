"""What every transport is asked, what it answers, and what those of other people's libraries share."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from benchmarks.calls.asked import HEADERS
from websearch_core._net.body import OFFERED, BoundedBody
from websearch_core._net.guard import Guard

SENT = {**HEADERS, "Content-Type": "application/json", "Accept-Encoding": OFFERED}
AT_ONCE = 100  # connections


@dataclass(frozen=True)
class Ask:
    """
    A request, in the block of a `websearch_core._runtime.deadline.time_limit`.

    Args:
        url: Where to send it.
        body: What to send, as JSON.
        most: Maximum number of decoded bytes of the answer to keep.

    """

    url: str
    body: dict[str, Any]
    most: int = 10 * 2**20

    @property
    def content(self) -> bytes:
        """The body as it is sent."""
        return json.dumps(self.body).encode()


@dataclass(frozen=True)
class Reply:
    """An answer, and whether bytes are missing at its end."""

    status: int
    content: bytes
    truncated: bool = False


class Blocking(Protocol):
    """Sends from many threads."""

    def send(self, ask: Ask, /) -> Reply:
        """Send *ask*."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


class Async(Protocol):
    """Sends from one event loop, on which it was made."""

    async def send(self, ask: Ask, /) -> Reply:
        """Send *ask*."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


def place(url: str, guard: Guard) -> tuple[str, str, int]:
    """Let *guard* check a URL; return it with its host and port."""
    checked = guard.check(url)
    parts = urlsplit(checked)
    return checked, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def feed(body: BoundedBody, chunk: bytes) -> bool:
    """Add the bytes that arrived; return False if reading more is useless."""
    deque(body.add(chunk), 0)
    return not body.is_full


def finish(status: int, body: BoundedBody | None) -> Reply:
    """Make the reply; that of a redirect has no body."""
    return Reply(status, bytes(body) if body else b"", body.truncated if body else False)


def begin(status: int, encoding: str | None, ask: Ask) -> BoundedBody | None:
    """Return what collects the body, or None if it should not be read."""
    return None if 300 <= status < 400 else BoundedBody(encoding or "", ask.most)
