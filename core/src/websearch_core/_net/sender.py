"""
Send requests: the only module that knows the HTTP libraries.

Two kinds of request leave here. Those to a *service* go where the operator configured, with a key, through the
proxies of the environment. Those for a *page* go where a model or a stranger pointed: guarded, over HTTP/1.1, without
proxy, cookies or credentials. Neither follows redirects, neither outlasts `websearch_core._deadline.time_limit`, and
neither keeps more of a body than asked for. Works with ``httpx`` and with ``httpx2``, its maintained continuation.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import ssl
import sys
import threading
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from importlib.metadata import version
from typing import Any, Literal
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from .._deadline import clamp, in_time, time_left, timeout_left
from .._redaction import keys_in, redact_response, without_keys
from .._urls import locate
from ..errors import BadResponse, ConfigurationError, TimedOut, Unavailable, UnsafeURL, WebSearchError
from ..flow import Request, Response
from .backend import AsyncGuardedBackend, GuardedBackend
from .body import OFFERED, BoundedBody
from .guard import Guard
from .lookup import FOR_PAGES, FOR_SERVICES, Line
from .resolve import aresolve, resolve

Library = Literal["httpx", "httpx2"]

_IN_FLIGHT = (
    100  # pages, and as many to services, at once and per event loop; a pool that has to queue requests becomes slow
)
_MAX_HEADERS = 256  # the block of headers itself is capped at 100 KiB by h11
_ASIDE = "websearch_location"
_LOGGERS = (  # a filter of a logger does not see what the loggers below it say
    *("httpx", "httpx2"),
    *(f"httpcore.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")),
    *(f"httpcore2.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")),
)


class Sender:
    """
    Sends requests, blocking or on any event loop, and pools connections for each.

    Args:
        guard: The policy for pages.
        connect_timeout: Seconds to wait for a connection.
        client: The caller's own ``Client``, for services; pages never go through it.
        async_client: The caller's own ``AsyncClient``; it belongs to one event loop.
        verify: Which certificates to trust; those that the HTTP library trusts if left out.
        library: Which HTTP library to use.

    """

    def __init__(
        self,
        guard: Guard,
        *,
        connect_timeout: float = 10.0,
        client: Any = None,
        async_client: Any = None,
        verify: ssl.SSLContext | None = None,
        library: Library = "httpx",
    ) -> None:
        self.guard = guard
        self._connect_timeout = connect_timeout
        self._new = partial(_make_client, library, verify)
        self._own_client, self._own_async_client = client, async_client
        self._start()

    def _start(self) -> None:
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(_discretion)
        self._lock = threading.Lock()
        self._clients: dict[bool, Any] = {}
        self._end = weakref.finalize(self, _close, self._clients)  # nobody has to close anything
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopClients] = WeakKeyDictionary()
        self._lines = {True: Line(FOR_PAGES), False: Line(FOR_SERVICES)}

    def __getstate__(self) -> dict[str, Any]:
        if self._own_client or self._own_async_client:
            raise TypeError("a WebSearch with an HTTP client of the caller's own cannot be copied or pickled")
        alive = {"_lock", "_clients", "_end", "_loops", "_lines"}
        return {name: value for name, value in self.__dict__.items() if name not in alive}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()

    def send(self, request: Request) -> Response:
        """
        Send *request* and read the answer.

        Raises:
            UnsafeURL: The guard forbids it.
            ServiceError: No answer, not in time, or not a well-formed one.

        """
        client = self._client(request.guarded)
        if client is self._own_client:  # its sockets know nothing of our deadline
            return in_time(partial(self._send, client, request))
        return self._send(client, request)

    def _send(self, client: Any, request: Request) -> Response:
        with _translate_errors(request):
            if target := self._checked_target(request):
                resolve(self._lines[True], self.guard, *target, self._connect_timeout)
            reply = client.send(self._outgoing(client, request), stream=True, follow_redirects=False)
            try:
                body = _start_body(reply, request)
                if body is not None:
                    for chunk in _chunks(reply):
                        if not body.add(chunk):
                            break
                        clamp(None)  # a client of the caller's own does not look at our deadline
            finally:
                reply.close()
            return _make_response(request, reply, body)

    async def asend(self, request: Request) -> Response:
        """Do as `send` does, on the running event loop."""
        here = self._on_loop()
        with _translate_errors(request):
            async with asyncio.timeout(timeout_left()), here.places[request.guarded]:
                if target := self._checked_target(request):
                    await aresolve(self._lines[True], self.guard, *target, self._connect_timeout)
                client = await here.client(request.guarded)
                reply = await client.send(self._outgoing(client, request), stream=True, follow_redirects=False)
                try:
                    body = _start_body(reply, request)
                    if body is not None:
                        async for chunk in _achunks(reply):
                            if not body.add(chunk):
                                break
                finally:
                    await reply.aclose()
                return _make_response(request, reply, body)

    def close(self) -> None:
        """Close the blocking connections."""
        with self._lock:
            _close(self._clients)

    async def aclose(self) -> None:
        """Close the blocking connections, and those of the running event loop."""
        self.close()
        with self._lock:
            here = self._loops.pop(asyncio.get_running_loop(), None)
        if here is not None:
            await here.aclose()

    def _client(self, guarded: bool) -> Any:
        if self._own_client is not None and not guarded:
            return self._own_client
        with self._lock:
            if guarded not in self._clients:
                self._clients[guarded] = self._new("Client", self.guard if guarded else None, self._lines[guarded])
            return self._clients[guarded]

    def _on_loop(self) -> _LoopClients:
        loop = asyncio.get_running_loop()
        with self._lock:
            for gone in [other for other in self._loops if other.is_closed()]:
                del self._loops[gone]
            if loop not in self._loops:
                self._loops[loop] = _LoopClients(self._new, self.guard, self._lines, self._own_async_client)
            return self._loops[loop]

    def _checked_target(self, request: Request) -> tuple[str, int] | None:
        """Read the URL of the page that a service is to open; return host and port if they are to be judged, too."""
        if request.target is None:
            return None
        here = locate(self.guard.check(request.target))
        return here if request.judge_target else None

    def _outgoing(self, client: Any, request: Request) -> Any:
        url = self.guard.check(request.url) if request.guarded else request.url
        clamp(None)
        wait = timeout_left()
        return client.build_request(
            request.method,
            url,
            params=dict(request.params) or None,
            headers={"User-Agent": user_agent(), **request.headers, "Accept-Encoding": OFFERED},
            json=request.json,
            data=request.form,
            timeout=(min(self._connect_timeout, time_left()), wait, wait, wait),
        )


class _LoopClients:
    """What belongs to one event loop. It ends with the loop: an async generator is closed when its loop shuts down."""

    def __init__(
        self, new: Callable[[str, Guard | None, Line], Any], guard: Guard, lines: dict[bool, Line], own: Any
    ) -> None:
        self.places = {guarded: asyncio.Semaphore(_IN_FLIGHT) for guarded in lines}  # pages do not hold up services
        self._new, self._guard, self._lines, self._own = new, guard, lines, own
        self._lives: dict[bool, AsyncGenerator[Any, None]] = {}
        self._clients: dict[bool, Any] = {}

    async def client(self, guarded: bool) -> Any:
        if self._own is not None and not guarded:
            return self._own
        if guarded not in self._clients:
            self._lives[guarded] = life = self._life(guarded)
            self._clients[guarded] = await anext(life)
        return self._clients[guarded]

    async def _life(self, guarded: bool) -> AsyncGenerator[Any, None]:
        client = self._new("AsyncClient", self._guard if guarded else None, self._lines[guarded])
        try:
            yield client
        finally:
            await client.aclose()

    async def aclose(self) -> None:
        for life in self._lives.values():
            await life.aclose()


def _close(clients: dict[bool, Any]) -> None:
    while clients:
        clients.popitem()[1].close()


@cache
def user_agent() -> str:
    """Return what we call ourselves."""
    return f"websearch-core/{version('websearch-core')}"


def _make_client(library: Library, verify: ssl.SSLContext | None, kind: str, guard: Guard | None, line: Line) -> Any:
    """Make a client whose connections are opened by us: judged for pages, bounded in time for all."""
    http = importlib.import_module(library)
    client = getattr(http, kind)(
        trust_env=guard is None,  # neither proxies nor certificates of the environment decide where pages come from
        verify=verify or http.create_ssl_context(trust_env=guard is None),
        limits=http.Limits(max_connections=_IN_FLIGHT, max_keepalive_connections=20, keepalive_expiry=30),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        event_hooks={"response": [_ahide_location if kind == "AsyncClient" else _hide_location]},
    )
    wrap = AsyncGuardedBackend if kind == "AsyncClient" else GuardedBackend
    for transport in (client._transport, *client._mounts.values()):
        if transport is not None:  # what NO_PROXY exempts
            pool = transport._pool  # httpx has no public way to set this; tests/core/test_http.py pins it
            pool._network_backend = wrap(pool._network_backend, guard, line)
    return client


def _hide_location(reply: Any) -> None:
    """Keep where a redirect leads from the HTTP library, which reads it even if told not to follow, and may stumble."""
    if not 300 <= reply.status_code < 400:
        return
    reply.extensions[_ASIDE] = [value for name, value in reply.headers.raw if name.lower() == b"location"]
    reply.headers.pop("location", None)


async def _ahide_location(reply: Any) -> None:
    _hide_location(reply)


def _start_body(reply: Any, request: Request) -> BoundedBody | None:
    """Look at the head of an answer; None if its body is not worth reading."""
    if len(reply.headers.raw) > _MAX_HEADERS:
        raise BadResponse(f"the answer has more than {_MAX_HEADERS} headers", status=reply.status_code)
    if 300 <= reply.status_code < 400:  # a redirect's body can be endless, and says nothing
        return None
    if reply.is_stream_consumed:  # by a transport that holds whole answers, such as a mock; decoded already
        return BoundedBody("", request.max_bytes)
    return BoundedBody(reply.headers.get("content-encoding", ""), request.max_bytes)


def _chunks(reply: Any) -> Iterator[bytes]:
    return iter([reply.content]) if reply.is_stream_consumed else reply.iter_raw()


async def _achunks(reply: Any) -> AsyncIterator[bytes]:
    if reply.is_stream_consumed:
        yield reply.content
    else:
        async for chunk in reply.aiter_raw():
            yield chunk


def _make_response(request: Request, reply: Any, body: BoundedBody | None) -> Response:
    headers: dict[str, str] = {}
    for raw_name, raw_value in [*reply.headers.raw, *((b"location", to) for to in reply.extensions.get(_ASIDE, ()))]:
        name, value = raw_name.decode("latin-1").lower(), _decode_header(raw_value)
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    response = Response(
        status=reply.status_code,
        url=request.url,
        headers=headers,
        content=bytes(body) if body else b"",
        truncated=body.truncated if body else False,
    )
    return redact_response(response, request)


def _decode_header(value: bytes) -> str:
    """Headers are ASCII by the book, and UTF-8 where they are not."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


@contextmanager
def _translate_errors(request: Request) -> Iterator[None]:
    """Raise our errors instead of the HTTP library's, whose texts may hold URLs and internal addresses."""
    place = "the page's server" if request.guarded else "the service"
    late = f"no answer from {place} within the time allowed"
    sending = _sending.set(request)
    try:
        with _disarmed(request):
            yield
    except WebSearchError:
        raise
    except TimeoutError as error:
        raise TimedOut(late) from error
    except _error_types("TimeoutException") as error:
        raise TimedOut(late) from error
    except _error_types("LocalProtocolError", "UnsupportedProtocol", "InvalidURL") as error:
        if request.guarded:  # a page may have chosen the URL
            raise UnsafeURL("the URL is not one that a request can be sent to") from error
        raise ConfigurationError(f"{urlsplit(request.url).netloc!r} is not where a request can be sent") from error
    except _error_types("ConnectError") as error:
        reason = _root_cause(error)
        failure = Unavailable(f"cannot connect to {place}{_describe_cause(reason)}")
        failure.temporary = not isinstance(reason, ssl.SSLError)
        raise failure from error
    except UnicodeError as error:  # a client of the caller's own has read where a redirect leads, and stumbled
        raise BadResponse(f"{place} redirects to what is no URL") from error
    except _error_types("HTTPError", "StreamError") as error:
        raise Unavailable(f"{place} broke off its answer") from error
    finally:
        _sending.reset(sending)


@contextmanager
def _disarmed(request: Request) -> Iterator[None]:
    """Take the request and its keys out of whatever is raised: our errors are chained to those of the HTTP library."""
    try:
        yield
    except Exception as error:
        keys = keys_in(request.headers)
        for one in _chain(error):
            for name, value in vars(one).items():
                if isinstance(value, _error_types("Request", "Response")):
                    vars(one)[name] = None
            if any(isinstance(arg, str) and without_keys(arg, keys) != arg for arg in one.args):
                one.args = tuple(without_keys(arg, keys) if isinstance(arg, str) else arg for arg in one.args)
        raise


def _chain(error: BaseException) -> list[BaseException]:
    """Return *error* and all that it was raised from, or while handling."""
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and not any(one is other for other in found):
            found.append(one)
            waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
    return found


class _Discretion(logging.Filter):
    """
    Keeps what was searched for, and keys that a service repeats, out of the logs of the HTTP library.

    They have the whole URL of every request and, for debugging, the headers of every answer.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        request = _sending.get()
        if request is None:
            return True
        if isinstance(record.args, tuple):
            args: tuple[Any, ...] = record.args
            record.args = tuple(arg.copy_with(query=None) if hasattr(arg, "copy_with") else arg for arg in args)
        message = record.getMessage()
        discreet = without_keys(message, keys_in(request.headers))
        if discreet != message:
            record.msg, record.args = discreet, ()
        return True


_sending: ContextVar[Request | None] = ContextVar("websearch_request", default=None)
_discretion = _Discretion()


def _error_types(*names: str) -> tuple[type[Exception], ...]:
    """The exceptions of every HTTP library that is loaded: a client of the caller's own may be of the other one."""
    loaded = [sys.modules[name] for name in ("httpx", "httpx2") if name in sys.modules]
    return tuple(getattr(library, name) for library in loaded for name in names)


def _root_cause(error: BaseException | None) -> OSError | None:
    """What the operating system or TLS said, at the root of an error of an HTTP library."""
    while error is not None and not (isinstance(error, OSError) and error.strerror):
        error = error.__cause__ or error.__context__
    return error


def _describe_cause(reason: OSError | None) -> str:
    """Without addresses and names, which may be internal ones."""
    if reason is None:
        return ""
    return f": {reason.reason if isinstance(reason, ssl.SSLError) else os.strerror(reason.errno or 0)}"
