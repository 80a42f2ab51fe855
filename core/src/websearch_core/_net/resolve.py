"""Resolve names, and let the guard judge the addresses."""

from __future__ import annotations
import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from functools import partial

from .._runtime.deadline import clamp
from .._text.urls import parse_address
from ..errors import TimedOut
from .guard import Guard
from .lookup import Line
from .system import resolve_name


def resolve(line: Line, guard: Guard | None, host: str, port: int, timeout: float | None = None) -> list[str]:
    """Resolve *host* in the queue *line*, and let *guard* judge its addresses; None allows all of them.

    That takes at most *timeout* seconds; the deadline limits it, too.
    """
    waiting = _look_up(line, guard, host, port)
    try:
        found = waiting.result(clamp(timeout))
    except FutureTimeout as error:
        waiting.cancel()
        raise TimedOut("the name did not resolve within the time allowed") from error
    return _judge(guard, host, port, found)


async def aresolve(line: Line, guard: Guard | None, host: str, port: int, timeout: float | None = None) -> list[str]:
    """Do the same as `resolve` off the event loop, where cancellation enforces the deadline."""
    try:
        async with asyncio.timeout(timeout):
            found = await asyncio.wrap_future(_look_up(line, guard, host, port))
    except TimeoutError as error:
        raise TimedOut("the name did not resolve within the time allowed") from error
    return _judge(guard, host, port, found)


def _look_up(line: Line, guard: Guard | None, host: str, port: int) -> Future[Sequence[str]]:
    """Start the look-up of *host*; an address needs none."""
    if parse_address(host):
        found: Future[Sequence[str]] = Future()
        found.set_result([host])
        return found
    return line.look_up(partial(guard.resolve if guard else resolve_name, host, port), host if guard else "")


def _judge(guard: Guard | None, host: str, port: int, addresses: Sequence[str]) -> list[str]:
    return guard.judge(host, port, addresses) if guard else list(addresses)
