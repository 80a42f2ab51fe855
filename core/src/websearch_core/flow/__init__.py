"""Conversations with services, written as generators that do no I/O.

A provider builds a request and parses a response. Some also need a second page, a token
or a pause. Such a series of exchanges is a generator: a *flow* yields what it wants
done and gets the answer back::

    def search(self, query):
        response = yield Request(url="https://api.example", params={"q": query.text})
        return parse(response)

A flow may yield six effects: `Request`, `Sleep`, `Call`, `Gather`, `Share` and `Hedge`.
Everything else (retries, fallback, redirects, polling) is ordinary Python around a
``yield``. Only the two drivers below, `run` and `arun`, know whether a call is blocking
or asynchronous, so nothing above them is written twice. In tests,
`websearch_core.testing.play` drives.
"""

from __future__ import annotations
import asyncio
import inspect
import json
import math
import re
import time
from collections.abc import Awaitable, Callable, Generator, Hashable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self, TypeAlias, TypeVar, cast

from .._runtime.bugs import as_error
from .._runtime.deadline import time_left
from .._runtime.scope import current_call
from .._runtime.threads import in_thread, in_time
from .._text.media_types import parse_media_type
from .._text.rates import RateLimit, parse_rate_limits
from ..errors import TimedOut, WebSearchError
from ._branches import ahedge, check_branch, gather, hedge, wait_for
from ._flights import Flights, SharedAnswer

__all__ = [
    "AsyncSend", "Call", "Effect", "Flow", "Gather", "Hedge", "Request", "Response",
    "Send", "Share", "SharedAnswer",
    "Sleep", "Transport", "arun", "run",
]  # fmt: skip

_T = TypeVar("_T")

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")  # as JSON escapes it


@dataclass(frozen=True, kw_only=True)
class Request:
    """An HTTP request, for a driver to send.

    Args:
        url: Absolute URL. It never contains a key.
        method: The HTTP method.
        params: Appended to the URL as its query string.
        secret_params: Appended too, but treated like a key in a header: left out of the
            repr, the logs and the errors. Only for services that accept their key
            nowhere else.
        headers: Left out of the repr, since keys travel here, under a name that says so
            (``Authorization``, ``X-Api-Key``, ``...-Token``). A key that the service
            repeats is removed from the response.
        json: A body to send as JSON.
        form: A body to send as an HTML form.
        max_bytes: Maximum length of the decoded body; a longer one is cut and flagged.
        guarded: True for a page of the open web: only public addresses, no proxy, no
            cookies, no credentials.
        target: The URL of the page that the service should open for us, or several; the
            guard checks them.
        judge_target: True if that service may be inside this network, where internal
            names resolve: the name in ``target`` is then resolved here and its
            addresses judged, before anything is sent.
        crawl_delay: Seconds that the host of the page asks for between two requests.
            `websearch_core.layers.Robots` sets it, and `websearch_core.layers.Throttle`
            waits.
        transport: Gets a guarded page in another way than over our own connection, such
            as with a browser. It is called with the request, the guard and the queue
            for look-ups.
    """

    url: str
    method: str = "GET"
    params: Mapping[str, str | int] = field(default_factory=dict)
    secret_params: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    json: Any = None
    form: Mapping[str, str] | None = None
    max_bytes: int = 10 * 2**20
    guarded: bool = False
    target: str | tuple[str, ...] | None = None
    judge_target: bool = False
    crawl_delay: float = 0.0
    transport: Transport | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Response:
    """An HTTP response, received by a driver.

    Args:
        status: The HTTP status.
        url: The URL of the request, without `Request.params`.
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
        """Return the body parsed as JSON; half of a surrogate pair becomes U+FFFD,
        since no encoding has it.

        Raises:
            ValueError: It is not JSON.
        """
        value = json.loads(self.content)
        return _repair(value) if _SURROGATE.search(self.content) else value

    @property
    def media_type(self) -> str:
        """The media type that the header ``Content-Type`` names, in lower case; empty
        if it names none.
        """
        return parse_media_type(self.headers.get("content-type"))

    @property
    def rate_limits(self) -> tuple[RateLimit, ...]:
        """The rate limits that the headers state, shortest window first; empty if they
        state none.
        """
        return parse_rate_limits(self.headers)


def _repair(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_repair(item) for item in value]
    if isinstance(value, dict):
        return {_repair(name): _repair(item) for name, item in value.items()}
    return value


@dataclass(frozen=True)
class Sleep:
    """A pause, in seconds."""

    seconds: float


class Call:
    """A function to run off the event loop if it blocks, or to await if it is
    asynchronous.

    For anything that is not HTTP: parsing a large page, a database, a browser, a
    vendor's SDK.
    """

    _asynchronous: Callable[[], Awaitable[Any]] | None = None

    def __init__(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        self.function: Callable[..., Any] = function
        self.args: tuple[Any, ...] = args
        self.kwargs: dict[str, Any] = kwargs

    @classmethod
    def either(
        cls,
        blocking: Callable[[], Any],
        asynchronous: Callable[[], Awaitable[Any]] | None,
    ) -> Self:
        """Return a call of *blocking* in blocking code, and of *asynchronous*, if there
        is one, on an event loop.
        """
        call = cls(blocking)
        call._asynchronous = asynchronous
        return call

    def __repr__(self) -> str:
        return f"Call({getattr(self.function, '__qualname__', self.function)!s})"

    def __call__(self) -> Any:
        """Call the function, in this thread."""
        return self.function(*self.args, **self.kwargs)


@dataclass(frozen=True)
class Gather:
    """Several flows to run concurrently, *limit* at a time; the answers are in order,
    each a result or a `WebSearchError`.

    A bug in one of them does not affect the others: its answer is a `BadResponse` with
    the bug as its cause.
    """

    flows: Sequence[Flow[Any]]
    limit: int = 8


@dataclass(frozen=True)
class Share:
    """A flow to run only once for all who want it at the same time; the answer is a
    `SharedAnswer`, or the error.

    Args:
        flights: Where to look for one that is under way.
        key: What makes two flows the same.
        make: Returns the flow; called again if the callers that it began with had less
            time than those who joined.
    """

    flights: Flights
    key: Hashable
    make: Callable[[], Flow[Any]]

    def wrap(self, layer: Callable[[Flow[Any]], Flow[Any]]) -> Share:
        """Return the same with *layer* around the flow."""
        return replace(self, make=lambda: layer(self.make()))


@dataclass(frozen=True)
class Hedge:
    """Two flows; the second begins only if the first is late, and the first answer ends
    the other flow.

    The answer is a pair: how each ended. That is its result, its `WebSearchError`, or
    None if it never began or was ended. Both errors are in it only if both failed. A
    flow that is ended is closed, as if its call was cancelled.

    Args:
        first: The flow to begin with.
        make_second: Called after that time; returns the other flow, or None for none.
        after: Seconds after which the first is late.
    """

    first: Flow[Any]
    make_second: Callable[[], Flow[Any] | None]
    after: float

    def wrap(self, layer: Callable[[Flow[Any]], Flow[Any]]) -> Hedge:
        """Return the same with *layer* around both flows."""
        return Hedge(
            layer(self.first),
            partial(_begin_second, self.make_second, layer),
            self.after,
        )


def _begin_second(
    make: Callable[[], Flow[Any] | None], begin: Callable[[Flow[Any]], _T]
) -> _T | None:
    second = make()
    return None if second is None else begin(second)


Effect: TypeAlias = Request | Sleep | Call | Gather | Share | Hedge
Flow: TypeAlias = Generator[Effect, Any, _T]
Send: TypeAlias = Callable[[Request], Response]
AsyncSend: TypeAlias = Callable[[Request], Awaitable[Response]]
Transport: TypeAlias = Callable[..., Future[Response]]


def run(flow: Flow[_T], send: Send) -> _T:
    """Run *flow* to its end, blocking. Errors from an effect are raised inside the
    flow.
    """
    try:
        effect = next(flow)
        while True:
            try:
                answer = _perform(effect, send)
            except Exception as error:  # noqa: BLE001 - raised again, inside the flow
                effect = flow.throw(error)
            else:
                effect = flow.send(answer)
    except StopIteration as stop:
        return cast("_T", stop.value)
    finally:
        flow.close()


async def arun(flow: Flow[_T], send: AsyncSend) -> _T:
    """Run *flow* to its end on asyncio. Errors are raised as in `run`; cancelling
    leaves nothing running.
    """
    try:
        effect = next(flow)
        while True:
            try:
                answer = await _aperform(effect, send)
            except Exception as error:  # noqa: BLE001 - raised again, inside the flow
                effect = flow.throw(error)
            else:
                effect = flow.send(answer)
    except StopIteration as stop:
        return cast("_T", stop.value)
    finally:
        flow.close()


def _perform(effect: Effect, send: Send) -> Any:
    check_branch()
    match effect:
        case Request():
            try:
                return send(effect)
            finally:
                check_branch()
        case Sleep(seconds):
            return time.sleep(_check_pause(seconds))
        case Call():
            if inspect.iscoroutinefunction(effect.function):
                return _run_async(effect())
            return in_time(effect)
        case Gather(flows, limit):
            return gather(
                [partial(run, _catch_error(flow), send) for flow in flows], limit
            )
        case Share(flights, key, make):
            return flights.share(key, lambda: run(make(), send))
        case Hedge(first, make_second, after):
            begin = partial(
                _begin_second, make_second, lambda flow: partial(run, flow, send)
            )
            return hedge(partial(run, first, send), begin, after)
        case _:
            raise _make_effect_error(effect)


async def _aperform(effect: Effect, send: AsyncSend) -> Any:
    match effect:
        case Request():
            return await send(effect)
        case Sleep(seconds):
            return await asyncio.sleep(_check_pause(seconds))
        case Call():
            asynchronous = effect._asynchronous  # noqa: SLF001 - its driver is here
            if asynchronous is not None:
                return await _in_time(asynchronous())
            if inspect.iscoroutinefunction(effect.function):
                return await _in_time(effect())
            return await _in_time(in_thread(effect))
        case Gather(flows, limit):
            slots = asyncio.Semaphore(limit)

            async def one(flow: Flow[Any]) -> Any:
                async with slots:
                    return await arun(_catch_error(flow), send)

            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(flow)) for flow in flows]
            return [task.result() for task in tasks]
        case Share(flights, key, make):
            return await flights.ashare(key, lambda: arun(make(), send))
        case Hedge(first, make_second, after):
            begin = partial(
                _begin_second, make_second, lambda flow: partial(arun, flow, send)
            )
            return await ahedge(partial(arun, first, send), begin, after)
        case _:
            raise _make_effect_error(effect)


def _catch_error(flow: Flow[_T]) -> Flow[_T | WebSearchError]:
    """Return what *flow* does, or its error."""
    try:
        return (yield from flow)
    except WebSearchError as error:
        return error
    except Exception as bug:  # noqa: BLE001 - logged, and returned as an error
        return as_error(bug, "one of several")


def _make_effect_error(effect: object) -> TypeError:
    return TypeError(
        "a flow may ask for a Request, Sleep, Call, Gather, Share or Hedge, not for "
        f"a value of type {type(effect).__name__}"
    )


def _check_pause(seconds: float) -> float:
    """Return *seconds*, or raise `TimedOut` now if the pause would outlast the
    deadline.
    """
    if seconds > time_left():
        raise TimedOut(f"a pause of {seconds:.1f} s is longer than the time left")
    return seconds


async def _in_time(work: Awaitable[_T]) -> _T:
    left = time_left()
    limit = asyncio.timeout(delay=left if left < math.inf else None)
    try:
        async with limit:
            return await work
    except TimeoutError as error:
        if not limit.expired():  # a timeout inside the work
            raise
        raise TimedOut("no answer within the time allowed") from error


def _run_async(work: Awaitable[_T]) -> _T:
    """Await *work* from blocking code, on a new loop in a new thread."""

    def work_here() -> _T:
        with asyncio.Runner() as runner:
            loop = runner.get_loop()
            task = loop.create_task(_in_time(work))
            branch = current_call().branch
            assert branch is not None
            with branch.interruptible(lambda: loop.call_soon_threadsafe(task.cancel)):
                return loop.run_until_complete(task)

    return cast("_T", wait_for(work_here))
