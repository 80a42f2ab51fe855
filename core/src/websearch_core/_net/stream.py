"""A connection on asyncio, as httpcore wants it, and a bound on what any connection
reads before an answer begins.

httpcore's own goes through anyio, which enters a cancel scope and yields to the loop
for every read and write. The sender bounds a whole exchange with one timeout, so
nothing has to be bounded here, except for the handshake of TLS.
"""

from __future__ import annotations
import asyncio
import math
import re
from collections.abc import Iterator
from typing import Any

from .heads import MalformedHead, repair_response

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
_HEAD_END = re.compile(rb"[^\r\n]\r?\n\r?\n")  # not an empty line before the head


class HeadBound:
    """Counts what a stream of *core* (``httpcore`` or ``httpcore2``) reads until the
    head of an answer ends; *repairs* the head if the answer is a page.
    """

    def __init__(self, core: Any, *, repairs: bool = False) -> None:
        self.repairs = repairs
        self._core = core
        self._left = math.inf
        self._is_in_head = False
        self._arrived = bytearray()  # of a head that is not complete
        self._searched = 0  # bytes of it that have no end

    def begin(self) -> None:
        """Note that a request was sent."""
        self._left = _MOST
        self._is_in_head = self.repairs

    def take(self, data: bytes) -> bytes:
        """Count bytes that were read, and return those that the parser may have now:
        none until a head that is repaired is complete.

        Raise `RemoteProtocolError` if there are too many, and still no answer begins,
        or if its head is malformed.
        """
        self._left -= len(data)
        if self._left < 0:
            raise self._core.RemoteProtocolError(TOO_LONG)
        if not self._is_in_head:
            return data
        self._arrived += data
        try:
            ready = b"".join(self._take_heads())
        except MalformedHead as error:
            raise self._core.RemoteProtocolError(str(error)) from error
        if not self._is_in_head or not data:  # the body begins, or all has ended
            ready += self._arrived
            self._arrived.clear()
        return ready

    def _take_heads(self) -> Iterator[bytes]:
        """Yield the heads that are complete: there may be interim ones."""
        while self._is_in_head:
            end = _HEAD_END.search(self._arrived, self._searched)
            if end is None:
                self._searched = max(0, len(self._arrived) - len(b".\r\n\r"))
                return
            head = repair_response(bytes(self._arrived[: end.end()]))
            del self._arrived[: end.end()]
            self._searched = 0
            status = head.split(b" ", 2)[1][:3]
            self._is_in_head = status.startswith(b"1") and status != b"101"
            yield head

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
        self.patience = math.inf  # seconds that a read may take at most

    async def read(
        self,
        max_bytes: int,
        timeout: float | None = None,  # noqa: ARG002 - httpcore's
    ) -> bytes:
        self._send()
        while True:
            if self._arrived:
                await asyncio.sleep(0)
            while not self._arrived and not self._ended:
                await self._wait()
            if not self._arrived and self._failure is not None:
                raise self._core.ReadError(str(self._failure)) from self._failure
            size = min(max_bytes, _SLICE)
            data = bytes(self._arrived[:size])
            del self._arrived[:size]
            if self._paused and len(self._arrived) < _MAX_WAITING:
                self._paused = False
                self._transport.resume_reading()
            ready = self.head.take(data)
            if ready or not data:
                return ready

    async def _wait(self) -> None:
        """Wait until something arrives, or nothing more comes."""
        arrival = asyncio.get_running_loop().create_future()
        self._reader = arrival
        try:
            if self.patience == math.inf:
                await arrival
                return
            async with asyncio.timeout(self.patience):
                await arrival
        except TimeoutError as error:
            raise self._core.ReadTimeout("the end did not arrive") from error
        finally:
            self._reader = None

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
            self.patience = math.inf

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
