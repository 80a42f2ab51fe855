"""Connections that are kept, over TLS and through proxies too, and the places where
test tools step in.
"""

from __future__ import annotations
import asyncio
import gc
import importlib
import ssl
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import httpcore
import pytest
import trustme

from tests.waiting import ended_by
from websearch_core._net import pool as pool_module
from websearch_core._net.guard import Guard
from websearch_core._net.pool import KEPT, AsyncPool, Pool
from websearch_core._net.sender import Sender
from websearch_core._runtime.deadline import time_limit
from websearch_core.errors import TimedOut, Unavailable
from websearch_core.flow import Request

pytestmark = pytest.mark.enable_socket

OPEN = Guard.allowing(["127.0.0.0/8"])
HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


@pytest.fixture
def run(colour):
    """Send requests one after the other, on one event loop if they are async; return
    the responses.
    """

    def send(sender, *requests, seconds=30):
        async def asend():
            with time_limit(seconds):
                return [await sender.asend(request) for request in requests]

        if colour == "async":
            return asyncio.run(asend())
        with time_limit(seconds):
            return [sender.send(request) for request in requests]

    return send


# Over TLS, and through a proxy.


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@contextmanager
def serve(handle, tls=None):
    """Serve connections with the coroutine function *handle* in a thread; yield the
    port.
    """
    ready = threading.Event()
    port = 0
    tasks = set()

    async def handle_one(reader, writer):
        tasks.add(asyncio.current_task())
        try:
            await handle(reader, writer)
        finally:
            await end(writer)

    async def main():
        nonlocal port
        server = await asyncio.start_server(handle_one, "127.0.0.1", 0, ssl=tls)
        port = server.sockets[0].getsockname()[1]
        stopped = asyncio.Event()
        stops.append((asyncio.get_running_loop(), stopped))
        ready.set()
        await stopped.wait()
        server.close()
        if tasks:
            await asyncio.wait(tasks, timeout=30)

    stops = []
    thread = threading.Thread(target=asyncio.run, args=(main(),), daemon=True)
    thread.start()
    assert ready.wait(60)
    try:
        yield port
    finally:
        loop, stopped = stops[0]
        loop.call_soon_threadsafe(stopped.set)
        thread.join(60)


async def end(writer):
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


async def read_request(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    lengths = [
        line
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length:")
    ]
    return head, await reader.readexactly(
        int(lengths[0].split(b":")[1])
    ) if lengths else b""


def make_echo(connections):
    """Return a handler that answers each request with its body."""

    async def echo(reader, writer):
        connections.append(writer)
        try:
            while True:
                _, body = await read_request(reader)
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return

    return echo


def make_context(authority, name):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


def trust(authority):
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


def test_megabytes_pass_both_ways_over_one_connection_with_tls(authority, library, run):
    connections = []
    big = "kelp " * 400_000
    with serve(make_echo(connections), make_context(authority, "127.0.0.1")) as port:
        sender = Sender(OPEN, library=library, verify=trust(authority))
        request = Request(
            url=f"https://127.0.0.1:{port}/", method="POST", form={"q": big}
        )
        answers = run(sender, request, request, request)
        sender.close()

    assert {len(answer.content) for answer in answers} == {len(big) + 2}
    assert len(connections) == 1


def test_a_certificate_for_another_name_ends_the_call(authority, library, run):
    connections = []
    with serve(
        make_echo(connections), make_context(authority, "other.example")
    ) as port:
        sender = Sender(OPEN, library=library, verify=trust(authority))
        with pytest.raises(Unavailable, match="[Cc]ertificate|CERTIFICATE") as caught:
            run(sender, Request(url=f"https://127.0.0.1:{port}/", guarded=True))
        sender.close()

    assert caught.value.temporary is False


def test_a_handshake_that_never_ends_ends_with_the_deadline(library, run):
    async def silent(reader, writer):
        await reader.read()

    with serve(silent) as port:
        sender = Sender(OPEN, library=library)
        with ended_by(0.4), pytest.raises(TimedOut):
            run(sender, Request(url=f"https://127.0.0.1:{port}/"), seconds=0.4)
        sender.close()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_tunnel_through_a_proxy_is_kept(authority, library, run, monkeypatch, scheme):
    connections, tunnels = [], []

    async def tunnel(reader, writer):
        head, _ = await read_request(reader)
        tunnels.append(head.split(b"\r\n")[0])
        there = await asyncio.open_connection(*head.split()[1].decode().split(":"))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")

        async def pump(source, sink):
            while data := await source.read(2**16):
                sink.write(data)
                await sink.drain()
            sink.close()

        await asyncio.gather(
            pump(reader, there[1]), pump(there[0], writer), return_exceptions=True
        )
        await end(there[1])

    tls = make_context(authority, "127.0.0.1")
    tls.num_tickets = 0  # one that comes late makes an idle connection look closed
    with (
        serve(make_echo(connections), tls) as port,
        serve(tunnel, tls if scheme == "https" else None) as proxy,
    ):
        monkeypatch.setenv("HTTPS_PROXY", f"{scheme}://127.0.0.1:{proxy}")
        context = trust(authority)
        core = {"httpx": "httpcore", "httpx2": "httpcore2"}[library]
        # the certificates that a proxy's own one is checked with
        for kind in ("_sync", "_async"):
            monkeypatch.setattr(
                f"{core}.{kind}.connection.default_ssl_context", lambda: context
            )
        sender = Sender(OPEN, library=library, verify=context)
        request = Request(
            url=f"https://127.0.0.1:{port}/", method="POST", json=["kelp"]
        )
        answers = run(sender, request, request)
        sender.close()

    assert [answer.json() for answer in answers] == [["kelp"]] * 2
    assert (len(tunnels), len(connections)) == (1, 1)


# What is kept, and for how long.


def test_a_connection_that_the_server_has_closed_is_not_used_again(
    server, http, library, run
):
    server.answers["/"] = http(b"a", "200 OK", "Connection: close")
    server.answers["/kept"] = http(b"b")
    sender = Sender(OPEN, library=library)

    assert [
        a.content
        for a in run(
            sender,
            *[Request(url=server.url + path) for path in ("/", "/kept", "/kept")],
        )
    ]
    assert server.connections == 2
    sender.close()


def test_a_connection_that_ended_while_it_was_idle_is_not_used_again(library, colour):
    opened, hang_up = [], threading.Event()

    # promises to keep the connection, and hangs up when it is idle
    async def once(reader, writer):
        opened.append(writer)
        await read_request(reader)
        writer.write(HELLO)
        await asyncio.to_thread(hang_up.wait, 60)

    def has_ended(client):
        hang_up.set()
        (connection,) = client.pools[0]._idle
        return connection.has_expired()

    with serve(once) as port:
        sender, request = (
            Sender(OPEN, library=library),
            Request(url=f"http://127.0.0.1:{port}/"),
        )

        async def asend():
            for _ in range(3):
                hang_up.clear()
                assert (await sender.asend(request)).content == b"hello"
                while not has_ended(sender._get_loop_clients()._clients[False]):
                    await asyncio.sleep(0.001)

        if colour == "async":
            asyncio.run(asend())
        else:
            for _ in range(3):
                hang_up.clear()
                assert sender.send(request).content == b"hello"
                while not has_ended(sender._clients[False]):
                    time.sleep(0.001)
        sender.close()

    assert len(opened) == 3


def test_an_idle_connection_is_used_again_for_half_a_minute(
    server, http, library, run, colour, monkeypatch
):
    core = {"httpx": "httpcore", "httpx2": "httpcore2"}[library]
    module = importlib.import_module(
        f"{core}.{'_sync' if colour == 'blocking' else '_async'}.http11"
    )
    # when it became idle, was looked at, became idle, was looked at
    later = iter([0.0, 25.0, 25.0, 60.0, 60.0, 60.0])
    began = time.monotonic()
    monkeypatch.setattr(
        module, "time", SimpleNamespace(monotonic=lambda: began + next(later))
    )
    server.answers["/"] = http(b"page")
    sender, request = Sender(OPEN, library=library), Request(url=server.url)
    run(sender, request, request, request)
    sender.close()

    assert server.connections == 2


def test_connections_are_kept_by_origin_and_the_last_used_comes_first():
    pool = Pool(httpcore, None, 3)
    a, b = (b"http", b"a.example", 80, b""), (b"https", b"a.example", 443, b"")
    for connection, key in (("one", a), ("two", a), ("three", b)):
        pool._idle[connection] = key, time.monotonic() + KEPT

    assert pool._take_idle((b"http", b"a.example", 81, b"")) is None
    assert [pool._take_idle(key) for key in (a, b, a, a)] == [
        "two",
        "three",
        "one",
        None,
    ]


def test_the_oldest_idle_connections_are_closed_when_there_are_too_many_or_too_old(
    monkeypatch,
):
    pool, now = Pool(httpcore, None, 2), [0.0]
    connections = [StubConnection(None) for _ in range(4)]
    monkeypatch.setattr("websearch_core._net.pool.time.monotonic", lambda: now[0])
    surplus = []
    for connection in connections:
        now[0] += 10
        surplus += pool._release(
            connection, (b"http", b"a.example", 80, b""), is_clear=True
        )

    assert surplus == connections[:2]
    now[0] = 65  # the third was put there at 30, the last one at 40
    assert pool._take_surplus() == [connections[2]]
    assert pool._take_all() == [connections[3]]
    assert pool._take_surplus() == []


def test_threads_wait_for_one_of_the_hundred_places_until_their_deadline(
    server, http, monkeypatch
):
    monkeypatch.setattr("websearch_core._net.sender.MAX_CONCURRENT", 2)
    released = threading.Event()

    def answer(connection):
        released.wait(30)
        connection.sendall(http(b"", "200 OK", "Connection: close"))

    server.answers["/"] = answer
    sender = Sender(OPEN)

    def call(seconds):
        with time_limit(seconds):
            return sender.send(Request(url=server.url)).status

    with ThreadPoolExecutor(3) as threads:
        calls = [threads.submit(call, 30) for _ in range(2)]
        ended = time.monotonic() + 30
        while len(server.requests) < 2 and time.monotonic() < ended:
            time.sleep(0.01)
        with pytest.raises(TimedOut):
            call(0.1)
        released.set()
        assert [one.result() for one in calls] == [200, 200]
        assert call(30) == 200
    assert len(server.requests) == 3
    sender.close()


def test_closing_ends_what_is_under_way_and_leaves_no_connection(
    server, endless, library
):
    server.answers["/"] = endless(b"x", b"HTTP/1.1 200 OK\r\n\r\n", 0.01)
    sender = Sender(OPEN, library=library)

    async def closed_in_the_middle():
        call = asyncio.create_task(sender.asend(Request(url=server.url)))
        while not server.requests:
            await asyncio.sleep(0.01)
        await sender.aclose()
        with pytest.raises(Unavailable):
            await asyncio.wait_for(call, 30)

    asyncio.run(closed_in_the_middle())
    ended = time.monotonic() + 30
    while server._open and time.monotonic() < ended:
        time.sleep(0.01)
    assert not server._open


def test_closing_in_one_thread_ends_what_another_waits_for(authority, library):
    async def silent(reader, writer):
        await read_request(reader)
        asked.set()
        await reader.read()

    asked, endings = threading.Event(), []
    with (
        serve(silent) as plain,
        serve(silent, make_context(authority, "127.0.0.1")) as secure,
    ):
        for url in (f"http://127.0.0.1:{plain}/", f"https://127.0.0.1:{secure}/"):
            asked.clear()
            sender = Sender(OPEN, library=library, verify=trust(authority))

            def call(sender=sender, url=url):
                try:
                    with time_limit(90):
                        endings.append(sender.send(Request(url=url)))
                except Exception as error:
                    endings.append(error)

            thread = threading.Thread(target=call)
            thread.start()
            assert asked.wait(60)
            sender.close()
            thread.join(60)

    assert [type(one) for one in endings] == [Unavailable, Unavailable]


@pytest.mark.filterwarnings("error")
def test_cancelled_calls_leave_nothing_behind(server, http, library):
    server.delay = 0.02
    server.answers["/"] = http(b"x" * 10_000)
    sender = Sender(OPEN, library=library)

    async def storm():
        calls = [
            asyncio.create_task(sender.asend(Request(url=server.url)))
            for _ in range(60)
        ]
        for n, call in enumerate(calls):
            if n % 3:
                await asyncio.sleep(0.001)
                call.cancel()
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(one).__name__ for one in ended} <= {"Response", "CancelledError"}
        here = sender._get_loop_clients()
        pool = here._clients[False].pools[0]
        assert not pool._busy
        assert (await sender.asend(Request(url=server.url))).status == 200
        await sender.aclose()
        assert not pool._busy
        assert not pool._idle

    asyncio.run(storm())
    gc.collect()


# Where test tools and tracing step in.


def test_a_tool_that_replaces_a_transport_of_the_library_is_asked(
    library, colour, run, monkeypatch
):
    http = importlib.import_module(library)
    seen = []

    def answer(self, request):
        seen.append(
            (
                request.method,
                str(request.url),
                request.headers["x-one"],
                request.content,
            )
        )
        return http.Response(200, json={"ok": True})

    async def answer_async(self, request):
        return answer(self, request)

    monkeypatch.setattr(http.HTTPTransport, "handle_request", answer)
    monkeypatch.setattr(http.AsyncHTTPTransport, "handle_async_request", answer_async)
    request = Request(
        url="https://api.example/",
        method="POST",
        json=[1],
        headers={"X-One": "1"},
        params={"q": "a"},
    )
    answers = run(Sender(Guard(), library=library), request)

    assert answers[0].json() == {"ok": True}
    assert seen == [("POST", "https://api.example/?q=a", "1", b"[1]")]


def test_a_tool_that_replaces_the_connections_of_the_library_is_asked(
    library, colour, run, monkeypatch
):
    core = importlib.import_module(
        {"httpx": "httpcore", "httpx2": "httpcore2"}[library]
    )
    seen = []

    def answer(self, request):
        seen.append(request.url.target)
        return core.Response(200, content=b"mock")

    async def answer_async(self, request):
        return answer(self, request)

    monkeypatch.setattr(core.HTTPConnection, "handle_request", answer)
    monkeypatch.setattr(core.AsyncHTTPConnection, "handle_async_request", answer_async)
    request = Request(url="https://api.example/search", params={"q": "a"})
    answers = run(Sender(Guard(), library=library), request, request)

    assert [answer.content for answer in answers] == [b"mock"] * 2
    assert seen == [b"/search?q=a"] * 2


class StubConnection:
    """A connection of httpcore; *handle* is what happens when a request is sent over
    it.
    """

    _h11_state = SimpleNamespace(trailing_data=(b"", False))

    def __init__(self, handle):
        self._handle, self.is_open = handle, True

    def handle_request(self, request):
        return self._handle()

    async def handle_async_request(self, request):
        return self._handle()

    def is_idle(self):
        return self.is_open

    def is_closed(self):
        return not self.is_open

    def has_expired(self):
        return False

    def close(self):
        self.is_open = False

    async def aclose(self):
        self.is_open = False


def use_pool(colour, *handles):
    """Send a request through a pool whose new connections behave like *handles*; return
    it, and all connections.
    """
    connections = [StubConnection(handle) for handle in handles]
    made = iter(connections)
    inner = SimpleNamespace(create_connection=lambda origin: next(made))
    pool = (Pool if colour == "blocking" else AsyncPool)(httpcore, inner, 10)
    request = httpcore.Request("GET", "http://a.example/")

    async def asend():
        response = await pool.handle_async_request(request)
        await response.stream.aclose()

    if colour == "async":
        asyncio.run(asend())
    else:
        pool.handle_request(request).stream.close()
    return pool, connections


def test_a_request_that_meets_a_connection_just_closed_takes_another(
    colour, monkeypatch
):
    handled = []

    def closed():
        handled.append("closed")
        raise httpcore.ConnectionNotAvailable

    monkeypatch.setattr(
        StubConnection, "is_idle", lambda connection: connection._handle is not closed
    )
    _, (first, second) = use_pool(colour, closed, lambda: httpcore.Response(200))

    assert handled == ["closed"]
    assert (first.is_open, second.is_open) == (False, True)


async def test_closing_closes_all_connections_even_if_it_is_cancelled_meanwhile():
    closed = []

    class Slow(StubConnection):
        async def aclose(self):
            closed.append(self)
            await asyncio.sleep(0)

    pool = AsyncPool(httpcore, SimpleNamespace(), 20)
    for _ in range(5):
        pool._release(Slow(None), (b"http", b"a.example", 80, b""), is_clear=True)
    closing = asyncio.create_task(pool.aclose())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing

    assert len(closed) == 5


def test_a_pool_can_be_closed_while_other_threads_open_connections():
    def connect():
        return httpcore.HTTPConnection(httpcore.Origin(b"http", b"a.example", 80))

    pool, opened, later = Pool(httpcore, None, 1), [connect() for _ in range(3)], []
    busy = pool._busy
    busy.update(dict.fromkeys(opened, True))

    def open_another(*_):  # as if another thread got its turn at each line
        later.append(connect())
        busy[later[-1]] = True
        return open_another

    before = sys.gettrace()
    sys.settrace(open_another)
    try:
        closing = pool._take_all()
    finally:
        sys.settrace(before)
    assert later
    assert closing[:3] == opened


def test_a_connection_that_opens_while_the_pool_is_closed_is_closed_too(colour):
    pools = []

    def answer():
        pools[0]._take_all()
        return httpcore.Response(200)

    original = pool_module._Pool.__init__

    def remember(self, *arguments):
        original(self, *arguments)
        pools.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool_module._Pool, "__init__", remember)
        _, (connection,) = use_pool(colour, answer)

    assert not connection.is_open
