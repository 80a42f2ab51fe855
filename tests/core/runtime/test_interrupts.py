"""Ctrl-C ends a wait, also if the signal came just before the wait began."""

from __future__ import annotations
import signal
import sys
import threading
import time
from concurrent.futures import Future
from functools import partial

import pytest

from websearch_core._runtime.interrupts import wait_for_one, wait_in_steps
from websearch_core._runtime.threads import wait_for
from websearch_core._runtime.turns import Slots
from websearch_core.flow import _branches
from websearch_core.flow._flights import Flights


def _acquire(held, seconds):
    return held.acquire(timeout=seconds)


def _begin(held):
    outcome = Future()

    def work():
        with held:
            outcome.set_result(None)

    threading.Thread(target=work, daemon=True).start()
    return outcome


def _wait_for_slot(held):
    slots = Slots(1)
    begun = threading.Event()

    def work():
        begun.set()
        with held:
            pass

    threading.Thread(target=slots.hold, args=("one", work), daemon=True).start()
    begun.wait()
    slots.hold("another", bool)


def _wait_for_flight(held):
    flights = Flights()
    begun = threading.Event()

    def work():
        begun.set()
        with held:
            pass

    threading.Thread(target=flights.share, args=("key", work), daemon=True).start()
    begun.wait()
    flights.share("key", bool)


WAITS = {
    "a lock": lambda held: wait_in_steps(partial(_acquire, held)),
    "a slot": _wait_for_slot,
    "an outcome": lambda held: wait_for(_begin(held), None),
    "a branch": lambda held: _branches.wait_for(held.acquire),
    "several branches": lambda held: _branches.gather([held.acquire], 1),
    "a hedged call": lambda held: _branches.hedge(held.acquire, lambda: None, 60),
    "the same call": _wait_for_flight,
}


@pytest.mark.skipif(sys.platform == "win32", reason="it has no signals for threads")
@pytest.mark.parametrize("what", WAITS)
def test_a_signal_that_does_not_wake_the_main_thread_ends_its_wait(what):
    held = threading.Lock()
    held.acquire()

    def interrupt():
        time.sleep(0.05)
        # Python's handler runs here and sets a flag; nothing ends the wait of the
        # main thread, as when the signal comes just before it
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            WAITS[what](held)
    finally:
        held.release()


def test_what_comes_in_time_is_waited_for_over_several_steps(monkeypatch):
    monkeypatch.setattr("websearch_core._runtime.interrupts.WAIT_STEP", 0.001)
    steps = []

    def wait_once(seconds):
        steps.append(seconds)
        return len(steps) == 3

    assert wait_in_steps(wait_once)
    assert steps == [0.001] * 3


def test_what_does_not_come_in_time_is_given_up():
    assert not wait_in_steps(lambda seconds: False, 0)
    assert not wait_for_one([Future()], 0)


def test_other_threads_wait_in_one_step():
    steps = []

    def wait_once(seconds):
        steps.append(seconds)
        return True

    thread = threading.Thread(target=wait_in_steps, args=(wait_once, 3))
    thread.start()
    thread.join()

    assert steps == [3]
