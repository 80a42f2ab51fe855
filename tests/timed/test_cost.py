"""The measure itself: what is slow fails, and what is cheap once does not."""

from __future__ import annotations
import time
from functools import partial
from itertools import chain, repeat

import pytest

from tests.timed.cost import check_cost, check_ratio


def spend(seconds):
    began = time.thread_time()
    while time.thread_time() - began < seconds:
        pass
    return "done"


def test_work_that_is_cheap_is_done_once_and_its_result_comes_back():
    calls = []
    assert check_cost(lambda: calls.append(1) or "done", 1) == "done"
    assert calls == [1]


def test_work_that_is_always_slow_fails_with_its_time_and_the_bound():
    with pytest.raises(AssertionError, match=r"0\.0[4-9] s .* instead of 0\.02 s"):
        check_cost(partial(spend, 0.05), 0.02)


def test_work_that_is_slow_once_does_not_fail():
    seconds = chain([0.2], repeat(0.0))

    assert check_cost(lambda: spend(next(seconds)), 0.1) == "done"


def test_work_that_grows_too_fast_fails_with_both_times():
    check_ratio(partial(spend, 0.05), partial(spend, 0.04), 3)
    with pytest.raises(AssertionError, match=r"more than 3 times as long: 0\.[1-9]"):
        check_ratio(partial(spend, 0.15), partial(spend, 0.02), 3)


def test_a_pause_costs_nothing():
    assert check_cost(lambda: time.sleep(0.2), 0.1) is None
