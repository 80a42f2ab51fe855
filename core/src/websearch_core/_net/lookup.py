"""Look names up in threads, few enough that one caller cannot starve another, and let
the guard judge the addresses.

``getaddrinfo`` cannot be cancelled and takes no timeout, so a name whose server is
silent blocks its thread for as long as the system waits. A page chooses the names it
links to. So each `websearch_core._net.sender.Sender` has one line for pages and another
for services, each tenant has its own part of a line, and all take turns.
"""

from __future__ import annotations
import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TypeAlias

from .._runtime.deadline import clamp
from .._runtime.scope import current_client
from .._runtime.threads import Threads, wait_for
from .._text.urls import parse_address
from ..errors import TimedOut, Unavailable
from .guard import Guard
from .system import resolve_name

Ask: TypeAlias = Callable[[], Sequence[str]]

LATE = "the name did not resolve within the time allowed"
MAX_RUNNING = 16  # look-ups of one tenant in one line
MAX_WAITING = 256  # look-ups of one tenant in one line
# for pages, shared by all their lines, and as many again for services
MAX_THREADS = 256

FOR_PAGES, FOR_SERVICES = (
    Threads("websearch-dns", MAX_THREADS, MAX_RUNNING) for _ in range(2)
)


class Line:
    """A queue of look-ups, of which a few run at a time, in *threads* that it shares
    with others.
    """

    def __init__(self, threads: Threads) -> None:
        self._threads = threads

    def look_up(self, ask: Ask, page: str = "") -> Future[Sequence[str]]:
        """Start a look-up by *ask*, which blocks, or queue it. A caller that stops
        waiting for the answer cancels it.

        *page* is the name to say in an error, if it is that of a page. Those of
        services may be internal.
        """
        client = self, current_client()
        if self._threads.count_waiting(client) >= MAX_WAITING:
            raise Unavailable("too many host names are being looked up")
        return self._threads.submit(client, lambda: _answer(ask, page))


def _answer(ask: Ask, page: str) -> Sequence[str]:
    try:
        return ask()
    except (OSError, UnicodeError) as error:
        name = f"the host name {page}" if page else "the host name"
        failure = Unavailable(f"{name} does not resolve")
        failure.temporary = False
        raise failure from error


def resolve(
    line: Line, guard: Guard | None, host: str, port: int, timeout: float | None = None
) -> list[str]:
    """Resolve *host* in the queue *line*, and let *guard* judge its addresses; None
    allows all of them.

    That takes at most *timeout* seconds; the deadline limits it, too.
    """
    waiting = start_lookup(line, guard, host, port)
    try:
        return _judge(guard, host, port, wait_for(waiting, clamp(timeout), LATE))
    finally:
        waiting.cancel()  # unless it is there


async def aresolve(line: Line, guard: Guard | None, host: str, port: int) -> list[str]:
    """Do the same as `resolve` off the event loop, where cancellation enforces the
    deadline.
    """
    try:
        lookup = start_lookup(line, guard, host, port)
        addresses = await asyncio.wrap_future(lookup)
    except TimeoutError as error:
        raise TimedOut(LATE) from error
    return _judge(guard, host, port, addresses)


def start_lookup(
    line: Line, guard: Guard | None, host: str, port: int
) -> Future[Sequence[str]]:
    """Start the look-up of *host*; an address needs none."""
    if parse_address(host):
        answer: Future[Sequence[str]] = Future()
        answer.set_result([host])
        return answer
    if guard is None:
        return line.look_up(partial(resolve_name, host, port))
    return line.look_up(partial(guard.resolve, host, port), host)


def _judge(
    guard: Guard | None, host: str, port: int, addresses: Sequence[str]
) -> list[str]:
    if guard is None:
        return list(addresses)
    return guard.judge(host, port, addresses)
