"""Programs that fork, thread, nest loops, lose their Redis or simply end."""

from __future__ import annotations
import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from tests.faults.services import FOUND, KEY
from tests.faults.surroundings import open_ports
from tests.server import Server, endless, http
from tests.waiting import ended_by
from websearch_core import WebSearch
from websearch_core.layers import Cache, Throttle

pytestmark = pytest.mark.enable_socket
PAGE = http(
    b"<title>Kelp</title><p>Brown algae of the northern seas.",
    "200 OK",
    "Content-Type: text/html",
)


def make(url, **options):
    return WebSearch(
        "tavily",
        api_key=KEY,
        base_url=url,
        reader="direct",
        internal=["127.0.0.0/8"],
        **options,
    )


async def test_a_blocking_call_works_inside_a_running_loop():
    with (
        closing(Server([FOUND])) as server,
        closing(Server([PAGE])) as site,
        make(server.url) as web,
    ):
        awaited = asyncio.create_task(web.asearch("kelp"))
        assert web.search("kelp").results == (await awaited).results
        assert web.read(site.url).content == (await web.aread(site.url)).content
        await web.aclose()


def echo(request):
    """Answer a search with one result, whose URL is the query."""
    query = json.loads(request[2])["query"]
    return http({"results": [{"url": f"https://kelp.example/{query}", "title": query}]})


def test_threads_share_connections_and_never_answers():
    with (
        closing(Server(reply=echo)) as server,
        make(server.url) as web,
        ThreadPoolExecutor(64) as threads,
    ):
        queries = [f"{thread}-{number}" for thread in range(64) for number in range(4)]
        answers = list(
            threads.map(lambda query: web.search(query).results[0].url, queries)
        )

    assert answers == [f"https://kelp.example/{query}" for query in queries]
    assert len(server.requests) == 256
    assert server.connections <= 100


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_has_connections_of_its_own():
    reading, go_on = threading.Event(), threading.Event()

    def reply(request):
        if b"slow" in request[2]:
            reading.set()
            go_on.wait(60)
        return echo(request)

    with (
        closing(Server(reply=reply)) as server,
        make(server.url, throttle=Throttle(concurrent=2)) as web,
    ):
        web.search("before")
        slow = threading.Thread(target=web.search, args=("slow",))
        slow.start()
        # a request of another thread is under way, and a connection is kept
        reading.wait(60)
        web.search("before it")
        before = server.connections

        child = os.fork()
        if child == 0:
            status = 1
            signal.alarm(120)
            try:
                found = [
                    web.search(f"child {number}").results[0].title
                    for number in range(3)
                ]
                found.append(asyncio.run(web.asearch("child 3")).results[0].title)
                status = 0 if found == [f"child {number}" for number in range(4)] else 2
            finally:
                os._exit(status)
        assert [
            web.search(f"parent {number}").results[0].title for number in range(3)
        ] == [f"parent {number}" for number in range(3)]
        _, status = os.waitpid(child, 0)
        go_on.set()
        slow.join(60)

        assert os.waitstatus_to_exitcode(status) == 0
        assert server.connections == before + 2  # one of the child, and one of its loop


@pytest.mark.parametrize("port", ["closed", "mute"])
def test_a_redis_that_does_not_answer_costs_a_quarter_of_a_second_once(port, caplog):
    with open_ports() as ports, closing(Server([FOUND])) as server:
        cache = Cache(location=f"redis://127.0.0.1:{getattr(ports, port)}/0")
        # reading waits once, and writing once
        with make(server.url, cache=cache) as web, ended_by(0.5):
            for query in ("one", "two", "three"):
                assert web.search(query).results

    assert (
        len([line for line in caplog.messages if "the cache does not work" in line])
        == 1
    )
    assert len(server.requests) == 3


PROGRAMS = {
    "calls of both kinds": """
        web.search('kelp'); web.read(SITE)
        asyncio.run(web.asearch('kelp')); asyncio.run(web.aread(SITE))
    """,
    "a loop of one's own": """
        loop = asyncio.new_event_loop()
        loop.run_until_complete(web.asearch('kelp'))
        loop.run_until_complete(web.aread(SITE))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
    """,
    "a call in a daemon thread": """
        threading.Thread(target=web.search, args=("hang",), daemon=True).start()
        time.sleep(0.3)
    """,
    "a task that is left": """
        async def main():
            asyncio.create_task(web.asearch("hang"))
            await asyncio.sleep(0.3)
        asyncio.run(main())
    """,
    "a cache and a budget": """
        with WebSearch("tavily", api_key="k" * 20, base_url=API, cache="a.db", budget="9 calls/day") as other:
            other.search("kelp")
        web.search("kelp")
    """,
}
_FRAME = """
import asyncio, logging, sys, threading, time
from websearch_core import WebSearch

API, SITE = sys.argv[1:]
logging.getLogger("asyncio").setLevel(logging.ERROR)  # its debug mode also warns of steps that take 0.1 s
web = WebSearch("tavily", api_key="k" * 20, base_url=API, reader="direct", internal=["127.0.0.0/8"], timeout=30)
{program}
print(time.monotonic())
"""


def test_a_program_ends_at_once_and_without_warnings(tmp_path):
    hanging = endless(b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", 0.05)
    with (
        closing(
            Server(reply=lambda request: hanging if b"hang" in request[2] else FOUND)
        ) as server,
        closing(Server([PAGE])) as site,
    ):

        def execute(program):
            code = _FRAME.format(program=textwrap.dedent(program))
            command = [
                sys.executable,
                "-X",
                "dev",
                "-W",
                "error::ResourceWarning",
                "-c",
                code,
                server.url,
                site.url,
            ]
            environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path)}
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=200,
                cwd=tmp_path,
                env=environment,
            )
            return done, time.monotonic()

        with ThreadPoolExecutor(3) as threads:
            ended = dict(
                zip(PROGRAMS, threads.map(execute, PROGRAMS.values()), strict=True)
            )

    for name, (done, when) in ended.items():
        assert (name, done.returncode, done.stderr) == (name, 0, "")
        # a second, unless the machine is busy; a call would take 30
        assert when - float(done.stdout) < 10, name
