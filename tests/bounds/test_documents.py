"""What a hostile text costs, wherever it stands in a document: as much as an honest
one of its length, or nearly.

Every case runs once, in a process that is killed after 20 seconds of processor time.
Only one that takes longer than a second is compared with a quarter of its size, up to
three times in new processes, so a busy machine cannot fail it. `make test-timed` runs a part
of the table, which is the same each time; `make test-whole` runs all of it.
"""

from __future__ import annotations
import zlib
from functools import partial

import pytest

from tests.bounds.documents import CITED, OTHERS, READ
from tests.bounds.units import UNITS
from tests.bounds.worker import Worker, cost, find_times
from tests.whole import WHOLE

_TASK = "tests.bounds.documents:seconds"
_LARGE, _SMALL = 80_000, 20_000  # characters
_LONG = 1.0  # seconds of processor time
_WORSE_THAN_LINEAR = 8  # times as long for four times as much
_PART = 12  # one of so many cases is run by `make test-timed`


@pytest.fixture(scope="module")
def worker():
    with Worker() as worker:
        yield worker


def units(place):
    """Return the units that are tried in a place: all of them, or a part that differs
    between places.
    """
    return (
        UNITS
        if WHOLE
        else [u for u in UNITS if zlib.crc32(f"{place} {u}".encode()) % _PART == 0]
        or UNITS[:1]
    )


def find_slow(worker, place, tried):
    """Yield what is worse than linear, with its times."""
    for unit in tried:
        seconds = worker.ask(_TASK, place, unit, _LARGE)
        if seconds is not None and seconds <= _LONG:
            continue
        large, small = (
            partial(cost, _TASK, place, unit, _LARGE),
            partial(cost, _TASK, place, unit, _SMALL),
        )
        if times := find_times(seconds, large, small, _LONG, _WORSE_THAN_LINEAR):
            long, short = map(min, zip(*times, strict=True))
            yield f"{place}: {_LARGE} characters of {unit!r} take {long:.1f} s, {_SMALL} take {short:.2f} s"


@pytest.mark.parametrize("place", [*READ, *OTHERS, *CITED])
def test_a_text_costs_what_its_length_costs(worker, place):
    slow = list(find_slow(worker, place, units(place)))
    assert not slow, "\n".join(
        [*slow, "Make what reads it linear, or cut what it gets to a named length."]
    )


def test_the_worst_that_was_ever_found_stays_cheap(worker):
    worst = [("HTML body", "["), ("HTML body", "[a "), ("HTML shell", "["), ("HTML code", "["), ("RSS item author", "1"),
             ("RSS channel webMaster", "-"), ("RSS item dc:creator", "a."), ("RSS item itunes:author", "_")]  # fmt: skip
    assert not [
        slow for place, unit in worst for slow in find_slow(worker, place, [unit])
    ]


def test_the_test_notices_what_is_slow():
    with Worker(most_seconds=1) as worker:
        assert worker.ask("tests.bounds.test_documents:square", "a", "a", 1_000) < _LONG
        assert (
            worker.ask("tests.bounds.test_documents:endless", "a", "a", 1_000) is None
        )
        assert worker.ask("tests.bounds.test_documents:square", "a", "a", 1_000) < _LONG


def square(place, unit, size):
    """Stand for work that takes a moment."""
    return size * size / 1e12


def endless(place, unit, size):
    """Stand for work that never ends; the processor time of the process is limited."""
    import re

    return re.match("(a|a)*b", "a" * 100)
