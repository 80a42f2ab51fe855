"""Processes whose time is up are killed, by one thread."""

from __future__ import annotations
import os
import signal
import subprocess
import sys
import threading

import pytest

from tests.waiting import wait_until
from websearch_core.reading._isolation import worker
from websearch_core.reading._isolation.worker import _Watch


@pytest.fixture
def start():
    """Start a process that waits for its input to end."""
    processes = []

    def start():
        program = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        processes.append(subprocess.Popen(program, stdin=subprocess.PIPE))
        return processes[-1]

    yield start
    for process in processes:
        process.communicate()


def count_threads():
    return sum(thread.name == "websearch-watch" for thread in threading.enumerate())


def test_a_process_is_killed_when_its_time_is_up_and_others_live_on(start):
    watch, late, other, done = _Watch(), start(), start(), start()
    watch.begin(other, 600)
    watch.begin(done, 0.2)
    assert watch.end(done)
    watch.begin(late, 0.1)  # sooner than what the thread waits for

    late.wait(60)

    assert not watch.end(late)
    assert watch.end(other)
    assert not watch.end(other)
    assert (other.poll(), done.poll()) == (None, None)


def test_one_thread_watches_all(start):
    watch, before = _Watch(), count_threads()
    for _ in range(3):
        process = start()
        watch.begin(process, 600)
        watch.end(process)

    assert count_threads() == before + 1


def test_the_thread_ends_when_there_is_nothing_to_watch_and_the_next_process_gets_another(
    start, monkeypatch
):
    monkeypatch.setattr(worker, "_WATCH_KEPT", 0.01)
    watch, process = _Watch(), start()
    watch.begin(process, 0.01)
    process.wait(60)
    wait_until(lambda: not watch._is_running)

    watch.begin(following := start(), 0.01)

    following.wait(60)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_watches_its_own(start):
    watch, process = _Watch(), start()
    watch.begin(process, 600)
    pid = os.fork()
    if not pid:
        signal.alarm(120)
        try:
            watch.begin(own := start(), 0.01)
            os._exit(0 if own.wait(60) else 1)
        finally:
            os._exit(2)

    _, status = os.waitpid(pid, 0)

    assert os.waitstatus_to_exitcode(status) == 0
    assert watch.end(process)
