"""The queue keeps to its limits whatever happens, checked on random requests that
begin, end and are cancelled.
"""

from __future__ import annotations
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.layers.simulation import Simulation
from websearch_core.flow import Sleep
from websearch_core.layers import _pace, charge_to
from websearch_core.layers._pace import STEP, Pace, Ticket

_TIMES = st.floats(0, 20).map(lambda at: round(at, 2))
_REQUESTS = st.lists(
    st.tuples(
        _TIMES,
        st.floats(0.01, 3),
        st.one_of(st.none(), st.floats(0, 10)),
        st.sampled_from("aaab"),
    ),
    min_size=1,
    max_size=25,
)


def run(pace, requests):
    """Send *requests*: when each enters, its duration, the time after which it is
    cancelled, and its tenant.

    Returns the times at which they began and ended, and how many were under way at
    most.
    """
    simulation, spans, under_way, most = Simulation(), [], set(), [0]
    started = simulation.now

    def send(number, duration, tenant):
        with charge_to(tenant):
            pace.enter(ticket := Ticket(""))
        try:
            while wait := pace.wait(ticket):
                yield Sleep(min(wait, STEP))
            under_way.add(number)
            most[0] = max(most[0], len(under_way))
            spans.append((simulation.now - started, number))
            yield Sleep(duration)
        finally:
            under_way.discard(number)
            pace.leave(ticket)

    flows = [
        send(number, duration, tenant)
        for number, (_, duration, _, tenant) in enumerate(requests)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pace, "monotonic", simulation.monotonic)
        for number, (at, _, cancelled, _) in enumerate(requests):
            simulation.start(number, flows[number], after=at)
            if cancelled is not None:
                simulation.cancel(flows[number], after=at + cancelled)
        simulation.run()
        pace.slow_down(0)
        assert not pace._turns.waiting
        assert not pace._turns.held
    return spans, most[0]


@given(
    _REQUESTS,
    st.sampled_from([0.0, 0.2, 1.0]),
    st.sampled_from([None, 1, 3]),
    st.sampled_from([1, 2, 5]),
)
def test_no_window_has_more_than_the_rate_and_the_burst_allow_and_never_too_many_at_once(
    requests, interval, concurrent, burst
):
    spans, most = run(Pace(interval, concurrent, burst), requests)
    begun = sorted(at for at, _ in spans)

    for first in range(len(begun)):
        for last in range(first, len(begun)):
            allowed = (
                burst + (begun[last] - begun[first] + 1e-6) / interval
                if interval
                else float("inf")
            )
            assert last - first + 1 <= allowed
    assert concurrent is None or most <= concurrent


@given(_REQUESTS, st.sampled_from([0.0, 0.2]), st.sampled_from([None, 2]))
def test_everybody_who_stays_is_served_in_the_order_of_their_tenant(
    requests, interval, concurrent
):
    staying = [(at, duration, None, tenant) for at, duration, _, tenant in requests]
    spans, _ = run(Pace(interval, concurrent), staying)

    assert Counter(number for _, number in spans) == Counter(range(len(staying)))
    for tenant in "ab":
        served = [
            staying[number][0] for _, number in spans if staying[number][3] == tenant
        ]
        assert served == sorted(served)


@given(
    _REQUESTS,
    st.sampled_from([0.0, 0.2, 1.0]),
    st.sampled_from([None, 1, 2]),
    st.sampled_from([1, 3]),
)
def test_while_a_tenant_waits_no_other_gets_more_than_one_turn_for_each_of_its_own(
    requests, interval, concurrent, burst
):
    staying = [(at, duration, None, tenant) for at, duration, _, tenant in requests]
    spans, _ = run(Pace(interval, concurrent, burst), staying)

    for place, (_, number) in enumerate(spans):
        entered, tenant = staying[number][0], staying[number][3]
        meanwhile = Counter(
            staying[other][3] for at, other in spans[:place] if at > entered + 1e-6
        )
        assert meanwhile["ab".replace(tenant, "")] <= meanwhile[tenant] + 1


def test_a_tenant_with_one_request_does_not_wait_behind_a_tenant_with_many():
    requests = [(0.0, 0.01, None, "a")] * 100 + [(0.3, 0.01, None, "b")]
    spans, _ = run(Pace(0.2, 4, 10), requests)

    (began,) = [at for at, number in spans if number == 100]
    assert began < 0.3 + 3 * 0.2
    assert len(spans) == 101


@given(_REQUESTS, st.sampled_from([0.5, 2.0]))
def test_a_delay_that_a_site_asks_for_replaces_rate_burst_and_number_at_a_time(
    requests, delay
):
    pace = Pace(0.2, 4, 10)
    pace.slow_down(delay)
    spans, most = run(pace, requests)
    begun = sorted(at for at, _ in spans)

    assert most <= 1
    assert [
        later - earlier
        for earlier, later in pairwise(begun)
        if later - earlier < delay - 1e-6
    ] == []


def test_a_queue_that_nobody_uses_is_idle_again(monkeypatch):
    simulation, pace = Simulation(), Pace(1.0, 1)
    monkeypatch.setattr(_pace, "monotonic", simulation.monotonic)
    assert pace.is_idle
    pace.enter(ticket := Ticket(""))
    assert not pace.is_idle
    pace.wait(ticket)
    pace.leave(ticket)
    assert not pace.is_idle
    simulation.now += 1.1
    assert pace.is_idle
