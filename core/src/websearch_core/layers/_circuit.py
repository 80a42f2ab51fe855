"""Whether a service is worth asking, judged by how the last calls ended."""

from __future__ import annotations
import random
import threading
from dataclasses import dataclass
from time import monotonic
from typing import Literal

from .._runtime.forks import start_over_after_fork

_random = random.SystemRandom()  # has no state that a fork, or a program that sets a seed, would give to others

Change = Literal["opened", "closed"]


@dataclass(frozen=True)
class Pass:
    """The permission to make a call.

    ``era`` counts how often the circuit had opened or closed when the call began; ``is_probe``: it tests the service.
    """

    era: int
    is_probe: bool


class Circuit:
    """Counts *failures* in a row. After too many it is open: calls are refused for a while, then one passes.

    If that one succeeds, the circuit closes; if it fails, the while doubles, up to *max_reset_timeout*. A random fifth
    of it keeps processes apart. Calls that began before it opened or closed count no more.
    """

    def __init__(self, failures: int, reset_timeout: float, max_reset_timeout: float) -> None:
        self._most, self._reset_timeout, self._max_reset_timeout = failures, reset_timeout, max_reset_timeout
        self._failed = 0
        self._opened = 0
        self._until = 0.0
        self._is_open = self._is_probed = False
        self._era = 0
        self._lock = threading.Lock()
        start_over_after_fork(self)

    def start_over(self) -> None:
        """Forget a call of the parent process that probes: it leaves there."""
        self._is_probed = False
        self._lock = threading.Lock()

    def enter(self) -> Pass | float:
        """Return a pass, or the seconds until it is worth asking for one again; 0 while another call probes."""
        with self._lock:
            if not self._is_open:
                return Pass(self._era, is_probe=False)
            if (left := self._until - monotonic()) > 0:
                return left
            if self._is_probed:
                return 0.0
            self._is_probed = True
            return Pass(self._era, is_probe=True)

    def leave(self, one: Pass, *, worked: bool | None, retry_after: float | None = None) -> Change | None:
        """Take the pass back, and return what changed.

        *worked* is None if the call does not show it. *retry_after* is how many seconds the service wants to rest.
        """
        with self._lock:
            if one.is_probe:
                self._is_probed = False
            if one.era != self._era or worked is None:
                return None
            if worked:
                self._failed = self._opened = 0
                was_open, self._is_open = self._is_open, False
                self._era += was_open
                return "closed" if was_open else None
            self._failed += 1
            return self._open(retry_after) if one.is_probe or self._failed >= self._most else None

    def time_left(self) -> float:
        """Return the seconds that it is still open."""
        with self._lock:
            return max(self._until - monotonic(), 0.0) if self._is_open else 0.0

    def _open(self, retry_after: float | None) -> Change:
        longest = self._max_reset_timeout
        seconds = min(self._reset_timeout * 2 ** min(self._opened, 30), longest) * _random.uniform(0.8, 1)
        self._until = monotonic() + max(seconds, min(retry_after or 0.0, longest))
        self._is_open = True
        self._opened += 1
        self._failed = 0
        self._era += 1
        return "opened"
