"""A connection on asyncio, as httpcore wants it, and a bound on what any connection
reads before an answer begins.

httpcore's own goes through anyio, which enters a cancel scope and yields to the loop
for every read and write. The sender bounds a whole exchange with one timeout, so
nothing has to be bounded here, except for the handshake of TLS.
"""

from __future__ import annotations
import asyncio
import math
from typing import Any

_MAX_WAITING = 2**16  # bytes kept in either direction before the other side has to wait
# bytes read at a time: they may be a thousand tiny parts of an answer, and the loop has
# other work
_SLICE = 2**14
_EXTRA = {
    "ssl_object": "ssl_object",
    "client_addr": "sockname",
    "server_addr": "peername",
    "socket": "socket",
}
TOO_LONG = "no answer begins"  # the error's text

_MOST = 2**18  # bytes: h11 bounds each interim answer, but not how many there are


class HeadBound:
    """Counts what a stream of *core* (``httpcore`` or ``httpcore2``) reads until the
    head of an answer ends.
    """

    def __init__(self, core: Any) -> None:
        self._core = core
        self._left = math.inf

    def begin(self) -> None:
        """Note that a request was sent."""
        self._left = _MOST

    def count(self, size: int) -> None:
        """Count bytes that were read. Raise `RemoteProtocolError` if there are too
        many, and still no answer begins.
        """
        self._left -= size
        if self._left < 0:
            raise self._core.RemoteProtocolError(TOO_LONG)

    def end(self) -> None:
        """Note that the answer has begun, so that only its reader decides how much is
        read.
        """
        self._left = math.inf


class AsyncioBackend:
    """An httpcore network backend for asyncio, which raises the errors of *core*:
    ``httpcore`` or ``httpcore2``.
    """

    def __init__(self, core: Any) -> None:
        self._core = core

    async def connect_tcp(self, host: str, port: int, **_: Any) -> AsyncioStream:
        """Connect; the guarded backend around this one enforces the timeout."""
        loop = asyncio.get_running_loop()
        stream = AsyncioStream(self._core)
        try:
            await loop.create_connection(lambda: stream, host, port)
        except OSError as error:
            raise self._core.ConnectError(str(error)) from error
        return stream


class AsyncioStream(asyncio.Protocol):
    """An httpcore network stream. What is written is sent before the next read: a
    request leaves in one piece.
    """

    _transport: asyncio.Transport

    def __init__(self, core: Any) -> None:
        self._core = core
        self._arrived = bytearray()
        self._unsent = b""
        self._ended = False
        self._failure: Exception | None = None
        self._paused = False
        self._can_write = asyncio.Event()
        self._can_write.set()
        self._reader: asyncio.Future[None] | None = None
        self.head = HeadBound(core)

    async def read(
        self,
        max_bytes: int,
        timeout: float | None = None,  # noqa: ARG002 - httpcore's
    ) -> bytes:
        self._send()
        if self._arrived:
            await asyncio.sleep(0)
        while not self._arrived and not self._ended:
            self._reader = asyncio.get_running_loop().create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        if not self._arrived and self._failure is not None:
            raise self._core.ReadError(str(self._failure)) from self._failure
        size = min(max_bytes, _SLICE)
        data = bytes(self._arrived[:size])
        del self._arrived[:size]
        if self._paused and len(self._arrived) < _MAX_WAITING:
            self._paused = False
            self._transport.resume_reading()
        self.head.count(len(data))
        return data

    async def write(
        self,
        buffer: bytes,
        timeout: float | None = None,  # noqa: ARG002 - httpcore's
    ) -> None:
        self._unsent += buffer
        if len(self._unsent) > _MAX_WAITING:
            self._send()
            await self._can_write.wait()

    async def start_tls(
        self,
        ssl_context: Any,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        self._send()
        try:
            async with asyncio.timeout(timeout):
                secured = await asyncio.get_running_loop().start_tls(
                    self._transport, self, ssl_context, server_hostname=server_hostname
                )
        except TimeoutError as error:
            raise self._core.ConnectTimeout(str(error)) from error
        except OSError as error:  # among them, those of TLS
            raise self._core.ConnectError(str(error)) from error
        if secured is None:
            raise self._core.ConnectError("the connection was closed")
        self._transport = secured
        return self

    async def aclose(self) -> None:
        # not by the end of a body
        self._failure = self._failure or ConnectionAbortedError("closed by this side")
        # closing would wait for a peer that does not read, or does not say goodbye
        self._transport.abort()
        await asyncio.sleep(0)  # the loop closes the socket

    def get_extra_info(self, info: str) -> Any:
        # when nothing was asked: the server has closed the connection, or is confused
        if info == "is_readable":
            return bool(self._arrived) or self._ended
        if info not in _EXTRA:
            return None
        return self._transport.get_extra_info(_EXTRA[info])

    def _send(self) -> None:
        if self._unsent:
            self._transport.write(self._unsent)
            self._unsent = b""
            self.head.begin()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        self._arrived += data
        if len(self._arrived) >= _MAX_WAITING and not self._paused:
            self._paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self._ended = True
        self._wake()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self._failure = self._failure or exc
        self._can_write.set()
        self._wake()

    def pause_writing(self) -> None:
        self._can_write.clear()

    def resume_writing(self) -> None:
        self._can_write.set()
