"""What belongs to a call: blocks that change it, and what they leave when they end."""

from __future__ import annotations
from contextvars import Context, ContextVar, copy_context

import pytest

from websearch_core._runtime.scope import (
    CallContext,
    Deadline,
    current_call,
    run_apart,
    scope,
)
from websearch_core.layers import charge_to, max_age


def test_a_block_changes_what_it_names_and_leaves_the_rest():
    outer = current_call()
    with scope(max_age=0), charge_to("ann"):
        with scope(max_age=9, reads_on=True):
            inner = current_call()
        assert (current_call().max_age, current_call().reads_on) == (0, False)

    assert (inner.max_age, inner.reads_on, inner.account.tenant) == (9, True, "ann")
    assert current_call() == outer


def test_a_flow_that_is_closed_in_another_context_changes_nothing_there():
    def flow():
        with scope(deadline=Deadline(1.0), reads_on=True):
            yield

    here = flow()
    copy_context().run(next, here)
    with charge_to("bob"):
        there = current_call()
        here.close()

        assert current_call() == there


def test_what_somebody_left_set_inside_does_not_keep_the_deadline():
    block = charge_to("ann")

    def call():
        with scope(deadline=Deadline(1.0)):
            block.__enter__()
        return current_call()

    left = Context().run(call)  # what an earlier test left in this one is not looked at

    assert (left.account.tenant, left.deadline) == ("ann", current_call().deadline)


def test_a_name_that_is_no_part_of_a_call_is_an_error():
    with pytest.raises((TypeError, ValueError), match="is_frehs"), scope(is_frehs=True):
        pass


@pytest.mark.parametrize("fails", [False, True])
def test_what_is_called_apart_leaves_only_the_variables_of_the_application(fails):
    theirs: ContextVar[str] = ContextVar("theirs")

    def work():
        theirs.set("set")
        block.__enter__()
        seen.append(current_call())
        if fails:
            raise ValueError("fails")

    block = max_age(0)
    seen: list[CallContext] = []
    outer = current_call()
    if fails:
        with pytest.raises(ValueError, match="fails"):
            run_apart(work, reads_on=True)
    else:
        run_apart(work, reads_on=True)

    assert (seen[0].reads_on, seen[0].max_age, theirs.get()) == (True, 0, "set")
    assert current_call() == outer
