"""Places for pages that are being read, wherever that happens."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ..._forks import start_over_after_fork
from ..._turns import Turns, current_client
from ...errors import TimedOut


class Places:
    """
    As many places as a reader may use for each client, and twice as many for all clients.

    Reading takes a processor, so more would only make each page slower.

    Attributes:
        waiting: How many pages wait for a place.
        held: How many have one.

    """

    def __init__(self) -> None:
        self.start_over()
        start_over_after_fork(self)

    def start_over(self) -> None:
        """Reset: no page is waiting or being read."""
        self._lock = threading.Lock()
        self._turns: Turns[threading.Event] = Turns(0)
        self.waiting = self.held = 0

    @contextmanager
    def take(self, most: int, seconds: float) -> Iterator[None]:
        """
        Wait for a place, in turn with the other clients, and hold it in this block.

        Args:
            most: How many pages of one client may be read at a time.
            seconds: How long to wait.

        Raises:
            TimedOut: There was none within that time.

        """
        client, turn = current_client(), threading.Event()
        with self._lock:
            self._turns.grow(2 * most)
            self._turns.put(client, turn, most)
            self.waiting += 1
            self._admit()
        try:
            if not turn.wait(seconds):
                raise TimedOut("the page was not read within the time allowed")
            yield
        finally:
            with self._lock:
                if turn.is_set():
                    self._turns.give_back(client)
                    self.held -= 1
                    self._admit()
                else:
                    self._turns.drop(client, turn)
                    self.waiting -= 1

    def _admit(self) -> None:
        """Admit pages while there are places; call with the lock held."""
        while (next_one := self._turns.take()) is not None:
            self.waiting -= 1
            self.held += 1
            next_one[1].set()
