"""The DevTools protocol over a pair of pipes: JSON messages that end in a zero byte.

https://chromedevtools.github.io/devtools-protocol/

Two threads read and write, so a browser that reads or writes nothing holds up neither
the event loop nor other browsers, and the same code serves Windows, whose event loops
do not know such pipes.
"""

from __future__ import annotations
import asyncio
import itertools
import json
import os
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeAlias

_MAX_MESSAGE = 64 * 2**20  # bytes
_CHUNK = 2**16

Handler: TypeAlias = Callable[[str, dict[str, Any]], None]


class CommandFailed(Exception):
    """The browser refused a command."""


class Gone(Exception):
    """The browser, or the page, has gone."""


class Connection:
    """A connection to a browser, which closes both pipes. Its methods belong to the
    running event loop.
    """

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._ids = itertools.count(1)
        self._waiting: dict[int, tuple[str, asyncio.Future[dict[str, Any]]]] = {}
        self._handlers: dict[str, Handler] = {}
        self._outgoing: SimpleQueue[bytes] = SimpleQueue()
        self.ended = self._loop.create_future()  # done when the browser closes its side
        self._fds = {read_fd, write_fd}
        Thread(
            target=self._read, args=(read_fd,), name="websearch-browser-in", daemon=True
        ).start()
        Thread(
            target=self._write,
            args=(write_fd,),
            name="websearch-browser-out",
            daemon=True,
        ).start()

    def listen(self, session: str, handler: Handler) -> None:
        """Call *handler* with each event of *session*; the empty one is the browser's
        own.
        """
        self._handlers[session] = handler

    def forget(self, session: str) -> None:
        """Drop a session: its commands fail now, and nobody hears its events."""
        self._handlers.pop(session, None)
        self._fail("the page has gone", session)

    async def send(
        self, method: str, params: dict[str, Any] | None = None, session: str = ""
    ) -> dict[str, Any]:
        """Return the result of a command. Raise `CommandFailed` if it is refused,
        `Gone` if browser or session ends.
        """
        if self.ended.done():
            raise Gone("the browser has gone")
        number = next(self._ids)
        answer: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        self._waiting[number] = session, answer
        message = {"id": number, "method": method, "params": params or {}} | (
            {"sessionId": session} if session else {}
        )
        self._outgoing.put(json.dumps(message).encode() + b"\0")
        try:
            return await answer
        finally:
            self._waiting.pop(number, None)

    def close(self) -> None:
        """Let the writing thread end; the reading one ends with the browser."""
        self._outgoing.put(b"")

    def disown(self) -> None:
        """Close the pipes in a forked child, which has no threads to do it, or they
        would keep the browser alive.
        """
        while self._fds:
            os.close(self._fds.pop())

    def _close(self, fd: int) -> None:
        self._fds.discard(fd)
        os.close(fd)

    def _read(self, fd: int) -> None:
        """Read messages until the browser closes its side; one that is too long ends
        the connection.
        """
        unread = bytearray()
        try:
            while (data := os.read(fd, _CHUNK)) and len(unread) <= _MAX_MESSAGE:
                unread += data
                if b"\0" in data:
                    *messages, last = unread.split(b"\0")
                    unread = bytearray(last)
                    parsed = [_parse(one) for one in messages]
                    self._loop.call_soon_threadsafe(self._take, parsed)
        except (OSError, ValueError, RuntimeError):
            # not a message, or one nested too deeply, or the loop has ended
            pass
        finally:
            self._close(fd)
            self._outgoing.put(b"")
            try:
                self._loop.call_soon_threadsafe(self._end)
            except RuntimeError:  # the loop has ended: nobody waits any more
                return

    def _write(self, fd: int) -> None:
        try:
            while data := self._outgoing.get():
                while data:
                    data = data[os.write(fd, data) :]
        except OSError:  # the browser has gone, which the other thread notices
            pass
        finally:
            self._close(fd)

    def _take(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            if "id" in message:
                _, answer = self._waiting.get(message["id"], ("", None))
                if answer is None or answer.done():
                    continue
                if "error" in message:
                    answer.set_exception(
                        CommandFailed(str(message["error"].get("message", "")))
                    )
                else:
                    answer.set_result(message.get("result", {}))
            elif handler := self._handlers.get(message.get("sessionId", "")):
                handler(message.get("method", ""), message.get("params", {}))

    def _end(self) -> None:
        if not self.ended.done():
            self.ended.set_result(None)
        self._fail("the browser has gone")

    def _fail(self, why: str, session: str | None = None) -> None:
        for whose, answer in self._waiting.values():
            if session in (None, whose) and not answer.done():
                answer.set_exception(Gone(why))


def _parse(data: bytearray) -> dict[str, Any]:
    """Return a message, or raise `ValueError` if it is not one of the protocol."""
    message = json.loads(data)
    parts = {"params", "result", "error"}
    if not isinstance(message, dict) or not all(
        isinstance(message[part], dict) for part in parts & message.keys()
    ):
        raise ValueError("not a message")
    return message
