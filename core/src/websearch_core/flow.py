"""
Conversations with the world, written without touching it.

A provider builds a request and understands a response. Some need a second page, a token, a pause: one or more
exchanges, for which Python's word is a generator. A *flow* yields what it wants done and gets the answer back::

    def search(self, query):
        response = yield Request(url="https://api.example/search", params={"q": query.text})
        return parse(response)

There are four things a flow may ask for: `Request`, `Sleep`, `Call` and `Gather`. Everything else (retrying, falling
back, following redirects, polling) is ordinary Python around a ``yield``. The two drivers below, `run` and `arun`,
are the only code that knows whether the world is blocking or asynchronous, so nothing above them is written twice.
In a test, `websearch_core.testing.play` is the world.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import os
import time
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias, TypeVar, cast

from ._bugs import as_error
from ._deadline import in_time, time_left
from .errors import TimedOut, WebSearchError

__all__ = [
    "AsyncSend",
    "Call",
    "Effect",
    "Flow",
    "Gather",
    "Request",
    "Response",
    "Send",
    "Sleep",
    "arun",
    "run",
]

_T = TypeVar("_T")

_MAX_THREADS = 32  # for what blocks; most of them wait for a process that parses


@dataclass(frozen=True, kw_only=True)
class Request:
    """
    An HTTP request that somebody else will send.

    Args:
        url: Absolute URL. Never holds a key.
        method: The HTTP method.
        params: Appended to the URL as its query string.
        headers: Not part of the repr, since keys travel here, under a name that says so (``Authorization``,
            ``X-Api-Key``, ``...-Token``). Should the service repeat one of these, it is taken out of the response.
        json: A body to send as JSON.
        form: A body to send as an HTML form.
        max_bytes: How much of the decoded body to keep; what is beyond is cut and flagged.
        guarded: True for a page of the open web: only public addresses, no proxy, no cookies, no credentials.
        target: The page that a service is asked to open for us; the guard has to find its URL harmless.
        judge_target: True if that service may stand inside this network, where internal names lead somewhere: the
            target's name is then resolved here and its addresses judged, before anything is sent.

    """

    url: str
    method: str = "GET"
    params: Mapping[str, str | int] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    json: Any = None
    form: Mapping[str, str] | None = None
    max_bytes: int = 10 * 2**20
    guarded: bool = False
    target: str | None = None
    judge_target: bool = False


@dataclass(frozen=True, kw_only=True)
class Response:
    """
    An HTTP response that somebody else has received.

    Args:
        status: The HTTP status.
        url: Where it came from, without what `Request.params` added.
        headers: Names in lower case.
        content: The body, decompressed; empty for a redirect, whose body is never read.
        truncated: True if the body is known to be longer than *content*.

    """

    status: int
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    truncated: bool = False

    def json(self) -> Any:
        """Return the body as JSON; raises ValueError if it is not."""
        return json.loads(self.content)


@dataclass(frozen=True)
class Sleep:
    """A pause, in seconds."""

    seconds: float


class Call:
    """
    A function to be run off the event loop if it blocks, or awaited if it is asynchronous.

    For what is no HTTP: parsing a large page, a database, a browser, a vendor's SDK.
    """

    def __init__(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        self.function: Callable[..., Any] = function
        self.args: tuple[Any, ...] = args
        self.kwargs: dict[str, Any] = kwargs

    def __repr__(self) -> str:
        return f"Call({getattr(self.function, '__qualname__', self.function)!s})"

    def __call__(self) -> Any:
        """Do it, here and now."""
        return self.function(*self.args, **self.kwargs)


@dataclass(frozen=True)
class Gather:
    """
    Several flows to run side by side, *limit* at a time; answers in order, each a result or a `WebSearchError`.

    A bug in one of them costs the others nothing: it is answered with a `BadResponse` whose cause it is.
    """

    flows: Sequence[Flow[Any]]
    limit: int = 8


Effect: TypeAlias = Request | Sleep | Call | Gather
Flow: TypeAlias = Generator[Effect, Any, _T]
Send: TypeAlias = Callable[[Request], Response]
AsyncSend: TypeAlias = Callable[[Request], Awaitable[Response]]


def run(flow: Flow[_T], send: Send) -> _T:
    """Drive *flow* to its end, blocking. What fails while doing its wishes is raised inside it."""
    try:
        effect = next(flow)
        while True:
            try:
                answer = _perform(effect, send)
            except Exception as error:  # noqa: BLE001 - it is raised again, inside the flow
                effect = flow.throw(error)
            else:
                effect = flow.send(answer)
    except StopIteration as stop:
        return cast("_T", stop.value)
    finally:
        flow.close()


async def arun(flow: Flow[_T], send: AsyncSend) -> _T:
    """Drive *flow* to its end, on asyncio. Cancelling leaves nothing running."""
    try:
        effect = next(flow)
        while True:
            try:
                answer = await _aperform(effect, send)
            except Exception as error:  # noqa: BLE001 - it is raised again, inside the flow
                effect = flow.throw(error)
            else:
                effect = flow.send(answer)
    except StopIteration as stop:
        return cast("_T", stop.value)
    finally:
        flow.close()


def _perform(effect: Effect, send: Send) -> Any:
    match effect:
        case Request():
            return send(effect)
        case Sleep(seconds):
            return time.sleep(_affordable(seconds))
        case Call():
            if inspect.iscoroutinefunction(effect.function):
                return _finish(effect())
            return in_time(effect)
        case Gather(flows, limit):

            def one(flow: Flow[Any]) -> Any:
                try:
                    return run(flow, send)
                except WebSearchError as error:
                    return error
                except Exception as bug:  # noqa: BLE001 - logged, and answered as an error
                    return as_error(bug, "one of several")

            with ThreadPoolExecutor(min(limit, len(flows)) or 1) as threads:
                return list(threads.map(lambda job: job[0].run(one, job[1]), [(copy_context(), f) for f in flows]))
        case _:
            raise _no_effect(effect)


async def _aperform(effect: Effect, send: AsyncSend) -> Any:
    match effect:
        case Request():
            return await send(effect)
        case Sleep(seconds):
            return await asyncio.sleep(_affordable(seconds))
        case Call():
            if inspect.iscoroutinefunction(effect.function):
                return await _in_time(effect())
            return await _in_time(asyncio.wrap_future(_threads().submit(copy_context().run, effect)))
        case Gather(flows, limit):
            places = asyncio.Semaphore(limit)

            async def one(flow: Flow[Any]) -> Any:
                async with places:
                    try:
                        return await arun(flow, send)
                    except WebSearchError as error:
                        return error
                    except Exception as bug:  # noqa: BLE001 - logged, and answered as an error
                        return as_error(bug, "one of several")

            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(flow)) for flow in flows]
            return [task.result() for task in tasks]
        case _:
            raise _no_effect(effect)


@cache
def _threads() -> ThreadPoolExecutor:
    """Return threads of our own: parsing must not hold up the application's `asyncio.to_thread`."""
    return ThreadPoolExecutor(_MAX_THREADS, "websearch-work")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)  # a child has none of its parent's threads


def _no_effect(effect: object) -> TypeError:
    return TypeError(
        f"a flow may ask for a Request, Sleep, Call or Gather, not for {effect!r}; search and read of a provider are "
        "generators, and websearch_core.provider.from_function makes one of a function that returns its answer"
    )


def _affordable(seconds: float) -> float:
    """A pause that outlasts the deadline is not begun."""
    if seconds > time_left():
        raise TimedOut(f"a pause of {seconds:.1f} s does not fit the time that is left")
    return seconds


async def _in_time(work: Awaitable[_T]) -> _T:
    limit = asyncio.timeout(time_left() if time_left() < math.inf else None)
    try:
        async with limit:
            return await work
    except TimeoutError as error:
        if not limit.expired():  # somebody else's timeout
            raise
        raise TimedOut("no answer within the time allowed") from error


def _finish(work: Awaitable[_T]) -> _T:
    """Await *work* from blocking code, on a loop of its own in a thread of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(copy_context().run, asyncio.run, _in_time(work)).result()
