"""Names of the hosts file resolve as for every program, and search domains complete no
name of a page.
"""

from __future__ import annotations
import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from websearch_core import WebSearch
from websearch_core._net import system
from websearch_core._net.guard import Guard
from websearch_core._net.lookup import FOR_PAGES, Line, resolve
from websearch_core.errors import Unavailable, UnsafeURL

HOSTS = """\
127.0.0.1       localhost
10.1.2.3        wiki.acme.example wiki  # old.acme.example
10.1.2.4\tboard.acme.example\tBoards.Acme.Example
0.0.0.0         tracker.example
169.254.169.254 meta.acme.example
10.1.2.5        public.example
127.0.0.1       page.acme.example
10.1.2.6        last.acme.example"""
NAMES = {
    "public.example": "151.101.0.81",
    "far.example": "151.101.0.82",
    "far.example.corp.acme.example": "10.9.9.1",
    "gone.example.corp.acme.example": "10.9.9.2",
    "short.corp.acme.example": "10.9.9.3",
    "wiki.acme.example.corp.acme.example": "10.9.9.4",
}


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """A system like glibc: the hosts file by whole words, then the name server, with a
    search domain.

    As with ``ndots:5`` of Kubernetes, the search domain comes first for every name
    without a trailing dot.
    """
    hosts = tmp_path / "hosts"
    hosts.write_text(HOSTS, "utf-8")
    table = {
        name: line.split()[0]
        for line in HOSTS.lower().splitlines()
        for name in line.partition("#")[0].split()[1:]
    }
    queries = []

    def getaddrinfo(host, port, *args, **kwargs):
        if host == "127.0.0.1":
            return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (host, port))]
        names = (
            [host.removesuffix(".")]
            if host.endswith(".")
            else [f"{host}.corp.acme.example", host]
        )
        if host in table:
            found = table[host]
        else:
            queries.extend(names)
            found = next((NAMES[name] for name in names if name in NAMES), None)
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (found, port))]

    monkeypatch.setattr(system, "_HOSTS_FILE", hosts)
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return queries


def find(host, *holes):
    return resolve(
        Line(FOR_PAGES), Guard.allowing(holes, is_own=lambda address: False), host, 443
    )


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("wiki.acme.example", "10.1.2.3"),
        ("board.acme.example", "10.1.2.4"),
        ("boards.acme.example", "10.1.2.4"),
        ("last.acme.example", "10.1.2.6"),
        ("public.example", "10.1.2.5"),
        ("wiki", "10.1.2.3"),
    ],
)
def test_a_name_in_the_hosts_file_resolves_as_for_every_program(asked, host, address):
    assert find(host, "10.0.0.0/8") == [address]
    assert asked == []


@pytest.mark.parametrize(
    ("host", "holes"),
    [
        ("wiki.acme.example", []),
        ("wiki.acme.example", ["10.9.0.0/16"]),
        ("public.example", []),
        ("tracker.example", ["10.0.0.0/8"]),
        ("meta.acme.example", ["https://meta.acme.example"]),
        ("page.acme.example", []),
    ],
)
def test_a_name_in_the_hosts_file_is_judged_like_any_other(asked, host, holes):
    with pytest.raises(UnsafeURL):
        find(host, *holes)


@pytest.mark.parametrize(
    "host",
    [
        "gone.example",
        "old.acme.example",
        "iki.acme.example",
        "wiki.acme",
        "10.1.2.3.example",
    ],
)
def test_a_search_domain_completes_no_name_that_the_hosts_file_does_not_have(
    asked, host
):
    with pytest.raises(Unavailable, match="does not resolve"):
        find(host, "10.0.0.0/8")
    assert asked == [host]


def test_a_search_domain_does_not_lead_a_public_name_inside(asked):
    assert find("far.example", "10.0.0.0/8") == ["151.101.0.82"]


def test_a_short_name_is_refused_unless_a_network_is_allowed_and_then_judged(asked):
    with pytest.raises(UnsafeURL):
        Guard().check("https://short/")
    with pytest.raises(UnsafeURL):
        find("short", "10.1.0.0/16")
    assert find("short", "10.9.0.0/16") == ["10.9.9.3"]


def test_without_a_hosts_file_names_resolve_without_search_domains(
    asked, monkeypatch, tmp_path
):
    monkeypatch.setattr(system, "_HOSTS_FILE", tmp_path / "missing")

    assert find("public.example") == ["151.101.0.81"]
    assert asked == ["public.example"]


@pytest.mark.enable_socket
@pytest.mark.parametrize("entry", ["http://page.acme.example:{port}", "127.0.0.0/8"])
def test_a_page_of_the_own_network_is_read_by_its_name_in_the_hosts_file(
    asked, server, http, entry
):
    server.answers["/"] = http(
        "<h1>Tides</h1><p>High water at noon.", "200 OK", "Content-Type: text/html"
    )
    port = server.url.rpartition(":")[2]
    url = f"http://page.acme.example:{port}/"

    with pytest.raises(UnsafeURL):
        WebSearch("duckduckgo").read(url)
    page = WebSearch("duckduckgo", internal=[entry.format(port=port)]).read(url)

    assert "High water at noon" in page.content
    assert page.final_url == url


# In a namespace of its own: the system's own resolver with another hosts file, and a
# name server that knows only names below the search domain and far.example.
_NAMESPACE = """
import fcntl, json, pathlib, socket, struct, subprocess, sys, threading

folder = pathlib.Path(sys.argv[1])
for name in ("hosts", "resolv.conf", "nsswitch.conf"):
    subprocess.run(["mount", "--bind", folder / name, f"/etc/{name}"], check=True)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
    fcntl.ioctl(control, 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
zone = {"far.example": "151.101.0.82", "gone.example.corp.acme.example": "10.9.9.2", "short.corp.acme.example": "10.9.9.3"}
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
asked = []

def serve():
    while True:
        query, client = server.recvfrom(512)
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1 : at + 1 + query[at]].decode())
            at += 1 + query[at]
        name, kind = ".".join(labels), query[at + 1 : at + 3]
        asked.append(name)
        address = zone.get(name) if kind == b"\\0\\1" else None
        flags = 0x8180 if name in zone else 0x8183
        reply = query[:2] + struct.pack(">5H", flags, 1, bool(address), 0, 0) + query[12 : at + 5]
        if address:
            reply += b"\\xc0\\x0c\\0\\1\\0\\1\\0\\0\\0\\0\\0\\4" + socket.inet_aton(address)
        server.sendto(reply, client)

threading.Thread(target=serve, daemon=True).start()
from websearch_core._net.system import resolve_host

found = {}
for host in sys.argv[2:]:
    asked.clear()
    try:
        found[host] = [resolve_host(host, 443), sorted(set(asked))]
    except socket.gaierror:
        found[host] = [None, sorted(set(asked))]
print(json.dumps(found))
"""


def test_the_resolver_of_the_system_agrees(tmp_path):
    unshare = shutil.which("unshare")
    if (
        not unshare
        or subprocess.run([unshare, "-Urmn", "true"], capture_output=True).returncode
    ):
        pytest.skip("this machine does not let a test make namespaces of its own")
    (tmp_path / "hosts").write_text(HOSTS, "utf-8")
    (tmp_path / "resolv.conf").write_text(
        "nameserver 127.0.0.1\nsearch corp.acme.example\noptions ndots:5\n", "utf-8"
    )
    (tmp_path / "nsswitch.conf").write_text("hosts: files dns\n", "utf-8")
    for name in ("hosts", "resolv.conf", "nsswitch.conf"):
        if not Path("/etc", name).is_file():
            pytest.skip(f"this machine has no /etc/{name} that could be replaced")

    hosts = [
        "wiki.acme.example",
        "boards.acme.example",
        "far.example",
        "gone.example",
        "old.acme.example",
        "short",
    ]
    command = [
        unshare,
        "-Urmn",
        sys.executable,
        "-c",
        _NAMESPACE,
        str(tmp_path),
        *hosts,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "wiki.acme.example": [["10.1.2.3"], []],
        "boards.acme.example": [["10.1.2.4"], []],
        "far.example": [["151.101.0.82"], ["far.example"]],
        "gone.example": [None, ["gone.example"]],
        "old.acme.example": [None, ["old.acme.example"]],
        "short": [["10.9.9.3"], ["short.corp.acme.example"]],
    }
