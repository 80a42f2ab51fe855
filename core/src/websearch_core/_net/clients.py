"""Make HTTP clients whose connections are opened by our backends and kept in our pools.

A request goes straight to the transport of ``httpx`` or ``httpx2``. That leaves out
what their clients would add and we do not want: cookies, redirects, credentials from
URLs. It is also where test tools and tracing step in: vcrpy, pytest-httpx and
OpenTelemetry at the transport, respx at the connection below it.
"""

from __future__ import annotations
import importlib
import re
import ssl
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.metadata import version
from json import JSONEncoder
from pathlib import Path
from typing import Any, Literal

from .._text.urls import is_web_url, serialize
from ..errors import ConfigurationError
from .backend import AsyncGuardedBackend, GuardedBackend
from .certificates import explain_proxies, trusted
from .guard import Guard
from .lookup import Line
from .pool import KEPT, AsyncPool, Pool
from .proxy import Proxies, Way
from .stream import AsyncioBackend

Library = Literal["httpx", "httpx2"]
Kind = Literal["Client", "AsyncClient"]

_CORES = {"httpx": "httpcore", "httpx2": "httpcore2"}
_MAX_IDLE = 20  # connections to the servers of pages
# they state the length of their body even if it is empty
_WITH_BODY = {"POST", "PUT", "PATCH"}
_to_json = JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False
).encode
_EMAIL = re.compile(
    r"(?:mailto:)?[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}"
    r"@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}"
)
MAX_CONCURRENT = 100  # requests for pages, and as many to services, of a client


class DirectClient:
    """What `websearch_core._net.sender.Sender` uses of an ``httpx.Client``, without its
    cookies, redirects and hooks.

    With a *guard* it is for pages; without one for services, which use the proxies of
    the environment unless other ones are given. *line* is the queue for look-ups of
    names.
    """

    _kind: Kind = "Client"
    _transport = "HTTPTransport"

    def __init__(
        self,
        library: Library,
        verify: ssl.SSLContext | None,
        guard: Guard | None,
        line: Line,
        proxies: Proxies | None = None,
        certificates: Path | None = None,
    ) -> None:
        self._http = importlib.import_module(library)
        core = importlib.import_module(_CORES[library])
        # proxies and certificates of the environment must not affect pages
        trust_env = guard is None
        if verify is None:
            verify = trusted(library, trust_env=trust_env, certificates=certificates)
        limits = self._http.Limits(keepalive_expiry=KEPT)
        mounts: dict[str, Any] | None = None
        if proxies:
            transport = getattr(self._http, self._transport)
            plain = transport(verify=verify, limits=limits, trust_env=False)
            mounts = {"http://": plain}
        with explain_proxies(self._http):
            self._client = getattr(self._http, self._kind)(
                trust_env=trust_env and proxies is None,
                verify=verify,
                limits=limits,
                mounts=mounts,
            )
        for pattern, transport in (
            ("https://", self._client._transport),
            *self._client._mounts.items(),
        ):
            if transport is not None:  # None for hosts in NO_PROXY
                way = (
                    Way(
                        proxies,
                        getattr(pattern, "scheme", "https"),
                        is_service=guard is None,
                    )
                    if proxies
                    else None
                )
                # httpx has no public way; tests/core/net/test_sender.py pins it
                transport._pool = self._make_pool(
                    core, transport._pool, guard, line, way
                )

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
        """Build a request as the client of the library would.

        It gets all its headers at once: the library would make each several times while
        it completes them. The names in *headers* are written ``Like-This``, so that
        they replace the usual ones.
        """
        address = _parse_url(self._http.URL, url)
        if params is not None:
            address = self._http.URL(address, params=params)
        media_type = ""
        content = b""
        if json is not None:
            media_type = "application/json"
            content = _to_json(json).encode()
        elif data:
            media_type = "application/x-www-form-urlencoded"
            content = str(self._http.QueryParams(data)).encode()
        defaults = {
            "Host": address.netloc.decode("ascii"),
            "Accept": "*/*",
            "Connection": "keep-alive",
        }
        if media_type:
            defaults["Content-Type"] = media_type
        if content or method.upper() in _WITH_BODY:
            defaults["Content-Length"] = str(len(content))
        request = self._http.Request(
            method,
            address,
            headers={**defaults, **headers},
            stream=self._http.ByteStream(content),
            extensions={
                "timeout": dict(
                    zip(("connect", "read", "write", "pool"), timeout, strict=True)
                )
            },
        )
        request.read()  # so that a test tool can look at its content
        return request

    def send(self, request: Any, **_: Any) -> Any:
        """Send *request*, and return the response with its body still to be read; await
        the result if it is async.
        """
        return self._client._transport_for_url(request.url).handle_request(request)

    def close(self) -> None:
        self._client.close()

    @staticmethod
    def _make_pool(
        core: Any, inner: Any, guard: Guard | None, line: Line, way: Way | None
    ) -> Any:
        inner._network_backend = GuardedBackend(
            core, inner._network_backend, guard, line, way
        )
        max_idle = MAX_CONCURRENT if guard is None else _MAX_IDLE
        return Pool(core, inner, max_idle, way)


class AsyncDirectClient(DirectClient):
    """The same for one event loop."""

    _kind = "AsyncClient"
    _transport = "AsyncHTTPTransport"

    def send(self, request: Any, **_: Any) -> Any:
        return self._client._transport_for_url(request.url).handle_async_request(
            request
        )

    async def aclose(self) -> None:
        await self._client.aclose()

    @staticmethod
    def _make_pool(
        core: Any, inner: Any, guard: Guard | None, line: Line, way: Way | None
    ) -> Any:
        inner._network_backend = AsyncGuardedBackend(
            AsyncioBackend(core), guard, line, way
        )
        max_idle = MAX_CONCURRENT if guard is None else _MAX_IDLE
        return AsyncPool(core, inner, max_idle, way)


@lru_cache(maxsize=64)
def _parse_url(parse: Any, url: str) -> Any:
    """Parse a URL; that of a service is the same in every search."""
    return parse(url)


def parse_contact(value: Any) -> str:
    """Return *value* as a URL; raise `ConfigurationError` if it is neither that of a
    page nor an email address.
    """
    text = value.strip() if isinstance(value, str) else ""
    if _EMAIL.fullmatch(text):
        return f"mailto:{text.removeprefix('mailto:')}"
    if is_web_url(text) and not set(text) & set("();"):
        return serialize(text)
    raise ConfigurationError(
        "contact: must be a page about your program, such as "
        "'https://bot.example/about', or an email address"
    )


@cache  # for every contact: it reads a file, which an event loop must not
def _version() -> str:
    return version("websearch-core")


@cache
def user_agent(contact: str = "", *, for_pages: bool = False) -> str:
    """Return the default ``User-Agent``: the servers of pages know the form that
    browsers use.
    """
    comment = f"+{contact}" if contact else ""
    if for_pages:
        parts = filter(None, ("compatible", "websearch-core", comment))
        return f"Mozilla/5.0 ({'; '.join(parts)})"
    name = f"websearch-core/{_version()}"
    if not comment:
        return name
    return f"{name} ({comment})"
