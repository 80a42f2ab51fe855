"""Servers that break the rules of HTTP: no answer reaches another request, no call
outlasts its time, no loop stands still.
"""

from __future__ import annotations
import asyncio
import gzip
import socket
import threading

import httpcore
import pytest

from tests.server import Server, closing, endless, http, resetting
from tests.waiting import longer_until
from websearch_core._net.body import BoundedBody
from websearch_core._net.guard import Guard
from websearch_core._net.sender import Sender
from websearch_core._net.stream import AsyncioStream
from websearch_core._runtime.deadline import time_limit
from websearch_core.errors import TimedOut, Unavailable
from websearch_core.flow import Request

pytestmark = pytest.mark.enable_socket

OPEN = Guard.allowing(["127.0.0.0/8", "::1"])


@pytest.fixture
def run(library, colour):
    """Send requests one after the other over the same connections; return the
    answers.
    """

    def send(*urls, seconds=30, **options):
        sender = Sender(OPEN, library=library)
        requests = [Request(url=url, **options) for url in urls]

        async def asend():
            with time_limit(seconds):
                return [await sender.asend(request) for request in requests]

        try:
            if colour == "async":
                return asyncio.run(asend())
            with time_limit(seconds):
                return [sender.send(request) for request in requests]
        finally:
            sender.close()

    return send


SECOND = http(b"smuggled")


@pytest.mark.parametrize(
    "first",
    [
        http(b"first") + SECOND,
        b"HTTP/1.1 204 No Content\r\n\r\n" + SECOND,
        b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n" + SECOND,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\n\r\n"
        + SECOND,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5\r\nfirst\r\n0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" + http(b"first") + b"\r\n",
    ],
    ids=[
        "a second answer",
        "after 204",
        "after 304",
        "after chunks",
        "two lengths",
        "a line",
    ],
)
def test_a_connection_with_more_than_the_answer_is_not_used_again(server, run, first):
    server.answers["/first"] = first
    server.answers["/second"] = http(b"second")

    assert run(server.url + "/first", server.url + "/second")[1].content == b"second"
    assert server.connections == 2


@pytest.mark.parametrize(
    "head",
    [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"],
)
def test_interim_answers_without_end_are_given_up(server, run, head):
    server.answers["/"] = endless(head * 2000)
    with pytest.raises(Unavailable):  # not TimedOut
        run(server.url, seconds=30)


def test_a_few_interim_answers_are_skipped(server, run):
    server.answers["/"] = (
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100 + http(b"page")
    )

    assert [answer.content for answer in run(server.url, server.url)] == [b"page"] * 2


@pytest.mark.no_cover
def test_a_body_in_a_million_parts_is_cut(server, run):
    server.answers["/"] = endless(
        b"1\r\nx\r\n" * 5000, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    (answer,) = run(server.url, seconds=30, max_bytes=200_000)

    assert answer.truncated
    assert 10_000 < len(answer.content) < 200_000


async def test_an_event_loop_gets_turns_while_a_body_of_tiny_parts_is_read(
    server, library
):
    server.answers["/"] = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"1\r\nx\r\n" * 5000
        + b"0\r\n\r\n"
    )
    longest = since = 0
    add = BoundedBody.add

    def count(body, raw):
        nonlocal longest, since
        since += 1
        longest = max(longest, since)
        return add(body, raw)

    async def take_turns():
        nonlocal since
        while True:
            await asyncio.sleep(0)
            since = 0

    sender = Sender(OPEN, library=library)
    turning = asyncio.create_task(take_turns())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BoundedBody, "add", count)
        assert len((await sender.asend(Request(url=server.url))).content) == 5000
    turning.cancel()
    await sender.aclose()
    assert longest < 100


async def test_an_event_loop_gets_a_turn_before_more_of_what_has_arrived_is_read():
    turns = []
    stream = AsyncioStream(httpcore)
    stream.connection_made(asyncio.Transport())
    stream.data_received(b"x" * 60_000)
    asyncio.get_running_loop().call_soon(turns.append, "turn")
    first = await stream.read(65536)

    assert turns == ["turn"]
    assert len(first) < 20_000
    assert (
        len(
            first
            + await stream.read(65536)
            + await stream.read(65536)
            + await stream.read(65536)
        )
        == 60_000
    )


def test_an_upgrade_that_nobody_asked_for_is_not_an_answer(server, run):
    server.answers["/"] = closing(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello"
    )
    with pytest.raises(Unavailable):
        run(server.url)


@pytest.mark.parametrize(
    ("head", "more"),
    [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;", b"x" * 65536),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
            b"A: " + b"b" * 60000 + b"\r\n",
        ),
        (b"HTTP/1.1 200 OK\r\n", b"A: " + b"b" * 60000 + b"\r\n"),
        (b"HTTP/1.1 200 ", b"x" * 65536),
        (b"", b"\r\n" * 1000),
    ],
    ids=["extension", "trailers", "headers", "reason", "empty lines"],
)
def test_what_has_no_end_is_given_up_early(server, run, head, more):
    server.answers["/"] = endless(more, head)
    with pytest.raises(Unavailable):  # not TimedOut
        run(server.url, seconds=30)


def test_an_ipv6_literal_is_connected_to(run):
    with Server([http(b"six")], address="::1") as server:
        assert [one.content for one in run(server.url, guarded=True)] == [b"six"]


def send_all(*parts):
    def talk(connection):
        connection.recv(65536)
        for part in parts:
            connection.sendall(part)
        connection.recv(1)

    return talk


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (
            send_all(
                http(
                    b"no",
                    "407 Proxy Authentication Required",
                    "Proxy-Authenticate: Basic",
                )
            ),
            Unavailable,
        ),
        (send_all(b"HTTP/1.1 500 Not at 10.1.2.3\r\n\r\n"), Unavailable),
        (
            send_all(b"HTTP/1.1 200 OK\r\n", *[b"A: " + b"b" * 60_000 + b"\r\n"] * 10),
            Unavailable,
        ),
        (send_all(*[b"HTTP/1.1 100 \r\n\r\n" * 3000] * 20), Unavailable),
        (send_all(b"HTTP/1.1 200 OK\r\n\r\n" + http(b"evil")), Unavailable),
        (
            send_all(
                b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n" + b"x" * 99_999
            ),
            Unavailable,
        ),
        (send_all(b"HTTP/1.1 2"), TimedOut),
        (send_all(), TimedOut),
    ],
    ids=[
        "407",
        "500",
        "a giant head",
        "interim answers",
        "an answer of its own",
        "a body",
        "half a line",
        "silence",
    ],
)
def test_a_proxy_that_does_not_open_a_tunnel_ends_the_call_and_is_left(
    run, monkeypatch, answer, kind
):
    reached, left = threading.Event(), threading.Event()

    def talk(connection):
        reached.set()
        try:
            answer(connection)
        finally:
            left.set()

    with Server(talk=talk) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        for seconds in longer_until(reached.is_set, 0.4 if kind is TimedOut else 30):
            with pytest.raises(kind) as caught:
                run("https://service.example/", seconds=seconds)
        assert left.wait(60)
    assert "10.1.2.3" not in str(caught.value)


def test_a_handshake_that_is_given_up_leaves_no_connection(run):
    reached, left = threading.Event(), threading.Event()

    def talk(connection):
        while connection.recv(65536):
            reached.set()
        left.set()

    with Server(talk=talk) as server:
        for seconds in longer_until(reached.is_set, 0.2):
            with pytest.raises(TimedOut):
                run(server.url.replace("http:", "https:"), seconds=seconds)
        assert left.wait(60)


def collect(parts, most, seconds, monkeypatch):
    """Collect a body whose parts arrive evenly within so many seconds."""
    now = [0.0]
    monkeypatch.setattr("websearch_core._net.body.time.monotonic", lambda: now[0])
    body = BoundedBody("", most)
    for part in parts:
        now[0] += seconds / len(parts)
        for _ in body.add(part):
            pass
        if body.is_full:
            break
    return body


@pytest.mark.parametrize(
    ("most", "size", "seconds"), [(2**20, 30, 0), (2**18, 4, 45), (2**18, 1, 240)]
)
def test_a_body_in_small_parts_is_whole_if_they_are_few_or_come_slowly(
    most, size, seconds, monkeypatch
):
    body = collect([b"x" * size] * (most // size), most, seconds, monkeypatch)
    assert not body.truncated
    assert len(bytes(body)) >= most - size


def test_a_body_in_tiny_parts_that_come_quickly_is_cut(monkeypatch):
    body = collect([b"x"] * 2**18, 2**20, 5, monkeypatch)
    assert body.truncated
    assert len(bytes(body)) < 60_000


@pytest.mark.parametrize(
    ("method", "status"), [("GET", "204 No Content"), ("HEAD", "200 OK")]
)
def test_an_answer_without_a_body_need_not_be_decoded(server, run, method, status):
    length = "Content-Length: 5" if method == "HEAD" else "X: y"
    server.answers["/"] = (
        f"HTTP/1.1 {status}\r\nContent-Encoding: br\r\n{length}\r\n\r\n".encode()
    )
    assert [
        (answer.content, answer.truncated)
        for answer in run(server.url, server.url, method=method)
    ] == [(b"", False)] * 2


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (closing(b""), "the service closed the connection before it answered"),
        (
            closing(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhello"),
            "the service closed the connection before its response was complete",
        ),
        (resetting(b""), "the service closed the connection before it answered"),
        (
            closing(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"),
            "the service sent a response that is not valid HTTP",
        ),
        (
            endless(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 2000),
            "the service sent headers without end, and no answer",
        ),
    ],
    ids=["nothing", "half of the body", "a reset", "another protocol", "early hints"],
)
def test_the_message_says_how_an_answer_failed_to_arrive(server, run, answer, message):
    server.answers["/"] = answer
    with pytest.raises(Unavailable) as caught:
        run(server.url, seconds=30)
    assert str(caught.value) == message


def test_the_head_of_a_page_is_repaired_and_its_connection_not_used_again(server, run):
    odd = b"X Powered By: me\r\nA : b\r\n"
    server.answers["/first"] = (
        b"HTTP/1.1 103 Early Hints\r\n" + odd + b"\r\n"
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n" + odd + b"\r\nfirst"
    )
    server.answers["/second"] = http(b"second")
    first, second = run(server.url + "/first", server.url + "/second", guarded=True)

    assert (first.content, first.headers["a"]) == (b"first", "b")
    assert (second.content, server.connections) == (b"second", 2)


def test_a_head_that_arrives_byte_by_byte_is_repaired(server, run):
    page = b"HTTP/1.1 200 OK\r\nA B: c\r\nContent-Length: 4\r\n\r\npage"

    def answer(connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in page:
            connection.sendall(bytes([byte]))

    server.answers["/"] = answer
    assert [one.content for one in run(server.url, guarded=True)] == [b"page"]


@pytest.mark.parametrize(
    "lines",
    [
        b"Content-Length: 5\r\nContent-Length: 6\r\n",
        b"Content-Length : 5\r\nTransfer-Encoding: chunked\r\n",
        b"A\rb: c\r\n",
        b"A: \0\r\n",
    ],
)
def test_the_head_of_a_page_that_says_two_things_is_refused_for_good(
    server, run, lines
):
    server.answers["/"] = b"HTTP/1.1 200 OK\r\n" + lines + b"\r\nhello"
    with pytest.raises(Unavailable, match="not valid HTTP") as caught:
        run(server.url, guarded=True)
    assert not caught.value.temporary


def test_the_head_of_a_service_is_not_repaired(server, run):
    server.answers["/"] = http(b"page", "200 OK", "X Powered By: me")
    with pytest.raises(Unavailable, match="not valid HTTP"):
        run(server.url)


_KIND = b"Content-Type: text/html\r\n"
_HTML = b"<p>A page</p></html>\n"
_UNENDED = {
    "chunks": b"Transfer-Encoding: chunked\r\n\r\n15\r\n" + _HTML,
    "length": b"Content-Length: 99\r\n\r\n" + _HTML,
}


def lingering(data):
    """Send *data*, and then nothing more."""

    def answer(connection):
        connection.sendall(data)
        connection.recv(1)

    return answer


@pytest.mark.parametrize("end", [closing, resetting, lingering])
@pytest.mark.parametrize("body", _UNENDED.values(), ids=_UNENDED)
def test_a_page_without_its_end_is_cut(server, run, body, end):
    server.answers["/"] = end(b"HTTP/1.1 200 OK\r\n" + _KIND + body)
    (answer,) = run(server.url, guarded=True)

    assert (answer.content, answer.truncated) == (_HTML, True)


@pytest.mark.parametrize("after", [b"<p>A page", _HTML + b"<!-- kept -->"])
def test_a_page_that_stalls_is_cut_while_there_is_time_for_it(server, run, after):
    data = b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n" + _KIND + b"\r\n" + after
    server.answers["/"] = lingering(data)
    (answer,) = run(server.url, guarded=True, seconds=4)

    assert (answer.content, answer.truncated) == (after, True)


def test_a_compressed_page_is_whole_whatever_length_its_server_states(server, run):
    packed = gzip.compress(_HTML)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9999\r\n"
    server.answers["/"] = closing(head + _KIND + b"\r\n" + packed)
    (answer,) = run(server.url, guarded=True)

    assert (answer.content, answer.truncated) == (_HTML, False)


@pytest.mark.parametrize(
    ("status", "kind", "body", "guarded"),
    [
        ("200 OK", _KIND, b"<p>A page", False),
        ("500 No", _KIND, b"<p>A page", True),
        ("200 OK", b"", b"<p>A page", True),
        ("200 OK", _KIND, b"", True),
    ],
    ids=["a service", "an error", "no type", "no text"],
)
def test_what_has_no_text_of_a_page_needs_its_end(
    server, run, status, kind, body, guarded
):
    head = f"HTTP/1.1 {status}\r\nContent-Length: 99\r\n".encode()
    server.answers["/"] = closing(head + kind + b"\r\n" + body)
    with pytest.raises(Unavailable, match="before its response was complete"):
        run(server.url, guarded=guarded)


def test_chunks_that_are_malformed_are_no_end(server, run):
    server.answers["/"] = closing(
        b"HTTP/1.1 200 OK\r\n"
        + _KIND
        + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nxyz\r\n"
    )
    with pytest.raises(Unavailable, match="not valid HTTP"):
        run(server.url, guarded=True)
