"""A network that leads nowhere: names are looked up in a table, and every connection is
refused and recorded.

It replaces the real network below every HTTP library of the process, in
``socket.getaddrinfo`` and ``socket.socket.connect``, which asyncio uses too. The
system's C library decides which strings are addresses, such as ``0x7f.1``, exactly as
on a real network; only names that it would ask a server about come from the table. Two
addresses lead to servers on this machine: one redirects to the URL of a row, the other
has two names and a certificate for one of them.
"""

from __future__ import annotations
import errno
import json
import os
import socket
import ssl
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NoReturn, TypeAlias
from weakref import WeakKeyDictionary

Info: TypeAlias = tuple[
    socket.AddressFamily, socket.SocketKind, int, str, tuple[Any, ...]
]

REDIRECTS = "redirects.example"  # the host of the redirects; no row has its address
# two names of one address, with a certificate for the first only
FIRST, SECOND = "first.example", "second.example"
_REDIRECTS_AT, _SHARED_AT = "151.101.0.81", "151.101.0.82"
_PUBLIC_DNS_AT = "8.8.4.4"  # the resolver of safehttpx: not a place that a row led to

_look_up = socket.getaddrinfo
_connect = socket.socket.connect
_peer = socket.socket.getpeername


@dataclass(frozen=True)
class Row:
    """One URL of the corpus, and the policy for it: ``allow``, ``block``, or
    ``invalid`` (refuse before DNS).
    """

    url: str
    label: str
    why: str

    @property
    def fits_a_header(self) -> bool:
        """Whether a redirect can name it: a header ends at a line break and loses
        surrounding whitespace.
        """
        return self.url == self.url.strip() and not set(self.url) & {"\r", "\n"}


def read_rows(corpus: Path) -> list[Row]:
    """Read ``urls.tsv``: URL (JSON-escaped), label and reason."""
    lines = (corpus / "urls.tsv").read_text("utf-8").split("\n")
    split = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [Row(json.loads(f'"{url}"'), label, why) for url, label, why in split]


class Network:
    """A network that leads nowhere.

    Args:
        names: The addresses of each name; ``_default`` for names not listed;
            ``{"sequence": [...]}`` for a name that answers differently each time it is
            looked up.
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = {**names, "dns.google": [_PUBLIC_DNS_AT]}
        self._names |= {
            REDIRECTS: [_REDIRECTS_AT],
            FIRST: [_SHARED_AT],
            SECOND: [_SHARED_AT],
        }
        self._pretended: WeakKeyDictionary[socket.socket, tuple[Any, ...]] = (
            WeakKeyDictionary()
        )
        self._servers: dict[str, tuple[str, int]] = {}
        self.forget()

    def forget(self) -> None:
        """Start a new row: clear the look-ups and connections, and restart names whose
        answers change.
        """
        self.looked_up: list[str] = []
        self.dialled: list[str] = []
        self._times: Counter[str] = Counter()

    def install(self) -> None:
        """Replace the real network for the rest of the process."""
        network = self

        def connect(sock: socket.socket, address: Any) -> None:
            network._dial(sock, address)

        def connect_ex(sock: socket.socket, address: Any) -> int:
            try:
                network._dial(sock, address)
            except OSError as error:
                return error.errno or errno.EIO
            return 0

        def getpeername(sock: socket.socket) -> Any:
            return network._pretended.get(sock) or _peer(sock)

        def gethostbyname(host: str) -> str:
            return str(
                network.getaddrinfo(host, 0, socket.AF_INET, socket.SOCK_STREAM)[0][4][
                    0
                ]
            )

        for place, name, ours in (
            (socket, "getaddrinfo", self.getaddrinfo),
            (socket, "gethostbyname", gethostbyname),
            (socket.socket, "connect", connect),
            (socket.socket, "connect_ex", connect_ex),
            (socket.socket, "getpeername", getpeername),
        ):
            setattr(place, name, ours)

    def redirect(self, rows: list[Row]) -> None:
        """Let ``http://redirects.example/<n>`` redirect to the URL of row *n* from now
        on.
        """
        self._serve(
            _REDIRECTS_AT, ThreadingHTTPServer(("127.0.0.1", 0), _make_redirects(rows))
        )

    def share(self, certificate: Path) -> list[str]:
        """Put a TLS server, with a certificate for the first name only, at the address
        of both names.

        Returns:
            The names for which requests arrive there; the list grows with each request.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        hosts: list[str] = []
        server = ThreadingHTTPServer(("127.0.0.1", 0), _make_shared(hosts))
        server.socket = context.wrap_socket(server.socket, server_side=True)
        self._serve(_SHARED_AT, server)
        return hosts

    def _serve(self, address: str, server: ThreadingHTTPServer) -> None:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self._servers[address] = ("127.0.0.1", server.server_port)

    def getaddrinfo(
        self,
        host: bytes | str | None,
        port: Any,
        family: int = 0,
        type: int = 0,  # noqa: A002 - its name in socket
        proto: int = 0,
        flags: int = 0,
    ) -> Sequence[Info]:
        """Work like ``socket.getaddrinfo``, without asking a server."""
        # the result must not depend on this machine's IPv6
        flags &= ~socket.AI_ADDRCONFIG
        number = _look_up("127.0.0.1", port, flags=socket.AI_NUMERICHOST)[0][4][1]
        try:
            return _look_up(
                host, port, family, type, proto, flags | socket.AI_NUMERICHOST
            )
        except socket.gaierror:
            if host is None or flags & socket.AI_NUMERICHOST:
                raise
        found: list[Info] = []
        for address in self._ask(_encode(host)):
            kind = socket.AF_INET6 if ":" in address else socket.AF_INET
            if family in (0, kind):
                bare, _, zone = address.partition("%")
                place = (
                    (bare, number, 0, 2 if zone else 0)
                    if ":" in address
                    else (address, number)
                )
                found.append((kind, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", place))
        return found or _raise_unknown()

    def _ask(self, name: str) -> list[str]:
        name = name.lower().removesuffix(".")
        if len(name) > 253 or not all(0 < len(label) < 64 for label in name.split(".")):
            _raise_unknown()  # the C library cannot even send such a query
        if name not in {REDIRECTS, FIRST, SECOND}:
            self.looked_up.append(name)
        answer = self._names.get(name, self._names["_default"])
        if isinstance(answer, dict):
            turn = min(self._times[name], len(answer["sequence"]) - 1)
            self._times[name] += 1
            answer = answer["sequence"][turn]
        return list(answer)

    def _dial(self, sock: socket.socket, address: Any) -> None:
        # connecting a UDP socket only asks for a route
        if sock.type != socket.SOCK_STREAM:
            raise OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))
        if sock.family == socket.AF_UNIX:
            dialled = f"unix:{address}"
        else:
            dialled = str(
                self.getaddrinfo(
                    address[0], address[1], sock.family, socket.SOCK_STREAM
                )[0][4][0]
            )
        if dialled in self._servers:
            self._pretended[sock] = address
            _connect(sock, self._servers[dialled])
            return
        if dialled != _PUBLIC_DNS_AT:
            self.dialled.append(dialled)
        raise ConnectionRefusedError(
            errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED)
        )


def _encode(host: bytes | str) -> str:
    """Return the name as the C library sees it: CPython applies IDNA 2003 to text, and
    C strings end at a NUL.
    """
    encoded = host.encode("idna") if isinstance(host, str) else bytes(host)
    return encoded.split(b"\0")[0].decode("latin-1")


def _raise_unknown() -> NoReturn:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


class _Pages(BaseHTTPRequestHandler):
    def answer(self, location: str | None) -> None:
        self.send_response(302 if location else 200)
        if location:
            self.send_header("Location", location.encode().decode("latin-1"))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


def _make_redirects(rows: list[Row]) -> type[BaseHTTPRequestHandler]:
    class Pages(_Pages):
        def do_GET(self) -> None:
            number = self.path.strip("/")
            self.answer(rows[int(number)].url if number.isdecimal() else None)

    return Pages


def _make_shared(hosts: list[str]) -> type[BaseHTTPRequestHandler]:
    class Pages(_Pages):
        # connections stay open, so that a client may reuse them
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            hosts.append(self.headers["Host"])
            self.answer(f"https://{SECOND}/" if self.path == "/redirect" else None)

    return Pages
