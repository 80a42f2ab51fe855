"""Resolve names, and have the guard judge the addresses."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from functools import partial

from .._deadline import clamp
from .._urls import parse_address
from ..errors import TimedOut
from .guard import Guard
from .lookup import Line
from .system import resolve_name


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
    if parse_address(host):
        found: Future[Sequence[str]] = Future()
        found.set_result([host])
        return found
    return line.look_up(partial(guard.resolve if guard else resolve_name, host, port))


def _judged(guard: Guard | None, host: str, port: int, addresses: Sequence[str]) -> list[str]:
    return guard.judge(host, port, addresses) if guard else list(addresses)
