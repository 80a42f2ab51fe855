"""A cache in a real Redis on this machine, which stops and starts again."""

from __future__ import annotations
import asyncio
import itertools
import math
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.waiting import ended_by, wait_until
from websearch_core import WebSearch
from websearch_core.errors import ConfigurationError
from websearch_core.layers import Cache
from websearch_core.layers import _cache as store
from websearch_core.testing import FakeWeb

pytestmark = [pytest.mark.e2e, pytest.mark.enable_socket]
URL = "https://sea.example/kelp"


@pytest.fixture
def _patient(monkeypatch) -> None:
    """Wait longer for a Redis that runs: this machine may be busy."""
    monkeypatch.setattr("websearch_core.layers._caching.redis._TIMEOUT", 30)


@pytest.fixture
def fake() -> FakeWeb:
    return FakeWeb(pages={URL: "# Kelp\n\nAn alga."})


@pytest.mark.usefixtures("_patient")
def test_pages_are_kept_there_for_every_process_and_loop(start_redis, port, fake):
    with start_redis(port):
        url = f"redis://127.0.0.1:{port}/0"
        WebSearch(fake, cache=url).read(URL)
        page = asyncio.run(WebSearch(fake, cache=url).aread(URL))

        assert page.content.startswith("# Kelp")
        assert page.cost == 0
        assert fake.urls == [URL]
        stats = Cache(location=url).backend.stats()
        assert (stats.entries, stats.location) == (1, url)
        assert stats.size > 50


@pytest.mark.usefixtures("_patient")
def test_entries_expire_and_others_keys_are_left_alone(start_redis, port):
    import redis

    with start_redis(port):
        client = redis.Redis(port=port)
        client.set("mine", "x")
        backend = Cache(location=f"redis://127.0.0.1:{port}").backend
        backend.set("a", b"b", 60)
        backend.set("short", b"b", 0.01)
        backend.set("huge", b"x" * (17 * 2**20), 60)
        time.sleep(0.05)

        assert backend.get("a") == b"b"
        assert backend.get("short") is None
        assert backend.get("huge") is None
        assert 0 < client.pttl("websearch:a") <= 60_000
        backend.clear()
        assert backend.stats().entries == 0
        assert client.get("mine") == b"x"


@pytest.mark.usefixtures("_patient")
def test_something_else_under_the_key_is_as_good_as_nothing(start_redis, port, fake):
    import redis

    with start_redis(port):
        client = redis.Redis(port=port)
        web = WebSearch(fake, cache=f"redis://127.0.0.1:{port}")
        web.read(URL)
        (key,) = client.keys("websearch:*")
        client.delete(key)
        client.rpush(key, "a list")
        assert web.read(URL).content.startswith("# Kelp")
        client.set(key, b"\x80\x04poison")
        assert web.read(URL).content.startswith("# Kelp")
        assert len(fake.urls) == 2 + 1  # whoever found the list replaced it


@pytest.mark.usefixtures("_patient")
def test_something_else_there_is_counted_without_a_size_and_cleared(start_redis, port):
    import redis

    with start_redis(port):
        client = redis.Redis(port=port)
        client.rpush("websearch:a", "a list")
        client.set("websearch-throttle:b", "of the throttle")
        backend = Cache(location=f"redis://127.0.0.1:{port}").backend

        assert (backend.stats().entries, backend.stats().size) == (1, 0)
        backend.clear()
        assert client.keys("*") == [b"websearch-throttle:b"]


@pytest.mark.usefixtures("_patient")
def test_an_answer_may_be_kept_for_ever(start_redis, port, fake):
    with start_redis(port):
        web = WebSearch(
            fake, cache=Cache(location=f"redis://127.0.0.1:{port}", max_age=math.inf)
        )
        assert web.read(URL).content == web.read(URL).content
        assert len(fake.urls) == 1


@pytest.mark.usefixtures("_patient")
def test_no_key_and_no_address_is_in_a_name(start_redis, port, fake):
    import redis

    with start_redis(port):
        WebSearch(fake, cache=f"redis://127.0.0.1:{port}").read(URL)
        (key,) = redis.Redis(port=port).keys("*")

    assert b"sea.example" not in key


@pytest.mark.usefixtures("_patient")
def test_calls_go_on_while_it_is_down_and_use_it_when_it_is_back(
    start_redis, port, fake, caplog, monkeypatch
):
    monkeypatch.setattr(store, "_RETRY_AFTER", 0.2)
    web = WebSearch(fake, cache=f"redis://127.0.0.1:{port}")
    with start_redis(port):
        web.read(URL)
        web.read(URL)
        assert len(fake.urls) == 1
    for _ in range(3):
        assert web.read(URL).content
    assert len(fake.urls) == 4
    assert (
        len(
            [
                record
                for record in caplog.records
                if "cache does not work" in record.message
            ]
        )
        == 1
    )
    with start_redis(port):
        time.sleep(0.25)
        web.read(URL)
        web.read(URL)
    assert len(fake.urls) == 5


@pytest.mark.usefixtures("_patient")
def test_it_stops_and_comes_back_while_calls_go_on(
    start_redis, port, monkeypatch, caplog
):
    """Threads and an event loop read all the time; Redis is killed under them, and
    starts again.
    """
    monkeypatch.setattr(store, "_RETRY_AFTER", 0.1)
    pages = {f"{URL}/{n}": f"# Kelp {n}" for n in range(20)}
    fake = FakeWeb(pages=pages)
    web = WebSearch(fake, cache=f"redis://127.0.0.1:{port}")
    ended = threading.Event()

    def read_on() -> None:
        for read in itertools.count():
            if ended.is_set() and read > 20:
                return
            assert web.read(f"{URL}/{read % 20}").content.endswith(f"Kelp {read % 20}")

    async def aread_on() -> None:
        while not ended.is_set():
            assert len(await asyncio.gather(*(web.aread(url) for url in pages))) == 20

    def is_used() -> bool:
        """Return whether everything was answered from the cache for a while."""
        before = len(fake.urls)
        time.sleep(0.1)
        return len(fake.urls) == before

    with ThreadPoolExecutor(4) as threads:
        work = [threads.submit(read_on) for _ in range(3)]
        work.append(threads.submit(lambda: asyncio.run(aread_on())))
        try:
            for _ in range(2):
                with start_redis(port):
                    wait_until(is_used)
                wait_until(lambda: not is_used())
            with start_redis(port):
                wait_until(is_used)
        finally:
            ended.set()
        for done in work:
            done.result(60)
    assert (
        len(
            [
                record
                for record in caplog.records
                if "cache does not work" in record.message
            ]
        )
        == 1
    )


def test_a_redis_that_does_not_answer_is_not_waited_for_long(port, fake):
    with socket.create_server(("127.0.0.1", port)):
        web = WebSearch(fake, cache=f"redis://127.0.0.1:{port}")
        with ended_by(0.5):
            assert web.read(URL).content


def test_a_wrong_password_fails_no_call_and_is_not_logged(
    start_redis, port, fake, caplog
):
    with start_redis(port):
        web = WebSearch(fake, cache=f"redis://:letmein@127.0.0.1:{port}")
        assert web.read(URL).content
    assert "letmein" not in caplog.text
    assert "letmein" not in repr(
        Cache(location=f"redis://:letmein@127.0.0.1:{port}").backend.__dict__ and web
    )


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == "redis" else find(name, *rest),
    )
    with pytest.raises(ConfigurationError, match=r"websearch-core\[redis\]"):
        Cache(location="redis://localhost").start()
