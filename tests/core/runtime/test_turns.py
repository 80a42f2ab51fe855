"""Slots that the clients of a process share."""

from __future__ import annotations
import asyncio
import gc
import multiprocessing
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.waiting import wait_until
from websearch_core import WebSearch
from websearch_core._net.sender import Steps
from websearch_core._runtime import threads as _threads
from websearch_core._runtime.deadline import time_limit
from websearch_core._runtime.scope import Caller, current_client, scope
from websearch_core._runtime.threads import Threads, in_thread
from websearch_core._runtime.turns import Slots, Turns
from websearch_core.errors import BudgetExceeded, TimedOut, Unavailable
from websearch_core.flow import Call
from websearch_core.layers import charge_to


@pytest.fixture
def threads(monkeypatch):
    """Sixteen threads, of which a client alone gets four, and half are for those who
    have none.
    """
    monkeypatch.setattr(_threads, "_KEPT", 0.05)
    own = Threads("websearch-test", 16)
    yield own
    for thread in alive():
        thread.join(10)
    assert not alive()
    assert not own._turns._taken
    assert not own._turns.waiting


@pytest.fixture
def held():
    """Work that goes on until the test ends."""
    ends = threading.Event()
    yield lambda: ends.wait(120)
    ends.set()


def alive():
    return [
        thread for thread in threading.enumerate() if thread.name == "websearch-test"
    ]


def fill(turns, **waiting):
    for client, count in waiting.items():
        for number in range(count):
            turns.put(client, f"{client}{number}")


def take_all(turns):
    taken = []
    while turns.can_take():
        taken.append(turns.take()[1])
    return taken


class TestTurns:
    def test_clients_take_turns_however_much_of_each_waits(self):
        turns = Turns(100)
        fill(turns, ann=9, bob=2, eve=1)
        assert take_all(turns)[:6] == ["ann0", "bob0", "eve0", "ann1", "bob1", "ann2"]

    @pytest.mark.parametrize(("clients", "most"), [(1, 32), (2, 21), (3, 16), (7, 8)])
    def test_clients_who_want_everything_get_the_same_and_leave_as_much(
        self, clients, most
    ):
        turns = Turns(64)
        fill(turns, **{f"client{n}-": 64 for n in range(clients)})
        taken = take_all(turns)
        for number in range(clients):
            assert sum(one.startswith(f"client{number}-") for one in taken) in (
                most,
                most + 1,
            )
        assert 64 - len(turns.held) in (most - 1, most)

    def test_one_who_has_none_finds_a_place_beside_those_who_want_everything(self):
        turns = Turns(64)
        fill(turns, ann=1_000, bob=1_000)
        take_all(turns)
        fill(turns, eve=1)
        assert turns.take() == ("eve", "eve0")
        assert turns.take() is None

    def test_places_that_are_kept_are_for_those_who_have_none(self):
        turns = Turns(64, reserve=32)
        fill(turns, ann=1_000, bob=1_000)
        assert len(take_all(turns)) in (21, 22)
        fill(turns, **{f"client{n}-": 2 for n in range(100)})
        assert len(take_all(turns)) in (42, 43)

    def test_one_place_goes_round(self):
        turns = Turns(1)
        fill(turns, ann=2, bob=2)
        order = []
        while (turn := turns.take()) is not None:
            assert turns.take() is None
            order.append(turn[1])
            turns.give_back(*turn)
        assert order == ["ann0", "bob0", "ann1", "bob1"]

    def test_a_client_gets_no_more_than_its_limit(self):
        turns = Turns(64, each=3)
        fill(turns, ann=9)
        assert take_all(turns) == ["ann0", "ann1", "ann2"]

    def test_a_client_gets_no_more_than_what_is_next_allows(self):
        turns = Turns(64)
        for number in range(3):
            turns.put("ann", number, 2)
        fill(turns, bob=5)
        assert [one for one in take_all(turns) if one in range(3)] == [0, 1]
        turns.give_back("ann", 0)
        assert turns.take() == ("ann", 2)

    def test_what_is_dropped_takes_no_place(self):
        turns = Turns(8)
        fill(turns, ann=2, bob=1)
        turns.drop("bob", "bob0")
        turns.drop("bob", "bob0")
        turns.drop("ann", "ann0")
        assert take_all(turns) == ["ann1"]

    def test_nothing_is_kept_of_a_client_who_is_gone(self):
        turns = Turns(8)
        fill(turns, **{f"client{n}-": 3 for n in range(1_000)})
        while (turn := turns.take()) is not None:
            turns.give_back(*turn)
        assert not turns.waiting
        assert not turns._taken
        assert not turns.held

    def test_places_only_grow(self):
        turns = Turns(2)
        turns.grow(8)
        turns.grow(4)
        fill(turns, ann=9)
        assert len(take_all(turns)) == 4


class TestThreads:
    def test_work_of_one_client_does_not_wait_behind_that_of_another(
        self, threads, held
    ):
        behind = [threads.submit("ann", held) for _ in range(50)]
        assert threads.submit("bob", lambda: "done").result(60) == "done"
        wait_until(lambda: threads.count_waiting("ann") == 46)
        for one in behind:
            one.cancel()

    def test_work_that_is_cancelled_before_its_turn_is_never_done(self, threads, held):
        done = []
        running = [threads.submit("ann", held) for _ in range(4)]
        wait_until(lambda: all(one.running() for one in running))
        waiting = [threads.submit("ann", lambda: done.append(1)) for _ in range(100)]
        assert [one for one in waiting if not one.cancel()] == []
        assert threads.count_waiting("ann") == 0
        assert [one for one in running if one.done()] == []
        assert threads.submit("bob", lambda: done).result(60) == []

    def test_an_error_reaches_whoever_waits_and_the_thread_lives_on(self, threads):
        def fail():
            raise KeyError("tide")

        with pytest.raises(KeyError):
            threads.submit("ann", fail).result(60)
        with pytest.raises(SystemExit):
            threads.submit("ann", lambda: exec("raise SystemExit")).result(60)
        assert threads.submit("ann", lambda: 3).result(60) == 3

    def test_everything_is_done_once_whoever_submits_it(self, threads):
        done = []
        with ThreadPoolExecutor(8) as clients:
            futures = [
                clients.submit(threads.submit, n % 5, lambda n=n: done.append(n))
                for n in range(500)
            ]
            for future in futures:
                future.result(60).result(60)
        assert sorted(done) == list(range(500))
        assert len(alive()) <= 17

    def test_a_thread_without_work_ends_and_the_next_work_starts_one(self, threads):
        for _ in range(2):
            assert threads.submit("ann", lambda: 3).result(60) == 3
            for thread in alive():
                thread.join(10)
            assert not alive()

    def test_a_thread_is_ready_as_long_as_others_work(self, threads, held):
        threads.submit("ann", held)
        wait_until(lambda: len(alive()) == 2)
        time.sleep(0.2)  # four times as long as threads without work are kept
        assert len(alive()) == 2
        assert threads.submit("bob", lambda: 3).result(60) == 3

    def test_whoever_submits_never_waits_for_a_thread_to_start(
        self, threads, held, monkeypatch
    ):
        real, starters = threading.Thread.start, []

        def start(self):
            starters.append(threading.get_ident())
            real(self)

        monkeypatch.setattr(threading.Thread, "start", start)
        for number in range(6):
            threads.submit(number, held)
        assert threads.submit("ann", lambda: 3).result(60) == 3
        assert threading.get_ident() not in starters
        assert len(starters) >= 7

    @pytest.mark.parametrize("function", ["start_new_thread", "threading.Thread.start"])
    def test_a_system_without_threads_is_an_error_that_is_temporary(
        self, threads, monkeypatch, function
    ):
        def none(*_):
            raise RuntimeError("can't start new thread")

        with monkeypatch.context() as patched:
            patched.setattr(f"websearch_core._runtime.threads.{function}", none)
            with pytest.raises(Unavailable, match="no thread") as caught:
                threads.submit("ann", list).result(60)
            assert caught.value.temporary
        assert threads.submit("ann", lambda: 3).result(60) == 3

    def test_one_thread_does_all_work_if_the_system_has_no_more(
        self, threads, monkeypatch
    ):
        real = threading.Thread.start

        def start(self):
            if alive():
                raise RuntimeError("can't start new thread")
            real(self)

        monkeypatch.setattr(threading.Thread, "start", start)
        assert [
            one.result(60)
            for one in [threads.submit(n, lambda n=n: n) for n in range(20)]
        ] == list(range(20))

    def test_nothing_keeps_what_a_thread_worked_for(self, threads):
        class Page:
            pass

        page = Page()
        outcome = threads.submit("ann", lambda page=page: page)
        gone = threading.Event()
        weakref.finalize(page, gone.set)
        assert outcome.result(60) is page
        del page, outcome
        assert gone.wait(60)

    @pytest.mark.skipif(
        "fork" not in multiprocessing.get_all_start_methods(),
        reason="this system does not fork",
    )
    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    def test_a_forked_process_has_threads_of_its_own(self, threads, held):
        for _ in range(20):
            threads.submit("ann", held)
        context = multiprocessing.get_context("fork")
        answers = context.Queue()
        child = context.Process(
            target=lambda: answers.put(threads.submit("ann", lambda: 3).result(60))
        )
        child.start()
        assert answers.get(timeout=120) == 3
        child.join(10)


class TestPlaces:
    def test_a_page_of_one_client_does_not_wait_behind_those_of_another(self):
        slots, ends = Slots(4), threading.Event()
        with ThreadPoolExecutor(50) as readers:
            for _ in range(40):
                readers.submit(slots.hold, "ann", lambda: ends.wait(20), 20, limit=2)
            wait_until(lambda: slots.waiting == 38)
            assert (
                readers.submit(slots.hold, "bob", lambda: "read", 20, limit=2).result(
                    60
                )
                == "read"
            )
            assert (slots.held, slots.waiting) == (2, 38)
            ends.set()
        assert (slots.held, slots.waiting) == (0, 0)

    def test_a_reader_with_fewer_places_keeps_to_them_whatever_others_may_use(self):
        slots, ends = Slots(2), threading.Event()
        slots.grow(16)
        with ThreadPoolExecutor(6) as readers:
            for _ in range(6):
                readers.submit(slots.hold, "ann", lambda: ends.wait(20), 20, limit=1)
            wait_until(lambda: slots.held + slots.waiting == 6)
            counts = slots.held, slots.waiting
            ends.set()
        assert counts == (1, 5)
        assert (slots.held, slots.waiting) == (0, 0)

    def test_waiting_ends_with_the_time_and_leaves_no_trace(self):
        slots = Slots(1)

        def wait_in_vain():
            with pytest.raises(TimedOut):
                slots.hold("bob", lambda: pytest.fail("there was a slot"), 0.01)
            return slots.held, slots.waiting

        assert slots.hold("ann", wait_in_vain, 1) == (1, 0)
        assert slots.hold("ann", lambda: slots.held, 1) == 1

    def test_an_error_of_the_page_is_its_own_and_frees_the_place(self):
        slots = Slots(1)
        for error in (TimeoutError("of the page"), KeyboardInterrupt()):

            def fail(error=error):
                raise error

            with pytest.raises(type(error)) as caught:
                slots.hold("ann", fail, 1)
            assert caught.value is error
        assert slots.held == 0


async def find_steps():
    return Steps.here()


class TestSteps:
    async def test_a_client_does_one_step_in_each_round_of_the_loop_if_others_do_any(
        self,
    ):
        steps, done = Steps(), []

        async def call(web, count):
            with scope(caller=Caller(web)):
                for _ in range(count):
                    await steps.next()
                    done.append(web)

        greedy = [asyncio.create_task(call("ann", 3)) for _ in range(50)]
        await asyncio.gather(asyncio.create_task(call("bob", 10)))
        until_bob_is_done = done[: len(done) - done[::-1].index("bob")]
        # of the first round, when she was alone, and of bob's
        assert until_bob_is_done.count("ann") <= 20
        await asyncio.gather(*greedy)
        assert done.count("ann") == 150
        await asyncio.sleep(0)
        assert not steps._lines

    async def test_each_web_search_is_one_of_the_clients_of_its_loop(self):
        webs = [WebSearch("duckduckgo") for _ in range(2)]
        assert len({id(web._sender._get_loop_clients().steps) for web in webs}) == 1
        assert Steps.here() is not await asyncio.to_thread(asyncio.run, find_steps())

    def test_a_loop_that_was_closed_while_calls_waited_is_not_kept(self):
        async def begin():
            calls = [asyncio.create_task(Steps.here().next()) for _ in range(100)]
            await asyncio.sleep(0)
            for call in calls:
                call._log_destroy_pending = False

        loop = asyncio.new_event_loop()
        loop.run_until_complete(begin())
        loop.close()
        gone = weakref.ref(loop)
        del loop
        asyncio.run(find_steps())
        gc.collect()
        assert gone() is None

    async def test_a_client_alone_does_a_few_steps_in_each_round(self):
        steps, done, rounds = Steps(), [], 0

        async def call():
            await steps.next()
            done.append(1)

        calls = [asyncio.create_task(call()) for _ in range(50)]
        while len(done) < 50:
            rounds += 1
            await asyncio.sleep(0)
            assert len(done) <= 8 * rounds
        assert rounds < 20
        await asyncio.gather(*calls)

    async def test_a_call_alone_waits_for_no_round(self):
        steps, rounds = Steps(), []
        asyncio.get_running_loop().call_soon(rounds.append, 1)
        await steps.next()
        assert not rounds

    async def test_calls_that_are_cancelled_while_they_wait_hold_up_nobody(self):
        steps, done = Steps(), []

        async def call(number):
            await steps.next()
            done.append(number)

        tasks = [asyncio.create_task(call(number)) for number in range(12)]
        await asyncio.sleep(0)
        for task in tasks[8:11]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert done == [*range(8), 11]
        await steps.next()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not steps._lines


class TestClients:
    @pytest.mark.parametrize("colour", ["blocking", "async"])
    def test_each_web_search_is_a_client_and_so_is_each_tenant_of_one(self, colour):
        def flow():
            return (yield Call(current_client))

        def ask(web):
            return (
                web.run(flow())
                if colour == "blocking"
                else asyncio.run(web.arun(flow()))
            )

        ann, bob = WebSearch("duckduckgo"), WebSearch("duckduckgo")
        with charge_to("eve"):
            clients = {ask(ann), ask(bob)}
            with charge_to(run="research"):
                assert ask(ann) in clients
        clients |= {ask(ann), ask(bob)}
        assert len(clients) == 4
        assert ask(ann) in clients

    def test_a_web_search_is_never_taken_for_one_that_is_gone(self):
        def flow():
            return (yield Call(current_client))

        assert len({WebSearch("duckduckgo").run(flow()) for _ in range(10)}) == 10

    async def test_a_tenant_whose_work_hangs_holds_up_no_other_of_the_same_web_search(
        self,
    ):
        ends = threading.Event()

        def flow():
            return (yield Call(ends.wait, 120))

        def quick():
            return (yield Call(lambda: "done"))

        web = WebSearch("duckduckgo")
        with charge_to("ann"):
            tasks = [asyncio.create_task(web.arun(flow())) for _ in range(200)]
        await asyncio.sleep(0)
        with charge_to("bob"), time_limit(60):
            assert await web.arun(quick()) == "done"
        ends.set()
        await asyncio.gather(*tasks)

    async def test_calls_that_are_refused_at_once_leave_the_loop_to_others(self):
        def refuse():
            raise BudgetExceeded("used up")
            yield

        web, refused = WebSearch("duckduckgo"), []

        async def call():
            with pytest.raises(BudgetExceeded):
                await web.arun(refuse())
            refused.append(1)

        await call()  # the first one also makes what sends
        refused.clear()
        tasks = [asyncio.create_task(call()) for _ in range(50)]
        for _ in range(5):
            await asyncio.sleep(0)
        assert 1 <= len(refused) <= 8 * 5  # as many as a client alone may do in a round
        await asyncio.gather(*tasks)

    async def test_a_call_that_is_cancelled_makes_room_for_the_next(self):
        ends = threading.Event()
        hanging = [
            asyncio.create_task(in_thread(lambda: ends.wait(20))) for _ in range(100)
        ]
        await asyncio.sleep(0)
        for task in hanging[40:]:
            task.cancel()
        await asyncio.gather(*hanging[40:], return_exceptions=True)
        assert _threads._for_work.count_waiting(current_client()) <= 40
        ends.set()
        await asyncio.gather(*hanging[:40])
