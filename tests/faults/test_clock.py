"""A wall clock that jumps, as after a suspend or when it is set."""

from __future__ import annotations
import asyncio
import time
from contextlib import closing

import pytest

from tests.faults.run import WAYS
from tests.faults.services import FOUND, KEY
from tests.server import Server, endless
from tests.waiting import ended_by
from websearch_core import WebSearch
from websearch_core.errors import TimedOut

pytestmark = pytest.mark.enable_socket
DAY = 86_400


class Clock:
    """The wall clock, some seconds ahead, and further with every look if it *runs*."""

    def __init__(self, monkeypatch, runs=0.0):
        self.ahead, self._runs, self._real = 0.0, runs, time.time
        monkeypatch.setattr(time, "time", self.time)

    def time(self):
        self.ahead += self._runs
        return self._real() + self.ahead


def search(web, way):
    return web.search("kelp") if way == "blocking" else asyncio.run(web.asearch("kelp"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("runs", [DAY, -DAY], ids=["forwards", "backwards"])
def test_a_deadline_does_not_follow_the_wall_clock(monkeypatch, way, runs):
    hanging = endless(b" ", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", 0.02)
    with (
        closing(Server([FOUND, hanging])) as server,
        WebSearch("tavily", api_key=KEY, base_url=server.url, timeout=60) as patient,
        WebSearch("tavily", api_key=KEY, base_url=server.url, timeout=0.6) as hurried,
    ):
        Clock(monkeypatch, runs)
        assert search(patient, way).results

        began = time.monotonic()
        with ended_by(0.6), pytest.raises(TimedOut):
            search(hurried, way)
        assert time.monotonic() - began > 0.3


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("ahead", "requests"), [(DAY, 2), (-DAY, 2), (30, 1), (-30, 1)]
)
def test_a_cache_survives_a_clock_that_jumps(
    monkeypatch, tmp_path, way, ahead, requests
):
    clock = Clock(monkeypatch)
    with (
        closing(Server([FOUND])) as server,
        WebSearch(
            "tavily",
            api_key=KEY,
            base_url=server.url,
            cache=str(tmp_path / "answers.db"),
        ) as web,
    ):
        first = search(web, way)
        clock.ahead = ahead
        again = search(web, way)
        assert again.results == first.results
        assert len(server.requests) == requests
        clock.ahead = 0
        assert search(web, way).results == first.results
        assert len(server.requests) <= requests + 1
