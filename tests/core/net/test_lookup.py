"""Looking names up, with a system that never answers for some of them."""

from __future__ import annotations
import asyncio
import multiprocessing
import threading

import pytest

from websearch_core._net.guard import Guard
from websearch_core._net.lookup import MAX_RUNNING, MAX_THREADS, MAX_WAITING, Line
from websearch_core._net.sender import Sender
from websearch_core._runtime.deadline import time_limit
from websearch_core._runtime.threads import Threads
from websearch_core.errors import TimedOut, Unavailable
from websearch_core.flow import Request
from websearch_core.layers import charge_to

NAME = "websearch-dns of this test"


@pytest.fixture
def system(monkeypatch):
    """A resolver that hangs for ``hang*.example`` until the test ends.

    Its threads have a name of their own: those that other tests used are kept for a
    minute.
    """
    ends = threading.Event()
    asked = []

    def resolve(host, port):
        asked.append(host)
        if host.startswith("hang"):
            ends.wait(120)
        return ["127.0.0.1"]

    resolve.asked, resolve.ends = asked, ends
    monkeypatch.setattr("websearch_core._net.lookup.resolve_name", resolve)
    monkeypatch.setattr("websearch_core._runtime.threads._KEPT", 0.05)
    for kind in ("PAGES", "SERVICES"):
        monkeypatch.setattr(
            f"websearch_core._net.sender.FOR_{kind}", make_threads(MAX_THREADS)
        )
    yield resolve
    ends.set()
    for thread in threads():
        thread.join(60)


def threads():
    return [thread for thread in threading.enumerate() if thread.name == NAME]


def sender(system):
    return Sender(Guard.allowing(["127.0.0.0/8"], resolve=system))


async def read(sender, n, seconds):
    with time_limit(seconds):
        await sender.asend(Request(url=f"http://hang{n}.example/", guarded=True))


async def hanging(system, sender, count):
    """Pages whose names do not resolve, being read until the block of the test ends."""
    tasks = [asyncio.create_task(read(sender, n, 60)) for n in range(count)]
    await asyncio.sleep(0)
    async with asyncio.timeout(60):
        while len(system.asked) < min(count, MAX_RUNNING):
            await asyncio.sleep(0.01)
    return tasks


async def end(tasks):
    for task in tasks:
        task.cancel()
    return await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.enable_socket
async def test_names_that_hang_hold_up_neither_a_service_nor_another_tenant(
    system, server, http
):
    server.answers["/"] = http(b"here")
    one, other = sender(system), sender(system)
    tasks = await hanging(system, one, 16 + 100)

    with time_limit(60):
        service = await one.asend(Request(url=f"http://service.example:{server.port}/"))
        page = await other.asend(
            Request(url=f"http://page.example:{server.port}/", guarded=True)
        )

    assert (service.content, page.content) == (b"here", b"here")
    assert len(threads()) <= MAX_RUNNING + 2 + 2  # one of each kind is ready
    await end(tasks)
    await one.aclose()
    await other.aclose()


@pytest.mark.enable_socket
def test_blocking_calls_do_not_hold_each_other_up_either(system, server, http):
    server.answers["/"] = http(b"here")
    one, other = sender(system), sender(system)

    def hang(n):
        with time_limit(90), pytest.raises((TimedOut, Unavailable)):
            one.send(Request(url=f"http://hang{n}.example/", guarded=True))

    waiting = [
        threading.Thread(target=hang, args=(n,), daemon=True)
        for n in range(MAX_RUNNING + 10)
    ]
    for thread in waiting:
        thread.start()
    with time_limit(60):
        assert (
            one.send(Request(url=f"http://service.example:{server.port}/")).content
            == b"here"
        )
        assert (
            other.send(
                Request(url=f"http://page.example:{server.port}/", guarded=True)
            ).content
            == b"here"
        )
    assert len(threads()) <= MAX_RUNNING + 2 + 2  # one of each kind is ready
    system.ends.set()
    for thread in waiting:
        thread.join(60)
    one.close()
    other.close()


async def test_whoever_gave_up_waiting_is_not_looked_up(system):
    one = sender(system)
    tasks = await hanging(system, one, MAX_RUNNING)
    failures = await asyncio.gather(
        *(read(one, n, 0.2) for n in range(5)), return_exceptions=True
    )

    assert {type(failure) for failure in failures} == {TimedOut}
    await end(tasks)
    system.ends.set()
    for thread in threads():
        await asyncio.to_thread(thread.join, 10)
    assert len(system.asked) == MAX_RUNNING


def make_threads(most):
    return Threads(NAME, most, MAX_RUNNING)


def test_a_line_that_is_full_is_a_temporary_error(system):
    line = Line(make_threads(1))
    waiting = [
        line.look_up(lambda: system("hang.example", 80)) for _ in range(MAX_WAITING)
    ]
    while len(system.asked) < 1:
        pass
    # in the place of the one that is being looked up
    waiting.append(line.look_up(list))

    with pytest.raises(Unavailable, match="too many host names") as caught:
        line.look_up(list)
    assert caught.value.temporary
    assert len(threads()) == 1

    waiting[1].cancel()
    line.look_up(list)  # takes the place of the one that nobody waits for
    for one in waiting[2:]:
        one.cancel()


def test_lines_share_a_bounded_number_of_threads(system):
    shared = make_threads(2)
    held = [Line(shared).look_up(lambda: system("hang.example", 80)) for _ in range(2)]

    late = Line(shared).look_up(lambda: ["127.0.0.2"])
    while len(system.asked) < 2:
        pass
    assert len(threads()) == 2
    assert not late.done()
    system.ends.set()
    assert [one.result(60) for one in held] == [["127.0.0.1"]] * 2
    assert late.result(60) == ["127.0.0.2"]


@pytest.mark.parametrize("tenant", ["", "bob"])
def test_tenants_of_one_web_search_have_lines_of_their_own(system, tenant):
    line = Line(make_threads(64))
    with charge_to("eve"):
        hanging = [
            line.look_up(lambda: system("hang.example", 80)) for _ in range(MAX_WAITING)
        ]
    with charge_to(tenant):
        assert line.look_up(lambda: ["127.0.0.2"]).result(60) == ["127.0.0.2"]
    assert len(system.asked) <= MAX_RUNNING
    for one in hanging:
        one.cancel()


def test_half_of_the_threads_are_for_lines_that_have_none(system):
    shared = make_threads(8)
    hanging = [Line(shared) for _ in range(4)]
    for line in hanging * MAX_RUNNING:
        line.look_up(lambda: system("hang.example", 80))

    assert [Line(shared).look_up(lambda: ["127.0.0.2"]).result(60) for _ in range(9)]
    assert len(system.asked) < 8


def test_a_system_without_threads_is_a_temporary_error(system, monkeypatch):
    def none(self):
        raise RuntimeError("can't start new thread")

    line = Line(make_threads(1))
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", none)
        with pytest.raises(Unavailable) as caught:
            line.look_up(list).result(60)
    assert caught.value.temporary
    assert line.look_up(lambda: ["127.0.0.1"]).result(60) == ["127.0.0.1"]


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(),
    reason="this system does not fork",
)
def test_a_forked_process_looks_up_again(system):
    line = Line(make_threads(MAX_THREADS))
    for _ in range(MAX_RUNNING + 1):
        line.look_up(lambda: system("hang.example", 80))
    context = multiprocessing.get_context("fork")
    answers = context.Queue()

    child = context.Process(
        target=lambda: answers.put(line.look_up(lambda: ["127.0.0.1"]).result(60))
    )
    child.start()
    assert answers.get(timeout=120) == ["127.0.0.1"]
    child.join(10)
