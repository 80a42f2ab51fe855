"""Connections that are dead, closed, given up or not for everybody."""

from __future__ import annotations
import asyncio
import signal
import socket
import ssl
import threading
import time
from contextlib import closing, contextmanager

import pytest
import pytest_socket

from tests.faults.run import WAYS
from tests.faults.services import FOUND, KEY
from tests.faults.surroundings import authority, listen_silently, open_ports, trust
from tests.server import Server, endless, http
from tests.waiting import ended_by, longer_until, wait_until
from websearch_core import WebSearch
from websearch_core._net.guard import Guard
from websearch_core._net.sender import Sender
from websearch_core._runtime.deadline import time_limit
from websearch_core.errors import AllProvidersFailed, TimedOut, Unavailable
from websearch_core.flow import Request
from websearch_core.layers import Breaker, Retry, Throttle
from websearch_core.settings import Settings

pytestmark = pytest.mark.enable_socket
PAGE = http(
    b"<title>Kelp</title><p>Brown algae of the northern seas.",
    "200 OK",
    "Content-Type: text/html",
)


@pytest.fixture(params=WAYS)
def way(request):
    return request.param


def make(url, **options):
    return WebSearch(
        "tavily", api_key=KEY, base_url=url, retry=Retry(wait_initial=0.01), **options
    )


def search(web, way):
    return web.search("kelp") if way == "blocking" else asyncio.run(web.asearch("kelp"))


@contextmanager
def same_port(first, second):
    """A port where the first address drops every attempt to connect, and a server at
    the second.
    """
    pytest_socket.socket_allow_hosts([first, second], allow_unix_socket=True)
    with closing(Server([PAGE])) as server, listen_silently(first, server.port):
        yield server


@pytest.mark.parametrize(
    ("way", "connecting", "least"), [("blocking", 3, 1.4), ("async", 60, 0.2)]
)
def test_a_dead_address_does_not_use_up_the_time_of_the_next(way, connecting, least):
    with same_port("127.0.0.2", "127.0.0.1") as server:
        guard = Guard.allowing(
            ["127.0.0.0/8"], resolve=lambda host, port: ["127.0.0.2", "127.0.0.1"]
        )
        sender = Sender(guard, connect_timeout=connecting)
        request = Request(url=f"http://two.example:{server.port}/", guarded=True)

        async def asend():
            return await sender.asend(request)

        began = time.monotonic()
        with ended_by(1.5), time_limit(60):
            response = (
                sender.send(request) if way == "blocking" else asyncio.run(asend())
            )
        took = time.monotonic() - began
        sender.close()

    assert response.status == 200
    assert took >= least


@pytest.mark.parametrize("when", ["between the requests", "while the second arrives"])
def test_a_connection_that_the_server_closed_is_replaced(way, when):
    def answer_once(connection):
        connection.sendall(FOUND)
        if when == "while the second arrives":
            connection.recv(65536)

    with closing(Server([answer_once])) as server, make(server.url) as web:

        async def two():
            for _ in range(2):
                await web.asearch("kelp")
                await asyncio.sleep(0.05)

        if way == "async":
            asyncio.run(two())
        else:
            for _ in range(2):
                assert web.search("kelp").results
                time.sleep(0.05)

        assert len(server.requests) == 2
        assert server.connections == 2


def test_when_all_are_down_the_error_names_each_in_time(way):
    with open_ports() as ports:
        place = {"base_url": f"http://127.0.0.1:{ports.closed}", "api_key": KEY}
        names = ["tavily", "brave", "exa"]
        options = dict.fromkeys(names, place)
        with (
            WebSearch(
                names,
                settings=Settings.load(providers=options),
                retry=Retry(wait_initial=0.01),
                timeout=90,
            ) as web,
            ended_by(1),
            pytest.raises(AllProvidersFailed) as caught,
        ):
            search(web, way)

    assert [(error.provider, error.code) for error in caught.value.exceptions] == [
        (n, "unavailable") for n in names
    ]
    assert [
        len(error.attempts)
        for error in caught.value.exceptions
        if len(error.attempts) != 3
    ] == []


def test_a_cancelled_call_closes_its_connection_and_gives_its_place_back():
    hanging = endless(b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", 0.05)
    with closing(Server([hanging, FOUND])) as server:
        with make(
            server.url,
            throttle=Throttle(concurrent=1),
            layers=[Breaker(failures=1, min_timeout=0)],
        ) as web:

            async def cancelled():
                task = asyncio.create_task(web.asearch("kelp"))
                while not server.requests:
                    await asyncio.sleep(0.01)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await asyncio.to_thread(wait_until, lambda: not server.open_connections)
                return await web.asearch("kelp")

            assert asyncio.run(cancelled()).results
        assert len(server.requests) == 2


@pytest.mark.skipif(
    not hasattr(signal, "pthread_kill"), reason="this system has no signals for threads"
)
def test_an_interrupt_closes_the_connection_and_gives_the_place_back():
    hanging = endless(b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", 0.05)
    with (
        closing(Server([hanging, FOUND])) as server,
        make(
            server.url,
            throttle=Throttle(concurrent=1),
            layers=[Breaker(failures=1, min_timeout=0)],
        ) as web,
    ):

        def press_control_c():
            wait_until(lambda: server.requests)
            time.sleep(0.1)  # until the call waits for the body
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        pressing = threading.Thread(target=press_control_c, daemon=True)
        # a shell's background ignores it
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            pressing.start()
            with pytest.raises(KeyboardInterrupt):
                web.search("kelp")
            pressing.join(60)
        finally:
            signal.signal(signal.SIGINT, before)
        wait_until(lambda: not server.open_connections)
        assert web.search("kelp").results


def test_nothing_of_ours_goes_along_a_redirect(way):
    redirect = http(b"", "302 Found", "Location: /there", "Set-Cookie: id=1; Path=/")
    with (
        closing(Server([redirect, PAGE])) as server,
        WebSearch(reader="direct", internal=["127.0.0.0/8"]) as web,
    ):
        page = (
            web.read(server.url)
            if way == "blocking"
            else asyncio.run(web.aread(server.url))
        )

    assert page.content == "Brown algae of the northern seas."
    assert server.paths == ["/", "/there"]
    assert not any(
        {"referer", "authorization"} & set(headers) for _, headers, _ in server.requests
    )
    # to the site that set it, while this page is read
    cookies = [headers.get("cookie") for _, headers, _ in server.requests]
    assert cookies == [None, "id=1"]


def test_a_connection_to_one_host_is_not_used_for_another(way):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority().issue_cert("first.example").configure_cert(context)
    guard = Guard.allowing(["127.0.0.0/8"], resolve=lambda host, port: ["127.0.0.1"])
    with (
        closing(Server([PAGE], context)) as server,
        closing(Sender(guard, verify=trust())) as sender,
    ):
        first, second = (
            Request(url=f"https://{host}.example:{server.port}/", guarded=True)
            for host in ("first", "second")
        )

        async def both():
            await sender.asend(first)
            await sender.asend(second)

        with (
            pytest.raises(Unavailable, match="cannot connect") as caught,
            time_limit(60),
        ):
            asyncio.run(both()) if way == "async" else [
                sender.send(one) for one in (first, second)
            ]

        assert not caught.value.temporary
        assert len(server.requests) == 1


def test_a_handshake_that_ends_too_late_leaves_no_connection(way):
    with (
        socket.create_server(("127.0.0.1", 0)) as mute,
        make(f"https://127.0.0.1:{mute.getsockname()[1]}") as web,
    ):
        accepted = []
        threading.Thread(
            target=lambda: accepted.append(mute.accept()[0]), daemon=True
        ).start()

        async def asend():
            for seconds in longer_until(lambda: accepted, 0.5):
                with pytest.raises(TimedOut), time_limit(seconds):
                    await web.asearch("kelp")
            return await asyncio.to_thread(hung_up)

        def hung_up():
            accepted[0].settimeout(60)
            while accepted[0].recv(65536):  # the beginning of the handshake
                pass
            return True

        if way == "async":
            assert asyncio.run(asend())
        else:
            for seconds in longer_until(lambda: accepted, 0.5):
                with pytest.raises(TimedOut), time_limit(seconds):
                    web.search("kelp")
            assert hung_up()
        accepted[0].close()
