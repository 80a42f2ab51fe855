"""Hostile or unlucky servers and programs, beyond the table of faults: each call ends
once, and nothing is sent twice.
"""

from __future__ import annotations
import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from tests.faults.services import FOUND, KEY
from tests.server import Server, endless, http
from tests.server import closing as hang_up
from tests.waiting import wait_until
from websearch_core import WebSearch
from websearch_core._net.guard import Guard
from websearch_core._net.sender import Sender
from websearch_core._runtime.deadline import time_limit
from websearch_core.errors import BadResponse, Unavailable, WebSearchError
from websearch_core.flow import Request

pytestmark = pytest.mark.enable_socket
OPEN = Guard.allowing(["127.0.0.0/8"])


@pytest.fixture(params=["blocking", "async"])
def run(request):
    """Send requests one after the other over the same connections; return the
    answers.
    """

    def send(*requests):
        async def asend():
            with time_limit(60):
                return [await sender.asend(one) for one in requests]

        with closing(Sender(OPEN)) as sender, time_limit(60):
            return (
                asyncio.run(asend())
                if request.param == "async"
                else [sender.send(one) for one in requests]
            )

    return send


def test_a_request_whose_connection_is_closed_as_it_is_used_again_is_not_sent_twice(
    run,
):
    with closing(Server([http(b"first"), hang_up(b"")])) as server:
        request = Request(url=server.url, method="POST", json={"a": 1})
        with pytest.raises(Unavailable):
            run(request, request)
        assert len(server.requests) == 2


def test_an_answer_that_comes_before_the_request_was_sent_whole_is_the_answer(run):
    def refuse(connection):
        connection.sendall(
            http(b"too large", "413 Content Too Large", "Connection: close")
        )

    with closing(Server([refuse])) as server:
        server._talk = refuse  # without reading the request
        (answer,) = run(
            Request(url=server.url, method="POST", form={"q": "kelp " * 400_000})
        )
    assert (answer.status, answer.content) == (413, b"too large")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 100 Continue\r\n\r\n" + http(b"page"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n4\r\npage\r\n0\r\nX: y\r\nContent-Length: 9\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nUpgrade: h2c, websocket\r\nConnection: Upgrade\r\nContent-Length: 4\r\n\r\npage",
        http(b"page", "417 Expectation Failed"),
    ],
    ids=["100", "trailers", "an upgrade with a body", "417"],
)
def test_unusual_answers_are_read_and_the_connection_is_used_again(run, answer):
    with closing(Server([answer])) as server:
        found = run(Request(url=server.url), Request(url=server.url))
        assert [one.content for one in found] == [b"page"] * 2
        assert "x" not in found[0].headers
        assert server.connections <= 2


def test_redirects_from_host_to_host_end():
    def lead_on(request):
        number = int(request[0].strip("/")) + 1
        return http(b"", "302 Found", f"Location: {hosts[number % 2].url}/{number}")

    with closing(Server(reply=lead_on)) as one, closing(Server(reply=lead_on)) as other:
        hosts = one, other
        with (
            WebSearch(reader="direct", internal=["127.0.0.0/8"], timeout=60) as web,
            pytest.raises(BadResponse),
        ):
            web.read(f"{one.url}/0")
        assert len(one.requests) + len(other.requests) == 11


def make(server, **options):
    return WebSearch("tavily", api_key=KEY, base_url=server.url, **options)


async def test_hundreds_of_calls_that_are_cancelled_at_once_leave_nothing():
    with closing(Server([FOUND])) as server:
        web = make(server, timeout=60)
        assert (await web.asearch("kelp")).results
        here, held, cancelled = web._sender._get_loop_clients(), 0, 0
        for number in range(200):  # twice as many as may be under way
            call = asyncio.ensure_future(web.asearch(f"kelp {number}"))
            for _ in range(1 + number % 30):  # wherever it is by then
                await asyncio.sleep(0)
            held += here.slots[False]._value < 100
            call.cancel()
            await asyncio.wait([call])
            cancelled += call.cancelled()
        assert held > 20
        assert cancelled > 100
        assert here.slots[False]._value == 100
        assert not here._clients[False].pools[0]._busy
        assert (await web.asearch("kelp")).results
        assert not [
            task for task in asyncio.all_tasks() if task is not asyncio.current_task()
        ]
        await web.aclose()


def test_closing_while_threads_and_two_loops_are_at_it_ends_all_calls_and_can_be_repeated():
    hanging = endless(b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", 0.05)
    with closing(
        Server(reply=lambda request: FOUND if b"after" in request[2] else hanging)
    ) as server:
        web = make(server, timeout=60, layers=None)
        outcomes = []

        def call(number):
            try:
                outcomes.append(web.search(f"kelp {number}"))
            except WebSearchError as error:
                outcomes.append(error)

        async def calls(offset):
            tasks = [
                asyncio.ensure_future(web.asearch(f"kelp {offset + n}"))
                for n in range(20)
            ]
            while not closed.is_set():
                await asyncio.sleep(0.01)
            await web.aclose()
            await web.aclose()
            outcomes.extend(await asyncio.gather(*tasks, return_exceptions=True))

        closed = threading.Event()
        with ThreadPoolExecutor(42) as threads:
            running = [threads.submit(call, number) for number in range(40)]
            running += [
                threads.submit(asyncio.run, calls(offset)) for offset in (100, 200)
            ]
            wait_until(lambda: len(server.requests) == 80)
            web.close()
            web.close()
            closed.set()
            for one in running:
                one.result(60)
        assert {type(one) for one in outcomes} == {Unavailable}
        assert len(outcomes) == 80
        assert web.search("after").results  # using it again opens new connections
        web.close()


@pytest.mark.parametrize("kind", [RuntimeError, AssertionError, StopIteration])
def test_a_hook_that_raises_does_not_fail_the_call(kind):
    def fail(event):
        raise kind("of the application")

    with closing(Server([FOUND])) as server, make(server, on_event=fail) as web:
        assert web.search("kelp").results
        assert asyncio.run(web.asearch("kelp 2")).results
