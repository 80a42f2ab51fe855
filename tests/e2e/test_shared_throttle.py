"""Limits that processes share through a real Redis: some are killed, and Redis stops
and starts again.
"""

from __future__ import annotations
import asyncio
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from tests.waiting import await_until, ended_by, wait_until
from websearch_core import WebSearch
from websearch_core.errors import ConfigurationError, RateLimited, ServiceError
from websearch_core.flow import Request, run
from websearch_core.layers import Cache, Throttle, _shared_pace
from websearch_core.layers._pace import PaceLimits, Ticket
from websearch_core.models import Page, SearchQuery, SearchResponse
from websearch_core.provider import Limits, from_function
from websearch_core.providers.brave import Brave
from websearch_core.providers.duckduckgo import DuckDuckGo
from websearch_core.testing import SECRET, reply

pytestmark = [pytest.mark.e2e, pytest.mark.enable_socket]
KELP = SearchQuery.of("kelp")
_SEARCH = """
import sys, time
from websearch_core import WebSearch
from websearch_core.layers import Throttle
from websearch_core.provider import from_function

url, count, seconds, rate, concurrent = sys.argv[1], *map(float, sys.argv[2:])

def search(query):
    print(time.time(), flush=True)
    time.sleep(seconds)
    return []

throttle = Throttle(shared=url, requests_per_second=rate, concurrent=int(concurrent))
web = WebSearch(from_function("sea", search=search), throttle=throttle, timeout=60 if seconds < 1 else 3)
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(count)):
    web.search(str(number))
"""


def start(url, count, seconds=0.0, rate=1000.0, concurrent=1000):
    """Start a process that searches *count* times as soon as it gets a line."""
    words = [
        sys.executable,
        "-c",
        _SEARCH,
        url,
        *map(str, (count, seconds, rate, concurrent)),
    ]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.fixture(scope="module")
def running(start_redis):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with start_redis(port):
        # a busy machine may be slow
        yield f"redis://127.0.0.1:{port}/0?socket_timeout=30"


@pytest.fixture
def url(running):
    import redis

    with redis.Redis.from_url(running) as client:
        client.flushall()
    return running


def sea(timeout=5, **options):
    """Return a web that searches nothing, under a throttle with *options*."""
    times = []
    provider = from_function(
        "sea", search=lambda query: times.append(time.monotonic()) or []
    )
    return WebSearch(provider, throttle=Throttle(**options), timeout=timeout), times


def about(seconds):
    """Return what is as good as so many seconds, of which some may have passed
    since.
    """
    return pytest.approx(seconds - 2, abs=2.1)


def wait_for_rest(url):
    """Wait until Redis knows how long a service wants to be left alone: it is written
    in the background.
    """
    import redis

    with redis.Redis.from_url(url) as client:
        wait_until(lambda: any(b"cooldown" in name for name in client.keys("*")))


def test_two_processes_together_keep_to_five_requests_a_second(url):
    processes = [start(url, 5, rate=5.0) for _ in range(2)]
    began = time.time()
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    each = [
        list(map(float, process.communicate(timeout=600)[0].split()))
        for process in processes
    ]

    assert [process.returncode for process in processes] == [0, 0]
    times = sorted(each[0] + each[1])
    assert len(times) == 10
    # each may be noted late
    assert all(at - began > 0.2 * n - 0.01 for n, at in enumerate(times))
    assert min(map(len, each)) == 5


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_the_place_of_a_process_that_was_killed_comes_back(url):
    with start(url, 1, seconds=60, concurrent=1) as process:
        process.stdin.write("go\n")
        process.stdin.flush()
        # it has sent its request, which may take three seconds
        process.stdout.readline()
        web, times = sea(shared=url, concurrent=1, timeout=60)
        with pytest.raises(ServiceError):
            WebSearch(web.provider, layers=None, timeout=0.2).search("too early")
        assert not times
        process.send_signal(signal.SIGKILL)
    web.search("kelp")

    assert len(times) == 1


def test_a_request_that_has_ended_gives_its_place_back_at_once(url):
    first, second = (sea(shared=url, concurrent=1)[0] for _ in range(2))
    # the place of a request that has not ended comes back after five seconds: 50 in all
    with ended_by(1):
        for number in range(5):
            first.search(str(number))
            second.search(str(number))


async def test_a_cancelled_task_gives_its_place_back_and_no_loop_waits_for_redis(url):
    searching, release = threading.Event(), threading.Event()

    def search(query):
        searching.set()
        release.wait(60)
        return []

    provider = from_function("sea", search=search)
    throttles = [Throttle(shared=url, concurrent=1) for _ in range(2)]
    one, other = (
        WebSearch(provider, throttle=throttle, timeout=90) for throttle in throttles
    )
    tasks = [asyncio.create_task(web.asearch("kelp")) for web in (one, other)]
    await await_until(searching.is_set)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    release.set()

    assert (await asyncio.wait_for(other.asearch("dulse"), 60)).results == ()


class Service:
    """A service whose answers are given, with pages of its own."""

    name, limits, opens_pages = "beacon", Limits(), True

    def search(self, query):
        yield Request(url="https://beacon.example/search")
        return SearchResponse(query=query.text)

    def read(self, url):
        yield Request(url=url, guarded=True)
        return Page(url=url)


@pytest.mark.parametrize("verb", ["search", "read"])
def test_what_a_response_says_about_the_limits_holds_for_all(url, verb):
    one, other = (Throttle(shared=url)(Service()) for _ in range(2))
    ask = KELP if verb == "search" else "https://sea.example/"
    run(getattr(one, verb)(ask), lambda _: reply(status=429, retry_after="30"))
    wait_for_rest(url)

    waits = []
    for layer in (one, other):
        pace = layer._pace if verb == "search" else layer._hosts.find(ask)
        pace.enter(
            ticket := Ticket(
                "https://beacon.example/search" if verb == "search" else ""
            )
        )
        waits.append(pace.wait(ticket))
        pace.leave(ticket)
    assert waits == [about(30)] * 2


def test_whoever_uses_the_same_key_shares_and_nobody_else(url):
    def wait(provider):
        pace = Throttle(shared=url, requests_per_second=0.1)(provider)._pace
        pace.enter(ticket := Ticket(""))
        return pace.wait(ticket)

    assert wait(Brave(api_key=SECRET)) == 0
    assert wait(Brave(api_key="another-key")) == 0
    assert wait(Brave(api_key=SECRET, base_url="https://brave.example")) == 0
    assert wait(DuckDuckGo()) == 0
    assert wait(Brave(api_key=SECRET)) == about(10)
    assert wait(DuckDuckGo()) == about(10)


def test_hosts_of_pages_are_shared_too_and_a_burst_is_one_for_all(url):
    one, other = (
        Throttle(shared=url, host_requests_per_second=0.1)(Service()) for _ in range(2)
    )
    for layer in (one, other):
        for _ in range(5):
            run(layer.read("https://sea.example/"), lambda _: reply())
    pace = other._hosts.find("https://sea.example/kelp")

    pace.enter(ticket := Ticket(""))
    assert pace.wait(ticket) == about(10)


def test_nothing_in_redis_tells_a_key_a_site_or_a_service(url):
    import redis

    run(
        Throttle(shared=url, concurrent=2)(Brave(api_key=SECRET)).search(KELP),
        lambda _: reply({"web": {}}),
    )
    page = Throttle(shared=url)(Service())
    run(
        page.read("https://secret-site.example/"),
        lambda _: reply(status=429, retry_after="30"),
    )
    wait_for_rest(url)
    Cache(location=url).backend.clear()

    with redis.Redis.from_url(url) as client:
        names = client.keys("*")
        assert [client.pttl(name) for name in names if client.pttl(name) <= 0] == []
        values = b"".join(client.dump(name) for name in names)
    assert len(names) >= 2
    assert [
        name for name in names if not name.startswith(b"websearch-throttle:{")
    ] == []
    for word in (SECRET.encode(), b"brave", b"sea.example", b"secret-site"):
        assert word not in b"".join(names).lower() + values


@pytest.mark.parametrize("kind", ["next", "leases", "cooldown"])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda client, name: client.rpush(name, "x"),
        lambda client, name: client.hset(name, "x", 1),
        lambda client, name: client.set(name, "x"),
        lambda client, name: client.set(name, "nan"),
        lambda client, name: client.set(name, "inf"),
        lambda client, name: client.set(name, "1e18"),
        lambda client, name: client.set(name, "1", px=31_536_000_000),
        lambda client, name: client.zadd(name, {"a": float("inf"), "b": 9e18}),
    ],
)
def test_a_wrong_key_or_a_clock_that_was_set_back_holds_up_nobody(url, kind, spoil):
    import redis

    limits = _shared_pace.SharedLimits(url)
    with redis.Redis.from_url(url) as client:
        spoil(client, _shared_pace._name("sea", kind))

    waits = [
        limits.admit("sea", ticket, "", PaceLimits(20.0, 1, 1), 60.0) for ticket in "ab"
    ]
    assert waits[0] == 0
    assert 0 < waits[1] <= 20


def test_scripts_that_redis_forgot_are_sent_again(url):
    import redis

    limits = _shared_pace.SharedLimits(url)
    with redis.Redis.from_url(url) as client:
        for ticket in "ab":
            assert limits.admit(ticket, ticket, "", PaceLimits(20.0, 1, 1), 60.0) == 0
            limits.start_cooldown(ticket, "there", 5)
            assert client.pttl(_shared_pace._name(ticket, "cooldown", "there")) > 0
            client.script_flush()


def test_while_redis_is_down_each_process_keeps_to_the_limits_alone(
    start_redis, port, caplog, monkeypatch
):
    monkeypatch.setattr(_shared_pace, "_RETRY_AFTER", 0.2)
    web, times = sea(
        shared=f"redis://127.0.0.1:{port}/0?socket_timeout=30", requests_per_second=20
    )
    with start_redis(port):
        began = time.monotonic()
        web.search("before")
    for number in range(4):
        web.search(f"without {number}")
    assert [
        one.message for one in caplog.records if "shared throttle" in one.message
    ] == [
        "the shared throttle does not work (ConnectionError): this process keeps to the limits alone"
    ]
    with start_redis(port):
        time.sleep(0.25)
        web.search("after")
        import redis

        with redis.Redis(port=port) as client:
            assert client.keys("websearch-throttle:*")

    # each may be noted late
    assert all(at - began > 0.05 * n - 0.001 for n, at in enumerate(times))
    assert "the shared throttle works again" in caplog.text


def test_a_redis_that_does_not_answer_is_not_waited_for_long(port):
    with socket.create_server(("127.0.0.1", port)):
        web, times = sea(shared=f"redis://127.0.0.1:{port}/0", timeout=60)
        with ended_by(1):
            for number in range(3):
                web.search(str(number))
    assert len(times) == 3


def test_a_wrong_password_fails_no_call_and_is_not_shown(url, caplog):
    secret = url.replace("redis://", "redis://:letmein@")
    web, times = sea(shared=secret)
    web.search("kelp")

    assert len(times) == 1
    assert "letmein" not in caplog.text + repr(Throttle(shared=secret)) + repr(
        web
    ) + repr(web.settings)


def test_the_short_form_is_the_same_as_the_option(url, monkeypatch):
    web = WebSearch(from_function("sea", search=lambda query: []), throttle=url)
    web.search("kelp")
    monkeypatch.setenv("WEB_SEARCH_THROTTLE", url)
    assert "redis" not in repr(WebSearch("duckduckgo").settings)
    with pytest.raises(
        ConfigurationError,
        match=r"layers: Throttle does not belong here: write throttle=Throttle",
    ):
        WebSearch("duckduckgo", throttle=url, layers=[Throttle()])


@pytest.mark.parametrize(
    "shared", ["localhost:6379", "http://localhost", "redis://localhost:port", True, 3]
)
def test_what_is_no_url_of_redis_is_refused(shared):
    with pytest.raises(
        ConfigurationError, match=r"Throttle: shared: (must be|not) a URL of Redis"
    ):
        Throttle(shared=shared).start()


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == "redis" else find(name, *rest),
    )
    with pytest.raises(ConfigurationError, match=r"websearch-core\[redis\]"):
        Throttle(shared="redis://localhost").start()


def test_a_wait_that_does_not_fit_is_an_error_also_if_others_caused_it(url):
    (one, _), (other, times) = (
        sea(shared=url, requests_per_second=0.1) for _ in range(2)
    )
    one.search("kelp")

    with pytest.raises(
        RateLimited, match="which is longer than the time left"
    ) as refused:
        other.search("kelp")
    assert refused.value.retry_after == about(10)
    assert not times
