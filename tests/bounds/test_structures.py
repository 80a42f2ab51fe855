"""Whatever the structure of a page, reading it and taking excerpts costs no more than
so much processor time and memory, without another process.

The time is that of a worker alone. What is above the limit is measured three times,
since a busy machine makes it longer: only the least counts.
"""

from __future__ import annotations

import pytest

from tests.bounds.structures import PAGES, Maker
from tests.bounds.worker import Worker
from tests.whole import WHOLE

_MAX_SECONDS = 2.0  # of processor time
_MAX_MEMORY = 150  # MB
_PAGES = 1_000 if WHOLE else 40
_ROUNDS = 8  # of which each begins with a process of its own
_TASK = "tests.bounds.structures:measure"


def excess(worker, page):
    """Return what a page costs beyond the limits in each of three times, in words; an
    empty string if it does not once.
    """
    costs = []
    for _ in range(3):
        cost = worker.ask(_TASK, page)
        if cost is None:
            return "it does not end"
        seconds, memory = cost
        if seconds <= _MAX_SECONDS and memory <= _MAX_MEMORY:
            return ""
        costs.append(f"{seconds:.1f} s and {memory} MB")
    return ", ".join(costs)


@pytest.fixture(scope="module")
def worker():
    with Worker() as worker:
        yield worker


@pytest.mark.parametrize("name", PAGES)
def test_a_page_costs_little(worker, name):
    assert excess(worker, name) == ""


@pytest.mark.parametrize("first", range(_ROUNDS))
def test_pages_of_any_structure_cost_little(first):
    with Worker() as worker:
        costs = {n: excess(worker, n) for n in range(first, _PAGES, _ROUNDS)}

    assert {n: cost for n, cost in costs.items() if cost} == {}


def test_a_number_always_makes_the_same_page():
    assert Maker(7).page() == Maker(7).page() != Maker(8).page()
