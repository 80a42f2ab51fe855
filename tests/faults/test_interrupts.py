"""Ctrl-C at whatever moment: no lock stays locked, no slot and no connection is lost,
and the next call works.
"""

from __future__ import annotations
import gc
import threading
from concurrent.futures import wait
from contextlib import closing
from contextvars import copy_context
from datetime import date

import pytest

from tests.faults.interrupts import interrupt_each
from tests.faults.services import FOUND, KEY
from tests.server import Server
from tests.whole import WHOLE
from websearch_core import WebSearch
from websearch_core._runtime import sqlite as _sqlite
from websearch_core._runtime import threads as _threads
from websearch_core._runtime.interrupts import releasing
from websearch_core._runtime.scope import current_call
from websearch_core._runtime.threads import Threads
from websearch_core._runtime.turns import Slots
from websearch_core.flow import Sleep
from websearch_core.flow._branches import gather, hedge, wait_for
from websearch_core.flow._flights import Flights
from websearch_core.layers._amounts import MILLION, Amount
from websearch_core.layers._caching.sqlite import SQLiteBackend
from websearch_core.layers._pace import Pace, Ticket
from websearch_core.layers._usage import UsageFile
from websearch_core.provider import SearchResponse, provider


@provider
class Instant:
    """Answers without sending anything."""

    name = "instant"

    def search(self, query, /):
        yield Sleep(0)
        return SearchResponse(query=query.text, results=(), provider=self.name)


def in_another_thread(work):
    """Return what *work* returns in a thread, which is not interrupted; fail if it
    hangs.
    """
    answers = []
    thread = threading.Thread(target=lambda: answers.append(work()), daemon=True)
    thread.start()
    thread.join(20)
    assert answers, "it hangs"
    return answers[0]


def test_what_is_held_is_given_back_once_it_is_prepared():
    held: set[str] = set()

    def call():
        release = releasing(lambda: held.discard("it"))
        try:
            held.add("it")
        finally:
            release.close()

    def check():
        assert not held

    assert interrupt_each(call, check) > 25


def test_a_place_is_given_back():
    slots = Slots(1)

    def check():
        assert (slots.held, slots.waiting) == (0, 0)
        assert not slots._turns._taken
        assert not slots._turns.waiting

    assert interrupt_each(lambda: slots.hold("ann", lambda: slots.held), check) > 100
    assert slots.hold("ann", lambda: slots.held, 1) == 1


def test_whoever_waits_for_a_place_gets_it_although_the_one_before_was_interrupted():
    slots, turn, waited = Slots(1), threading.Lock(), 0

    def check():
        nonlocal turn, waited
        assert slots.held or not slots.waiting
        if slots.held:
            waited += 1
            assert turn.acquire(blocking=False)
        slots._leave("bob", turn)
        assert slots.held == 0
        turn = threading.Lock()

    assert (
        interrupt_each(
            lambda: slots.hold("ann", lambda: slots._queue("bob", turn, 1)), check
        )
        > 100
    )
    assert waited > 50


@pytest.fixture
def make_threads(monkeypatch):
    """Make threads that end soon when they have nothing to do."""
    monkeypatch.setattr(_threads, "_KEPT", 0.05)
    return lambda: Threads("websearch-interrupted", 4)


def test_work_for_threads_is_done_afterwards(make_threads):
    threads = make_threads()

    def check():
        assert not threads._lock.locked()
        assert threads.submit("ann", lambda: "done").result(10) == "done"

    assert interrupt_each(lambda: threads.submit("ann", lambda: None), check) > 50
    make_threads().submit("ann", lambda: None).result(10)


def test_the_first_thread_is_started_although_whoever_wanted_it_was_interrupted(
    make_threads,
):
    made = []

    def call():
        made.append(make_threads())
        made[-1].submit("ann", lambda: None)

    def check():
        for threads in made[-1:]:
            assert threads.submit("ann", lambda: "done").result(10) == "done"

    assert interrupt_each(call, check, every=3) > 50


def test_files_can_be_used_and_forks_do_not_wait(tmp_path):
    cache, usage = (
        SQLiteBackend(tmp_path / "cache.db", 2**20),
        UsageFile(tmp_path / "usage.db"),
    )
    here = _sqlite._connections

    def write():
        cache.set("key", b"value", 60)
        usage.add(date(2026, 11, 22), "tenant", "sea", Amount(MILLION))

    def check():
        assert not here._uses

    write()
    every = 7 if WHOLE else 13
    assert interrupt_each(write, check, every) * every > 1_050
    assert in_another_thread(lambda: (write(), cache.get("key"))[1]) == b"value"


def test_a_fork_that_is_interrupted_holds_up_nobody(tmp_path):
    cache = SQLiteBackend(tmp_path / "cache.db", 2**20)
    cache.set("key", b"value", 60)
    here = _sqlite._connections

    def pause_and_resume():
        try:
            here.pause()
        except BaseException:  # as Python does, which then forks nevertheless
            here.resume()
            raise
        here.resume()

    def check():
        assert len(here._forks) <= 1
        # so that there is something to close; in this thread, whose fork is over
        cache.get("key")
        assert not here._forks
        assert not here._uses

    assert interrupt_each(pause_and_resume, check, every=2) > 50
    assert in_another_thread(lambda: cache.get("key")) == b"value"


def test_nobody_waits_for_work_that_was_interrupted():
    flights = Flights()

    def check():
        assert not flights._blocking
        assert flights.share("key", lambda: "answer").value == "answer"

    def share():
        # as `run_apart` does for each call of a user
        copy_context().run(flights.share, "key", lambda: None)

    assert interrupt_each(share, check, every=2) > 50


@pytest.mark.parametrize(
    "call",
    [
        lambda work: gather([work] * 3, 2),
        lambda work: hedge(work, lambda: work, 0),
        wait_for,
        lambda work: gather([lambda: hedge(work, lambda: work, 0)] * 2, 2),
    ],
    ids=["several", "hedged", "one", "several that are hedged"],
)
def test_what_is_under_way_in_other_threads_ends(call):
    begun = []

    def work():
        branch = current_call().branch
        assert branch is not None
        begun.append(branch)
        wait([branch.end], 0.01)  # as a request does, which others would follow

    def check():
        assert [
            branch for branch in begun if not (branch.is_cut or branch.done.done())
        ] == []
        begun.clear()

    assert interrupt_each(lambda: call(work), check, every=11) > 20


def test_no_request_stays_in_the_queue_of_its_service():
    pace = Pace(0.0, 1)

    def send():
        ticket = Ticket("search")
        release = releasing(lambda: pace.leave(ticket))
        try:
            pace.enter(ticket)
            pace.wait(ticket)
        finally:
            release.close()

    def check():
        assert pace.is_idle

    assert interrupt_each(send, check) > 50


def test_no_deadline_of_a_call_is_left_behind():
    web = WebSearch(Instant(), timeout=60, layers=None)
    web.search("kelp")  # imports the rest
    before = list(copy_context().items())

    def check():
        # an old deadline would end all later calls
        assert list(copy_context().items()) == before

    assert interrupt_each(lambda: web.search("kelp"), check, every=29) > 50


@pytest.mark.enable_socket
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_a_search_leaves_nothing_behind_and_the_next_one_works(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with (
        closing(Server([FOUND])) as server,
        WebSearch(
            "tavily",
            api_key=KEY,
            base_url=server.url,
            timeout=20,
            cache=str(tmp_path / "a.db"),
        ) as web,
    ):
        web.search("kelp")
        number, before = 0, list(copy_context().items())

        def search():
            nonlocal number
            number += 1
            return web.search(f"kelp {number}")

        def check():
            # such as a deadline, which would end all later calls
            assert list(copy_context().items()) == before
            assert not web._sender._slots[False].held
            assert not web._sender._lock.locked()
            if number % 5 == 0:
                assert search().results

        every = 97 if WHOLE else 199
        assert interrupt_each(search, check, every) * every > 7_760
        gc.collect()  # closes what nobody was told of
        assert not web._sender._clients[False].pools[0]._busy
        assert search().results
