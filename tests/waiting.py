"""Wait for what other threads, tasks and processes do, for as long as a slow and busy
machine may take.
"""

from __future__ import annotations
import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 60.0  # seconds
_TIMES = 20  # that a busy machine may take as long as a deadline


def wait_until(condition: Callable[[], object]) -> None:
    """Wait until *condition* holds."""
    ends = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < ends, "it never happened"
        time.sleep(0.005)


async def await_until(condition: Callable[[], object]) -> None:
    """Do the same, and let the event loop run meanwhile."""
    ends = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < ends, "it never happened"
        await asyncio.sleep(0.005)


def longer_until(reached: Callable[[], object], seconds: float) -> Iterator[float]:
    """Yield a deadline in seconds, then longer ones until *reached* holds.

    For calls that must end at their deadline, but not before they got so far: on a busy
    machine, a short deadline may pass before a connection opens, and a long one would
    make the test slow on every other.
    """
    while not reached():
        assert seconds < PATIENCE, "it never got so far"
        yield seconds
        seconds *= 4


def far_from(deadline: float) -> float:
    """Return seconds that no busy machine takes to notice a *deadline*: 20 times as
    long, and 20 seconds at least.
    """
    return _TIMES * max(deadline, 1.0)


@contextmanager
def ended_by(deadline: float) -> Iterator[None]:
    """Assert that a deadline ended the block, not what hangs in there.

    The bound is far from the *deadline*, in seconds, so what hangs in the block has to do
    so for longer.
    """
    bound = far_from(deadline)
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    assert took < bound, f"it took {took:.1f} s, and the deadline was {deadline} s"
