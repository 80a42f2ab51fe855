"""Keep connections open between requests, in place of httpcore's own pools.

Those look at each connection several times per request, and ask the system about every
idle one: with a hundred requests in flight, that costs more than the request. Here, a
request takes the connection that was used last, and only that one is checked. A
connection is used again only with the keys that it was opened for: if a server or a
proxy ever confused two answers, both would belong to the same owner. It is not used
again at all if more than the answer arrived. Connections are httpcore's, so nothing
else is known here about HTTP, TLS or proxies. How many requests are in flight is
limited by the `websearch_core._net.sender.Sender`.
"""

from __future__ import annotations
import asyncio
import threading
import time
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from .proxy import Proxy, Way

KEPT = 30.0  # seconds that an idle connection is kept

# the extension of a request that says with whose keys it is sent
OWNER = "websearch_owner"
Key: TypeAlias = tuple[bytes, bytes, int, bytes]


class _Pool:
    """What both pools share: which connections are idle, and which are in use. Those
    that *inner*, a pool of *core*, creates are direct ones, or go through its proxy.
    """

    def __init__(
        self, core: Any, inner: Any, most_idle: int, way: Way | None = None
    ) -> None:
        self.inner = inner
        self._core = core
        self._way = way
        self._unsupported: type[Exception] = core.UnsupportedProtocol
        self._unavailable: type[Exception] = core.ConnectionNotAvailable
        self._is_closed = False
        self._most_idle = most_idle
        self._lock = threading.Lock()
        # and when each is too old; the one used last is at the end
        self._idle: dict[Any, tuple[Key, float]] = {}
        # And whether the end of its answer is certain. Weak: an interrupted caller
        # never closes its connection.
        self._busy: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()

    def _find_key(self, request: Any) -> Key:
        url = request.url
        if url.scheme not in {b"http", b"https"}:
            raise self._unsupported("the scheme must be http or https")
        default_port = 443 if url.scheme == b"https" else 80
        port = url.port or default_port
        return url.scheme, url.host, port, request.extensions.get(OWNER, b"")

    def _address(self, request: Any, proxy: Proxy) -> Any:
        """Return *request* in absolute form, for *proxy* to pass it on."""
        url = request.url
        # IPv6 in brackets
        place = next(
            value for name, value in request.headers if name.lower() == b"host"
        )
        target = url.scheme + b"://" + place + url.target
        absolute = self._core.URL(
            scheme=url.scheme, host=url.host, port=url.port, target=target
        )
        headers = [
            (name.encode(), value.encode())
            for name, value in proxy.make_headers().items()
        ]
        return self._core.Request(
            request.method,
            absolute,
            headers=[*headers, *request.headers],
            content=request.stream,
            extensions=request.extensions,
        )

    def _begin_body(self, connection: Any, response: Any, proxy: Proxy | None) -> None:
        """Let our own stream read on: the answer has begun. A test tool may have
        replaced it.
        """
        if proxy:
            proxy.check_login(response.status)
        names = set(map(bytes.lower, dict(response.headers)))
        # Whether all parties agree where the answer ends (RFC 9112, 6.3).
        self._busy[connection] = not {b"content-length", b"transfer-encoding"} <= names
        stream = response.extensions.get("network_stream")
        if hasattr(stream, "head"):
            stream.head.end()

    def _take_idle(self, key: Key) -> Any:
        """Return the idle connection to *key* that was used last, or None."""
        with self._lock:
            for connection in reversed(self._idle):
                if self._idle[connection][0] == key:
                    del self._idle[connection]
                    return connection
        return None

    def _release(self, connection: Any, key: Key, is_clear: bool) -> list[Any]:
        """Keep *connection* if it can be used again; return the connections to
        close.
        """
        is_clear = self._busy.pop(connection, True) and is_clear
        if not is_clear or not connection.is_idle():
            return [connection]
        if connection.is_closed() or _has_more(connection):
            return [connection]
        with self._lock:
            self._idle[connection] = key, time.monotonic() + KEPT
        # Closing did nothing to a connection that was not open yet, or to one of a
        # request that came later.
        if self._is_closed:
            return self._take_all_idle()
        return self._take_surplus()

    def _take_surplus(self) -> list[Any]:
        """Return the idle connections that are too old, and the oldest of those that
        are too many.
        """
        now = time.monotonic()
        surplus: list[Any] = []
        with self._lock:
            for connection, (_, end) in self._idle.items():
                if end > now and len(self._idle) - len(surplus) <= self._most_idle:
                    break
                surplus.append(connection)
            for connection in surplus:
                del self._idle[connection]
        return surplus

    def _take_all_idle(self) -> list[Any]:
        with self._lock:
            connections = list(self._idle)
            self._idle = {}
        return connections

    def _take_all(self) -> list[Any]:
        self._is_closed = True
        busy = self._busy
        self._busy = WeakKeyDictionary()
        # `keyrefs` is one step: other threads add connections meanwhile.
        connections = [reference() for reference in busy.keyrefs()]
        alive = [connection for connection in connections if connection is not None]
        return alive + self._take_all_idle()


class Pool(_Pool):
    """The connections of blocking calls."""

    def handle_request(self, request: Any) -> Any:
        """Send *request* over a connection that was kept, or over a new one."""
        key = self._find_key(request)
        proxy: Proxy | None = None
        if self._way:
            proxy = self._way.find_forwarder(key[1].decode("ascii"), key[2])
        while True:
            connection = self._take_idle(key)
            while connection is not None and connection.has_expired():
                connection.close()
                connection = self._take_idle(key)
            if connection is None:
                connection = self.inner.create_connection(request.url.origin)
            self._busy[connection] = True
            try:
                sendable = request
                if proxy:
                    sendable = self._address(request, proxy)
                response = connection.handle_request(sendable)
                self._begin_body(connection, response, proxy)
                response.stream = _Body(
                    response.stream, partial(self._end, connection, key)
                )
            except self._unavailable:
                # closed by somebody else before anything was sent
                self._end(connection, key, is_clear=True)
            except BaseException:  # Ctrl-C can leave a lock of it locked, for ever
                self._end(connection, key, is_clear=False)
                raise
            else:
                return response

    def close(self) -> None:
        for connection in self._take_all():
            connection.close()

    def _end(self, connection: Any, key: Key, *, is_clear: bool) -> None:
        for surplus in self._release(connection, key, is_clear):
            surplus.close()


class AsyncPool(_Pool):
    """The connections of one event loop.

    A timer closes those that became too old, so that tenants who search no more hold no
    files open.
    """

    def __init__(
        self, core: Any, inner: Any, most_idle: int, way: Way | None = None
    ) -> None:
        super().__init__(core, inner, most_idle, way)
        self._timer: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()

    async def handle_async_request(self, request: Any) -> Any:
        key = self._find_key(request)
        proxy: Proxy | None = None
        if self._way:
            proxy = self._way.find_forwarder(key[1].decode("ascii"), key[2])
        while True:
            connection = self._take_idle(key)
            while connection is not None and connection.has_expired():
                await connection.aclose()
                connection = self._take_idle(key)
            is_new = connection is None
            if connection is None:
                connection = self.inner.create_connection(request.url.origin)
            self._busy[connection] = True
            try:
                sendable = request
                if proxy:
                    sendable = self._address(request, proxy)
                response = await connection.handle_async_request(sendable)
                self._begin_body(connection, response, proxy)
                response.stream = _AsyncBody(
                    response.stream, partial(self._end, connection, key)
                )
            except self._unavailable:
                await self._end(connection, key, is_clear=True)
            except BaseException:
                await self._end(connection, key, is_clear=False)
                raise
            else:
                if is_new:
                    _replace_locks(connection)
                return response

    async def aclose(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await _close_all(self._take_all())

    async def _end(self, connection: Any, key: Key, *, is_clear: bool) -> None:
        surplus = self._release(connection, key, is_clear)
        self._set_timer()
        if surplus:
            await _close_all(surplus)

    def _set_timer(self) -> None:
        if self._timer is None and self._idle:
            weak: weakref.ref[AsyncPool] = weakref.ref(self)
            self._timer = asyncio.get_running_loop().call_later(
                1.1 * KEPT, _close_old, weak
            )

    def close_old(self) -> None:
        """Close the connections that are too old, soon."""
        self._timer = None
        for connection in self._take_surplus():
            closing = asyncio.get_running_loop().create_task(connection.aclose())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
        self._set_timer()


async def _close_all(connections: list[Any]) -> None:
    """Close *connections*, which nobody else knows any more: all of them, even if this
    is cancelled meanwhile.
    """
    cancelled: asyncio.CancelledError | None = None
    for connection in connections:
        try:
            await connection.aclose()
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


def _close_old(pool: weakref.ref[AsyncPool]) -> None:
    alive = pool()
    if alive is not None:
        alive.close_old()


def _has_more(connection: Any) -> bool:
    """Return whether bytes came after the answer: the next request would take them for
    its own.

    They were read together with its end, so the socket no longer shows them; they wait
    in h11. A connection that does not show them is not used again.
    """
    # those of proxies hold another
    inner = getattr(connection, "_connection", None)
    while inner is not None:
        connection = inner
        inner = getattr(connection, "_connection", None)
    state = getattr(connection, "_h11_state", None)
    return state is None or bool(state.trailing_data[0])


def _replace_locks(connection: Any) -> None:
    """Give a new connection locks of asyncio, which are taken at once if they are free.

    Those of anyio wait for a turn of the event loop each time: three in each request. A
    lock with another name is left alone.
    """
    part = connection
    while part is not None:
        if hasattr(part, "_request_lock"):
            part._request_lock = asyncio.Lock()  # noqa: SLF001 - see `test_private_names`
        if hasattr(part, "_state_lock"):
            part._state_lock = asyncio.Lock()  # noqa: SLF001
        part = getattr(part, "_connection", None)


class _Body:
    """The body of a response, which releases its connection when it is closed, once."""

    def __init__(self, stream: Any, end: Callable[..., None]) -> None:
        self._stream = stream
        self._end: Callable[..., None] | None = end

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._stream)

    def close(self) -> None:
        end = self._end
        self._end = None
        if end is not None:
            is_clear = False
            try:
                # a test tool may have put another stream here
                if hasattr(self._stream, "close"):
                    self._stream.close()
                is_clear = True
            finally:
                end(is_clear=is_clear)


class _AsyncBody:
    """The same on an event loop."""

    def __init__(self, stream: Any, end: Callable[..., Awaitable[None]]) -> None:
        self._stream = stream
        self._end: Callable[..., Awaitable[None]] | None = end

    def __aiter__(self) -> AsyncIterator[bytes]:
        iterator: AsyncIterator[bytes] = self._stream.__aiter__()
        return iterator

    async def aclose(self) -> None:
        end = self._end
        self._end = None
        if end is not None:
            is_clear = False
            try:
                if hasattr(self._stream, "aclose"):
                    await self._stream.aclose()
                is_clear = True
            finally:
                await end(is_clear=is_clear)
