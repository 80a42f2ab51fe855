"""The hostile web on loopback: a site, and internal servers that must not be reached.

127.0.0.2 stands for the public internet, by a rule of the caller's guard. 127.0.0.1,
127.0.0.3 and ::1 are internal: there, TCP and UDP sockets record whatever comes, so
neither a browser nor a page can talk its way around the record.
"""

from __future__ import annotations
import asyncio
import contextlib
import functools
import gzip
import itertools
import re
import socket
import ssl
import threading
import zlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Self

from tests.browser.hostile.attacks import ATTACKS, HARM, WORKERS

PUBLIC, INTERNAL = "127.0.0.2", "127.0.0.3"
SECRET = "TOP-SECRET-OF-THE-INTRANET"
# so that a reader that waits for the page stays for what it tries
_TAIL = "<script>fetch('/slow/600')</script>"
_CHUNK = b"<p>more and more</p>" * 3000


def slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


_PAGES = {slug(name): page for name, page in (ATTACKS | HARM).items()}
_NAMES = {slug(name): name for name in ATTACKS}


class Names:
    """What names resolve to: ``rebind*`` is public the first time, and internal from
    then on.
    """

    def __init__(self) -> None:
        self._turns: dict[str, Iterator[str]] = defaultdict(
            lambda: itertools.chain([PUBLIC], itertools.repeat(INTERNAL))
        )

    def resolve(self, name: str, _port: int = 0) -> list[str]:
        """Return the addresses of *name*, as `Guard.resolve` does."""
        name = name.rstrip(".").lower()
        if name.startswith("rebind"):
            return [next(self._turns[name])]
        if name.startswith("mixed"):
            return [PUBLIC, INTERNAL]
        if name.startswith("inside"):
            return [INTERNAL]
        if name in {"localhost", "ip6-localhost"} or name.endswith(".localhost"):
            return ["127.0.0.1"]
        if name.endswith(".example"):
            return [PUBLIC]
        raise socket.gaierror(socket.EAI_NONAME, "no such name")


class Site:
    """``with Site() as site:`` and open ``site.url(name)``; ``site.reached`` has what
    came to the internal servers.

    Args:
        certificates: For https on other ports of the same address, whose origins are in
            ``site.secure``.

    """

    def __init__(self, *certificates: ssl.SSLContext) -> None:
        # by the name of the attack: REQUEST, CONNECTION or PACKET
        self.reached: dict[str, str] = {}
        self.leaks: dict[str, str] = {}
        # path and headers of each request to the public site
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.sent = 0  # bytes of endless answers
        self.gate = "127.0.0.1:1"  # the address of the proxy, for pages that attack it
        self.secure: list[str] = []
        self._certificates = certificates
        self._ready = threading.Event()

    def __enter__(self) -> Self:
        self._sockets = _bind()
        self.port = self._sockets[0][0].getsockname()[1]
        self.origin = f"http://{PUBLIC}:{self.port}"
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve()), daemon=True
        )
        self._thread.start()
        self._ready.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def url(self, name: str) -> str:
        """Return the address of a page of `ATTACKS` or `HARM`."""
        page = _PAGES[slug(name)]
        return (
            self._fill(page.removeprefix("OPEN "), slug(name))
            if page.startswith("OPEN ")
            else (f"{self.origin}/page/{slug(name)}")
        )

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        public, *internal = self._sockets
        servers = [await asyncio.start_server(self._handle, sock=public[0])]
        packets: list[asyncio.BaseTransport] = []
        for tcp, udp in internal:
            servers.append(await asyncio.start_server(self._record, sock=tcp))
            packets.append(
                (
                    await self._loop.create_datagram_endpoint(
                        lambda: _Packets(self.reached), sock=udp
                    )
                )[0]
            )
        for certificate in self._certificates:
            server = await asyncio.start_server(
                self._handle, PUBLIC, 0, ssl=certificate
            )
            self.secure.append(
                f"https://shop.example:{server.sockets[0].getsockname()[1]}"
            )
            servers.append(server)
        self._ready.set()
        await self._stop.wait()
        public[1].close()
        for transport in packets:
            transport.close()
        for one in servers:
            one.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _record(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve an internal address: whatever comes is a hit."""
        key = f"connection {writer.get_extra_info('peername')}"
        self.reached[key] = "CONNECTION"
        with contextlib.suppress(
            OSError, EOFError, asyncio.LimitOverrunError, asyncio.CancelledError
        ):
            head = await reader.readuntil(b"\r\n\r\n")
            if found := re.search(rb"/hit/([a-z0-9-]+)", head):
                del self.reached[key]
                self.reached[_NAMES.get(found[1].decode(), "?")] = "REQUEST"
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nAccess-Control-Allow-Origin: *\r\n"
                b"Connection: close\r\n\r\n<p>" + SECRET.encode()
            )
            await writer.drain()
        writer.close()

    async def _handle(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with contextlib.suppress(
            OSError,
            EOFError,
            asyncio.LimitOverrunError,
            ValueError,
            asyncio.CancelledError,
        ):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                path = head.split(" ", 2)[1]
                fields = {
                    k.lower(): v
                    for k, _, v in (
                        line.partition(": ") for line in head.split("\r\n")[1:]
                    )
                }
                body = await reader.readexactly(int(fields.get("content-length", 0)))
                self.seen.append((path, fields))
                if (
                    not await self._answer(path, body, writer)
                    or fields.get("connection", "").lower() == "close"
                ):
                    break
        writer.close()

    async def _answer(
        self, path: str, body: bytes, writer: asyncio.StreamWriter
    ) -> bool:
        kind, _, rest = path.lstrip("/").partition("/")
        name = rest.rpartition("/")[2].partition("?")[0]
        match kind:
            case "page":
                return await self._page(name, writer)
            case "leak":
                self.leaks[_NAMES.get(rest, rest)] = body.decode("utf-8", "replace")
            case "redirect":
                return self._send(writer, "", 301, {"Location": rest})
            case "slow":
                await asyncio.sleep(int(name) / 1000)
            case "js":
                return self._send(
                    writer,
                    self._fill(WORKERS[rest.partition("/")[0]], name),
                    kind="text/javascript",
                )
            case "rules":
                rules = '{"prefetch":[{"source":"list","urls":["@I/hit/@N"],"eagerness":"immediate"}]}'
                return self._send(
                    writer,
                    self._fill(rules, name),
                    kind="application/speculationrules+json",
                )
            case "xslt":
                text = (
                    "<?xml version='1.0'?><?xml-stylesheet type='text/xsl' href='@I/hit/@N'?>"
                    "<!DOCTYPE a [<!ENTITY x SYSTEM '@I/hit/@N'>]><a>&x;</a>"
                )
                return self._send(writer, self._fill(text, name), kind="text/xml")
            case "endless":
                return await self._endless(writer, rest.partition("?")[0])
            case "upgrade":
                writer.write(
                    b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
                )
                return False
            case "407":
                return self._send(
                    writer, "who?", 407, {"Proxy-Authenticate": 'Basic realm="gate"'}
                )
            case "text":
                return self._send(writer, "Plain text, all is well.", kind="text/plain")
            case "csv":
                attached = {"Content-Disposition": "attachment; filename=a.csv"}
                return self._send(
                    writer, "kelp,metres\ngiant,45\n", extra=attached, kind="text/csv"
                )
            case "events":
                return self._send_event(writer)
            case "late":
                return self._send(writer, _LATE)
            case "heavy":
                return self._send(writer, _HEAVY)
            case "part":
                return self._send_part(writer, name)
            case "silence":
                await asyncio.sleep(60)
            case "empty":
                return self._send(writer, "", 204)
            case "elsewhere":
                page = f"<p>visible text<script src='http://other.example:{self.port}/js/empty/x'></script>"
                return self._send(writer, page)
            case "status":
                return self._send(writer, "<h1>Not what you came for</h1>", int(name))
            case "cookie":
                storing = {
                    "Set-Cookie": "seen=1; Max-Age=9999",
                    "Cache-Control": "max-age=9999",
                }
                return self._send(writer, _STORE, extra=storing)
        return self._send(
            writer, "<!doctype html><title>ok</title><p>visible text, all is well"
        )

    def _send_event(self, writer: asyncio.StreamWriter) -> bool:
        """Send one event of 90 MB, in as many kilobytes."""
        packed = _pack_event()
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
        )
        writer.write(packed)
        return True

    def _send_part(self, writer: asyncio.StreamWriter, name: str) -> bool:
        """Send a part of the heavy page."""
        number, _, kind = name.partition(".")
        if kind == "bmp":
            head = f"HTTP/1.1 200 OK\r\nContent-Type: image/bmp\r\nContent-Length: {len(_PICTURE)}\r\n\r\n"
            writer.write(head.encode() + _PICTURE)
            return True
        if kind == "css":
            sheet = f"@font-face{{font-family:f{number};src:url(/part/{number}.bmp)}}p{{font-family:f{number}}}"
            return self._send(writer, sheet + "/*x*/" * 4000, kind="text/css")
        code = f"let n{number}=0;for(let i=0;i<2e6;i++)n{number}+=i;//"
        return self._send(writer, code + "x" * 80_000, kind="text/javascript")

    async def _page(self, name: str, writer: asyncio.StreamWriter) -> bool:
        page = self._fill(_PAGES[name], name)
        extra: dict[str, str] = {}
        while page.startswith("HEADER "):
            line, page = page.removeprefix("HEADER ").split("\n", 1)
            extra.setdefault(*line.split(": ", 1))
        word, _, rest = page.partition(" ")
        match word:
            case "REDIRECT":
                return self._send(writer, "", 301, {"Location": rest})
            case "ENDLESS":
                return await self._endless(writer, rest)
            case "BOMB":
                return await self._endless(writer, rest, gzip.compress(_CHUNK * 400))
            case "DRIP":
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>visible text</p>"
                )
                while True:
                    writer.write(b"<p>drip</p>")
                    await writer.drain()
                    await asyncio.sleep(0.2)
        return self._send(writer, page + (_TAIL if name in _NAMES else ""), extra=extra)

    async def _endless(
        self, writer: asyncio.StreamWriter, kind: str, packed: bytes = b""
    ) -> bool:
        attached = (
            "Content-Disposition: attachment; filename=x\r\n"
            if "html" not in kind and "java" not in kind
            else ""
        )
        coding = "Content-Encoding: gzip\r\n" if packed else ""
        first = b"" if packed else b"<p>visible text</p>" if "html" in kind else b"//"
        writer.write(
            f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{attached}{coding}\r\n".encode()
            + first
        )
        while True:
            writer.write(packed or _CHUNK)
            self.sent += len(packed or _CHUNK)
            await writer.drain()
            await asyncio.sleep(0)

    def _fill(self, text: str, name: str) -> str:
        inner = f"{INTERNAL}:{self.port}"
        for mark, value in (
            *(
                ("@I", f"http://{inner}"),
                ("@H", inner),
                ("@S", self.origin),
                ("@P", str(self.port)),
            ),
            *(("@G", self.gate), ("@N", name)),
        ):
            text = re.sub(rf"{mark}(?![a-z])", value, text)  # not @import
        return text

    def _send(
        self, writer: asyncio.StreamWriter, text: str, status: int = 200, extra: dict[str, str] | None = None,
        *, kind: str = "text/html; charset=utf-8",
    ) -> bool:  # fmt: skip
        data = text.encode()
        lines = [
            f"HTTP/1.1 {status} X",
            f"Content-Type: {kind}",
            f"Content-Length: {len(data)}",
        ]
        lines += [
            "Access-Control-Allow-Origin: *",
            *(f"{k}: {v}" for k, v in (extra or {}).items()),
            "",
            "",
        ]
        writer.write("\r\n".join(lines).encode("utf-8") + data)
        return True


_LATE = (
    "<!doctype html><title>late</title><p>visible text<script>"
    "fetch('/slow/1500').then(r=>r.text()).then(t=>document.body.append(' that came late'))</script>"
)


@functools.cache
def _pack_event() -> bytes:
    packing = zlib.compressobj(6, wbits=31)
    return packing.compress(b"data: " + b"e" * 90_000_000 + b"\n\n") + packing.flush()


_HEAVY = (
    "<!doctype html><title>heavy</title>"
    + "".join(f"<link rel=stylesheet href=/part/{n}.css>" for n in range(3))
    + "".join(f"<script src=/part/{n}.js></script>" for n in range(6))
    + "".join(
        f"<p>{'words of an article ' * 30}<img width=200 height=100 src=/part/{n}.bmp>"
        for n in range(40)
    )
    + "<iframe src=/ok></iframe>"
)
_PICTURE = (
    b"BM" + (60054).to_bytes(4, "little") + bytes(4) + (54).to_bytes(4, "little") + (40).to_bytes(4, "little")
    + (200).to_bytes(4, "little") + (100).to_bytes(4, "little") + b"\x01\0\x18\0" + bytes(24) + bytes(60_000)
)  # fmt: skip
_STORE = """<!doctype html><title>t</title><p id=p>visible text: <script>
(async () => {
  let found = [document.cookie, localStorage.a, sessionStorage.a, (await caches.keys()).join(), name].join('|');
  let databases = (await indexedDB.databases()).map(d => d.name).join();
  document.cookie = 'b=1; max-age=999'; localStorage.a = 1; sessionStorage.a = 1; name = 'kept';
  await caches.open('kept'); indexedDB.open('kept');
  p.append('found <' + found + databases + '> before');
})()</script>"""


class _Packets(asyncio.DatagramProtocol):
    """A UDP socket: QUIC, STUN and DNS come here."""

    def __init__(self, reached: dict[str, str]) -> None:
        self._reached = reached

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self._reached[f"packet {addr} {data[:2].hex()}"] = "PACKET"


def _bind() -> list[tuple[socket.socket, socket.socket]]:
    """Bind one port on all addresses, for TCP and UDP."""
    for _ in range(20):
        first = socket.create_server((PUBLIC, 0))
        port = first.getsockname()[1]
        made = [first]
        try:
            pairs = [(first, _udp(PUBLIC, port))]
            for host in ("127.0.0.1", INTERNAL, "::1"):
                family = socket.AF_INET6 if ":" in host else socket.AF_INET
                made.append(socket.create_server((host, port), family=family))
                pairs.append((made[-1], _udp(host, port)))
        except OSError:
            for one in made:
                one.close()
        else:
            return pairs
    raise OSError("no port is free on all loopback addresses")


def _udp(host: str, port: int) -> socket.socket:
    made = socket.socket(
        socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM
    )
    made.bind((host, port))
    return made
