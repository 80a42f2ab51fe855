"""What surrounds a faulty server: ports that do not answer, certificates that are not
good, names that do not resolve.
"""

from __future__ import annotations
import datetime as dt
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest import mock

import trustme

_HANGS = 10.0  # seconds; longer than any case may take


@dataclass(frozen=True)
class Ports:
    """
    Ports that never answer.

    Args:
        closed: It refuses connections.
        silent: It drops every attempt to connect.
        mute: It takes connections, and says nothing.

    """

    closed: int
    silent: int
    mute: int


@contextmanager
def open_ports(address: str = "127.0.0.1") -> Iterator[Ports]:
    """Open ports that never answer, for as long as the block lasts."""
    with ExitStack() as stack:
        closed = stack.enter_context(socket.socket())
        closed.bind((address, 0))  # kept, so that nobody else listens there
        silent = stack.enter_context(listen_silently(address))
        mute = stack.enter_context(socket.create_server((address, 0), backlog=256))
        yield Ports(*(one.getsockname()[1] for one in (closed, silent, mute)))


@contextmanager
def listen_silently(
    address: str = "127.0.0.1", port: int = 0
) -> Iterator[socket.socket]:
    """Listen with a queue that is full: the kernel drops every further attempt to
    connect.
    """
    with ExitStack() as stack:
        listening = stack.enter_context(socket.socket())
        listening.bind((address, port))
        listening.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        yield listening


@contextmanager
def resolving_oddly() -> Iterator[None]:
    """Let ``nowhere.example`` not exist, and ``hang.example`` hang until the end of the
    block.
    """
    ends = threading.Event()
    system = socket.getaddrinfo

    def resolve(host: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else str(host)
        if name.rstrip(".") == "nowhere.example":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if name.rstrip(".") == "hang.example":
            ends.wait(_HANGS)
            raise socket.gaierror(
                socket.EAI_AGAIN, "Temporary failure in name resolution"
            )
        return system(host, *args, **kwargs)

    with mock.patch("socket.getaddrinfo", resolve):
        try:
            yield
        finally:
            ends.set()


@cache
def authority() -> trustme.CA:
    """Return the authority that clients trust."""
    return trustme.CA()


@cache
def trust() -> ssl.SSLContext:
    """Return a context that trusts this authority and nobody else."""
    context = ssl.create_default_context()
    authority().configure_trust(context)
    return context


@cache
def make_server_context(certificate: str) -> ssl.SSLContext:
    """Return a context for a server with that kind of certificate."""
    match certificate:
        case "good":
            leaf = authority().issue_cert("127.0.0.1")
        case "other name":
            leaf = authority().issue_cert("other.example")
        case "expired":
            yesterday = dt.datetime.now(dt.UTC) - dt.timedelta(days=1)
            leaf = authority().issue_cert("127.0.0.1", not_after=yesterday)
        case "unknown":
            leaf = trustme.CA().issue_cert("127.0.0.1")
        case _:
            return _make_self_signed()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    leaf.configure_cert(context)
    return context


def _make_self_signed() -> ssl.SSLContext:
    """Return a context whose certificate is that of an authority, signed by itself."""
    own = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with own.cert_pem.tempfile() as certificate, own.private_key_pem.tempfile() as key:
        context.load_cert_chain(certificate, key)
    return context
