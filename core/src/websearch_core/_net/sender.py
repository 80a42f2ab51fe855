"""
Send requests: the only module that knows the HTTP libraries.

There are two kinds of request. Those to a *service* go where the operator configured, with a key, through the proxies
of the environment. Those for a *page* go where a model or a stranger points: guarded, over HTTP/1.1, without proxy,
cookies or credentials. Neither kind follows redirects, outlasts `websearch_core._deadline.time_limit`, or keeps more of
a body than requested. Works with ``httpx`` and with ``httpx2``, its maintained continuation.
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
from .._forks import start_over_after_fork
from .._redaction import keys_in, redact_response, without_keys
from .._threads import in_thread
from .._urls import locate
from ..errors import BadResponse, ConfigurationError, TimedOut, Unavailable, UnsafeURL, WebSearchError
from ..flow import Request, Response
from .backend import AsyncGuardedBackend, GuardedBackend
from .body import OFFERED, BoundedBody
from .guard import Guard
from .lookup import FOR_PAGES, FOR_SERVICES, Line
from .resolve import aresolve, resolve

Library = Literal["httpx", "httpx2"]

# Requests for pages, and as many to services, per event loop. A pool that has to queue requests becomes slow.
_MAX_CONCURRENT = 100
_MAX_HEADERS = 256  # h11 limits the header block to 100 KiB
_HIDDEN_LOCATION = "websearch_location"
_of_parents: list[object] = []  # in a forked process; collecting them would disturb the parent
_LOGGERS = (  # a logger's filter does not see the records of its child loggers
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
        client: The caller's own ``Client`` for services; pages never go through it.
        async_client: The caller's own ``AsyncClient``; it belongs to one event loop.
        verify: Which certificates to trust; by default, those of the HTTP library.
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
            logging.getLogger(name).addFilter(_log_redaction)
        self._lines = {True: Line(FOR_PAGES), False: Line(FOR_SERVICES)}
        self._open()
        start_over_after_fork(self)

    def _open(self) -> None:
        self._lock = threading.Lock()
        self._clients: dict[bool, Any] = {}
        self._end = weakref.finalize(self, _close, self._clients)  # closing is optional
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopClients] = WeakKeyDictionary()

    def start_over(self) -> None:
        """Leave the connections to the parent process, without closing them."""
        self._end.detach()
        _of_parents.append((self._clients, dict(self._loops)))
        self._open()

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
            UnsafeURL: The guard forbids the URL.
            ServiceError: There was no answer, or it was late or malformed.

        """
        client = self._client(request.guarded)
        if client is self._own_client:  # its sockets do not know our deadline
            return in_time(partial(self._send, client, request))
        return self._send(client, request)

    def _send(self, client: Any, request: Request) -> Response:
        with _translate_errors(request):
            for target in self._check_targets(request):
                resolve(self._lines[True], self.guard, *target, self._connect_timeout)
            reply = client.send(self._build_request(client, request), stream=True, follow_redirects=False)
            try:
                body = _start_body(reply, request)
                if body is not None:
                    for chunk in _iter_chunks(reply):
                        if not body.add(chunk):
                            break
                        clamp(None)  # the caller's own client does not check our deadline
            finally:
                reply.close()
            return _make_response(request, reply, body)

    async def asend(self, request: Request) -> Response:
        """Do the same as `send` on the running event loop."""
        here = self._get_loop_clients()
        with _translate_errors(request):
            async with asyncio.timeout(timeout_left()), here.slots[request.guarded]:
                for target in self._check_targets(request):
                    await aresolve(self._lines[True], self.guard, *target, self._connect_timeout)
                client = await here.client(request.guarded)
                reply = await client.send(self._build_request(client, request), stream=True, follow_redirects=False)
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
        """Close the connections of blocking calls."""
        with self._lock:
            _close(self._clients)

    async def aclose(self) -> None:
        """Close the connections of blocking calls and of the running event loop."""
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

    def _get_loop_clients(self) -> _LoopClients:
        loop = asyncio.get_running_loop()
        with self._lock:
            for closed in [other for other in self._loops if other.is_closed()]:
                del self._loops[closed]
            if loop not in self._loops:
                self._loops[loop] = _LoopClients(self._new, self.guard, self._lines, self._own_async_client)
            return self._loops[loop]

    def _check_targets(self, request: Request) -> list[tuple[str, int]]:
        """Check the URLs of pages that a service should open; return hosts and ports that must be judged, too."""
        targets = (request.target,) if isinstance(request.target, str) else request.target or ()
        places = [locate(self.guard.check(target)) for target in targets]
        return places if request.judge_target else []

    def _build_request(self, client: Any, request: Request) -> Any:
        url = self.guard.check(request.url) if request.guarded else request.url
        clamp(None)
        left = timeout_left()
        return client.build_request(
            request.method,
            url,
            params={**request.params, **request.secret_params} or None,
            headers={"User-Agent": user_agent(), **request.headers, "Accept-Encoding": OFFERED},
            json=request.json,
            data=request.form,
            timeout=(min(self._connect_timeout, time_left()), left, left, left),
        )


class _LoopClients:
    """The clients of one event loop. They close with the loop, which closes its async generators on shutdown."""

    def __init__(
        self, new: Callable[[str, Guard | None, Line], Any], guard: Guard, lines: dict[bool, Line], own: Any
    ) -> None:
        self.slots = {guarded: asyncio.Semaphore(_MAX_CONCURRENT) for guarded in lines}  # pages do not block services
        self._new, self._guard, self._lines, self._own = new, guard, lines, own
        self._lifetimes: dict[bool, AsyncGenerator[Any, None]] = {}
        self._clients: dict[bool, Any] = {}
        self._making = asyncio.Lock()

    async def client(self, guarded: bool) -> Any:
        if guarded not in self._clients:
            async with self._making:
                if guarded not in self._clients:
                    self._clients[guarded] = await self._make_client(guarded)
        return self._clients[guarded]

    async def _make_client(self, guarded: bool) -> Any:
        await in_thread(user_agent)  # it reads files the first time
        if self._own is not None and not guarded:
            return self._own
        self._lifetimes[guarded] = lifetime = self._keep_client(guarded)
        return await anext(lifetime)

    async def _keep_client(self, guarded: bool) -> AsyncGenerator[Any, None]:
        # In a thread, since it imports the HTTP library and loads certificates.
        new = partial(self._new, "AsyncClient", self._guard if guarded else None, self._lines[guarded])
        client = await in_thread(new)
        try:
            yield client
        finally:
            await client.aclose()

    async def aclose(self) -> None:
        for lifetime in self._lifetimes.values():
            await lifetime.aclose()


def _close(clients: dict[bool, Any]) -> None:
    while clients:
        clients.popitem()[1].close()


@cache
def user_agent() -> str:
    """Return the default ``User-Agent``."""
    return f"websearch-core/{version('websearch-core')}"


def _make_client(library: Library, verify: ssl.SSLContext | None, kind: str, guard: Guard | None, line: Line) -> Any:
    """Make a client that connects through our backend: judged for pages, and bounded in time for all."""
    http = importlib.import_module(library)
    client = getattr(http, kind)(
        trust_env=guard is None,  # proxies and certificates of the environment must not affect pages
        verify=verify or http.create_ssl_context(trust_env=guard is None),
        # As many are kept as there may be: beyond max_keepalive_connections httpcore closes every idle connection, even
        # one that another thread is about to use.
        limits=http.Limits(
            max_connections=_MAX_CONCURRENT, max_keepalive_connections=_MAX_CONCURRENT, keepalive_expiry=30
        ),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        event_hooks={"response": [_ahide_location if kind == "AsyncClient" else _hide_location]},
    )
    wrap = AsyncGuardedBackend if kind == "AsyncClient" else GuardedBackend
    for transport in (client._transport, *client._mounts.values()):
        if transport is not None:  # None for hosts in NO_PROXY
            pool = transport._pool  # httpx has no public way; tests/core/net/test_sender.py pins it
            pool._network_backend = wrap(pool._network_backend, guard, line)
    return client


def _hide_location(reply: Any) -> None:
    """Hide the Location header: httpx parses it even with redirects off, and fails on bad ones."""
    if not 300 <= reply.status_code < 400:
        return
    reply.extensions[_HIDDEN_LOCATION] = [value for name, value in reply.headers.raw if name.lower() == b"location"]
    reply.headers.pop("location", None)


async def _ahide_location(reply: Any) -> None:
    _hide_location(reply)


def _start_body(reply: Any, request: Request) -> BoundedBody | None:
    """Check the head of an answer; return None if its body should not be read."""
    if len(reply.headers.raw) > _MAX_HEADERS:
        raise BadResponse(f"the answer has more than {_MAX_HEADERS} headers", status=reply.status_code)
    if 300 <= reply.status_code < 400:  # a redirect's body is useless, and can be endless
        return None
    if reply.is_stream_consumed:  # by a transport with whole answers, such as a mock: already decoded
        return BoundedBody("", request.max_bytes)
    return BoundedBody(reply.headers.get("content-encoding", ""), request.max_bytes)


def _iter_chunks(reply: Any) -> Iterator[bytes]:
    return iter([reply.content]) if reply.is_stream_consumed else reply.iter_raw()


async def _achunks(reply: Any) -> AsyncIterator[bytes]:
    if reply.is_stream_consumed:
        yield reply.content
    else:
        async for chunk in reply.aiter_raw():
            yield chunk


def _make_response(request: Request, reply: Any, body: BoundedBody | None) -> Response:
    headers: dict[str, str] = {}
    for raw_name, raw_value in [
        *reply.headers.raw,
        *((b"location", to) for to in reply.extensions.get(_HIDDEN_LOCATION, ())),
    ]:
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
    """Headers should be ASCII; others are usually UTF-8."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


@contextmanager
def _translate_errors(request: Request) -> Iterator[None]:
    """Raise our errors instead of the HTTP library's, whose messages may contain URLs and internal addresses."""
    place = "the page's server" if request.guarded else "the service"
    late = f"no answer from {place} within the time allowed"
    sending = _sending.set(request)
    try:
        with _remove_request(request):
            yield
    except WebSearchError:
        raise
    except TimeoutError as error:
        raise TimedOut(late) from error
    except _find_error_types("TimeoutException") as error:
        raise TimedOut(late) from error
    except _find_error_types("LocalProtocolError", "UnsupportedProtocol", "InvalidURL") as error:
        if request.guarded:  # a page may have chosen the URL
            raise UnsafeURL("no request can be sent to this URL") from error
        raise ConfigurationError(
            f"{urlsplit(request.url).netloc!r} is not a host that a request can be sent to"
        ) from error
    except _find_error_types("ConnectError") as error:
        reason = _find_root_cause(error)
        failure = Unavailable(f"cannot connect to {place}{_describe_cause(reason)}")
        failure.temporary = not isinstance(reason, ssl.SSLError)
        raise failure from error
    except UnicodeError as error:  # the caller's own client failed to parse a redirect's Location
        raise BadResponse(f"{place} redirects to an invalid URL") from error
    except _find_error_types("HTTPError", "StreamError") as error:
        raise Unavailable(f"{place} broke off its answer") from error
    finally:
        _sending.reset(sending)


@contextmanager
def _remove_request(request: Request) -> Iterator[None]:
    """Remove the request and its keys from any error raised: our errors are chained to those of the HTTP library."""
    try:
        yield
    except Exception as error:
        keys = keys_in(request)
        for one in _walk_chain(error):
            for name, value in vars(one).items():
                if isinstance(value, _find_error_types("Request", "Response")):
                    vars(one)[name] = None
            if any(isinstance(arg, str) and without_keys(arg, keys) != arg for arg in one.args):
                one.args = tuple(without_keys(arg, keys) if isinstance(arg, str) else arg for arg in one.args)
        raise


def _walk_chain(error: BaseException) -> list[BaseException]:
    """Return *error*, and all errors in its chain of causes and contexts."""
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and not any(one is other for other in found):
            found.append(one)
            waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
    return found


class _LogRedaction(logging.Filter):
    """
    Removes queries, and keys that a service repeats, from the logs of the HTTP library.

    These logs have the URL of every request and, at debug level, the headers of every answer.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        request = _sending.get()
        if request is None:
            return True
        if isinstance(record.args, tuple):
            args: tuple[Any, ...] = record.args
            record.args = tuple(arg.copy_with(query=None) if hasattr(arg, "copy_with") else arg for arg in args)
        message = record.getMessage()
        redacted = without_keys(message, keys_in(request))
        if redacted != message:
            record.msg, record.args = redacted, ()
        return True


_sending: ContextVar[Request | None] = ContextVar("websearch_request", default=None)
_log_redaction = _LogRedaction()


def _find_error_types(*names: str) -> tuple[type[Exception], ...]:
    """Return these exceptions of all loaded HTTP libraries: the caller's own client may use the other one."""
    loaded = [sys.modules[name] for name in ("httpx", "httpx2") if name in sys.modules]
    return tuple(getattr(library, name) for library in loaded for name in names)


def _find_root_cause(error: BaseException | None) -> OSError | None:
    """Return the error of the operating system or TLS that caused an error of an HTTP library."""
    while error is not None and not (isinstance(error, OSError) and error.strerror):
        error = error.__cause__ or error.__context__
    return error


def _describe_cause(reason: OSError | None) -> str:
    """Describe *reason* without addresses and names, which may be internal ones."""
    if reason is None:
        return ""
    return f": {reason.reason if isinstance(reason, ssl.SSLError) else os.strerror(reason.errno or 0)}"
