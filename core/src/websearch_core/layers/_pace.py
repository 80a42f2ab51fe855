"""How fast requests may follow each other: a rate, a number at a time, and pauses that the service asks for."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic
from typing import Any

from .._forks import start_over_after_fork
from .._text.rates import RateLimit

_STEP = 0.25  # seconds; whoever waits longer looks again, since somebody in front may have left
_BLINK = 0.02  # seconds; nobody knows when a request that is under way ends
_LONGEST_REST = 60.0  # seconds; then a request finds out whether the service still means it
_DAY = 86_400.0


@dataclass(eq=False)
class Ticket:
    """
    A place in the queue for one request.

    Args:
        endpoint: The URL that it goes to, without its query.

    """

    endpoint: str


class Pace:
    """
    The queue of the requests to one service, for all threads and event loops.

    Nobody sleeps in here. Whoever wants to send takes a `Ticket`, asks `wait` how long to pause until it is 0, and
    always gives the ticket back with `leave`. Requests go in the order of their tickets; one whose endpoint rests does
    not hold up the others. A copy is empty, with a lock of its own.

    Args:
        interval: Seconds between the beginnings of two requests.
        concurrent: Maximum number of requests at a time; None for any number.

    """

    def __init__(self, interval: float, concurrent: int | None) -> None:
        self._interval = interval
        self._concurrent = concurrent
        self._next = 0.0
        self._queue: list[Ticket] = []
        self._sent: set[Ticket] = set()
        self._rests: dict[str, float] = {}
        self._lock = threading.Lock()
        start_over_after_fork(self)

    def start_over(self) -> None:
        """Forget the requests of the parent process, which leave there."""
        self._queue, self._sent = [], set()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._interval, self._concurrent)

    def enter(self, endpoint: str) -> Ticket:
        """Return the last place of the queue."""
        ticket = Ticket(endpoint)
        with self._lock:
            self._queue.append(ticket)
        return ticket

    def wait(self, ticket: Ticket) -> float:
        """Return 0 if the request may be sent now, which is then counted, or else the seconds it will have to wait."""
        with self._lock:
            now = monotonic()
            rest = self._rests.get(ticket.endpoint, 0.0) - now
            if rest > 0:
                return rest
            place = self._count_ahead(ticket, now)
            due = self._next + place * self._interval - now
            if due > 0:
                return due
            if place or self._is_full():
                return _BLINK
            self._next = now + self._interval
            self._queue.remove(ticket)
            self._sent.add(ticket)
            return 0.0

    def leave(self, ticket: Ticket) -> None:
        """Give the place back: the request has ended, or was never sent."""
        with self._lock:
            if ticket in self._sent:
                self._sent.remove(ticket)
            elif ticket in self._queue:  # else it is the parent's, after a fork
                self._queue.remove(ticket)

    def learn(self, endpoint: str, limits: Iterable[RateLimit]) -> None:
        """
        Let an endpoint rest until a limit that is used up begins again.

        Limits of a day or longer are left to the service: it may sell more, and says so itself when it does not.
        """
        waits = [rest for limit in limits if limit.is_exhausted and 0 < (rest := _until_reset(limit)) < _DAY]
        if waits:
            with self._lock:
                now = monotonic()
                self._rests = {there: until for there, until in self._rests.items() if until > now}
                self._rests[endpoint] = max(self._rests.get(endpoint, 0), now + min(max(waits), _LONGEST_REST))

    def _count_ahead(self, ticket: Ticket, now: float) -> int:
        ahead = self._queue[: self._queue.index(ticket)]
        return sum(self._rests.get(other.endpoint, 0.0) <= now for other in ahead)

    def _is_full(self) -> bool:
        return self._concurrent is not None and len(self._sent) >= self._concurrent


def shorten(wait: float) -> float:
    """Return how long to sleep before asking again."""
    return min(wait, _STEP)


def _until_reset(limit: RateLimit) -> float:
    if (limit.window or 0) >= _DAY:
        return 0.0
    return (limit.window or 0.0) if limit.reset is None else limit.reset
