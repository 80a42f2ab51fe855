"""Which process of a browser is ended, with made-up processes."""

from __future__ import annotations

import pytest

from websearch_core._browser import memory
from websearch_core._browser.memory import MemoryWatch

MEBI = 2**20


MAIN, NETWORK, HONEST, HARMFUL = 10, 11, 20, 21


@pytest.fixture
def processes(monkeypatch):
    """The private MiB and the ticks of each process, and those that were ended."""
    used = {MAIN: [60, 0], NETWORK: [10, 0], HONEST: [50, 0], HARMFUL: [50, 0]}
    ended = []

    def find_usage(pid):
        if pid in ended:
            return None
        size, ticks = used[pid]
        return memory._Usage(size * MEBI, (size + 40) * MEBI, ticks)

    monkeypatch.setattr(memory, "_find_usage", find_usage)
    monkeypatch.setattr(memory, "find_descendants", lambda _: [*used][1:])
    monkeypatch.setattr(memory, "is_renderer", lambda pid: pid >= HONEST)
    monkeypatch.setattr(memory.os, "kill", lambda pid, _: ended.append(pid))
    return used, ended


def test_ordinary_pages_are_left_alone(processes):
    _, ended = processes
    watch = MemoryWatch(MAIN, 640 * MEBI)

    assert all(watch.look(2) for _ in range(3))
    assert ended == []
    assert watch.explain() == ""


def test_a_renderer_that_is_too_large_is_ended(processes):
    used, ended = processes
    used[HARMFUL][0] = 700
    watch = MemoryWatch(MAIN, 640 * MEBI)

    assert watch.look(2)
    assert ended == [HARMFUL]
    assert watch.explain() == "the page needs more than 640 MiB of memory"


def test_the_one_that_was_busy_while_the_browser_grew_is_ended(processes):
    used, ended = processes
    watch = MemoryWatch(MAIN, 640 * MEBI)
    watch.look(2)
    for _ in range(5):
        used[MAIN][0] += 80
        used[HONEST][1] += 1
        used[HARMFUL][1] += 4
        assert watch.look(2)

    assert ended == [HARMFUL]
    assert "memory of the browser itself" in watch.explain()


@pytest.mark.parametrize(
    ("size", "seconds", "ends"),
    [(380, 0.4, []), (380, 0.5, [HARMFUL]), (410, 0.0, [HARMFUL])],
    ids=["for a moment", "for longer", "far too much"],
)
def test_few_looks_and_long_pauses_between_them_let_nobody_take_more(
    processes, monkeypatch, size, seconds, ends
):
    used, ended = processes
    clock = [100.0]
    monkeypatch.setattr(memory.time, "monotonic", lambda: clock[0])
    watch = MemoryWatch(MAIN, 640 * MEBI)
    watch.look(2)
    used[MAIN][0] = size
    used[HARMFUL][1] = 5
    watch.look(2)
    clock[0] += seconds

    assert watch.look(2)
    assert ended == ends


def test_nobody_is_ended_for_what_pages_left_that_have_gone(processes):
    used, ended = processes
    used[MAIN][0] = 400
    watch = MemoryWatch(MAIN, 640 * MEBI)
    watch.look(1)
    used[HONEST][1] += 5

    assert watch.look(1)
    assert ended == []
    assert watch.is_full


def test_a_browser_that_grows_on_has_to_end(processes):
    used, _ = processes
    watch = MemoryWatch(MAIN, 640 * MEBI)
    watch.look(1)
    used[NETWORK][0] = 1400

    assert not watch.look(1)


def test_much_for_a_moment_costs_the_one_that_made_it_only(processes, monkeypatch):
    used, ended = processes
    clock = [100.0]
    monkeypatch.setattr(memory.time, "monotonic", lambda: clock[0])
    watch = MemoryWatch(MAIN, 640 * MEBI)
    watch.look(2)
    used[HARMFUL][1] = 5
    watch.look(2)
    used[MAIN][0] = 700  # while nobody is busy, for who was busy before

    assert watch.look(2)
    assert ended == [HARMFUL]
    clock[0] += 1
    assert watch.look(1)
    clock[0] += 1.5
    assert not watch.look(1)


def test_many_renderers_together_are_bounded_by_the_number_of_pages(processes):
    used, ended = processes
    used.update({pid: [500, 0] for pid in range(30, 36)})
    watch = MemoryWatch(MAIN, 640 * MEBI)

    assert watch.look(4)
    assert ended == []
    assert watch.look(1)
    assert len(ended) == 1
    assert ended[0] >= 30
