"""Sending, for real, to a server on this machine: with both HTTP libraries, blocking
and async.
"""

from __future__ import annotations
import asyncio
import gzip
import importlib
import logging
import math
import random
import socket
import sys
import threading
import time
import types
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise

import pytest

from tests.waiting import ended_by, longer_until
from websearch_core._net.body import BoundedBody
from websearch_core._net.failures import translate_errors
from websearch_core._net.guard import Guard
from websearch_core._net.sender import Sender
from websearch_core._runtime.deadline import time_limit
from websearch_core.errors import (
    BadResponse,
    ConfigurationError,
    InvalidOption,
    TimedOut,
    Unavailable,
    UnsafeURL,
)
from websearch_core.flow import Request

pytestmark = pytest.mark.enable_socket

OPEN = Guard.allowing(["127.0.0.0/8"])


@pytest.fixture
def send(library, colour):
    """Send one request in each colour with each library; keyword arguments are those of
    the request.
    """
    sender = Sender(OPEN, library=library)

    def one(url, **options):
        limit = options.pop("seconds", 30)
        using = options.pop("sender", sender)

        async def asend():
            with time_limit(limit):
                return await using.asend(Request(url=url, **options))

        if colour == "async":
            return asyncio.run(asend())
        with time_limit(limit):
            return using.send(Request(url=url, **options))

    yield one
    sender.close()


def test_status_headers_and_body_arrive(server, http, send):
    server.answers["/a"] = http(
        b"hello", "418 I'm a teapot", "X-One: 1", "X-Two: a", "X-Two: b"
    )
    response = send(server.url + "/a")

    assert (response.status, response.content, response.truncated) == (
        418,
        b"hello",
        False,
    )
    assert (response.headers["x-one"], response.headers["x-two"]) == ("1", "a, b")


def test_query_form_and_json_are_sent(server, http, send):
    server.answers["/"] = http(b"")
    send(server.url, params={"q": "a b&c", "n": 2})
    send(server.url, method="POST", form={"q": "a b"})
    send(server.url, method="POST", json={"q": "é"})

    (path, _, _), (_, form_headers, form), (_, json_headers, body) = server.requests
    assert path == "/?q=a+b%26c&n=2" or path == "/?q=a%20b%26c&n=2"
    assert (form_headers["content-type"], form) == (
        "application/x-www-form-urlencoded",
        b"q=a+b",
    )
    assert (json_headers["content-type"], body) == (
        "application/json",
        '{"q":"é"}'.encode(),
    )


def test_a_page_is_fetched_where_the_guard_lets_it_and_nowhere_else(
    server, http, send, library
):
    server.answers["/"] = http(b"page")
    closed = Sender(Guard(), library=library)

    assert send(server.url, guarded=True).content == b"page"
    assert (
        send(server.url.replace("127.0.0.1", "localhost"), guarded=True).content
        == b"page"
    )
    before = server.connections
    for url in (server.url, server.url.replace("127.0.0.1", "localhost")):
        with pytest.raises(UnsafeURL):
            send(url, guarded=True, sender=closed)
    assert server.connections == before


def test_a_target_that_a_service_should_open_passes_the_guard_too(
    server, http, send, library
):
    server.answers["/"] = http(b"")
    closed = Sender(Guard(), library=library)

    assert send(server.url, target="https://page.example/", sender=closed).status == 200
    with pytest.raises(UnsafeURL):
        send(server.url, target="http://169.254.169.254/", sender=closed)
    assert len(server.requests) == 1
    closed.close()


def test_a_service_that_may_stand_inside_gets_no_target_that_leads_inside(
    server, http, send, library, monkeypatch
):
    monkeypatch.setattr(
        "websearch_core._net.system.source_address", lambda ip: "151.101.0.99"
    )
    server.answers["/"] = http(b"")
    asked = []
    answers = {
        "page.example": ["151.101.0.81"],
        "wiki.example": ["10.0.0.1"],
        "mixed.example": ["1.1.1.1", "::1"],
    }

    def resolve(host, port):
        asked.append((host, port))
        return answers[host]

    sender = Sender(Guard(resolve=resolve), library=library)
    # the vendor's: its network is not ours
    send(server.url, target="https://wiki.example/", sender=sender)
    assert asked == []
    send(
        server.url,
        target="https://page.example:8443/a",
        judge_target=True,
        sender=sender,
    )
    assert asked == [("page.example", 8443)]
    for inside in (
        "https://wiki.example/",
        "https://mixed.example/",
        "http://10.0.0.1/",
        "http://151.101.0.99/",
    ):
        with pytest.raises(UnsafeURL):
            send(server.url, target=inside, judge_target=True, sender=sender)
    assert len(server.requests) == 2
    send(server.url, target="https://wiki.example/", judge_target=True, sender=Sender(
        Guard.allowing(["https://wiki.example"], resolve=resolve), library=library
    ))  # fmt: skip
    assert len(server.requests) == 3


def test_a_target_that_does_not_resolve_or_not_in_time_is_not_handed_over(
    server, send, library
):
    def nowhere(host, port):
        raise socket.gaierror("no such name")

    target = {"target": "https://page.example/", "judge_target": True}
    with pytest.raises(Unavailable, match="does not resolve"):
        send(
            server.url, **target, sender=Sender(Guard(resolve=nowhere), library=library)
        )
    released = threading.Event()
    never = Guard(resolve=lambda host, port: released.wait(60) or [])
    for options, seconds in (({}, 0.3), ({"connect_timeout": 0.3}, 40)):
        with ended_by(0.3), pytest.raises(TimedOut):
            send(
                server.url,
                **target,
                seconds=seconds,
                sender=Sender(never, library=library, **options),
            )
    released.set()
    assert server.requests == []


async def test_a_targets_name_is_resolved_off_the_event_loop(
    server, http, library, monkeypatch
):
    monkeypatch.setattr("websearch_core._net.system.source_address", lambda ip: None)
    server.answers["/"] = http(b"")
    resolving, resolved = threading.Event(), threading.Event()

    def resolve(host, port):
        resolving.set()
        assert resolved.wait(60), "the event loop stood still"
        return ["151.101.0.81"]

    sender = Sender(Guard(resolve=resolve), library=library)
    sending = asyncio.create_task(
        sender.asend(
            Request(url=server.url, target="https://page.example/", judge_target=True)
        )
    )
    while not resolving.is_set():
        await asyncio.sleep(0.01)
    resolved.set()

    assert (await sending).status == 200
    await sender.aclose()


async def test_connections_can_be_closed_while_they_are_being_made(
    server, http, library, monkeypatch
):
    server.answers["/"] = http(b"fine")
    sender = Sender(Guard(), library=library)
    make, making, goes_on = sender._new_async, threading.Event(), threading.Event()

    def make_slowly(*arguments):
        making.set()
        assert goes_on.wait(60)
        return make(*arguments)

    monkeypatch.setattr(sender, "_new_async", make_slowly)
    sending = asyncio.create_task(sender.asend(Request(url=server.url)))
    while not making.is_set():
        await asyncio.sleep(0.01)
    closing = asyncio.create_task(sender.aclose())
    await asyncio.sleep(0.01)
    goes_on.set()
    await closing
    with suppress(Unavailable):  # its connection was closed
        assert (await sending).status == 200
    await sender.aclose()


@pytest.mark.parametrize(("allowed", "refused"), [("https", "http"), ("http", "https")])
def test_an_origin_allowed_over_one_scheme_is_not_connected_to_over_the_other(
    server, send, library, allowed, refused
):
    def inside(host, port):
        return ["127.0.0.1"]

    for host in ("wiki.example.com", "127.0.0.1"):
        sender = Sender(
            Guard.allowing([f"{allowed}://{host}:{server.port}"], resolve=inside),
            library=library,
        )
        with pytest.raises(UnsafeURL):
            send(f"{refused}://{host}:{server.port}/", guarded=True, sender=sender)
        sender.close()
    assert server.connections == 0


def test_the_address_judged_is_the_address_connected_to(server, http, send, library):
    server.answers["/"] = http(b"page")
    answers = iter([["127.0.0.1"], ["127.0.0.1", "10.0.0.1"], ["10.0.0.1"]])
    asked = []

    def rebinding(host, port):
        asked.append(host)
        return next(answers)

    sender = Sender(Guard.allowing(["127.0.0.0/8"], resolve=rebinding), library=library)
    url = f"http://rebinding.example:{server.port}/"

    assert send(url, guarded=True, sender=sender).content == b"page"
    assert asked == ["rebinding.example"]
    sender.close()
    for _ in range(2):
        with pytest.raises(UnsafeURL):
            send(url, guarded=True, sender=Sender(sender.guard, library=library))
    assert len(server.requests) == 1


def reserve(port):
    """Return a socket at another address of this machine that refuses at *port*: it is
    bound, so that no other server can be there, and does not listen.
    """
    for last in range(7, 255):
        bound = socket.socket()
        try:
            bound.bind((f"127.0.0.{last}", port))
        except OSError:
            bound.close()
        else:
            return bound
    raise AssertionError(f"port {port} is in use at all addresses")


def test_a_second_address_is_tried_when_the_first_refuses(server, http, send, library):
    server.answers["/"] = http(b"page")
    with reserve(server.port) as refusing:
        first = refusing.getsockname()[0]
        guard = Guard.allowing(
            ["127.0.0.0/8"], resolve=lambda host, port: [first, "127.0.0.1"]
        )
        sender = Sender(guard, library=library)
        url = f"http://two.example:{server.port}/"
        response = send(url, guarded=True, sender=sender)
    sender.close()

    assert response.content == b"page"


@pytest.mark.parametrize("guarded", [False, True], ids=["service", "page"])
def test_no_redirect_is_followed_and_its_body_is_never_read(
    server, endless, send, guarded
):
    head = b"HTTP/1.1 302 Found\r\nLocation: /b\r\n\r\n"
    server.answers["/a"] = endless(b"x" * 65536, head)
    response = send(server.url + "/a", guarded=guarded)

    assert (response.status, response.headers["location"], response.content) == (
        302,
        "/b",
        b"",
    )
    assert server.paths == ["/a"]


@pytest.mark.parametrize(
    ("sent", "received"),
    [
        (b"http://xn--a/", "http://xn--a/"),
        (b"http://0177.00.00.01/", "http://0177.00.00.01/"),
        (b"data:text/html,hi", "data:text/html,hi"),
        (b"http://[::1", "http://[::1"),
        ("/caf\u00e9".encode(), "/caf\u00e9"),
    ],
)
@pytest.mark.parametrize("guarded", [False, True], ids=["service", "page"])
def test_where_a_redirect_leads_is_reported_as_it_was_sent(
    server, send, sent, received, guarded
):
    server.answers["/"] = (
        b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + sent + b"\r\n\r\n"
    )

    assert send(server.url, guarded=guarded).headers["location"] == received


@pytest.mark.parametrize(
    ("guarded", "received"), [(False, "/caf\u00e9"), (True, "/caf%E9")]
)
def test_raw_bytes_of_a_page_that_a_redirect_leads_to_are_sent_back(
    server, send, guarded, received
):
    server.answers["/"] = (
        b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /caf\xe9\r\n\r\n"
    )

    assert send(server.url, guarded=guarded).headers["location"] == received


def test_no_cookie_is_kept(server, http, send):
    server.answers["/"] = http(b"", "200 OK", "Set-Cookie: id=1; Path=/")
    for guarded in (False, True, False, True):
        send(server.url, guarded=guarded)

    assert all("cookie" not in headers for _, headers, _ in server.requests)


def test_what_exceeds_the_requested_size_is_cut_and_reported(
    server, http, endless, send
):
    server.answers["/exact"] = http(b"x" * 1000)
    server.answers["/more"] = http(b"x" * 1001)
    server.answers["/endless"] = endless(b"x" * 65536, b"HTTP/1.1 200 OK\r\n\r\n")

    assert not send(server.url + "/exact", max_bytes=1000).truncated
    for path in ("/more", "/endless"):
        response = send(server.url + path, max_bytes=1000)
        assert (len(response.content), response.truncated) == (1000, True)


def deflate(data, wbits):
    compressor = zlib.compressobj(9, zlib.DEFLATED, wbits)
    return compressor.compress(data) + compressor.flush()


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"hello world")),
        ("x-gzip", gzip.compress(b"hello ") + gzip.compress(b"world")),
        ("gzip", gzip.compress(b"hello world") + b"\0" * 512),
        ("gzip", gzip.compress(b"hello world") + b"RUBBISH"),
        ("deflate", deflate(b"hello world", zlib.MAX_WBITS)),
        ("deflate", deflate(b"hello world", -zlib.MAX_WBITS)),
        ("identity", b"hello world"),
    ],
    ids=[
        "gzip",
        "two members",
        "padded",
        "rubbish after it",
        "deflate",
        "deflate without header",
        "identity",
    ],
)
def test_compression_is_undone_every_member_of_it(server, http, send, encoding, body):
    server.answers["/"] = http(body, "200 OK", f"Content-Encoding: {encoding}")
    response = send(server.url)

    assert (response.content, response.truncated) == (b"hello world", False)
    assert server.requests[0][1]["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize("name", ["User-Agent", "user-agent"])
def test_a_header_is_sent_once_in_whatever_case_it_is_named(library, name):
    made = []

    def answer(request):
        made.append(request.headers)
        return http.Response(200)

    http = importlib.import_module(library)
    with http.Client(transport=http.MockTransport(answer)) as client:
        Sender(Guard(), client=client).send(
            Request(
                url="https://a.example/", headers={name: "a", "accept-encoding": "br"}
            )
        )

    assert made[0].get_list("user-agent") == ["a"]
    assert made[0].get_list("accept-encoding") == ["gzip, deflate"]


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@pytest.mark.parametrize("steps", [1, 2, 4])
def test_a_body_of_exactly_some_steps_is_whole(encoding, steps):
    content = bytes(steps * 2**18)
    body = BoundedBody(encoding, 2**22)
    for _ in body.add(
        gzip.compress(content) if encoding == "gzip" else zlib.compress(content)
    ):
        pass
    assert (bytes(body), body.truncated) == (content, False)


@pytest.mark.parametrize(
    "padding", [[b"\0"], [b"\0", b"\0"], [b""], [b"\0" * 512, b"\0"]]
)
def test_padding_that_arrives_late_is_no_member(padding):
    body = BoundedBody("gzip", 10_000)
    for chunk in (
        gzip.compress(b"hello ") + b"\0",
        *padding,
        gzip.compress(b"world"),
        *padding,
    ):
        for _ in body.add(chunk):
            pass
    assert (bytes(body), body.truncated) == (b"hello world", False)


def test_a_compressed_body_that_stops_half_way_is_flagged(server, http, send):
    whole = gzip.compress(bytes(range(256)) * 400)
    server.answers["/"] = http(
        whole[: len(whole) // 2], "200 OK", "Content-Encoding: gzip"
    )

    assert send(server.url).truncated


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("br", b"\x0b\x05\x80hello\x03"),
        ("gzip, gzip, gzip", b""),
        ("gzip", b"<html>plain"),
    ],
)
def test_an_encoding_that_was_not_asked_for_is_refused(
    server, http, send, encoding, body
):
    server.answers["/"] = http(body, "200 OK", f"Content-Encoding: {encoding}")

    with pytest.raises(BadResponse):
        send(server.url)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("none", b"kelp"),
        ("UTF-8", b"kelp"),
        ("aws-chunked, gzip", gzip.compress(b"kelp")),
        ("gzip, gzip", gzip.compress(gzip.compress(b"kelp"))),
        ("gzip, gzip", gzip.compress(b"kelp")),
    ],
    # not the bytes, which have the time in them
    ids=["none", "a charset", "a transport", "twice", "stated twice, done once"],
)
def test_a_word_that_is_no_encoding_changes_nothing(server, http, send, encoding, body):
    server.answers["/"] = http(body, "200 OK", f"Content-Encoding: {encoding}")
    answer = send(server.url)

    assert (answer.content, answer.truncated) == (b"kelp", False)


def test_a_bomb_goes_off_in_a_small_room(server, http, send):
    server.answers["/"] = http(
        gzip.compress(b"\0" * 2**26), "200 OK", "Content-Encoding: gzip"
    )
    response = send(server.url, max_bytes=100_000)

    assert (len(response.content), response.truncated) == (100_000, True)


@pytest.mark.parametrize(
    ("encoding", "raw"),
    [
        ("gzip", gzip.compress(b"\0" * 2**21)),
        ("gzip", gzip.compress(b"") * 100),
        ("deflate", deflate(b"", zlib.MAX_WBITS) * 100),
        ("gzip, gzip", gzip.compress(gzip.compress(b"\0" * 2**21))),
    ],
    ids=["a bomb", "empty members", "empty streams", "a bomb in a parcel"],
)
def test_a_body_that_is_expensive_to_decompress_takes_many_steps(encoding, raw):
    body = BoundedBody(encoding, 2**21)
    sizes = [0, *(len(body.content) for _ in body.add(raw))]
    assert len(sizes) > 8
    assert max(after - before for before, after in pairwise(sizes)) <= 2**18


@pytest.mark.parametrize("wbits", [31, zlib.MAX_WBITS, -zlib.MAX_WBITS])
def test_what_zlib_has_decompressed_and_holds_back_is_not_lost(wbits):
    content = random.Random(3).randbytes(2**18) + bytes(2**20)
    body, raw = (
        BoundedBody("gzip" if wbits == 31 else "deflate", 2**22),
        deflate(content, wbits),
    )
    for begin in range(0, len(raw), 1000):
        for _ in body.add(raw[begin : begin + 1000]):
            pass
    assert (bytes(body), body.truncated) == (content, False)


def test_thousands_of_headers_are_refused(server, http, send):
    server.answers["/"] = http(b"", "200 OK", *(f"X-{n}: a" for n in range(3000)))

    with pytest.raises(BadResponse, match="headers"):
        send(server.url)


DRIPS = {  # slow ones: what comes without a pause may reach a limit before the deadline
    "body": (b"x", b"HTTP/1.1 200 OK\r\n\r\n", 0.05),
    "header": (b"a", b"HTTP/1.1 200 OK\r\nX: ", 0.05),
    "status line": (b"H", b"", 0.05),
    "early hints": (b"HTTP/1.1 103 Early Hints\r\n\r\n", b"", 0.05),
    "tiny chunks": (
        b"1\r\nx\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        0.001,
    ),
    "silence": (b"", b"", 0.05),
}


@pytest.mark.parametrize("guarded", [False, True], ids=["service", "page"])
@pytest.mark.parametrize("drip", DRIPS)
def test_no_drip_outlasts_the_deadline(server, endless, send, drip, guarded):
    chunk, head, pause = DRIPS[drip]
    server.answers["/"] = endless(chunk, head, pause)
    with ended_by(0.2), pytest.raises(TimedOut):
        send(server.url, seconds=0.2, guarded=guarded)


def test_a_name_that_takes_for_ever_to_resolve_ends_with_the_deadline(send, library):
    released = threading.Event()
    sender = Sender(
        Guard(resolve=lambda host, port: released.wait(60) or []), library=library
    )
    with ended_by(0.3), pytest.raises(TimedOut):
        send("http://slow.example/", seconds=0.3, guarded=True, sender=sender)
    released.set()


def test_a_name_that_does_not_resolve_is_not_worth_trying_again(send, library):
    def nowhere(host, port):
        raise socket.gaierror("no such name")

    with pytest.raises(Unavailable, match="does not resolve") as caught:
        send(
            "http://nowhere.example/",
            guarded=True,
            sender=Sender(Guard(resolve=nowhere), library=library),
        )
    assert not caught.value.temporary


def test_a_closed_port_is_unavailable(send):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    with pytest.raises(Unavailable, match="cannot connect"):
        send(f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>no status line",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\n : x\r\n\r\n",
    ],
    ids=["hung up", "no HTTP", "short", "bad header"],
)
def test_an_answer_broken_off_is_unavailable(server, send, answer):
    server.answers["/"] = lambda connection: connection.sendall(answer)

    with pytest.raises(Unavailable):
        send(server.url)


def test_five_calls_use_one_connection(server, http, library):
    server.answers["/"] = http(b"")
    sender = Sender(OPEN, library=library)
    for _ in range(5):
        sender.send(Request(url=server.url))
    assert server.connections == 1

    async def five():
        for _ in range(5):
            await sender.asend(Request(url=server.url))

    asyncio.run(five())
    assert server.connections == 2
    sender.close()


def test_one_sender_serves_loops_one_after_another_at_once_and_threads(
    server, http, library
):
    server.answers["/"] = http(b"")
    sender = Sender(OPEN, library=library)

    async def calls(n):
        await asyncio.gather(
            *(
                sender.asend(Request(url=server.url, guarded=bool(m % 2)))
                for m in range(n)
            )
        )

    for _ in range(4):
        asyncio.run(calls(2))
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: asyncio.run(calls(3)), range(8)))
        list(threads.map(lambda _: sender.send(Request(url=server.url)), range(20)))
    sender.close()

    assert len(server.requests) == 8 + 24 + 20


def test_a_loop_that_ends_takes_its_connections_with_it(server, http, library):
    server.answers["/"] = http(b"")
    sender = Sender(OPEN, library=library)

    asyncio.run(sender.asend(Request(url=server.url)))

    ended = time.monotonic() + 30
    while server._open and time.monotonic() < ended:
        time.sleep(0.01)
    assert not server._open


def test_cancelling_closes_the_connection(server, endless, library):
    server.answers["/"] = endless(b"x", b"HTTP/1.1 200 OK\r\n\r\n", 0.01)
    sender = Sender(OPEN, library=library)

    async def cancelled():
        task = asyncio.create_task(sender.asend(Request(url=server.url)))
        while not server.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        ended = time.monotonic() + 30
        while server._open and time.monotonic() < ended:
            await asyncio.sleep(0.01)

    asyncio.run(cancelled())
    assert not server._open


def test_forty_calls_wait_together(server, http, library):
    together = threading.Barrier(40)

    def answer(connection):
        together.wait(60)
        connection.sendall(http(b""))

    server.answers["/"] = answer
    sender = Sender(OPEN, library=library)

    async def forty():
        return await asyncio.gather(
            *(sender.asend(Request(url=server.url)) for _ in range(40))
        )

    assert {response.status for response in asyncio.run(forty())} == {200}


def test_a_client_of_the_callers_own_is_used_for_services_and_never_for_pages(library):
    http = importlib.import_module(library)
    seen = []

    def handler(request):
        seen.append(str(request.url))
        return http.Response(200, json={"ok": True})

    client = http.Client(transport=http.MockTransport(handler), follow_redirects=True)
    sender = Sender(Guard(), client=client, library=library)

    assert sender.send(Request(url="https://api.example/")).json() == {"ok": True}
    with pytest.raises(UnsafeURL):
        sender.send(Request(url="http://127.0.0.1/", guarded=True))
    assert seen == ["https://api.example/"]


def test_a_client_of_the_other_library_works_too(library):
    other = importlib.import_module({"httpx": "httpx2", "httpx2": "httpx"}[library])

    def handler(request):
        raise other.ReadTimeout("slow", request=request)

    sender = Sender(
        Guard(),
        client=other.Client(transport=other.MockTransport(handler)),
        library=library,
    )
    with pytest.raises(TimedOut):
        sender.send(Request(url="https://api.example/"))


async def test_an_async_client_of_the_callers_own_is_used(library):
    http = importlib.import_module(library)
    transport = http.MockTransport(
        lambda request: http.Response(200, json={"ok": True})
    )
    sender = Sender(
        Guard(), async_client=http.AsyncClient(transport=transport), library=library
    )

    assert (await sender.asend(Request(url="https://api.example/"))).json() == {
        "ok": True
    }


def test_proxies_of_the_environment_are_for_services_and_never_for_pages(
    server, http, library, monkeypatch
):
    server.answers["/"] = http(b"direct")
    server.answers["http://api.example/"] = http(b"through the proxy")
    monkeypatch.setenv("HTTP_PROXY", server.url)
    sender = Sender(OPEN, library=library)

    assert (
        sender.send(Request(url="http://api.example/")).content == b"through the proxy"
    )
    assert sender.send(Request(url=server.url, guarded=True)).content == b"direct"
    sender.close()


@pytest.mark.parametrize("scheme", ["HTTP", "ALL"])
@pytest.mark.parametrize(
    "bypass", ["127.0.0.1", "a.example, 127.0.0.1", "127.0.0.1:{port}", "*", "a, *"]
)
def test_a_service_that_the_environment_excepts_is_reached_without_its_proxy(
    server, http, send, bypass, scheme, monkeypatch
):
    server.answers["/"] = http(b"direct")
    monkeypatch.setenv(f"{scheme}_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", bypass.format(port=server.port))

    assert send(server.url).content == b"direct"


def test_a_proxy_of_the_environment_gets_its_login(server, http, send, monkeypatch):
    server.answers["http://api.example/"] = http(b"through the proxy")
    url = server.url.replace("http://", "http://ann:pass-word@")
    monkeypatch.setenv("ALL_PROXY", url)

    assert send("http://api.example/").content == b"through the proxy"
    ((_, headers, _),) = server.requests
    assert headers["proxy-authorization"] == "Basic YW5uOnBhc3Mtd29yZA=="


def test_nothing_is_sent_without_time_left(server, library):
    with time_limit(0), pytest.raises(TimedOut):
        Sender(OPEN, library=library).send(Request(url=server.url))
    assert server.requests == []


def test_a_url_that_cannot_be_sent_is_a_configuration_error(library):
    with pytest.raises(ConfigurationError):
        Sender(OPEN, library=library).send(Request(url="nonsense://a.example/"))


def test_the_log_of_the_http_library_holds_no_query(server, http, library, caplog):
    server.answers["/search"] = http(b"")
    caplog.set_level(logging.DEBUG)
    private = Request(url=server.url + "/search", params={"q": "very private"})
    sender = Sender(OPEN, library=library)
    sender.send(private)
    sender.close()
    assert "send_request_headers" in caplog.text
    with importlib.import_module(library).Client() as own:
        Sender(OPEN, client=own).send(private)

    assert "/search" in caplog.text
    assert "private" not in caplog.text


KEY = "SECRET-of-a-test"
KEYED = {
    "headers": {"Authorization": f"Bearer {KEY}", "X-Api-Key": KEY},
    "secret_params": {"api_key": KEY},
}


@pytest.mark.parametrize("asked", [{}, {"params": {"q": "kelp"}}])
def test_a_secret_parameter_is_sent_and_stays_out_of_the_repr_and_the_log(
    server, http, send, caplog, asked
):
    caplog.set_level(logging.DEBUG)
    server.answers["/search"] = http(f'"{KEY}"')
    request = Request(
        url=f"{server.url}/search", secret_params={"api_key": KEY}, **asked
    )
    response = send(request.url, secret_params=request.secret_params, **asked)

    assert f"api_key={KEY}" in server.paths[0]
    assert response.content == b'"[key]"'
    assert KEY not in f"{request!r}{response!r}{response.url}{caplog.text}"


def everything_in(error):
    """Return all text in an error and in the errors chained to it, with their
    attributes.
    """
    found, waiting = [], [error]
    while waiting:
        one = waiting.pop()
        if one is None or one in found:
            continue
        found.append(one)
        waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
    said = [f"{one!r} {one} {one.args} {vars(one)}" for one in found]
    for one in found:
        for name in ("request", "response"):
            try:
                said.append(str(getattr(one, name).headers.raw))
            except (AttributeError, RuntimeError):
                continue
    return "\n".join(said)


@pytest.mark.parametrize(
    "answer",
    [b"", b"no HTTP", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", None],
    ids=["hung up", "no HTTP", "short", "silence"],
)
def test_no_error_holds_the_request_and_its_key(server, send, answer):
    given_up = threading.Event()
    server.answers["/"] = lambda connection: (
        given_up.wait(60) if answer is None else connection.sendall(answer)
    )

    for seconds in longer_until(lambda: server.requests, 0.5 if answer is None else 30):
        with pytest.raises(TimedOut if answer is None else Unavailable) as caught:
            send(server.url, seconds=seconds, **KEYED)
    given_up.set()
    assert caught.value.__cause__ is not None
    assert KEY not in everything_in(caught.value)


@pytest.mark.parametrize(
    "error", [asyncio.CancelledError, KeyboardInterrupt, ZeroDivisionError]
)
def test_a_library_that_another_thread_is_importing_hides_no_error(
    monkeypatch, library, error
):
    # it has no names yet
    monkeypatch.setitem(sys.modules, library, types.ModuleType(library))

    with (
        pytest.raises(error),
        translate_errors(Request(url="https://api.example/", **KEYED)),
    ):
        raise error


def test_no_error_of_a_connection_holds_the_key(send):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    with pytest.raises(Unavailable) as caught:
        send(f"http://127.0.0.1:{port}/", **KEYED)
    assert type(caught.value.__cause__).__name__ == "ConnectError"
    assert str(caught.value.__cause__)
    assert KEY not in everything_in(caught.value)


def test_a_header_that_cannot_be_sent_is_not_quoted(server, send):
    with pytest.raises(ConfigurationError) as caught:
        send(server.url, headers={"X-Api-Key": f"{KEY}\n"})
    assert KEY not in everything_in(caught.value)


@pytest.mark.parametrize(
    "unsendable",
    [
        {"method": "POST", "json": {"score": math.nan}},
        {"method": "POST", "json": {"words": {"a set"}}},
        {"method": "POST", "json": {"q": "half \ud800"}},
        {"method": "POST", "form": {"q": "half \ud800"}},
        {"params": {"q": "half \ud800"}},
        {"headers": {"X-Api-Key": f"{KEY}-ü"}},
    ],
    ids=[
        "not a number",
        "a set",
        "half a pair as JSON",
        "in a form",
        "in a query",
        "a key that is not ASCII",
    ],
)
def test_a_value_that_cannot_be_sent_is_an_invalid_option(server, send, unsendable):
    with pytest.raises(InvalidOption, match="a value cannot be sent") as caught:
        send(server.url, **unsendable)
    chain = caught.value, caught.value.__cause__, caught.value.__context__
    assert [
        error
        for error in chain
        if isinstance(error, UnicodeError) and KEY in error.object
    ] == []
    assert KEY not in everything_in(caught.value)
    assert server.requests == []


def test_no_error_of_a_client_of_the_callers_own_holds_the_key(library):
    http = importlib.import_module(library)

    def refuse(reply):
        reply.raise_for_status()

    client = http.Client(
        transport=http.MockTransport(
            lambda request: http.Response(500, text=f"no {KEY}")
        ),
        event_hooks={"response": [refuse]},
    )
    with pytest.raises(Unavailable) as caught:
        Sender(Guard(), client=client, library=library).send(
            Request(url=f"https://api.example/{KEY}", **KEYED)
        )
    assert type(caught.value.__cause__).__name__ == "HTTPStatusError"
    assert KEY not in everything_in(caught.value)


def test_a_key_that_the_service_repeats_is_in_no_response_and_no_log(
    server, http, send, caplog
):
    caplog.set_level(logging.DEBUG)
    server.answers["/"] = http(
        {"token": KEY}, "401 Unauthorized", f"X-Echo: {KEY}", f"{KEY}: 1"
    )
    response = send(server.url, **KEYED)

    assert (response.json(), response.headers["x-echo"]) == (
        {"token": "[key]"},
        "[key]",
    )
    assert KEY not in str(response.headers)
    assert KEY.lower() not in str(response.headers)
    # the log has been written, only not the key
    assert "receive_response_headers.complete" in caplog.text
    assert "[key]" in caplog.text
    assert KEY not in caplog.text


def test_a_key_that_a_redirect_repeats_is_in_no_location(server, send):
    server.answers["/"] = (
        f"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /?k={KEY}\r\n\r\n".encode()
    )

    assert send(server.url, **KEYED).headers["location"] == "/?k=[key]"


@pytest.mark.parametrize(
    ("method", "content"),
    [
        ("GET", {}),
        ("GET", {"params": {"q": "tide & table", "page": 2}}),
        ("POST", {"json": {"query": "Ellersünd", "none": None}}),
        ("POST", {"json": 0}),
        ("POST", {"data": {"q": "high & low", "l": "ü"}}),
        ("POST", {"data": {"one": ["a", "b"], "yes": True, "none": None, "page": 2}}),
        ("POST", {}),
        ("post", {}),
        ("DELETE", {}),
    ],
    ids=str,
)
def test_a_request_is_what_the_client_of_the_library_would_make_of_it(
    library, method, content
):
    theirs, ours = (
        importlib.import_module(library).Client(verify=False),
        Sender(OPEN, library=library)._client(False),
    )
    for url in ("https://a.example/b?x=1#f", "http://[::1]:8080/"):
        for own in (
            {},
            {"Accept": "text/html", "Content-Type": "application/scim+json"},
        ):
            given = {
                "headers": {"User-Agent": "a", "Accept-Encoding": "gzip", **own},
                "timeout": (1, 2, 3, 4),
            }
            made, usual = (
                client.build_request(method, url, **given, **content)
                for client in (ours, theirs)
            )

            assert (made.method, made.url, made.content) == (
                usual.method,
                usual.url,
                usual.content,
            )
            assert sorted(made.headers.multi_items()) == sorted(
                usual.headers.multi_items()
            )
            assert made.extensions == usual.extensions
