"""
Make HTTP clients whose connections are opened by our backends and kept in our pools.

A request goes straight to the transport of ``httpx`` or ``httpx2``. That leaves out what their clients would add and we
do not want: cookies, redirects, credentials from URLs. It is also where test tools and tracing step in: vcrpy,
pytest-httpx and OpenTelemetry at the transport, respx at the connection below it.
"""

from __future__ import annotations

import importlib
import ssl
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.metadata import version
from json import JSONEncoder
from typing import Any, Literal

from .backend import AsyncGuardedBackend, GuardedBackend
from .certificates import trusted
from .guard import Guard
from .lookup import Line
from .pool import KEPT, AsyncPool, Pool
from .stream import AsyncioBackend

Library = Literal["httpx", "httpx2"]
Kind = Literal["Client", "AsyncClient"]

_CORES = {"httpx": "httpcore", "httpx2": "httpcore2"}
_MAX_IDLE = 20  # connections to the servers of pages
_WITH_BODY = {"POST", "PUT", "PATCH"}  # they state the length of their body even if it is empty
_to_json = JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
MAX_CONCURRENT = 100  # requests for pages, and as many to services, of a client


class DirectClient:
    """
    What `websearch_core._net.sender.Sender` uses of an ``httpx.Client``, without its cookies, redirects and hooks.

    Args:
        library: Which HTTP library to use.
        verify: Which certificates to trust; by default, those of the HTTP library.
        guard: The policy for pages; None for services, which may use the proxies of the environment.
        line: The queue for look-ups of names.

    """

    _kind: Kind = "Client"

    def __init__(self, library: Library, verify: ssl.SSLContext | None, guard: Guard | None, line: Line) -> None:
        user_agent()  # reads files, which no request should do
        self._http = importlib.import_module(library)
        core = importlib.import_module(_CORES[library])
        self._client = getattr(self._http, self._kind)(
            trust_env=guard is None,  # proxies and certificates of the environment must not affect pages
            verify=verify or trusted(library, trust_env=guard is None),
            limits=self._http.Limits(keepalive_expiry=KEPT),
        )
        for transport in (self._client._transport, *self._client._mounts.values()):
            if transport is not None:  # None for hosts in NO_PROXY
                # httpx has no public way; tests/core/net/test_sender.py pins it
                transport._pool = self._make_pool(core, transport._pool, guard, line)

    def build_request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        timeout: tuple[Any, ...],
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        data: Mapping[str, str] | None = None,
    ) -> Any:
        """
        Build a request as the client of the library would.

        It gets all its headers at once: the library would make each several times while it completes them. The names
        in *headers* are written ``Like-This``, so that they replace the usual ones.
        """
        address = _parse_url(self._http.URL, url)
        if params is not None:
            address = self._http.URL(address, params=params)
        media_type, content = "", b""
        if json is not None:
            media_type, content = "application/json", _to_json(json).encode()
        elif data:
            media_type, content = "application/x-www-form-urlencoded", str(self._http.QueryParams(data)).encode()
        usual = {"Host": address.netloc.decode("ascii"), "Accept": "*/*", "Connection": "keep-alive"}
        if media_type:
            usual["Content-Type"] = media_type
        if content or method.upper() in _WITH_BODY:
            usual["Content-Length"] = str(len(content))
        request = self._http.Request(
            method,
            address,
            headers={**usual, **headers},
            stream=self._http.ByteStream(content),
            extensions={"timeout": dict(zip(("connect", "read", "write", "pool"), timeout, strict=True))},
        )
        request.read()  # so that a test tool can look at its content
        return request

    def send(self, request: Any, **_: Any) -> Any:
        """Send *request*, and return the response with its body still to be read; await the result if it is async."""
        return self._client._transport_for_url(request.url).handle_request(request)

    def close(self) -> None:
        self._client.close()

    @staticmethod
    def _make_pool(core: Any, inner: Any, guard: Guard | None, line: Line) -> Any:
        inner._network_backend = GuardedBackend(core, inner._network_backend, guard, line)
        return Pool(core, inner, MAX_CONCURRENT if guard is None else _MAX_IDLE)


class AsyncDirectClient(DirectClient):
    """The same for one event loop."""

    _kind = "AsyncClient"

    def send(self, request: Any, **_: Any) -> Any:
        return self._client._transport_for_url(request.url).handle_async_request(request)

    async def aclose(self) -> None:
        await self._client.aclose()

    @staticmethod
    def _make_pool(core: Any, inner: Any, guard: Guard | None, line: Line) -> Any:
        inner._network_backend = AsyncGuardedBackend(AsyncioBackend(core), guard, line)
        return AsyncPool(core, inner, MAX_CONCURRENT if guard is None else _MAX_IDLE)


@lru_cache(maxsize=64)
def _parse_url(parse: Any, url: str) -> Any:
    """Parse a URL; that of a service is the same in every search."""
    return parse(url)


@cache
def user_agent() -> str:
    return f"websearch-core/{version('websearch-core')}"
