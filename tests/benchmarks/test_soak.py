"""Hundreds of calls under faults: every one ends in time, nothing is sent twice, and
nothing is left.
"""

from __future__ import annotations
import asyncio
from dataclasses import replace

import pytest

from benchmarks.soak.calls import Planner
from benchmarks.soak.run import Record, Soak, soak

pytestmark = [
    pytest.mark.enable_socket,
    pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning"),
]


def test_hundreds_of_calls_under_faults_lose_nothing():
    result = soak(400, threads=12, per_loop=24, limits=(0.25, 1.0))

    # How late a call ended, and how, depends on what else this machine does; `make soak`
    # looks at that.
    assert [one for one in result.violations if "after its deadline" not in one] == []
    assert sum(result.endings.values()) >= 400
    assert result.requests > 0
    assert result.closed == sum(Planner((0.25, 1.0)).plan(n).closes for n in range(400))


async def test_a_call_that_is_given_up_ends_as_cancelled(tmp_path):
    limits = (0.25, 1.0)
    one = Soak(1, "http://127.0.0.1:9", tmp_path, limits)
    plan = replace(Planner(limits).plan(0), give_up=0.0)
    hanging = asyncio.create_task(asyncio.Event().wait())
    record = Record(plan)
    await one.give_up(hanging, record)

    assert record.endings == ["cancelled"]
    assert hanging.cancelled()
