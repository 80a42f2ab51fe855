"""The gate, with raw sockets in place of a browser. 127.0.0.2 is public by a rule; all
else on loopback is internal.
"""

from __future__ import annotations
import asyncio
import contextlib
import errno
import os
import random
import re
import socket
import sys
from pathlib import Path

import pytest

from websearch_core import errors
from websearch_core._net import gate as gates
from websearch_core._net.gate import Gate, Limits, find_own_address
from websearch_core._net.guard import Guard
from websearch_core._net.heads import (
    MalformedHead,
    find_body_length,
    parse_request,
    parse_response,
    write_request,
    write_response,
)
from websearch_core._net.lookup import FOR_PAGES, Line
from websearch_core._net.system import holds_socket

pytestmark = pytest.mark.enable_socket

PUBLIC = "127.0.0.2"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
NAMES = {
    "shop.example": [PUBLIC],
    "inside.example": ["127.0.0.1"],
    "mixed.example": [PUBLIC, "127.0.0.1"],
    "localhost": ["127.0.0.1"],
}


def resolve(name, port):
    if name.rstrip(".") not in NAMES:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")
    return NAMES[name.rstrip(".")]


@contextlib.asynccontextmanager
async def origin(answer=OK, host=PUBLIC):
    """A site that says *answer*, or does what it is; what it heard is in its list."""
    heard = []

    async def handle(reader, writer):
        with contextlib.suppress(OSError, EOFError):
            if callable(answer):
                await answer(reader, writer)
            else:
                heard.append(await reader.read(65536))
                writer.write(answer)
                await writer.drain()
        writer.close()

    try:
        server = await asyncio.start_server(handle, host, 0)
    except OSError:
        pytest.skip(f"this system has no {host}")
    async with server:
        yield server.sockets[0].getsockname()[1], heard


@contextlib.asynccontextmanager
async def serve(guard=None, **limits):
    guard = guard or Guard.allowing([f"{PUBLIC}/32"], resolve=resolve)
    async with Gate(guard, Line(FOR_PAGES), Limits(**limits)) as gate:
        yield gate


async def say(gate, data, *, then=b""):
    """Send *data* to the gate as a browser would, and return everything that comes
    back.
    """
    host, _, port = gate.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        async with asyncio.timeout(60):
            writer.write(data)
            begun = await reader.readuntil(b"\r\n\r\n") if then else b""
            writer.write(then)
            return (
                b""
                if begun and not begun.startswith(b"HTTP/1.1 200")
                else await reader.read()
            )
    except ConnectionError:
        return b""
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


def get(url, *fields, method="GET"):
    return "\r\n".join(
        [f"{method} {url} HTTP/1.1", "Host: x", *fields, "", ""]
    ).encode()


async def test_an_allowed_request_passes_without_what_was_for_the_proxy():
    async with origin() as (port, heard), serve() as gate:
        data = await say(
            gate,
            get(
                f"http://shop.example:{port}/a?b#c",
                "Proxy-Authorization: x",
                "Cookie: y",
                "TE: z",
            ),
        )

    assert data.startswith(b"HTTP/1.1 200 OK\r\n")
    assert data.endswith(b"\r\n\r\nhello")
    assert heard[0].startswith(
        f"GET /a?b HTTP/1.1\r\nHost: shop.example:{port}\r\n".encode()
    )
    assert b"cookie: y" in heard[0]
    assert not re.search(b"proxy-authorization|te: z", heard[0], re.IGNORECASE)


async def test_a_tunnel_passes_bytes_both_ways():
    async def echo(reader, writer):
        writer.write(await reader.read(100))
        await writer.drain()

    async with origin(echo) as (port, _), serve() as gate:
        data = await say(
            gate, get(f"shop.example:{port}", method="CONNECT"), then=b"\x16hello"
        )

    assert data == b"\x16hello"
    assert (gate.traffic.sent, gate.traffic.received) == (6, 6)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/",
        "http://[::1]:{port}/",
        "http://inside.example:{port}/",
        "http://mixed.example:{port}/",
        "http://0x7f000001:{port}/",
        "http://127.1:{port}/",
        "http://a@127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "http://169.254.169.254:80/",
    ],
)
@pytest.mark.parametrize("method", ["GET", "CONNECT"])
async def test_an_internal_address_is_refused_with_our_mark_and_not_reached(
    url, method
):
    async with origin(host="127.0.0.1") as (port, heard), serve() as gate:
        target = url.format(port=port)
        asked = (
            target if method == "GET" else target.removeprefix("http://").rstrip("/")
        )
        data = await say(gate, get(asked, method=method))

    assert data.startswith(b"HTTP/1.1 403 ")
    assert f"X-Gate: {gate.mark}".encode() in data
    assert heard == []
    assert gate.traffic.refused == 1
    assert isinstance(gate.find_error(target), errors.UnsafeURL)


async def test_an_origin_is_open_over_its_own_scheme_only():
    async with origin(host="127.0.0.1") as (port, heard):
        for scheme, first, passes in (
            ("https", b"\x16tls", True),
            ("https", b"GET / HTTP/1.1\r\n", False),
            ("http", b"GET / HTTP/1.1\r\n", True),
            ("http", b"\x16tls", False),
        ):
            heard.clear()
            guard = Guard.allowing(
                [f"{scheme}://inside.example:{port}"], resolve=resolve
            )
            async with serve(guard) as gate:
                await say(
                    gate, get(f"inside.example:{port}", method="CONNECT"), then=first
                )
            assert (heard == [first]) is passes


@pytest.mark.parametrize(
    ("target", "status", "error"),
    [
        ("http://nowhere.example/", 502, errors.Unavailable),
        ("http://shop.example:{closed}/", 502, errors.Unavailable),
        ("http://shop.example:22/", 403, errors.UnsafeURL),
    ],
)
async def test_what_cannot_be_reached_says_why(target, status, error):
    with socket.socket() as closed:
        closed.bind((PUBLIC, 0))  # kept, so that nobody else listens there
        url = target.format(closed=closed.getsockname()[1])
        async with serve() as gate:
            data = await say(gate, get(url))

    assert data.startswith(f"HTTP/1.1 {status} ".encode())
    assert type(gate.find_error(url)) is error


async def test_a_closed_port_is_reported_with_the_reason_that_the_system_gives():
    with socket.socket() as closed:
        closed.bind((PUBLIC, 0))  # kept, so that nobody else listens there
        url = f"http://shop.example:{closed.getsockname()[1]}/"
        async with serve() as gate:
            await say(gate, get(url))

    assert f"cannot connect to shop.example: {os.strerror(errno.ECONNREFUSED)}" in str(
        gate.find_error(url)
    )


@pytest.mark.parametrize(
    "data",
    [
        get("/relative"),
        get("ftp://shop.example/"),
        get("http://shop.example/", method="TRACE"),
        b"GET  http://shop.example/ HTTP/1.1\r\n\r\n",
        b"GET http://shop.example/ HTTP/1.1\r\nA: b\nProxy-X: y\r\n\r\n",
        b"GET http://shop.example/ HTTP/1.1\r\nno colon\r\n\r\n",
        get("http://shop.example/", "Transfer-Encoding: chunked"),
        get("http://shop.example/", "Content-Length: 1", "Content-Length: 2"),
        b"x" * 70_000,
    ],
)
async def test_what_no_browser_sends_is_refused(data):
    async with serve() as gate:
        answer = await say(gate, data)

    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 101 Switching\r\n\r\n",
        b"HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic\r\n\r\n",
    ],
)
async def test_a_site_cannot_play_the_proxy(head):
    async with origin(head) as (port, _), serve() as gate:
        data = await say(gate, get(f"http://shop.example:{port}/"))

    assert data.startswith(b"HTTP/1.1 502 ")
    assert b"Proxy-Authenticate" not in data


async def test_hints_before_an_answer_are_skipped_and_fields_cannot_hide():
    head = b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nA: b\nProxy-Authenticate: Basic\r\nbad name: c\r\n\r\nhello"
    async with origin(head) as (port, _), serve() as gate:
        data = await say(gate, get(f"http://shop.example:{port}/"))

    assert data == b"HTTP/1.1 200 OK\r\na: b\r\nConnection: close\r\n\r\nhello"


async def test_a_body_is_passed_up_to_its_length():
    async with origin() as (port, heard), serve() as gate:
        await say(
            gate,
            get(f"http://shop.example:{port}/", "Content-Length: 3", method="POST")
            + b"abcGET /next",
        )

    assert heard[0].endswith(b"\r\n\r\nabc") or heard == [heard[0]]
    assert b"next" not in b"".join(heard)


async def test_too_many_bytes_shut_the_gate():
    async def flood(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 10_000)
            await writer.drain()

    async with origin(flood) as (port, _), serve(received=50_000) as gate:
        data = await say(gate, get(f"http://shop.example:{port}/"))
        later = await say(gate, get(f"http://shop.example:{port}/"))

    assert len(data) < 200_000
    assert (gate.spent, later[:13]) == ("bytes", b"HTTP/1.1 503 ")


async def test_too_many_bytes_upwards_shut_the_gate_too():
    async with origin() as (port, _), serve(sent=1000) as gate:
        await say(
            gate,
            get(f"http://shop.example:{port}/", "Content-Length: 5000", method="POST")
            + b"x" * 5000,
        )

    assert gate.spent == "bytes"


async def test_too_many_requests_shut_the_gate():
    async with origin() as (port, _), serve(requests=2) as gate:
        answers = [
            await say(gate, get(f"http://shop.example:{port}/")) for _ in range(3)
        ]

    assert [answer[9:12] for answer in answers[:2]] == [b"200", b"200"]
    assert answers[2][:12] in (b"HTTP/1.1 503", b"")  # a connection that is open is cut
    assert gate.spent == "requests"


async def test_silence_ends_a_connection():
    async def silent(reader, writer):
        await reader.read()

    async with origin(silent) as (port, _), serve(idle=0.2) as gate:
        assert await say(gate, get(f"http://shop.example:{port}/")) == b""
        assert await say(gate, b"GET ") == b""


async def test_silence_ends_a_tunnel():
    async def silent(reader, writer):
        await reader.read()

    # the request has been read by now; the first byte of the tunnel is still to come
    def resolve_last(name, port):
        gate.limits = Limits(idle=0.2)
        return [PUBLIC]

    async with (
        origin(silent) as (port, _),
        serve(Guard.allowing([f"{PUBLIC}/32"], resolve=resolve_last)) as gate,
    ):
        data = await say(gate, get(f"shop.example:{port}", method="CONNECT"))

    assert data == b"HTTP/1.1 200 OK\r\n\r\n"


async def test_closing_the_gate_cuts_what_is_open():
    async def silent(reader, writer):
        connected.set()
        await reader.read()

    connected = asyncio.Event()
    async with origin(silent) as (port, _):
        async with serve() as gate:
            waiting = asyncio.create_task(
                say(gate, get(f"http://shop.example:{port}/"))
            )
            await connected.wait()
        assert await waiting == b""


async def test_the_domain_policy_holds_for_every_request():
    from websearch_core.models._domains import Domains

    guard = Guard.allowing(
        [f"{PUBLIC}/32"], resolve=resolve, domains=Domains(allowed=("other.example",))
    )
    async with serve(guard) as gate:
        data = await say(gate, get("http://shop.example/"))

    assert data.startswith(b"HTTP/1.1 403 ")
    assert isinstance(gate.find_error("http://shop.example/"), errors.DomainNotAllowed)


async def test_an_odd_url_has_its_own_error():
    async with serve() as gate:
        assert isinstance(gate.find_error("http://[::"), errors.UnsafeURL)
        assert gate.find_error("http://shop.example/") is None


async def test_an_address_of_its_own_is_found_on_loopback(monkeypatch):
    before = random.getstate()
    assert (await find_own_address()).startswith("127.")
    assert random.getstate() == before  # a program may have set the seed

    async def fail(*_):
        raise OSError

    monkeypatch.setattr(gates.asyncio, "start_server", fail)
    assert await find_own_address() == "127.0.0.1"


def test_heads_are_written_as_they_were_read():
    method, target, fields = parse_request(
        b"GET http://a/ HTTP/1.1\r\nAccept: b\r\nConnection: c\r\n\r\n"
    )

    assert (method, target) == ("GET", "http://a/")
    assert (
        write_request(method, "/", "a", fields)
        == b"GET / HTTP/1.1\r\nHost: a\r\naccept: b\r\nConnection: close\r\n\r\n"
    )
    assert (
        write_response(*parse_response(b"HTTP/1.0 204\r\n\r\n"))
        == b"HTTP/1.1 204 \r\nConnection: close\r\n\r\n"
    )
    assert find_body_length([("content-length", b"12")]) == 12


@pytest.mark.parametrize(
    "head",
    [b"", b"HTTP/2 200\r\n\r\n", b"HTTP/1.1 99 x\r\n\r\n", b"\x16\x03\x01\r\n\r\n"],
)
def test_what_is_no_answer_is_malformed(head):
    with pytest.raises(MalformedHead):
        parse_response(head)


def test_a_process_holds_its_own_sockets_only():
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = os.fstat(server.fileno()).st_ino
        assert holds_socket(os.getpid(), number)
        assert not holds_socket(os.getppid(), number)
        assert not holds_socket(os.getpid(), 1)
    assert holds_socket(2**22 + 1, number) is False  # there is no such process


_STRANGER = """
import socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20)
try:
    connection.sendall(b"GET http://shop.example:" + sys.argv[2].encode() + b"/ HTTP/1.1\\r\\nHost: shop.example\\r\\n\\r\\n")
    print(connection.recv(100))
except ConnectionError:  # it was closed before it read that
    print(b"")
"""


@pytest.mark.skipif(
    not Path("/proc/net/tcp").exists(), reason="only Linux says who is at the other end"
)
@pytest.mark.parametrize("who", ["browser", "same user", "another user"])
async def test_only_programs_of_the_browser_are_answered_and_charged(who):
    sockets = []

    def holds(socket):
        sockets.append(holds_socket(process.pid, socket))
        return who == "browser"

    guard = Guard.allowing([f"{PUBLIC}/32"], resolve=resolve)
    async with origin() as (port, heard):
        user = os.geteuid() + (who == "another user")
        async with Gate(guard, Line(FOR_PAGES), user=user, holds=holds) as gate:
            program = [
                sys.executable,
                "-c",
                _STRANGER,
                gate.url.rpartition(":")[2],
                str(port),
            ]
            process = await asyncio.create_subprocess_exec(
                *program, stdout=asyncio.subprocess.PIPE
            )
            answer = (await process.communicate())[0]

    assert sockets == ([] if who == "another user" else [True])
    if who == "browser":
        assert b"200 OK" in answer
        assert (len(heard), gate.traffic.requests) == (1, 1)
    else:
        assert answer.strip() == b"b''"
        assert (heard, gate.traffic.requests) == ([], 0)
