"""Ask the operating system about names and addresses."""

from __future__ import annotations
import contextlib
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

from .._text.urls import Address

_HOSTS_FILE = Path("/etc/hosts")


def resolve_host(host: str, port: int) -> list[str]:
    """Ask the system for the addresses of *host*, which the search domains of
    resolv.conf never complete.

    A trailing dot skips them: ``page.example`` does not become
    ``page.example.corp.internal``. It also skips the hosts file, which compares whole
    words, so a name that is in this file is looked up without the dot.
    """
    if "." in host and not _is_in_hosts_file(host):
        host = f"{host}."
    return resolve_name(host, port)


def _is_in_hosts_file(host: str) -> bool:
    """Return whether the hosts file names *host*. Like the system, this reads the file
    for each look-up.
    """
    try:
        text = _HOSTS_FILE.read_bytes().lower()
    except OSError:
        return False
    name = host.lower().encode()
    # Files that block advertisements have 100,000 lines.
    return name in text and any(
        name in line.partition(b"#")[0].split()[1:] for line in text.splitlines()
    )


def resolve_name(name: str, port: int) -> list[str]:
    """Ask the system for the addresses of *name*, which may be a short name of this
    network.
    """
    entries = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


@dataclass(frozen=True)
class Holder:
    """Who holds an end of a connection: the id of the user, and the number of the
    socket, which its process has open.
    """

    user: int
    socket: int


def find_holder(near: tuple[str, int], far: tuple[str, int]) -> Holder | None:
    """Return who holds the *far* end of an IPv4 connection on this machine; user and
    socket are -1 if nobody does any more.

    None where the system does not say: only Linux does, in ``/proc/net/tcp``.
    """
    try:
        table = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    ends = [_as_in_table(*far), _as_in_table(*near)]
    for line in table[1:]:
        row = line.split()
        if row[1:3] == ends:
            return Holder(int(row[7]), int(row[9]))
    return Holder(-1, -1)


def holds_socket(pid: int, socket: int) -> bool | None:
    """Return whether a process has a socket open; None if the system does not let us
    look (Linux).
    """
    name = f"socket:[{socket}]"
    try:
        files = list(Path(f"/proc/{pid}/fd").iterdir())
    except FileNotFoundError:  # it has ended
        return False
    except OSError:
        return None
    for file in files:
        with contextlib.suppress(OSError):  # it was closed meanwhile
            if str(file.readlink()) == name:
                return True
    return False


def _as_in_table(address: str, port: int) -> str:
    return f"{int.from_bytes(socket.inet_aton(address), sys.byteorder):08X}:{port:04X}"


def is_failed_lookup(error: Exception | None) -> bool:
    return isinstance(error, socket.gaierror)


def is_own_address(ip: Address) -> bool:
    """Return True if the kernel would reach *ip* by talking to itself."""
    return source_address(ip) == str(ip)


def source_address(ip: Address) -> str | None:
    """Return the source address of packets to *ip*. Connecting a UDP socket sends
    nothing.
    """
    family = socket.AF_INET if ip.version == 4 else socket.AF_INET6
    with (
        contextlib.suppress(OSError),
        socket.socket(family, socket.SOCK_DGRAM) as probe,
    ):
        probe.connect((str(ip), 9))
        return str(probe.getsockname()[0])
    return None
