"""Programs that end, and calls that are cancelled: what was begun is finished or given
up, and nothing is left over.
"""

from __future__ import annotations
import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import Future
from contextlib import closing

import pytest

from tests.faults.services import FOUND, KEY
from tests.server import Server, http
from tests.waiting import await_until, ended_by
from websearch_core import WebSearch
from websearch_core._net.guard import Guard
from websearch_core._net.sender import Sender
from websearch_core.flow import Request, Response

PAGE = http(
    b"<title>Kelp</title><p>Brown algae of the northern seas.",
    "200 OK",
    "Content-Type: text/html",
)
_WRITING = """
import sqlite3, sys, threading, time
from datetime import date
from pathlib import Path
from websearch_core.layers._amounts import MILLION, Amount
from websearch_core._runtime import sqlite as _sqlite
from websearch_core.layers._usage import UsageFile

path, seconds = Path(sys.argv[1]), float(sys.argv[2])
if seconds > 60:
    _sqlite._PATIENCE = 0.5
usage = UsageFile(path)
usage.add(date(2026, 11, 22), "tenant", "sea", Amount(MILLION))
other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
other.execute("BEGIN IMMEDIATE")  # as another process that writes
asked = threading.Event()

def add():
    asked.set()
    usage.add(date(2026, 11, 22), "tenant", "sea", Amount(MILLION))

threading.Thread(target=add, daemon=True).start()
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()  # a page that hangs
if seconds < 60:
    threading.Timer(seconds, other.rollback).start()
asked.wait()
time.sleep(0.2)
"""


def end_while_writing(path, seconds):
    command = [sys.executable, "-c", _WRITING, str(path), str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    with closing(sqlite3.connect(path)) as db:
        (written,) = db.execute("SELECT calls FROM usage").fetchone()
    return written // 10**6, done.stderr


def test_a_program_that_ends_finishes_what_a_thread_is_writing(tmp_path):
    written, said = end_while_writing(tmp_path / "usage.db", 1.5)
    assert (written, said) == (2, "")


def test_a_program_that_cannot_finish_writing_says_so_and_ends(tmp_path):
    with ended_by(0.5):
        written, said = end_while_writing(tmp_path / "usage.db", 600)
    assert written == 1
    assert "before everything is written" in said


@pytest.fixture
def counted(monkeypatch):
    """Count the tasks of a loop that are left, besides the one that asks."""

    def count():
        return [
            task
            for task in asyncio.all_tasks()
            if task is not asyncio.current_task() and not task.done()
        ]

    return count


async def cancel_after_each_round(make_call, check):
    """Cancel a call in its first round of the loop, in its second, and so on, until it
    ends before; later in steps.
    """
    rounds = 0
    while True:
        call = asyncio.ensure_future(make_call())
        for number in range(rounds):
            # later, it waits for a thread or a server
            await asyncio.sleep(0 if number < 30 else 0.001)
            if call.done():
                break
        if call.done():
            await call
            return rounds
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await check()
        rounds += 1 if rounds < 30 else rounds // 10


@pytest.mark.enable_socket
@pytest.mark.parametrize("kind", ["search", "read", "read many", "joined"])
async def test_a_call_that_is_cancelled_at_whatever_moment_leaves_nothing(
    kind, counted, tmp_path
):
    with closing(Server([FOUND])) as server, closing(Server([PAGE])) as site:
        web = WebSearch(
            "tavily",
            api_key=KEY,
            base_url=server.url,
            reader="direct",
            internal=["127.0.0.0/8"],
            cache=str(tmp_path / "a.db") if kind == "search" else None,
        )
        number = 0

        async def joined():
            leader, follower = (
                asyncio.ensure_future(web.asearch(f"kelp {number}")) for _ in range(2)
            )
            try:
                await leader
            finally:
                leader.cancel()
                assert (await follower).results

        def make_call():
            nonlocal number
            number += 1
            match kind:
                case "search":
                    return web.asearch(f"kelp {number}")
                case "read":
                    return web.aread(f"{site.url}/{number}")
                case "read many":
                    return web.aread_many(
                        [f"{site.url}/{number}", f"{site.url}/{number}/b"]
                    )
                case _:
                    return joined()

        async def check():
            for _ in range(200):
                if not counted():
                    break
                await asyncio.sleep(0.005)
            assert not counted()
            here = web._sender._get_loop_clients()
            for guarded, slots in here.slots.items():
                assert slots._value == 100, guarded
            for client in here._clients.values():
                assert not client.pools[0]._busy

        await make_call()
        assert await cancel_after_each_round(make_call, check) > 5
        await check()
        await web.aclose()


async def test_a_transport_that_is_cancelled_while_it_is_asked_gives_up(monkeypatch):
    asked, go_on = threading.Event(), threading.Event()
    answer: Future[Response] = Future()

    def transport(*_):
        asked.set()
        go_on.wait(20)
        return answer

    sender = Sender(Guard.allowing(["127.0.0.0/8"]))
    call = asyncio.create_task(
        sender.asend(
            Request(url="http://127.0.0.1/", guarded=True, transport=transport)
        )
    )
    await asyncio.to_thread(asked.wait, 20)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    go_on.set()
    await await_until(answer.cancelled)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_work_that_forks_ends_in_the_child_with_its_work():
    program = """
        import asyncio, os, sys, time
        from websearch_core._runtime.threads import in_thread

        def work():
            return os.fork()

        async def main():
            parent = os.getpid()
            child = await in_thread(work)
            for _ in range(1000):
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    print("ended")
                    return
                time.sleep(0.02)
            os.kill(child, 9)

        asyncio.run(main())
    """
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (done.stdout, done.stderr) == ("ended\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_that_was_forked_without_python_works_in_all_its_threads(tmp_path):
    program = """
        import asyncio, ctypes, os, signal, sys, threading, time
        from pathlib import Path
        from websearch_core import WebSearch
        from websearch_core.layers._caching.sqlite import SQLiteBackend
        from websearch_core.provider import from_function

        web = WebSearch(from_function("patient", search=lambda query: [{"title": query, "url": "https://a.example/"}]), timeout=20)
        cache = SQLiteBackend(Path(sys.argv[1]), 2**20)
        asyncio.run(web.asearch("kelp"))  # from now on, threads exist

        answers, begin = [], threading.Event()

        def call(number):
            begin.wait()
            found = asyncio.run(web.asearch(f"kelp {number}")).query
            cache.set(found, b"value", 60)
            answers.append((found, cache.get(found)))

        time.sleep(0.3)  # a thread that waits for the interpreter at a fork can hang it, whoever forks
        child = ctypes.PyDLL(None).fork()  # as uWSGI does: no hook of Python's is called
        if child:
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        else:
            signal.alarm(60)
            threads = [threading.Thread(target=call, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            begin.set()
            for thread in threads:
                thread.join(30)
            os._exit(0 if sorted(answers) == [(f"kelp {number}", b"value") for number in range(8)] else 1)
    """
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-c",
        textwrap.dedent(program),
        str(tmp_path / "a.db"),
    ]
    for _ in range(3):  # on a busy machine, the thread may still wait
        done = subprocess.run(command, capture_output=True, text=True, timeout=90)
        if done.stdout != f"{-signal.SIGALRM}\n":
            break
    assert (done.stdout, done.stderr) == ("0\n", "")
