"""A local HTTP proxy that serves as a proxy should, or answers whatever a test
wants.
"""

from __future__ import annotations
import base64
import contextlib
import socket
import threading
from collections.abc import Callable, Mapping

END = b"\r\n\r\n"


class Proxy:
    """Serves CONNECT and requests in absolute form, and notes what it is asked for.

    Args:
        names: The addresses of the names that it knows; it refuses others. Addresses
            are taken as they are.
        login: ``user:password`` that it wants.
        answer: What it says to everything instead of serving it, or what it does with
            the connection.

    """

    def __init__(
        self,
        names: Mapping[str, str] | None = None,
        login: str = "",
        answer: bytes | Callable[[socket.socket], None] | None = None,
    ) -> None:
        self.names, self.login, self.answer = names or {}, login, answer
        self.asked: list[str] = []  # the first lines
        # what clients sent through tunnels, and requests as they were passed on
        self.passed: list[bytes] = []
        self.logins: list[str] = []
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=256)
        self._open: set[socket.socket] = set()
        self.port = self._listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        for one in (self._listening, *self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                self._open.add(connection)
                threading.Thread(
                    target=self._serve, args=(connection,), daemon=True
                ).start()

    def _serve(self, client: socket.socket) -> None:
        sites: list[socket.socket] = []  # the last one is in use
        with contextlib.suppress(OSError), client:
            while data := _receive_head(client):
                line, *fields = data.partition(END)[0].decode("latin-1").split("\r\n")
                method, target, _ = line.split(" ")
                self.asked.append(f"{method} {target}")
                headers = {
                    name.lower(): value
                    for name, _, value in (field.partition(": ") for field in fields)
                }
                given = base64.b64decode(
                    headers.get("proxy-authorization", "").removeprefix("Basic ")
                ).decode()
                self.logins.append(given)
                if callable(self.answer):
                    self.answer(client)
                    return
                if self.answer is not None:
                    client.sendall(self.answer)
                    return
                if given != self.login:
                    client.sendall(_refuse("407 Proxy Authentication Required"))
                    return
                if not self._pass_on(
                    client, sites, method, target, fields, data.partition(END)[2]
                ):
                    break
        for site in sites:
            site.close()
        self._open.discard(client)

    def _pass_on(
        self,
        client: socket.socket,
        sites: list[socket.socket],
        method: str,
        target: str,
        fields: list[str],
        more: bytes,
    ) -> bool:
        place, slash, path = target.removeprefix("http://").partition("/")
        host, _, port = (
            place.rpartition(":")
            if ":" in place.rpartition("]")[2]
            else (place, "", "80")
        )
        address = self.names.get(host, host)
        try:
            socket.inet_aton(address)
            site = socket.create_connection((address, int(port)), timeout=20)
        except OSError:
            client.sendall(_refuse("502 Bad Gateway"))
            return False
        sites.append(site)
        if method == "CONNECT":
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            threading.Thread(
                target=self._pump, args=(site, client, sites), daemon=True
            ).start()
            while data := client.recv(65536):
                self.passed.append(data)
                site.sendall(data)
            return False
        # Host is that of the target
        kept = [
            one for one in fields if not one.lower().startswith(("proxy-", "host:"))
        ]
        head = "\r\n".join(
            [f"{method} {slash}{path} HTTP/1.1", f"Host: {place}", *kept]
        )
        self.passed.append(head.encode("latin-1") + END + more)
        site.sendall(self.passed[-1])
        threading.Thread(
            target=self._pump, args=(site, client, sites), daemon=True
        ).start()
        return True

    def _pump(
        self, site: socket.socket, client: socket.socket, sites: list[socket.socket]
    ) -> None:
        """Pass answers on; the client learns that a site has hung up unless it has gone
        on to another.
        """
        with contextlib.suppress(OSError):
            while data := site.recv(65536):
                client.sendall(data)
        if sites[-1] is site:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)


def _receive_head(connection: socket.socket) -> bytes:
    data = b""
    while END not in data:
        if not (arrived := connection.recv(65536)):
            return b""
        data += arrived
    return data


def _refuse(status: str) -> bytes:
    return (
        f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
    )
