"""
Where connections are opened: every address judged, every wait bounded.

A `Door` stands in the place of httpcore's network backend, below TLS and the connection pool. So certificates are still
checked against the name in the URL, pools are still keyed by origin and never by address, and redirects, reconnections
and rebinding DNS all pass here.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from functools import partial
from typing import Any, cast

from .deadline import time_left
from .errors import TimedOut, Unavailable, UnsafeURL
from .guard import Guard, literal
from .guard import addresses as addresses_of
from .lookup import Line

_STAGGER = 0.25  # seconds until the next address is tried beside the first (RFC 8305)
_SHORTEST = 0.001  # seconds; zero would make a socket non-blocking


class Door:
    """A network backend of httpcore that connects only where the guard lets it, and only while there is time."""

    def __init__(self, inner: Any, guard: Guard | None, line: Line) -> None:
        self._inner, self._guard, self._line = inner, guard, line

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> Any:
        addresses = resolve(self._line, self._guard, _text(host), port, timeout)
        failure: Exception | None = None
        for n, address in enumerate(addresses):
            share = (clamp(timeout) or math.inf) / (len(addresses) - n)
            try:
                patience = max(share, _SHORTEST) if share < math.inf else None
                return _Stream(self._inner.connect_tcp(address, port, patience, **options))
            except Exception as error:  # noqa: BLE001 - whichever of httpcore's it is, the next address may do better
                failure = error
        raise failure or Unavailable("the name has no address")

    def connect_unix_socket(self, *_: Any, **__: Any) -> Any:
        raise UnsafeURL("sockets of this machine are not for pages")

    def sleep(self, seconds: float) -> None:
        self._inner.sleep(seconds)


class _Stream:
    """A network stream of httpcore on which nothing outlasts the deadline."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return cast("bytes", self._inner.read(max_bytes, clamp(timeout)))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, clamp(timeout))

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> _Stream:
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, clamp(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)

    def close(self) -> None:
        self._inner.close()


class AsyncDoor:
    """The same door on an event loop, where cancelling keeps the time."""

    def __init__(self, inner: Any, guard: Guard | None, line: Line) -> None:
        self._inner, self._guard, self._line = inner, guard, line

    async def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> Any:
        try:
            async with asyncio.timeout(timeout):
                addresses = await aresolve(self._line, self._guard, _text(host), port)
                return await self._race(addresses, port, options)
        except TimeoutError as error:
            raise TimedOut("no connection within the time allowed") from error

    async def _race(self, addresses: list[str], port: int, options: dict[str, Any]) -> Any:
        """Happy eyeballs (RFC 8305) over addresses already judged: the first connection wins, the rest is undone."""
        attempts: set[asyncio.Task[Any]] = set()
        failure: BaseException | None = None
        waiting = list(addresses)
        try:
            while waiting or attempts:
                if waiting:
                    connect = self._inner.connect_tcp(waiting.pop(0), port, timeout=None, **options)
                    attempts.add(asyncio.ensure_future(connect))
                done, attempts = await asyncio.wait(
                    attempts, timeout=_STAGGER if waiting else None, return_when=asyncio.FIRST_COMPLETED
                )
                for attempt in done:
                    if attempt.exception() is None:
                        attempts |= done - {attempt}
                        return attempt.result()
                    failure = attempt.exception()
        finally:
            for attempt in attempts:
                attempt.add_done_callback(_undo)
                attempt.cancel()
        raise failure or Unavailable("the name has no address")

    async def connect_unix_socket(self, *_: Any, **__: Any) -> Any:
        raise UnsafeURL("sockets of this machine are not for pages")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


def _undo(attempt: asyncio.Task[Any]) -> None:
    """Close what connected although another attempt had won."""
    if not attempt.cancelled() and attempt.exception() is None:
        _closing.add(closing := asyncio.ensure_future(attempt.result().aclose()))
        closing.add_done_callback(_closing.discard)


_closing: set[asyncio.Future[None]] = set()  # asyncio itself keeps only weak references to its tasks


def resolve(line: Line, guard: Guard | None, host: str, port: int, timeout: float | None = None) -> list[str]:
    """
    Resolve *host*, and have *guard* judge its addresses.

    Args:
        line: Where the look-up waits its turn.
        guard: Who judges the addresses; None lets all of them pass.
        host: A name or an address.
        port: The port to connect to.
        timeout: Seconds to wait, at most; the deadline bounds it too.

    Raises:
        UnsafeURL: The guard forbids one of the addresses.
        Unavailable: The name does not resolve.
        TimedOut: The name did not resolve in time.

    """
    waiting = _look_up(line, guard, host, port)
    try:
        found = waiting.result(clamp(timeout))
    except FutureTimeout as error:
        waiting.cancel()
        raise TimedOut("the name did not resolve within the time allowed") from error
    return _judged(guard, host, port, found)


async def aresolve(line: Line, guard: Guard | None, host: str, port: int, timeout: float | None = None) -> list[str]:
    """Do as `resolve` does, off the event loop, where cancelling keeps the time."""
    try:
        async with asyncio.timeout(timeout):
            found = await asyncio.wrap_future(_look_up(line, guard, host, port))
    except TimeoutError as error:
        raise TimedOut("the name did not resolve within the time allowed") from error
    return _judged(guard, host, port, found)


def _look_up(line: Line, guard: Guard | None, host: str, port: int) -> Future[Sequence[str]]:
    """Resolve *host*, unless it is an address."""
    if literal(host):
        found: Future[Sequence[str]] = Future()
        found.set_result([host])
        return found
    return line.look_up(partial(guard.resolve if guard else addresses_of, host, port))


def _judged(guard: Guard | None, host: str, port: int, addresses: Sequence[str]) -> list[str]:
    return guard.judge(host, port, addresses) if guard else list(addresses)


def _text(host: str | bytes) -> str:
    return host.decode("ascii") if isinstance(host, bytes) else host


def limit() -> float | None:
    """The time left, in the form that timeouts take."""
    left = time_left()
    return left if left < math.inf else None


def clamp(timeout: float | None) -> float | None:
    """Shorten *timeout* to the time left."""
    left = time_left()
    if left <= 0:
        raise TimedOut("no answer within the time allowed")
    if timeout is None:
        return limit()
    return max(min(timeout, left), _SHORTEST)
