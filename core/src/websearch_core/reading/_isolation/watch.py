"""Kill the reader processes whose time is up."""

from __future__ import annotations
import subprocess
import threading
import time
from math import inf
from typing import TypeAlias

from ..._runtime.forks import Restartable

_KEPT = 60.0  # seconds that the thread waits for something to watch
_Process: TypeAlias = "subprocess.Popen[bytes]"


class _Watch(Restartable):
    """A thread that watches all processes. A timer for each page would be another thread for each page."""

    def start_over(self) -> None:
        """Watch nothing: in a forked process, the thread does not exist."""
        self._lock = threading.Lock()  # always entered itself, not as a `Condition`: see `_runtime.interrupts`
        self._changed = threading.Condition(self._lock)
        self._ends: dict[_Process, float] = {}
        self._thread: threading.Thread | None = None
        self._looks_at = inf  # when the thread looks again, unless it is notified

    def begin(self, process: _Process, seconds: float) -> float:
        """Kill *process* in so many seconds, unless `end` comes before. Return when that is."""
        end = time.monotonic() + seconds
        with self._lock:
            self._ends[process] = end
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="websearch-watch", daemon=True)
                thread.start()
                self._thread = thread
            elif end < self._looks_at:
                self._changed.notify()
        return end

    def end(self, process: _Process) -> bool:
        """Watch *process* no longer. Return whether it was still watched, and is not killed."""
        with self._lock:
            return self._ends.pop(process, None) is not None

    def _run(self) -> None:
        with self._lock:
            is_needed = True
            while is_needed or self._ends:
                now = time.monotonic()
                for process in [process for process, end in self._ends.items() if end <= now]:
                    del self._ends[process]
                    process.kill()
                self._looks_at = min(self._ends.values(), default=now + _KEPT)
                is_needed = self._changed.wait(self._looks_at - now)
            self._thread = None


watch = _Watch()
