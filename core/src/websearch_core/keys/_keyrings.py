"""Keys in the keyring of the system.

A keyring may ask its user for a password first, and a backend is code of somebody else: it is called in a thread, one
place at a time, and what it raises is named but not quoted, since the text may hold a key.
"""

from __future__ import annotations
import importlib
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from time import monotonic

from pydantic import SecretStr

from .._runtime.deadline import time_left, wait_for
from .._runtime.forks import start_over_after_fork
from .._runtime.threads import submit
from ._environ import is_loop_running

_FRESH = 60.0  # seconds for which a key is given again without reading it
_PATIENCE = 2.0  # seconds that an event loop waits


@dataclass(frozen=True)
class Place:
    """Where a key is."""

    service: str
    name: str

    def fetch(self) -> SecretStr | None:
        """Return the key that is there now, however long that takes."""
        key = importlib.import_module("keyring").get_password(self.service, self.name)
        return None if key is None else SecretStr(key)


class Keyrings:
    """Read keys from keyrings, and keep each for a minute."""

    def __init__(self) -> None:
        self.start_over()
        start_over_after_fork(self)

    def start_over(self) -> None:
        """Forget everything: a forked process does not have the threads that read."""
        self._lock = threading.Lock()
        self._reads: dict[Place, tuple[float, Future[SecretStr | None]]] = {}

    def read(self, place: Place) -> SecretStr | None:
        """Return the key at *place*, or None; raise `TimedOut`, or whatever the keyring raises."""
        with self._lock:
            began, reading = self._reads.get(place, (0.0, None))
            if reading is None or (reading.done() and not _is_fresh(began, reading)):
                reading = submit(place.fetch)
                self._reads[place] = monotonic(), reading
        left = min(time_left(), _PATIENCE if is_loop_running() else threading.TIMEOUT_MAX)
        return wait_for(reading, left, "the keyring has not answered: it may be locked")


def _is_fresh(began: float, reading: Future[SecretStr | None]) -> bool:
    return reading.exception() is None and reading.result() is not None and monotonic() - began < _FRESH


keyrings = Keyrings()
