"""Read pages in other processes: real crashes, real hangs, real forks."""

from __future__ import annotations
import asyncio
import multiprocessing
import os
import pickle
import resource
import signal
import struct
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.profiling import count_lines
from tests.waiting import ended_by, longer_until, wait_until
from websearch_core import WebSearch
from websearch_core._runtime.deadline import time_limit
from websearch_core.errors import (
    BadResponse,
    ConfigurationError,
    TimedOut,
    TooLarge,
    UnsupportedContent,
)
from websearch_core.providers.direct import Direct
from websearch_core.reading import read_bytes
from websearch_core.reading._isolation import fence, messages, pool, worker
from websearch_core.reading._isolation.pool import count_cores
from websearch_core.settings import Settings

URL = "https://page.example/"
PAGE = b"<title>Kelp</title><meta name=date content=2026-05-04><p>Brown algae <a href=/b>of the sea</a>, caf\xc3\xa9 \xf0\x9f\x98\x80."
LONG = b"<p>Brown algae of the northern seas. " * 3_000
# more than a pipe holds, so writing it waits, too
LARGE = PAGE + b"<!--" + b" " * 2**20 + b"-->"

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="sends the signals of POSIX"
)


@pytest.fixture(autouse=True)
def _no_processes(monkeypatch):
    monkeypatch.setattr(worker, "_START_TIMEOUT", 120.0)  # for a loaded machine
    yield
    pool._pool.end()


@pytest.fixture
def no_interpreter(monkeypatch):
    """Make this process look like a frozen application."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)


def isolated(data, processes=1):
    return read_bytes(data, URL, isolate=True, processes=processes)


def workers():
    """Return the process ids of the pool's processes."""
    return {worker.process.pid for worker in pool._pool._workers}


def worker_pid():
    """Return the process id of the only process, started if necessary."""
    assert isolated(PAGE).title == "Kelp"
    (pid,) = workers()
    return pid


def all_busy():
    """Return whether each process has been given a page, and was alive then."""
    with pool._pool._changed:
        return not pool._pool._free


def wait_for_end(pid):
    """Wait until the process has ended; a zombie that init has yet to reap counts as
    ended.
    """

    def gone():
        try:
            return (
                Path(f"/proc/{pid}/stat")
                .read_text()
                .rpartition(") ")[2]
                .startswith("Z")
            )
        except FileNotFoundError:
            return True

    wait_until(gone)


def test_one_process_reads_page_after_page_as_this_one_does():
    pid = worker_pid()
    assert pid != os.getpid()
    for data in (PAGE, LONG, b"", b"plain words"):
        here, there = (
            read_bytes(data, URL, "text/html", isolate=isolate)
            for isolate in (False, True)
        )
        assert there == here

    latin = "text/html; charset=latin-1"
    here, there = (
        read_bytes(PAGE, URL, latin, links="text", isolate=isolate)
        for isolate in (False, True)
    )
    assert there == here

    with pytest.raises(UnsupportedContent, match="video/mp4 has no text"):
        isolated(b"\0\0\0\x18ftypmp42" + bytes(20))
    assert worker_pid() == pid


def test_a_crash_costs_the_page_and_the_next_one_works():
    pid = worker_pid()
    for crash in (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT):
        os.kill(pid, signal.SIGSTOP)  # so that it is busy with the page when it crashes
        with ThreadPoolExecutor(1) as thread:
            reading = thread.submit(isolated, LARGE)
            wait_until(all_busy)
            os.kill(pid, crash)
            os.kill(pid, signal.SIGCONT)
            with pytest.raises(BadResponse, match="crashed"):
                reading.result(60)
        crashed, pid = pid, worker_pid()
        assert pid != crashed


def test_a_crash_costs_only_the_page_that_caused_it():
    with ThreadPoolExecutor(2) as threads:
        wait_until(
            lambda: (
                list(threads.map(isolated, [LONG] * 2, [2] * 2))
                and len(pool._pool._free) == 2
            )
        )
        victim, other = workers()
        for pid in (victim, other):
            os.kill(pid, signal.SIGSTOP)
        reading = [threads.submit(isolated, LONG, 2) for _ in range(2)]
        wait_until(all_busy)
        os.kill(victim, signal.SIGKILL)
        os.kill(other, signal.SIGCONT)
        assert {type(one.exception(60)) for one in reading} == {BadResponse, type(None)}
    assert workers() == {other}


def test_a_process_that_died_while_idle_costs_nothing():
    pid = worker_pid()
    os.kill(pid, signal.SIGKILL)
    wait_for_end(pid)
    assert worker_pid() != pid


@pytest.mark.parametrize("data", [LONG, LARGE], ids=["long", "large"])
def test_a_hang_ends_with_the_deadline_and_the_next_page_works(data):
    pid = worker_pid()
    os.kill(pid, signal.SIGSTOP)
    # it may pass before the page is handed over
    for seconds in longer_until(lambda: pid not in workers(), 0.3):
        with ended_by(seconds), time_limit(seconds), pytest.raises(TimedOut):
            isolated(data)

    wait_for_end(pid)
    assert worker_pid() != pid


@pytest.mark.skipif(
    sys.platform != "linux", reason="only there can a pipe be made larger"
)
def test_a_page_fits_into_the_pipe_as_far_as_the_user_may_have_so_much(monkeypatch):
    from fcntl import F_GETPIPE_SZ, fcntl

    isolated(b"<p>A kelp forest.")
    (one,) = pool._pool._workers
    assert fcntl(one._pipes[0], F_GETPIPE_SZ) == 2**20

    pool._pool.end()
    monkeypatch.setattr(worker, "_PIPE_SIZE", 2**31 - 1)
    assert isolated(b"<p>A kelp forest.").content == "A kelp forest."


def test_no_time_left_costs_no_process():
    pid = worker_pid()
    with time_limit(0), pytest.raises(TimedOut):
        isolated(PAGE)
    assert worker_pid() == pid


def test_waiting_for_a_free_process_ends_with_the_deadline():
    os.kill(worker_pid(), signal.SIGSTOP)

    def hurried(seconds):
        with time_limit(seconds), pytest.raises(TimedOut):
            isolated(PAGE)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(hurried, [1.0, 0.3]))
    assert worker_pid()


def test_a_process_whose_parent_is_gone_ends_itself_in_the_middle_of_a_page():
    program = "from websearch_core.reading._isolation import child; child._end_after(1); sum(range(10**15))"
    assert (
        subprocess.run([sys.executable, "-c", program], timeout=600).returncode
        == -signal.SIGALRM
    )


@pytest.mark.skipif(
    not hasattr(resource, "prlimit"),
    reason="this system cannot limit the memory of another process",
)
def test_running_out_of_memory_costs_only_that_page():
    pid = worker_pid()
    size = (
        int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()
    )
    resource.prlimit(pid, resource.RLIMIT_AS, (size + 2**21, size + 2**21))

    with pytest.raises(BadResponse, match="memory|crashed"):
        isolated(b"<p>Brown algae of the northern seas. " * 100_000)
    pool._pool.end()
    assert worker_pid() != pid


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(),
    reason="this system does not report the memory of a process",
)
def test_a_page_that_takes_too_much_memory_is_an_error_and_the_process_lives_on():
    program = """
import sys
from websearch_core.reading._isolation import child, tasks
def convert(data, url, *_, **__):
    if b"greedy" in data:
        bytearray(2**29)
    return original(data, url)
original, tasks.convert = tasks.convert, convert
child.serve()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
    ) as process:
        messages.receive(process.stdout, 2**20, 2**20)
        answers = []
        for page in (b"<p>kelp", b"<p>greedy", b"<p>kelp"):
            question = {"task": "read", "url": URL, "content_type": None}
            messages.send(process.stdin, messages.pack(question), page)
            answers.append(messages.receive(process.stdout, 2**20, 2**20))
        process.stdin.close()
        assert process.wait(120) == 0

    (_, first), (failed, _), (_, last) = answers
    assert failed == {
        "error": "bad_response",
        "message": "there is not enough memory to read the page",
    }
    assert bytes(first) == bytes(last) == b"kelp"


def message(head: bytes, body: bytes = b"") -> bytes:
    return struct.pack(">II", len(head), len(body)) + head + body


LIES = {
    "huge": b"\xff" * 8,
    "no JSON": message(b"no JSON"),
    "list": message(b"[]"),
    "nothing": message(b"{}"),
    "no page": message(b'{"page": {"url": 3}}'),
    "no text": message(b'{"page": {"url": "https://page.example/"}}', b"\xff"),
}


def test_a_process_that_was_taken_over_costs_the_page(monkeypatch):
    for name, lie in LIES.items():
        program = f"""
import sys
for answer in {message(b"{}")!r}, {lie!r}:
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
    sys.stdin.buffer.read(8)
sys.stdin.read()
"""
        with monkeypatch.context() as patched:
            patched.setattr(
                worker, "_PROGRAM", program.replace("{", "{{").replace("}", "}}")
            )
            with pytest.raises(BadResponse, match="crashed"):
                isolated(PAGE)
        assert not workers(), name  # so the next page gets another process
    assert worker_pid()


def test_threads_get_the_pages_they_asked_for():
    with ThreadPoolExecutor(8) as threads:
        pages = list(
            threads.map(
                lambda n: isolated(f"<title>{n}</title><p>x".encode(), 3), range(60)
            )
        )
    assert [page.title for page in pages] == [str(n) for n in range(60)]
    assert 1 <= len(workers()) <= 3


# Python 3.12 warns of every fork beside threads
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_processes_of_its_own():
    pid = worker_pid()
    with pool._pool._changed:  # as if another thread held the lock
        child = os.fork()
        if child == 0:
            signal.alarm(120)
            try:
                own = worker_pid()
                pool._pool.end()
                os._exit(0 if own != pid else 1)
            finally:
                os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert worker_pid() == pid


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_daemonic_process_which_may_not_have_children_can_isolate():
    forked = multiprocessing.get_context("fork")
    ours, theirs = forked.Pipe()
    child = forked.Process(target=lambda: theirs.send(worker_pid()), daemon=True)
    child.start()
    assert ours.poll(120)
    pid = ours.recv()
    child.join(60)
    wait_for_end(pid)


def test_a_script_without_a_guard_is_not_run_again(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "print('here', flush=True)\n"
        "from websearch_core.reading import read_bytes\n"
        "print(read_bytes(b'<title>Kelp</title><p>x', 'https://page.example/', isolate=True).title)\n"
    )
    done = subprocess.run(
        [sys.executable, script], stdout=subprocess.PIPE, text=True, timeout=600
    )
    assert done.stdout.split() == ["here", "Kelp"]


@pytest.mark.parametrize("ending", ["returns", "is killed", "is killed while it reads"])
def test_no_process_is_left_behind(ending):
    program = f"""
import os, sys, threading
from websearch_core.reading import read_bytes
from websearch_core.reading._isolation import pool
read_bytes(b"<p>x", "https://page.example/", isolate=True)
print(*(worker.process.pid for worker in pool._pool._workers), flush=True)
if {ending == "is killed while it reads"}:
    read_bytes({LONG[:37]!r} * 100_000, "https://page.example/", isolate=True)
sys.stdin.readline()
"""
    host = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    pid = int(host.stdout.readline())
    if ending != "returns":
        host.kill()
    host.communicate("go on\n" if ending == "returns" else None)
    wait_for_end(pid)


def test_processes_that_are_not_needed_end(monkeypatch):
    pids, end = set(), worker.Worker.end

    def note(one):
        pids.add(one.process.pid)
        end(one)

    with monkeypatch.context() as patched:
        patched.setattr(pool, "_MAX_IDLE", 0.2)
        patched.setattr(worker.Worker, "end", note)
        assert isolated(PAGE).title == "Kelp"
        wait_until(lambda: not workers())
        wait_until(lambda: pids)
    (pid,) = pids
    wait_until(lambda: not Path(f"/proc/{pid}").exists())  # not even a zombie is left
    assert worker_pid() != pid


def test_bytes_are_read_in_this_process_unless_the_caller_says_otherwise():
    for _ in range(3):
        assert read_bytes(PAGE, URL).title == "Kelp"
    assert not workers()


def test_a_large_page_is_read_in_another_process():
    assert read_bytes(LARGE, URL, isolate=True) == read_bytes(LARGE, URL)
    assert len(workers()) == 1


FEED = b"<rss version='2.0'><channel><title>Kelp</title><item><title>Dulse</title></item></channel></rss>"
SITEMAP = b"<urlset><url><loc>https://page.example/kelp</loc></url></urlset>"


@pytest.mark.parametrize(
    "data",
    [
        PAGE,
        b"plain words",
        b"a,b\n1,2\n",
        b"{}",
        FEED,
        SITEMAP,
        b"%PDF-1.4",
        b"PK\x03\x04" + bytes(26) + b"word/document.xml",
    ],
)
def test_every_type_is_read_in_a_process_that_can_be_killed(data):
    outcomes = []
    for isolate in (True, False):
        try:
            outcomes.append(read_bytes(data, URL, isolate=isolate))
        except UnsupportedContent as error:
            outcomes.append(str(error))
        assert len(workers()) == 1
    assert outcomes[0] == outcomes[1]


def test_a_parser_that_loops_in_c_code_ends_with_the_deadline(monkeypatch):
    looping = worker._PROGRAM.replace(
        "serve()",
        "import re; from websearch_core.reading._isolation import tasks; real = tasks.convert; "
        "tasks.convert = lambda *a, **k: real(*a, **k) if b'<p>' in a[0] else re.match('(a|a)*b', 'a' * 60); "
        "serve()",
    )
    with monkeypatch.context() as patched:
        patched.setattr(worker, "_PROGRAM", looping)
        assert worker_pid()
        with time_limit(1), pytest.raises(TimedOut):
            read_bytes(FEED, URL, isolate=True)
    pool._pool.end()


def test_a_process_knows_how_much_time_is_left(monkeypatch):
    reporting = worker._PROGRAM.replace(
        "serve()",
        "from websearch_core._runtime.deadline import time_left; "
        "from websearch_core.reading._isolation import tasks; real = tasks.convert; "
        "tasks.convert = lambda *a, **k: real(*a, **k).with_notes(str(time_left())); serve()",
    )
    monkeypatch.setattr(worker, "_PROGRAM", reporting)
    with time_limit(500):
        assert 50 < float(isolated(PAGE).notes[-1]) <= 60
    with time_limit(40):
        assert float(isolated(PAGE).notes[-1]) <= 40


def test_isolation_can_be_turned_off():
    assert read_bytes(LARGE, URL, isolate=False).content
    assert not workers()


def test_the_first_process_is_started_before_it_is_needed_and_only_one():
    for _ in range(3):
        pool.prepare()
    wait_until(lambda: len(workers()) == 1)
    (pid,) = workers()

    assert worker_pid() == pid
    pool.prepare()
    assert workers() == {pid}


@pytest.mark.usefixtures("no_interpreter")
def test_where_no_process_can_be_started_pages_are_read_in_this_one_and_the_log_says_so(
    caplog,
):
    for data in (PAGE, FEED):
        assert read_bytes(data, URL, isolate=True) == read_bytes(data, URL)
    assert not workers()
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "no process can be started" in record.message
    assert "is not a Python interpreter" in pool.find_problem()


@pytest.mark.usefixtures("no_interpreter")
def test_where_no_process_can_be_started_only_the_beginning_of_a_page_is_read():
    data = b"<title>Kelp</title><p>" + b"Brown algae. " * 100_000

    page = read_bytes(data, URL, isolate=True)

    whole = read_bytes(data, URL)
    assert len(page.content) < fence.MAX_HERE < len(whole.content)
    assert whole.content.startswith(page.content[:100_000])
    assert page.truncated
    assert page.notes == (
        "only its first 512 KiB were read: no process could be started to read it",
    )


@pytest.mark.usefixtures("no_interpreter")
def test_where_no_process_can_be_started_a_large_document_that_needs_its_end_is_refused():
    with pytest.raises(TooLarge, match="pdf, larger than 512 KiB, and no process"):
        read_bytes(b"%PDF-1.4" + bytes(fence.MAX_HERE), URL, isolate=True)


@pytest.mark.usefixtures("no_interpreter")
def test_where_no_process_can_be_started_require_is_an_error():
    with pytest.raises(
        ConfigurationError,
        match="no process can be started here: .* is not a Python interpreter",
    ):
        read_bytes(PAGE, URL, isolate="require")


def test_a_process_that_ends_at_once_is_an_error(monkeypatch):
    monkeypatch.setattr(worker, "_PROGRAM", "pass")
    assert read_bytes(PAGE, URL, isolate=True) == read_bytes(PAGE, URL)
    with pytest.raises(ConfigurationError, match="ended with status 0"):
        read_bytes(PAGE, URL, isolate="require")
    assert "ended with status 0" in pool.find_problem()
    assert not workers()


def test_a_process_that_starts_slowly_costs_its_call_and_opens_nothing(monkeypatch):
    monkeypatch.setattr(worker, "_PROGRAM", "import time; time.sleep(60)")
    monkeypatch.setattr(worker, "_START_TIMEOUT", 0.2)

    with time_limit(1.0), pytest.raises(TimedOut):
        read_bytes(PAGE, URL, isolate=True)

    assert pool._pool._retry_at == 0.0
    assert "not ready" in pool.find_problem()


def test_where_there_is_no_thread_either_pages_are_read_in_this_one(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)

    assert read_bytes(PAGE, URL, isolate=True).title == "Kelp"

    with pytest.raises(ConfigurationError, match="can't start new thread"):
        read_bytes(PAGE, URL, isolate="require")
    assert not workers()


def test_a_process_that_can_be_started_is_no_problem():
    wait_until(lambda: pool.find_problem() == "")
    assert len(workers()) == 1


def test_there_are_no_more_than_cores():
    assert 1 <= count_cores() <= min(8, os.cpu_count())


def test_the_number_of_processes_is_at_least_one():
    with pytest.raises(ConfigurationError, match="processes"):
        Direct(processes=0)


def test_a_reader_with_processes_can_be_pickled():
    assert worker_pid()
    reader = Direct(isolate=True, processes=2)
    assert pickle.loads(pickle.dumps(reader)) == reader


@pytest.mark.enable_socket
@pytest.mark.parametrize("colour", ["blocking", "async"])
def test_the_direct_reader_has_the_option_isolate(server, http, colour):
    server.answers["/"] = http(PAGE, "200 OK", "Content-Type: text/html")
    options = {"direct": {"isolate": True, "processes": 1}}
    web = WebSearch(
        "duckduckgo",
        reader="direct",
        settings=Settings.load(providers=options),
        internal=["127.0.0.0/8"],
        timeout=60,
    )
    before = threading.active_count()
    for _ in range(2):  # each time in a new event loop
        page = (
            web.read(server.url)
            if colour == "blocking"
            else asyncio.run(web.aread(server.url))
        )
        assert (page.title, page.provider, page.final_url) == (
            "Kelp",
            "direct",
            f"{server.url}/",
        )
    web.close()

    assert len(workers()) == 1
    wait_until(lambda: threading.active_count() <= before + 4)


@pytest.mark.no_cover
def test_a_large_page_takes_a_small_part_of_its_steps_here_where_an_event_loop_may_run():
    read = (
        b"<p>Brown algae of the <a href=/x>northern seas</a>, <b>Laminariales</b>.</p>"
        * 2_000
    )
    # what is sent costs nearly nothing to read
    page = read + b"<!--" + b" " * (10_640_000 - len(read))
    assert 10_000_000 < len(page) < 11_000_000

    def count(isolate):
        """Return how many lines of Python it takes in this thread."""
        return count_lines(lambda: read_bytes(page, URL, isolate=isolate))

    worker_pid()
    assert count(isolate=True) < count(isolate=False) / 20
