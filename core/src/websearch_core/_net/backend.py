"""Open connections, with every address judged and every wait bounded.

A `GuardedBackend` replaces httpcore's network backend, below TLS and the connection
pool. So certificates are still checked against the name in the URL, pools are still
keyed by origin and never by address, and redirects, reconnections and rebinding DNS all
pass through here.
"""

from __future__ import annotations
import asyncio
import math
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import Any, cast

from .._runtime.deadline import _MIN_TIMEOUT, clamp
from .._runtime.scope import current_call
from ..errors import AuthenticationError, TimedOut, Unavailable
from .guard import Guard
from .lookup import Line, aresolve, resolve
from .proxy import AsyncTunnel, Proxy, Tunnel, Way
from .stream import HeadBound

_MAX_WAITING = 2**16  # bytes that are kept to be sent together
_BOTH_WAYS = 2  # SHUT_RDWR
_STAGGER = 0.25  # seconds until the next address is tried beside the first (RFC 8305)


class GuardedBackend:
    """An httpcore network backend that connects only where *guard* allows it (None:
    anywhere), and only before the deadline. *inner* is that of *core*, which is
    ``httpcore`` or ``httpcore2``.
    """

    def __init__(
        self,
        core: Any,
        inner: Any,
        guard: Guard | None,
        line: Line,
        way: Way | None = None,
    ) -> None:
        self._core = core
        self._inner = inner
        self._guard = guard
        self._line = line
        self._way = way

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, **options: Any
    ) -> Any:
        connection = self._connect(host, port, timeout, options)
        return _Stream(self._core, connection, repairs=self._guard is not None)

    def _connect(
        self, host: str, port: int, timeout: float | None, options: dict[str, Any]
    ) -> Any:
        proxy = self._way.find(host, port) if self._way else None
        if self._way is None or proxy is None:
            addresses = resolve(self._line, self._guard, host, port, timeout)
            return self._try_each(self._inner, addresses, port, timeout, options)
        addresses = [host]
        if self._way.needs_look_up(host):
            addresses = resolve(self._line, self._guard, host, port, timeout)
        reach = partial(self._reach, proxy, options)
        if self._way.find_forwarder(host, port):
            with proxy.explain():
                return reach(timeout)
        tunnel = Tunnel(proxy, reach, partial(_Stream, self._core))
        return self._try_each(tunnel, addresses, port, timeout, options)

    def _reach(
        self, proxy: Proxy, options: dict[str, Any], timeout: float | None
    ) -> Any:
        addresses = resolve(self._line, None, proxy.host, proxy.port, timeout)
        return self._try_each(self._inner, addresses, proxy.port, timeout, options)

    @staticmethod
    def _try_each(
        inner: Any,
        addresses: list[str],
        port: int,
        timeout: float | None,
        options: dict[str, Any],
    ) -> Any:
        failure: Exception | None = None
        for n, address in enumerate(addresses):
            share = (clamp(timeout) or math.inf) / (len(addresses) - n)
            try:
                allowed = max(share, _MIN_TIMEOUT) if share < math.inf else None
                return inner.connect_tcp(address, port, allowed, **options)
            except AuthenticationError:
                # of a proxy, which would say the same of the next address
                raise
            except Exception as error:  # noqa: BLE001 - the next address may work
                failure = error
        raise failure or Unavailable("the name has no address")


class _Stream:
    """An httpcore network stream on which nothing outlasts the deadline.

    What is written is sent before the next read: the head and the body of a request
    leave in one piece.
    """

    def __init__(self, core: Any, inner: Any, *, repairs: bool = False) -> None:
        self._core = core
        self._inner = inner
        self._unsent = b""
        self.head = HeadBound(core, repairs=repairs)
        self.patience = math.inf  # seconds that a read may take at most

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._unsent:
            # the server may have answered before it hung up
            with suppress(self._core.WriteError):
                self._send(timeout)
        if self.patience < math.inf:
            timeout = self.patience
        branch = current_call().branch
        interruption: AbstractContextManager[Any] = nullcontext()
        if branch is not None:
            interruption = branch.interruptible(self._shut_down)
        with interruption:
            while True:
                data = cast("bytes", self._inner.read(max_bytes, clamp(timeout)))
                ready = self.head.take(data)
                if ready or not data:
                    return ready

    def _shut_down(self) -> None:
        """Wake the thread that reads; it finds that the connection has ended."""
        socket = self.get_extra_info("socket")
        if socket is not None:  # a test's stream has none
            with suppress(OSError):
                socket.shutdown(_BOTH_WAYS)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._unsent += buffer
        if len(self._unsent) > _MAX_WAITING:
            self._send(timeout)

    def _send(self, timeout: float | None) -> None:
        unsent = self._unsent
        self._unsent = b""
        self._inner.write(unsent, clamp(timeout))
        self.head.begin()
        self.patience = math.inf

    def start_tls(
        self,
        ssl_context: Any,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> _Stream:
        secured = self._inner.start_tls(ssl_context, server_hostname, clamp(timeout))
        return _Stream(self._core, secured, repairs=self.head.repairs)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)

    def close(self) -> None:
        # closing a socket does not wake another thread that reads from it
        self._shut_down()
        self._inner.close()


class AsyncGuardedBackend:
    """The same backend on an event loop, where cancellation enforces the deadline."""

    def __init__(
        self, inner: Any, guard: Guard | None, line: Line, way: Way | None = None
    ) -> None:
        self._inner = inner
        self._guard = guard
        self._line = line
        self._way = way

    async def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, **options: Any
    ) -> Any:
        proxy = self._way.find(host, port) if self._way else None
        try:
            async with asyncio.timeout(timeout):
                stream = await self._connect(host, port, proxy, options)
        except TimeoutError as error:
            through = f" through the proxy {proxy}" if proxy else ""
            raise TimedOut(f"no connection{through} within the time allowed") from error
        if self._guard is not None and hasattr(stream, "head"):  # not of the gate
            stream.head.repairs = True
        return stream

    async def _connect(
        self, host: str, port: int, proxy: Proxy | None, options: dict[str, Any]
    ) -> Any:
        if self._way is None or proxy is None:
            addresses = await aresolve(self._line, self._guard, host, port)
            return await self._race(self._inner, addresses, port, options)
        addresses = [host]
        if self._way.needs_look_up(host):
            addresses = await aresolve(self._line, self._guard, host, port)
        reach = partial(self._reach, proxy, options)
        if self._way.find_forwarder(host, port):
            with proxy.explain():
                return await reach()
        tunnel = AsyncTunnel(proxy, reach)
        return await self._race(tunnel, addresses, port, options)

    async def _reach(self, proxy: Proxy, options: dict[str, Any]) -> Any:
        addresses = await aresolve(self._line, None, proxy.host, proxy.port)
        return await self._race(self._inner, addresses, proxy.port, options)

    async def _race(
        self, inner: Any, addresses: list[str], port: int, options: dict[str, Any]
    ) -> Any:
        """Race the judged addresses (Happy Eyeballs, RFC 8305): the first connection
        wins, the others are closed.
        """
        attempts: set[asyncio.Task[Any]] = set()
        failure: BaseException | None = None
        waiting = list(addresses)
        try:
            while waiting or attempts:
                if waiting:
                    connect = inner.connect_tcp(
                        waiting.pop(0), port, timeout=None, **options
                    )
                    attempts.add(asyncio.ensure_future(connect))
                done, attempts = await asyncio.wait(
                    attempts,
                    timeout=_STAGGER if waiting else None,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                for attempt in done:
                    if attempt.exception() is None:
                        attempts |= done - {attempt}
                        return attempt.result()
                    failure = attempt.exception()
                    # of a proxy, which would say the same again
                    if isinstance(failure, AuthenticationError):
                        waiting.clear()
        finally:
            for attempt in attempts:
                attempt.add_done_callback(_close_loser)
                attempt.cancel()
        raise failure or Unavailable("the name has no address")


def _close_loser(attempt: asyncio.Task[Any]) -> None:
    """Close the connection of an attempt that connected too late."""
    if not attempt.cancelled() and attempt.exception() is None:
        closing = asyncio.ensure_future(attempt.result().aclose())
        _closing.add(closing)
        closing.add_done_callback(_closing.discard)


# asyncio keeps only weak references to tasks
_closing: set[asyncio.Future[None]] = set()
