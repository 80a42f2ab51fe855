"""urllib3, with connections that go where our guard says; it has no async client, and no limit for a whole exchange."""

from __future__ import annotations

import ssl
from functools import partial
from typing import Any

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

from benchmarks.calls.transports.seam import AT_ONCE, SENT, Ask, Reply, begin, feed, finish, place
from websearch_core._net.guard import Guard
from websearch_core._net.lookup import FOR_PAGES, Line
from websearch_core._net.resolve import resolve
from websearch_core._runtime.deadline import in_time, time_left, timeout_left


class BlockingUrllib3:
    """A pool of urllib3. Past the deadline, its thread is left behind."""

    def __init__(self, guard: Guard) -> None:
        line = Line(FOR_PAGES)

        class Plain(HTTPConnection):
            def _new_conn(self) -> Any:
                return _connect(self, guard, line)

        class Secure(HTTPSConnection):
            def _new_conn(self) -> Any:
                return _connect(self, guard, line)

        self._guard = guard
        self._manager = urllib3.PoolManager(maxsize=AT_ONCE, ssl_context=ssl.create_default_context())
        for scheme, connection in (("http", Plain), ("https", Secure)):
            pool = self._manager.pool_classes_by_scheme[scheme]
            kinds = dict(self._manager.pool_classes_by_scheme)
            kinds[scheme] = type(f"Guarded{pool.__name__}", (pool,), {"ConnectionCls": connection})
            self._manager.pool_classes_by_scheme = kinds

    def send(self, ask: Ask) -> Reply:
        return in_time(partial(self._send, ask))

    def _send(self, ask: Ask) -> Reply:
        url, _, _ = place(ask.url, self._guard)
        reply = self._manager.request(
            "POST", url, body=ask.content, headers=SENT, redirect=False, retries=False, preload_content=False,
            decode_content=False, timeout=urllib3.Timeout(total=timeout_left()),
        )  # fmt: skip
        body = begin(reply.status, reply.headers.get("content-encoding"), ask)
        chunks = reply.stream(2**16, decode_content=False)
        is_whole = body is not None and all(feed(body, chunk) for chunk in chunks)
        if is_whole:
            reply.release_conn()
        else:
            reply.close()
        return finish(reply.status, body)

    def close(self) -> None:
        self._manager.clear()


def _connect(connection: Any, guard: Guard, line: Line) -> Any:
    """Connect to the addresses of the name that the guard allows, one after the other."""
    failure: Exception | None = None
    for address in resolve(line, guard, connection._dns_host, connection.port):
        try:
            return urllib3.util.connection.create_connection((address, connection.port), min(10.0, time_left()))
        except OSError as error:
            failure = error
    raise failure or OSError("the name has no address")
