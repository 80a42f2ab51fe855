"""Give back what a call holds, although Ctrl-C may come at any moment.

Python raises `KeyboardInterrupt` between two instructions, also at the first one of a
function that gives something back, such as ``__exit__``. The ``close`` of a generator
that has begun is written in C: nothing comes between it and the ``except`` below. A
generator that nobody closes, because Ctrl-C came first, is closed by the collector.

For the same reason, only plain locks are entered: an interrupt can leave a `Condition`,
`Event` or `Semaphore` locked.

A signal can also come when a thread is about to wait: Python then sets a flag, and
looks at it when the wait ends. So the main thread, which alone raises
`KeyboardInterrupt`, waits in steps.
"""

from __future__ import annotations
import threading
from collections.abc import Callable, Collection, Generator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from time import monotonic
from typing import Any

WAIT_STEP = 0.5  # seconds until the main thread looks for a signal that came too early


def releasing(give_back: Callable[[], object]) -> Generator[None]:
    """Prepare to call *give_back* at ``close()`` of what this returns, and again for
    what is left if Ctrl-C interrupts it.

    Prepare before taking anything::

        release = releasing(lambda: slots.leave(one))
        try:
            slots.enter(one)
            work()
        finally:
            release.close()
    """
    release = _release(give_back)
    next(release)
    return release


def wait_in_steps(
    wait_once: Callable[[float], bool], seconds: float | None = None
) -> bool:
    """Wait so that Ctrl-C ends it at any moment; return whether it came in time.

    Args:
        wait_once: Waits for at most so many seconds, and returns whether it came; also
            if it came before, which a `Condition` alone does not know.
        seconds: The time for it; None for any.
    """
    left = threading.TIMEOUT_MAX if seconds is None else seconds
    if threading.current_thread() is not threading.main_thread():
        return wait_once(left)
    end = monotonic() + left
    while left > WAIT_STEP:
        if wait_once(WAIT_STEP):
            return True
        left = end - monotonic()
    return wait_once(max(0, left))


def wait_for_one(
    futures: Collection[Future[Any]], seconds: float | None = None
) -> bool:
    """Wait for the first outcome as `wait_in_steps` does."""

    def wait_once(step: float) -> bool:
        return bool(wait(futures, step, return_when=FIRST_COMPLETED).done)

    return wait_in_steps(wait_once, seconds)


def _release(give_back: Callable[[], object]) -> Generator[None]:
    try:
        yield
    except GeneratorExit:
        try:
            give_back()
        except BaseException:
            give_back()
            raise
