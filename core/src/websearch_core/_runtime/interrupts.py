"""Give back what a call holds, although Ctrl-C may come at any moment.

Python raises `KeyboardInterrupt` between two instructions, also at the first one of a
function that gives something back, such as ``__exit__``. The ``close`` of a generator
that has begun is written in C: nothing comes between it and the ``except`` below. A
generator that nobody closes, because Ctrl-C came first, is closed by the collector.

For the same reason, only plain locks are entered: an interrupt can leave a `Condition`,
`Event` or `Semaphore` locked.
"""

from __future__ import annotations
from collections.abc import Callable, Generator


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


def _release(give_back: Callable[[], object]) -> Generator[None]:
    try:
        yield
    except GeneratorExit:
        try:
            give_back()
        except BaseException:
            give_back()
            raise
