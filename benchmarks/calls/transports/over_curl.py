"""curl_cffi, which is libcurl. It takes no resolver, but the addresses of names: so each name has its own session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from curl_cffi import CurlOpt
from curl_cffi.curl import CURL_WRITEFUNC_ERROR
from curl_cffi.requests import AsyncSession, Session
from curl_cffi.requests.exceptions import RequestException

from benchmarks.calls.transports.seam import AT_ONCE, SENT, Ask, Reply, begin, feed, finish, place
from websearch_core._net.guard import Guard
from websearch_core._net.lookup import FOR_PAGES, Line
from websearch_core._net.resolve import aresolve, resolve
from websearch_core._runtime.deadline import time_left, timeout_left

_OPTIONS: dict[str, Any] = {
    "trust_env": False, "allow_redirects": False, "discard_cookies": True, "default_headers": False,
}  # fmt: skip


class _Collected:
    """The bytes that arrived, until there are too many; curl calls it."""

    def __init__(self, ask: Ask) -> None:
        self._ask, self.arrived, self.is_cut = ask, bytearray(), False

    def __call__(self, chunk: bytes) -> int:
        self.arrived += chunk
        self.is_cut = len(self.arrived) > self._ask.most
        return CURL_WRITEFUNC_ERROR if self.is_cut else len(chunk)

    def finish(self, reply: Any) -> Reply:
        body = begin(reply.status_code, reply.headers.get("content-encoding"), self._ask)
        if body is not None:
            feed(body, bytes(self.arrived))
        return finish(reply.status_code, body)


def _make_options(ask: Ask, collected: _Collected) -> dict[str, Any]:
    return {
        "data": ask.content,
        "headers": SENT,
        "accept_encoding": None,
        "timeout": min(time_left(), 86_400),
        "content_callback": collected,
    }


class _Sessions:
    """A session for each name and its judged addresses, to which it stays tied."""

    def __init__(self, make: Callable[..., Any], guard: Guard) -> None:
        self._make, self._guard, self._line = make, guard, Line(FOR_PAGES)
        self._sessions: dict[str, Any] = {}

    def _get(self, host: str, port: int, addresses: list[str]) -> Any:
        rule = f"{host}:{port}:{','.join(f'[{one}]' if ':' in one else one for one in addresses)}"
        if rule not in self._sessions:
            options = {CurlOpt.RESOLVE: [rule], CurlOpt.NOPROXY: "*", CurlOpt.HTTP_CONTENT_DECODING: 0}
            self._sessions[rule] = self._make(curl_options=options, **_OPTIONS)
        return self._sessions[rule]


class BlockingCurl(_Sessions):
    """A session with a handle for each thread."""

    def __init__(self, guard: Guard) -> None:
        super().__init__(Session, guard)

    def send(self, ask: Ask) -> Reply:
        url, host, port = place(ask.url, self._guard)
        session = self._get(host, port, resolve(self._line, self._guard, host, port))
        collected = _Collected(ask)
        try:
            reply = session.post(url, **_make_options(ask, collected))
        except RequestException as error:
            if not collected.is_cut or error.response is None:
                raise
            reply = error.response
        return collected.finish(reply)

    def close(self) -> None:
        for session in self._sessions.values():
            session.close()


class AsyncCurl(_Sessions):
    """A session on an event loop."""

    def __init__(self, guard: Guard) -> None:
        super().__init__(partial(AsyncSession, max_clients=AT_ONCE), guard)

    async def send(self, ask: Ask) -> Reply:
        async with asyncio.timeout(timeout_left()):
            url, host, port = place(ask.url, self._guard)
            session = self._get(host, port, await aresolve(self._line, self._guard, host, port))
            collected = _Collected(ask)
            try:
                reply = await session.post(url, **_make_options(ask, collected))
            except RequestException as error:
                if not collected.is_cut or error.response is None:
                    raise
                reply = error.response
        return collected.finish(reply)

    async def close(self) -> None:
        for session in self._sessions.values():
            await session.close()
