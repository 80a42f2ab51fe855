"""Threads for work that may hang: each has its own, and some are kept."""

from __future__ import annotations
import os
import signal
import threading
from contextvars import ContextVar

import pytest

from tests.waiting import wait_until
from websearch_core._runtime import threads
from websearch_core._runtime.threads import _Spare, start_thread

_word = ContextVar("_word", default="none")


@pytest.fixture
def spare(monkeypatch):
    spare = _Spare()
    monkeypatch.setattr(threads, "_spare", spare)
    return spare


def test_work_has_the_context_of_its_caller_and_leaves_nothing_in_it_for_the_next(
    spare,
):
    def see_and_set():
        seen = _word.get()
        _word.set("set by the work")
        return seen, threading.get_ident()

    token = _word.set("kelp")
    first, thread = start_thread(see_and_set).result(60)
    _word.reset(token)
    wait_until(lambda: spare._waiting)
    second, same = start_thread(see_and_set).result(60)

    assert (first, second) == ("kelp", "none")
    assert same == thread


def test_an_error_is_that_of_the_work_and_the_thread_lives_on(spare):
    def fail():
        raise SystemExit(threading.get_ident())

    outcome = start_thread(fail)
    assert isinstance(outcome.exception(60), SystemExit)
    wait_until(lambda: spare._waiting)

    assert start_thread(threading.get_ident).result(60) == outcome.exception().code


def test_no_work_waits_for_work_that_hangs(spare):
    end = threading.Event()
    hanging = [start_thread(lambda: end.wait(60)) for _ in range(5)]
    assert start_thread(lambda: "done").result(60) == "done"
    assert [one for one in hanging if one.done()] == []

    end.set()

    assert [one for one in hanging if not one.result(60)] == []


def test_no_more_threads_are_kept_than_are_worth_it(spare, monkeypatch):
    monkeypatch.setattr(threads, "_MOST_KEPT", 2)
    barrier = threading.Barrier(9)

    def meet():
        barrier.wait(60)
        return threading.current_thread()

    alive = [outcome.result(60) for outcome in [start_thread(meet) for _ in range(9)]]

    # some may have looked at once
    wait_until(lambda: sum(thread.is_alive() for thread in alive) <= 4)
    wait_until(lambda: len(spare._waiting) >= 2)


def test_a_thread_without_work_ends_and_work_that_comes_just_then_is_done(
    spare, monkeypatch
):
    monkeypatch.setattr(threads, "_KEPT", 0.01)
    thread = start_thread(threading.current_thread).result(60)
    thread.join(60)
    assert not spare._waiting

    for _ in range(200):  # at about the time when the thread gives up
        assert start_thread(lambda: 1).result(60) == 1
        threading.Event().wait(0.01)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_has_threads_of_its_own(spare):
    start_thread(lambda: None).result(60)
    wait_until(lambda: spare._waiting)
    pid = os.fork()
    if not pid:
        signal.alarm(120)
        try:
            os._exit(start_thread(lambda: 7).result(60))
        finally:
            os._exit(2)

    _, status = os.waitpid(pid, 0)

    assert os.waitstatus_to_exitcode(status) == 7
    assert start_thread(lambda: 8).result(60) == 8


def test_a_thread_whose_work_forked_ends_in_the_child(spare):
    def fork():
        spare.start_over()  # as in the child, where this is the only thread
        return threading.current_thread()

    thread = start_thread(fork).result(60)
    thread.join(30)

    assert not thread.is_alive()
    assert not spare._waiting
