"""Reading in another process: real crashes, real hangs, real forks."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from websearch_core import WebSearch
from websearch_core.deadline import time_limit
from websearch_core.errors import BadResponse, TimedOut, UnsupportedContent
from websearch_core.reading import isolated, read_bytes
from websearch_core.reading.isolated import read_isolated

URL = "https://page.example/"
PAGE = b"<title>Kelp</title><meta name=date content=2026-05-04><p>Brown algae <a href=/b>of the sea</a>, caf\xc3\xa9 \xf0\x9f\x98\x80."
LARGE = b"<p>Brown algae of the northern seas. " * 100_000

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends the signals of POSIX")


@pytest.fixture(autouse=True)
def _fresh_worker():
    yield
    isolated._worker._end()


def worker() -> int:
    """The process id of the worker, which is started if need be."""
    assert read_isolated(PAGE, URL).title == "Kelp"
    return isolated._worker._process.pid


def is_gone(pid):
    """Whether there is no such process, but perhaps for a zombie that its parent will bury."""
    ended = time.monotonic() + 5
    while time.monotonic() < ended:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z"):
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("data", [PAGE, LARGE, b"", b"plain words"], ids=["page", "large", "empty", "text"])
def test_a_page_is_the_same_as_without(data):
    assert read_isolated(data, URL, "text/html") == read_bytes(data, URL, "text/html")


def test_what_is_no_text_is_told_as_without():
    with pytest.raises(UnsupportedContent, match="image/png has no text"):
        read_isolated(b"\x89PNG\r\n\x1a\n", URL)


def test_one_process_reads_page_after_page():
    assert worker() == worker()
    assert worker() != os.getpid()


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGABRT"])
def test_a_crash_costs_the_page_and_the_next_one_works(name):
    pid = worker()
    os.kill(pid, signal.SIGSTOP)  # so that it is busy with the page when it crashes
    with ThreadPoolExecutor(1) as thread:
        reading = thread.submit(read_isolated, LARGE, URL)
        time.sleep(0.1)
        assert not reading.done()
        os.kill(pid, signal.Signals[name])
        os.kill(pid, signal.SIGCONT)
        with pytest.raises(BadResponse, match="crashed"):
            reading.result(10)
    assert worker() != pid


def test_a_worker_that_died_meanwhile_costs_nothing():
    pid = worker()
    os.kill(pid, signal.SIGKILL)
    assert is_gone(pid)
    assert worker() != pid


def test_a_hang_ends_with_the_deadline_and_the_next_page_works():
    pid = worker()
    os.kill(pid, signal.SIGSTOP)
    started = time.monotonic()
    with time_limit(0.3), pytest.raises(TimedOut):
        read_isolated(LARGE, URL)

    assert time.monotonic() - started < 5
    assert is_gone(pid)
    assert worker() != pid


def test_waiting_for_ones_turn_ends_with_the_deadline():
    os.kill(worker(), signal.SIGSTOP)

    def hurried(seconds):
        with time_limit(seconds), pytest.raises(TimedOut):
            read_isolated(PAGE, URL)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(hurried, [1.0, 0.3]))
    assert worker()


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="nobody can limit the memory of another process here")
def test_a_page_for_which_there_is_not_enough_memory_costs_that_page():
    pid = worker()
    size = int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()
    resource.prlimit(pid, resource.RLIMIT_AS, (size + 2**21, size + 2**21))

    with pytest.raises(BadResponse, match="memory|crashed"):
        read_isolated(LARGE, URL)
    isolated._worker._end()
    assert worker() != pid


def test_threads_take_turns():
    with ThreadPoolExecutor(8) as threads:
        pages = list(threads.map(lambda n: read_isolated(f"<title>{n}</title><p>x".encode(), URL), range(40)))
    assert [page.title for page in pages] == [str(n) for n in range(40)]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # Python 3.12 says so of every fork beside threads
def test_a_forked_process_has_a_worker_of_its_own():
    pid = worker()
    with isolated._worker._turn:  # as if another thread were just reading
        child = os.fork()
        if child == 0:
            try:
                own = worker()
                isolated._worker._end()
                os._exit(0 if own != pid else 1)
            finally:
                os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert worker() == pid


def test_no_process_is_left_behind():
    program = """
import os, sys
from websearch_core.reading import isolated
isolated.read_isolated(b"<p>x", "https://page.example/")
print(isolated._worker._process.pid, flush=True)
sys.stdin.readline()
"""
    for kill in (False, True):
        host = subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        pid = int(host.stdout.readline())
        if kill:
            host.kill()
        host.communicate("go on\n" if not kill else None)
        assert is_gone(pid)


@pytest.mark.enable_socket
@pytest.mark.parametrize("colour", ["blocking", "async"])
def test_the_reader_takes_it_as_an_option(server, http, colour):
    server.answers["/"] = http(PAGE, "200 OK", "Content-Type: text/html")
    web = WebSearch(
        "duckduckgo", reader="direct", provider_options={"direct": {"isolate": True}}, allow=["127.0.0.0/8"], timeout=10
    )
    before = threading.active_count()
    for _ in range(2):  # as many loops
        page = web.read(server.url) if colour == "blocking" else asyncio.run(web.aread(server.url))
        assert (page.title, page.provider, page.final_url) == ("Kelp", "direct", f"{server.url}/")
    web.close()

    assert isolated._worker._process is not None
    assert threading.active_count() <= before + 4
