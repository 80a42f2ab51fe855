"""A forward proxy on loopback that a browser is forced through: where the guard judges
what any part of it sends.

A browser sends on its own account: subresources, workers, sockets, prefetches,
redirects. Whatever it is, it arrives here as ``GET http://host/...`` or ``CONNECT
host:port``. The host is read strictly (`Guard.check`), resolved once, judged
(`Guard.judge`), and the connection goes to the very address that was judged, through
the same proxy as all pages. One gate serves one page, so its limits are that page's,
and closing it cuts everything that the page left open.

A site cannot answer in the proxy's name: its 407 becomes 502, its ``Proxy-*`` fields
are dropped, and no protocol is switched. Our own refusals carry a random mark, which
distinguishes them from a site's 403.
"""

from __future__ import annotations
import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Self

from .._text.urls import locate
from ..errors import TimedOut, Unavailable, UnsafeURL, WebSearchError
from .backend import AsyncGuardedBackend
from .guard import Guard
from .heads import (
    MalformedHead,
    RequestHead,
    find_body_length,
    parse_request,
    parse_response,
    write_request,
    write_response,
)
from .lookup import Line
from .proxy import Proxies, Proxy, Way
from .system import find_holder

_MAX_HEAD = 64 * 1024  # bytes
_CHUNK = 64 * 1024
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_TLS = b"\x16"  # the first byte of a TLS handshake


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one page may use. Once a sum is spent the gate shuts: what is open is cut,
    and what comes is refused.
    """

    received: int = 20 * 2**20  # bytes from sites, as they came over the wire
    sent: int = 2**20  # bytes to sites
    requests: int = 500  # in all, tunnels included
    at_once: int = 48  # open connections
    connect: float = 8.0  # seconds for a connection
    idle: float = 15.0  # seconds without a byte in either direction


@dataclass
class Traffic:
    """What passed a gate, and how many requests it refused."""

    requests: int = 0
    received: int = 0
    sent: int = 0
    refused: int = 0
    # the last one, by host and port
    errors: dict[tuple[str, int], WebSearchError] = field(default_factory=dict)


class _Refusal(Exception):
    def __init__(self, status: int, error: WebSearchError) -> None:
        super().__init__(str(error))
        self.status = status
        self.error = error


class Gate:
    """``async with Gate(guard, line) as gate:`` and give the browser ``gate.url`` as
    its proxy.

    It listens on *address* (see `find_own_address`), and the page may use what the
    *limits* say. *user* is the id of the user that the browser runs as: where the
    system says who is at the other end of a connection, programs of others are not
    answered. None is for anybody. Of that user's programs, *holds* says whether the
    browser is the one that has a socket open: others may run as the same user.
    """

    def __init__(
        self,
        guard: Guard,
        line: Line,
        limits: Limits | None = None,
        *,
        address: str = "127.0.0.1",
        proxies: Proxies | None = None,
        user: int | None = None,
        holds: Callable[[int], bool] | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.traffic = Traffic()
        self.mark = secrets.token_urlsafe(16)
        self.spent = ""  # what was used up, if anything
        self._guard = guard
        self._address = address
        self._user = user
        self._holds = holds
        self._ways: dict[str, Way | None] = {"http": None, "https": None}
        if proxies:
            self._ways = {scheme: Way(proxies, scheme) for scheme in self._ways}
        self._backends = {
            name: AsyncGuardedBackend(_Dialer(), guard, line, way)
            for name, way in self._ways.items()
        }
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._open = 0
        self._is_shut = False

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._accept, self._address, 0, limit=_MAX_HEAD
        )
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://{self._address}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.shut()
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def shut(self) -> None:
        """Refuse everything that comes from now on, and cut what is open."""
        self._is_shut = True
        for writer in tuple(self._writers):
            writer.transport.abort()

    def find_error(self, url: str) -> WebSearchError | None:
        """Return the last error of the host and port of *url*."""
        try:
            return self.traffic.errors.get(locate(url))
        except UnsafeURL as error:
            return error

    def _accept(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._writers.add(writer)
        task = asyncio.ensure_future(self._handle(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(lambda _: self._finish(task, writer))

    def _finish(self, task: asyncio.Task[None], writer: asyncio.StreamWriter) -> None:
        """Close a connection, also of a task that was cancelled before it began."""
        self._tasks.discard(task)
        self._writers.discard(writer)
        writer.close()

    async def _handle(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        near, far = (writer.get_extra_info(name) for name in ("sockname", "peername"))
        if not self._is_own(near, far):
            return  # what a stranger asks for is not charged to the page
        self._open += 1
        try:
            await self._serve(reader, writer)
        except _Refusal as refusal:
            self.traffic.refused += 1
            with contextlib.suppress(OSError):
                fields = (
                    f"X-Gate: {self.mark}\r\nContent-Length: 0\r\nConnection: "
                    f"close\r\n\r\n"
                )
                writer.write(f"HTTP/1.1 {refusal.status} Refused\r\n{fields}".encode())
                await writer.drain()
        except (
            OSError,
            EOFError,
            asyncio.LimitOverrunError,
            TimeoutError,
            MalformedHead,
        ):
            # one of the two has gone, or speaks no HTTP: the browser sees the
            # connection end
            pass
        finally:
            self._open -= 1

    def _is_own(self, near: tuple[str, int], far: tuple[str, int]) -> bool:
        """Return whether the browser is at the *far* end, or the system does not say
        who is.
        """
        if self._user is None:
            return True
        holder = find_holder(near, far)
        if holder is None:
            return True
        if holder.user != self._user:
            return False
        return self._holds is None or self._holds(holder.socket)

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        async with asyncio.timeout(self.limits.idle):
            head = await reader.readuntil(b"\r\n\r\n")
        request = parse_request(head)
        self.traffic.requests += 1
        if self.traffic.requests > self.limits.requests:
            self.spend("requests")
        if self._is_shut or self._open > self.limits.at_once:
            raise _Refusal(503, Unavailable("the page has used up what it may use"))
        if request.method == "CONNECT":
            await self._tunnel(request.target, reader, writer)
        elif request.method in _METHODS and request.target.startswith("http://"):
            await self._exchange(request, reader, writer)
        else:
            raise _Refusal(400, UnsafeURL("only http and https URLs can be opened"))

    async def _tunnel(
        self, target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve CONNECT, which is how https:, wss: and ws: come. The first byte shows
        whether it is TLS.
        """
        secure, plain = (
            self._judge_name(f"{scheme}://{target}/") for scheme in ("https", "http")
        )
        if isinstance(secure, WebSearchError) and isinstance(plain, WebSearchError):
            raise self._refuse(f"https://{target}/", secure)
        async with self._connect(f"https://{target}/") as far:
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            async with asyncio.timeout(self.limits.idle):
                first = await reader.read(_CHUNK)
            verdict = secure if first.startswith(_TLS) else plain
            # it may be opened over the other scheme only
            if not first or isinstance(verdict, WebSearchError):
                return
            self._count(len(first), up=True)
            far.writer.write(first)
            await self._run_both(
                self._pump(reader, far.writer, up=True), self._pump(far.reader, writer)
            )

    async def _exchange(
        self,
        request: RequestHead,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Serve a request over http:, one on each connection."""
        length = find_body_length(request.fields)
        url = self._judge_name(request.target)
        if isinstance(url, WebSearchError):
            raise self._refuse(request.target, url)
        async with self._connect(url) as far:
            parts = url.removeprefix("http://").partition("/")
            authority = parts[0]
            address = parts[1] + parts[2].partition("#")[0]
            way = self._ways["http"]
            proxy = way.find_forwarder(*locate(url)) if way else None
            own: dict[str, str] = {}
            if proxy is not None:
                address = f"http://{authority}{address}"
                own = proxy.make_headers()
            head = write_request(
                request.method, address, authority, request.fields, own
            )
            far.writer.write(head)
            await self._run_both(
                self._pump(reader, far.writer, up=True, length=length),
                self._pass_on_response(far.reader, writer, url, proxy),
            )

    def _judge_name(self, url: str) -> str | WebSearchError:
        """Return the canonical form of *url*, or why it may not be opened."""
        try:
            return self._guard.check(url)
        except UnsafeURL as error:
            return error

    def _refuse(self, url: str, error: WebSearchError) -> _Refusal:
        # a browser sends no URL that has no host, so such an error has no reader
        with contextlib.suppress(UnsafeURL):
            self.traffic.errors[locate(url)] = error
        status = 502
        if isinstance(error, UnsafeURL):
            status = 403
        elif isinstance(error, TimedOut):
            status = 504
        return _Refusal(status, error)

    @contextlib.asynccontextmanager
    async def _connect(self, url: str) -> AsyncIterator[_Connection]:
        """Resolve the host of *url*, judge all of its addresses, and connect to one of
        them while a block runs.
        """
        host, port = locate(url)
        try:
            backend = self._backends[url.partition(":")[0]]
            far: _Connection = await backend.connect_tcp(
                host, port, self.limits.connect
            )
        except WebSearchError as error:
            raise self._refuse(url, error) from error
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else "no connection"
            raise self._refuse(
                url, Unavailable(f"cannot connect to {host}: {reason}")
            ) from error
        try:
            self._writers.add(far.writer)
            yield far
        finally:
            self._writers.discard(far.writer)
            far.writer.close()

    async def _pump(
        self,
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
        *,
        up: bool = False,
        length: int | None = None,
    ) -> None:
        while length is None or length > 0:
            size = _CHUNK if length is None else min(_CHUNK, length)
            data = await source.read(size)
            if not data:
                break
            self._count(len(data), up=up)
            if length is not None:
                length -= len(data)
            sink.write(data)
            await sink.drain()
        if length is None:
            with contextlib.suppress(OSError, RuntimeError):
                sink.write_eof()

    async def _pass_on_response(
        self,
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
        url: str,
        proxy: Proxy | None,
    ) -> None:
        """Pass a response on to the browser, but not as one of a proxy."""
        while True:
            head = await source.readuntil(b"\r\n\r\n")
            self._count(len(head), up=False)
            response = parse_response(head)
            if response.status == 407 and proxy is not None:
                raise self._refuse(url, proxy.make_login_error())
            if response.status in {101, 407}:
                raise self._refuse(
                    url,
                    Unavailable("the site answers like a proxy, or switches protocols"),
                )
            if response.status >= 200:
                break
        sink.write(write_response(*response))
        await self._pump(source, sink)

    def _count(self, size: int, *, up: bool) -> None:
        traffic = self.traffic
        if up:
            traffic.sent += size
        else:
            traffic.received += size
        if traffic.received > self.limits.received or traffic.sent > self.limits.sent:
            self.spend("bytes")
            raise ConnectionAbortedError

    def spend(self, what: str) -> None:
        self.spent = self.spent or what
        self.shut()

    async def _run_both(
        self, up: Coroutine[Any, Any, None], down: Coroutine[Any, Any, None]
    ) -> None:
        """Run both directions until the answer is over, one of them fails, or nothing
        moves for too long.
        """
        sending = asyncio.ensure_future(up)
        receiving = asyncio.ensure_future(down)
        try:
            waiting: set[asyncio.Future[None]] = {sending, receiving}
            while receiving in waiting:
                before = self.traffic.sent + self.traffic.received
                done, waiting = await asyncio.wait(
                    waiting,
                    timeout=self.limits.idle,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if not done and self.traffic.sent + self.traffic.received == before:
                    return
                for task in done:
                    task.result()
        finally:
            for task in (sending, receiving):
                task.cancel()
            await asyncio.gather(sending, receiving, return_exceptions=True)


@dataclass(frozen=True)
class _Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def read(self, size: int) -> bytes:
        return await self.reader.read(size)

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def aclose(self) -> None:
        self.writer.close()


class _Dialer:
    """Opens plain connections, for `AsyncGuardedBackend`, which decides to which
    addresses.
    """

    async def connect_tcp(
        self, address: str, port: int, timeout: float | None = None
    ) -> _Connection:
        async with asyncio.timeout(timeout):
            return _Connection(
                *await asyncio.open_connection(address, port, limit=_MAX_HEAD)
            )


async def find_own_address() -> str:
    """Return a loopback address that nothing else listens on, where the system has more
    than one; else ``127.0.0.1``.

    A browser may resolve this one address only, so even where it goes around its proxy,
    it finds nothing but gates.
    """
    for _ in range(3):
        # From the system: the state of `random` is the same in processes that a fork or
        # a seed made alike.
        octets = (
            127,
            64 + secrets.randbelow(187),
            1 + secrets.randbelow(250),
            2 + secrets.randbelow(249),
        )
        address = ".".join(map(str, octets))
        with contextlib.suppress(OSError):
            server = await asyncio.start_server(lambda *_: None, address, 0)
            server.close()
            return address
    return "127.0.0.1"
