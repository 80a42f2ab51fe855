"""Leave through a proxy: which one, who resolves names, and how to ask for a
connection.

The guard cannot judge addresses that a proxy resolves, so who does it has to be said.
``here``: names are resolved and judged here, and the proxy is asked for an address,
always by CONNECT, since a proxy replaces the ``Host`` of an absolute-form request by
the host in its target (RFC 9112, 3.2.2). ``proxy``: it is asked for the name, by
CONNECT for https and in absolute form for http.
"""

from __future__ import annotations
import base64
import re
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args
from urllib.parse import unquote
from urllib.request import getproxies_environment

from pydantic import SecretStr

from .._text.urls import PORTS, is_this_machine, locate, parse_address
from ..errors import (
    AuthenticationError,
    ConfigurationError,
    ServiceError,
    TimedOut,
    Unavailable,
    UnsafeURL,
)
from ..keys._keys import ApiKey
from .heads import MalformedHead, parse_response

Resolver: TypeAlias = Literal["here", "proxy"]
ENVIRONMENT = "environment"

_MAX_HEAD = 2**16  # bytes of an answer to CONNECT
_CHUNK = 2**14
_END = b"\r\n\r\n"
_URL = re.compile(r"http://(?:([^@/?#]*)@)?([^@/?#]+)/?", re.IGNORECASE)
_EXAMPLE = "'http://user:password@proxy.corp:3128'"
_WHO = (
    "resolve: say who resolves the names of pages: 'here' resolves them on this "
    "machine, judges the addresses and asks "
    "the proxy for these; 'proxy' lets the proxy resolve them, where this machine "
    "cannot, and trusts it not to lead "
    "pages to internal addresses"
)


@dataclass(frozen=True)
class Proxy:
    """An HTTP proxy, and who to log in as, if it wants that."""

    host: str
    port: int
    user: str = field(default="", repr=False)
    password: ApiKey | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, url: str, what: str = "proxy") -> Proxy:
        """Parse the URL of a proxy; *what* names it in a `ConfigurationError`, which
        does not show it.
        """
        match = _URL.fullmatch(url.strip())
        if match is None and re.match(
            r"(?:https|socks\w*)://", url.strip(), re.IGNORECASE
        ):
            raise ConfigurationError(
                f"{what}: https:// and SOCKS are not supported; use plain http, as in "
                f"{_EXAMPLE}"
            )
        if match is None:
            raise ConfigurationError(
                f"{what}: must be a URL such as {_EXAMPLE}; signs such as @ in the "
                f"password are percent-encoded"
            )
        try:
            host, port = locate(f"http://{match[2]}")
        except UnsafeURL as error:
            raise ConfigurationError(
                f"{what}: the host of the URL cannot be used: {error}"
            ) from None
        login = match[1] or ""
        parts = login.partition(":")
        user = unquote(parts[0])
        password = unquote(parts[2])
        if ":" in user or not (user + password).isprintable():
            raise ConfigurationError(f"{what}: the user or the password cannot be sent")
        secret: ApiKey | None = None
        if ":" in login:
            secret = ApiKey.hide(SecretStr(password)).with_owner("proxy", "password")
        return cls(host, port, user, secret)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def make_headers(self) -> dict[str, str]:
        """Return the headers that only the proxy gets."""
        if not self.user and self.password is None:
            return {}
        password = self.password.get_secret_value() if self.password else ""
        encoded = base64.b64encode(f"{self.user}:{password}".encode()).decode()
        return {"Proxy-Authorization": f"Basic {encoded}"}

    def ask(self, host: str, port: int) -> bytes:
        """Return the request for a tunnel to *host*, a name or an address."""
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        fields = {"Host": place, **self.make_headers()}
        lines = [
            f"CONNECT {place} HTTP/1.1",
            *(f"{name}: {value}" for name, value in fields.items()),
        ]
        return "\r\n".join([*lines, "", ""]).encode("ascii")

    def check(self, arrived: bytes, port: int) -> None:
        """Check the whole answer to the request for a tunnel to a *port*:
        `AuthenticationError` if the proxy wants a login, `Unavailable` if it refuses,
        cannot reach the site, or answers in its name.
        """
        if _END not in arrived:
            raise Unavailable(
                f"the proxy {self} closed the connection before its response was "
                f"complete"
            )
        head, more = arrived.split(_END, 1)
        try:
            status = parse_response(head).status
        except MalformedHead as error:
            raise Unavailable(
                f"the proxy {self} sent a response that is not valid HTTP"
            ) from error
        self.check_login(status)
        if status >= 500:
            raise Unavailable(
                f"the proxy {self} cannot reach the page's server: it answers {status}"
            )
        if not 200 <= status < 300:
            why = ""
            if port != 443:
                why = (
                    "; many allow only port 443: resolve='here' needs the port of "
                    "http, too"
                )
            tunnel = f"a tunnel (CONNECT) to port {port}"
            failure = Unavailable(
                f"the proxy {self} refuses {tunnel}: it answers {status}{why}"
            )
            failure.temporary = False
            raise failure
        if more:
            raise Unavailable(
                f"the proxy {self} answers in the name of the page's server"
            )

    def check_login(self, status: int) -> None:
        if status == 407:
            raise self.make_login_error()

    def make_login_error(self) -> ServiceError:
        """Make the error for a proxy that wants a login, or another one."""
        if self.user or self.password is not None:
            return AuthenticationError(
                f"the proxy {self} does not accept the user and password in its URL"
            )
        return AuthenticationError(
            f"the proxy {self} asks for a login: proxy={_EXAMPLE}"
        )

    @contextmanager
    def explain(self) -> Iterator[None]:
        """Raise errors that name this proxy instead of those of the connection to
        it.
        """
        try:
            yield
        except ServiceError as error:
            if type(error) in {Unavailable, TimedOut} and str(self) not in str(error):
                raise type(error)(
                    f"the proxy {self} cannot be reached: {error.message}"
                ) from error
            raise
        except Exception as error:
            if "Timeout" in type(error).__name__:  # of the HTTP library, or of asyncio
                raise TimedOut(
                    f"the proxy {self} did not answer within the time allowed"
                ) from error
            raise Unavailable(
                f"the proxy {self} cannot be reached, or closed the connection too "
                f"early"
            ) from error


@dataclass(frozen=True)
class Proxies:
    """The proxies to leave through, by the scheme of the URL, and who resolves the
    names of pages. What *bypass* lists, as ``NO_PROXY`` does, is reached without one.
    So is this machine.
    """

    http: Proxy | None
    https: Proxy | None
    resolve: Resolver
    bypass: str = ""

    @classmethod
    def of(cls, proxy: Any, resolve: Any) -> Proxies | None:
        """Return the proxies that the settings ask for, if any. A `ConfigurationError`
        does not show the password.
        """
        if proxy is None:
            if resolve is not None:
                raise ConfigurationError(
                    f"resolve: is for a proxy: give it, such as proxy={_EXAMPLE}"
                )
            return None
        if resolve not in get_args(Resolver):
            raise ConfigurationError(_WHO)
        text = proxy.get_secret_value() if isinstance(proxy, SecretStr) else proxy
        if not isinstance(text, str):
            raise ConfigurationError(
                f"proxy: must be a URL such as {_EXAMPLE}, or 'environment'"
            )
        if text.strip() != ENVIRONMENT:
            both = Proxy.parse(text)
            return cls(both, both, resolve)
        return cls._from_environment(resolve)

    @classmethod
    def _from_environment(cls, resolve: Resolver) -> Proxies:
        variables = getproxies_environment()
        proxies: dict[str, Proxy] = {}
        for scheme in PORTS:
            url = variables.get(scheme) or variables.get("all")
            if not url:
                continue
            if "://" not in url:
                url = f"http://{url}"
            proxies[scheme] = Proxy.parse(url, f"{scheme.upper()}_PROXY")
        if not proxies:
            raise ConfigurationError("proxy: neither HTTP_PROXY nor HTTPS_PROXY is set")
        bypass = variables.get("no", "")
        return cls(proxies.get("http"), proxies.get("https"), resolve, bypass)

    def find(self, scheme: str, host: str, port: int) -> Proxy | None:
        """Return the proxy to ask for a host; None to connect to it."""
        if is_this_machine(host):
            return None
        if self.bypass and is_listed(host, port, self.bypass):
            return None
        return self.https if scheme == "https" else self.http


def is_listed(host: str, port: int, bypass: str) -> bool:
    """Return whether *bypass* lists a host, as ``NO_PROXY`` does; IPv6 stands in
    brackets there, or not.
    """
    if "*" in map(str.strip, bypass.split(",")):
        return True
    test = urllib.request.proxy_bypass_environment  # type: ignore[attr-defined]
    places = [f"{host}:{port}", f"[{host}]:{port}"]
    return any(test(place, {"no": bypass}) for place in places)


@dataclass(frozen=True)
class Way:
    """How connections for URLs of one *scheme* leave. Names of services are always the
    proxy's to resolve.
    """

    proxies: Proxies
    scheme: str
    is_service: bool = False

    @property
    def _is_by_name(self) -> bool:
        return self.is_service or self.proxies.resolve == "proxy"

    def find(self, host: str, port: int) -> Proxy | None:
        """Return the proxy to ask for a host; None to connect to it."""
        return self.proxies.find(self.scheme, host, port)

    def find_forwarder(self, host: str, port: int) -> Proxy | None:
        """Return the proxy that gets requests for a host instead of a request for a
        tunnel.
        """
        if self._is_by_name and self.scheme == "http":
            return self.find(host, port)
        return None

    def needs_look_up(self, host: str) -> bool:
        """Return whether *host* is resolved and judged here, or only judged, if it is
        an address.
        """
        return not self._is_by_name or parse_address(host) is not None


class Tunnel:
    """Opens connections through a proxy, as an httpcore network backend does: *reach*
    connects to it within so many seconds, and *bound* makes a stream of the connection
    that heeds the deadline.
    """

    def __init__(
        self,
        proxy: Proxy,
        reach: Callable[[float | None], Any],
        bound: Callable[[Any], Any],
    ) -> None:
        self._proxy = proxy
        self._reach = reach
        self._bound = bound

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, **_: Any
    ) -> Any:
        with self._proxy.explain():
            connection = self._reach(timeout)
            try:
                stream = self._bound(connection)
                stream.write(self._proxy.ask(host, port), timeout)
                arrived = b""
                while _END not in arrived and len(arrived) < _MAX_HEAD:
                    data = stream.read(_CHUNK, timeout)
                    if not data:
                        break
                    arrived += data
                self._proxy.check(arrived, port)
            except BaseException:
                connection.close()
                raise
            return connection


class AsyncTunnel:
    """The same on an event loop, where cancellation enforces the deadline."""

    def __init__(self, proxy: Proxy, reach: Callable[[], Any]) -> None:
        self._proxy = proxy
        self._reach = reach

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002
        **_: Any,
    ) -> Any:
        with self._proxy.explain():
            stream = await self._reach()
            try:
                await stream.write(self._proxy.ask(host, port))
                arrived = b""
                while _END not in arrived and len(arrived) < _MAX_HEAD:
                    data = await stream.read(_CHUNK)
                    if not data:
                        break
                    arrived += data
                self._proxy.check(arrived, port)
            except BaseException:
                await stream.aclose()
                raise
            return stream
