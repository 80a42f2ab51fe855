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
from urllib.request import getproxies

from .._text.urls import PORTS, is_web_url, serialize
from ..errors import ConfigurationError
from .backend import AsyncGuardedBackend, GuardedBackend
from .certificates import find_proxies, is_socks, trusted
from .guard import Guard
from .lookup import Line
from .pool import KEPT, AsyncPool, Pool
from .proxy import Proxies, Way, is_listed
from .stream import AsyncioBackend

Library = Literal["httpx", "httpx2"]

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


@cache
def _subclass(base: Any) -> Any:
    """Return a transport of a library that takes its connections from our pool.

    It does not call the constructor of *base*, which would make the library's own pool.
    If the attribute gets another name one day, requests fail; none bypasses the guard.
    """

    class Transport(base):  # type: ignore[misc]
        def __init__(self, pool: Pool | AsyncPool) -> None:
            self._pool = pool

    return Transport


class DirectClient:
    """What `websearch_core._net.sender.Sender` uses of an ``httpx.Client``, without its
    cookies, redirects and hooks.

    With a *guard* it is for pages; without one for services, which use the proxies of
    the environment unless other ones are given. *line* is the queue for look-ups of
    names.
    """

    _prefix = ""  # of what the libraries call their classes
    _handler = "handle_request"
    _pool_class: type[Pool | AsyncPool] = Pool

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
        self._core = importlib.import_module(_CORES[library])
        self._guard = guard
        self._line = line
        # proxies and certificates of the environment must not affect pages
        is_service = guard is None
        if verify is None:
            verify = trusted(library, trust_env=is_service, certificates=certificates)
        self._verify = verify
        self.pools: list[Any] = []
        self._direct = self._make_transport()
        self._by_scheme: dict[str, Any] = {}
        self._bypass = ""
        if proxies is not None:
            for scheme in PORTS:
                way = Way(proxies, scheme, is_service=is_service)
                self._by_scheme[scheme] = self._make_transport(way=way)
        elif is_service:
            self._bypass = getproxies().get("no", "")
            for scheme, proxy in find_proxies(self._http).items():
                self._by_scheme[scheme] = self._make_transport(proxy=proxy)

    def _make_transport(self, way: Way | None = None, proxy: Any = None) -> Any:
        """Make a transport that connects directly, on our own *way*, or through a
        *proxy* of the library.
        """
        options = {
            "ssl_context": self._verify,
            "keepalive_expiry": KEPT,
            "network_backend": self._make_backend(way),
        }
        kind = "ConnectionPool"
        if proxy is not None:
            kind = "SOCKSProxy" if is_socks(proxy) else "HTTPProxy"
            options["proxy_auth"] = proxy.raw_auth
            options["proxy_url"] = self._core.URL(
                scheme=proxy.url.raw_scheme,
                host=proxy.url.raw_host,
                port=proxy.url.port,
                target=proxy.url.raw_path,
            )
        opener = getattr(self._core, f"{self._prefix}{kind}")(**options)
        max_idle = MAX_CONCURRENT if self._guard is None else _MAX_IDLE
        pool = self._pool_class(self._core, opener, max_idle, way)
        self.pools.append(pool)
        base = getattr(self._http, f"{self._prefix}HTTPTransport")
        return _subclass(base)(pool)

    def _make_backend(self, way: Way | None) -> Any:
        inner = self._core.SyncBackend()
        return GuardedBackend(self._core, inner, self._guard, self._line, way)

    def _is_excepted(self, url: Any) -> bool:
        """Return whether ``NO_PROXY`` lists the host of *url*."""
        port = url.port or PORTS[url.scheme]
        return bool(self._bypass) and is_listed(url.host, port, self._bypass)

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
        transport = self._by_scheme.get(request.url.scheme, self._direct)
        if transport is not self._direct and self._is_excepted(request.url):
            transport = self._direct
        return getattr(transport, self._handler)(request)

    def close(self) -> None:
        for pool in self.pools:
            pool.close()


class AsyncDirectClient(DirectClient):
    """The same for one event loop."""

    _prefix = "Async"
    _handler = "handle_async_request"
    _pool_class = AsyncPool

    async def aclose(self) -> None:
        for pool in self.pools:
            await pool.aclose()

    def _make_backend(self, way: Way | None) -> Any:
        inner = AsyncioBackend(self._core)
        return AsyncGuardedBackend(inner, self._guard, self._line, way)


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
