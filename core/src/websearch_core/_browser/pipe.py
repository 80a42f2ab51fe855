"""The DevTools protocol over a pair of pipes: JSON messages that end in a zero byte.

https://chromedevtools.github.io/devtools-protocol/

Two threads read and write, so a browser that reads or writes nothing holds up neither
the event loop nor other browsers, and the same code serves Windows, whose event loops
do not know such pipes.
"""

from __future__ import annotations
import asyncio
import contextlib
import itertools
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeAlias

# Bytes of a message. An answer is as long as what we asked for, a picture or a text; an
# event has the URLs, headers and texts that the page chose, of which we need little.
_MAX_ANSWER = 64 * 2**20
_MAX_EVENT = 2**20
_CHUNK = 2**16
_ENDS = 200  # bytes of each end of a message that is too long
_IS_ANSWER = b'{"id":'
_ID = re.compile(rb'\{"id":(\d{1,15})[,}]')
_METHOD = re.compile(rb'\{"method":"([A-Za-z.]{1,100})"')
_SESSION = re.compile(rb'"sessionId":"(\w{1,100})"\}$')

Handler: TypeAlias = Callable[[str, dict[str, Any]], None]
# An event with this in front of its name was too long: it has no parameters.
CUT = "cut:"


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
        message = {"id": number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
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
        """Read messages until the browser closes its side.

        All pages share the connection, so a message that is too long, or none of the
        protocol, does not end it.
        """
        incoming = _Incoming()
        try:
            for data in iter(lambda: os.read(fd, _CHUNK), b""):
                messages = [_parse(text) for text in incoming.take(data)]
                if messages:
                    self._loop.call_soon_threadsafe(self._take, messages)
        except (OSError, RuntimeError):  # the loop has ended
            pass
        finally:
            self._close(fd)
            self._outgoing.put(b"")
            # the loop may have ended: nobody waits any more
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._end)

    def _write(self, fd: int) -> None:
        try:
            for data in iter(self._outgoing.get, b""):
                rest = data
                while rest:
                    rest = rest[os.write(fd, rest) :]
        except OSError:  # the browser has gone, which the other thread notices
            pass
        finally:
            self._close(fd)

    def _take(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            if "id" in message:
                self._take_answer(message)
                continue
            handler = self._handlers.get(message.get("sessionId", ""))
            if handler is not None:
                handler(message.get("method", ""), message.get("params", {}))

    def _take_answer(self, message: dict[str, Any]) -> None:
        _, answer = self._waiting.get(message["id"], ("", None))
        if answer is None or answer.done():
            return
        if "error" in message:
            reason = str(message["error"].get("message", ""))
            answer.set_exception(CommandFailed(reason))
        else:
            answer.set_result(message.get("result", {}))

    def _end(self) -> None:
        if not self.ended.done():
            self.ended.set_result(None)
        self._fail("the browser has gone")

    def _fail(self, why: str, session: str | None = None) -> None:
        for whose, answer in self._waiting.values():
            if session in (None, whose) and not answer.done():
                answer.set_exception(Gone(why))


@dataclass(frozen=True)
class _TooLong:
    """Both ends of a message that was too long."""

    head: bytes
    tail: bytes


class _Incoming:
    """Cuts what the browser says into messages, and keeps only the ends of those that
    are too long.
    """

    def __init__(self) -> None:
        self._unread = bytearray()
        self._head: bytes | None = None  # of a message that is too long already

    def take(self, data: bytes) -> list[bytes | _TooLong]:
        """Return the messages that end in *data*."""
        *ends, rest = data.split(b"\0")
        messages: list[bytes | _TooLong] = []
        for end in ends:
            self._add(end)
            messages.append(self._finish())
        self._add(rest)
        return messages

    def _add(self, data: bytes) -> None:
        self._unread += data
        is_answer = self._unread.startswith(_IS_ANSWER)
        limit = _MAX_ANSWER if is_answer else _MAX_EVENT
        if self._head is None and len(self._unread) > limit:
            self._head = bytes(self._unread[:_ENDS])
        if self._head is not None:
            del self._unread[:-_ENDS]

    def _finish(self) -> bytes | _TooLong:
        data = bytes(self._unread)
        head = self._head
        self._unread = bytearray()
        self._head = None
        return data if head is None else _TooLong(head, data)


def _parse(data: bytes | _TooLong) -> dict[str, Any]:
    """Return a message; an empty one for what is none of the protocol."""
    if isinstance(data, _TooLong):
        return _describe_too_long(data)
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):  # not JSON, or nested too deeply
        return {}
    return message if _is_message(message) else {}


def _is_message(message: Any) -> bool:
    if not isinstance(message, dict):
        return False
    texts = {"method", "sessionId"}
    tables = {"params", "result", "error"}
    if not all(isinstance(message[part], str) for part in texts & message.keys()):
        return False
    if not all(isinstance(message[part], dict) for part in tables & message.keys()):
        return False
    return isinstance(message.get("id", 0), int)


def _describe_too_long(message: _TooLong) -> dict[str, Any]:
    """Return what can be said of a message that was too long: that the command failed,
    or which event it was.
    """
    answer = _ID.match(message.head)
    if answer is not None:
        return {"id": int(answer[1]), "error": {"message": "the answer is too long"}}
    event = _METHOD.match(message.head)
    session = _SESSION.search(message.tail)
    if event is None or session is None:
        return {}
    return {"method": CUT + event[1].decode(), "sessionId": session[1].decode()}
