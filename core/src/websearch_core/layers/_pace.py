"""How fast requests may follow each other: a rate, a number at a time, and pauses that
the service asks for.
"""

from __future__ import annotations
import math
import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple

from .._runtime.forks import Restartable
from .._runtime.scope import current_client
from .._runtime.turns import Turns
from .._text.rates import RateLimit

# seconds; a request that waits longer asks again, since somebody in front may have left
STEP = 0.25
_BLINK = 0.02  # seconds; nobody knows when a request that is under way ends
# seconds; then a request finds out whether the service still means it
_LONGEST_COOLDOWN = 60.0
# seconds; also the cooldown of a service that refuses a request and does not say for
# how long
_LATE = 1.0
_LEAST_STEP = 1 / 16  # of a request that one answer makes welcome, after some refusals
DAY = 86_400.0


@dataclass(eq=False)
class Ticket:
    """The ticket of one request in the queue."""

    # what it goes to: a limit that a response states is one for this endpoint
    endpoint: str
    longest: float = 60.0  # seconds after which the request has ended, whatever happens
    client: Hashable = field(default_factory=current_client)
    has_left: bool = False


class PaceLimits(NamedTuple):
    """Seconds between requests, how many run at a time, and how many begin at once."""

    interval: float
    concurrent: int | None
    burst: int


class Pace(Restartable):
    """The queue of the requests to one service or host, for all threads and event
    loops.

    Nobody sleeps in here. A call enters with a `Ticket`, asks `wait` how long to pause
    until it is 0, and always gives the ticket back with `leave`. Clients take turns,
    and the requests of each go in the order of their tickets; one whose endpoint has a
    cooldown does not hold up the others.

    Two requests begin *interval* seconds apart, but *burst* may begin at once after a
    long pause. At most *concurrent* run at a time; a *slow_start* finds out how many
    are welcome, beginning with one.
    """

    is_shared = False  # with other processes: then `wait` blocks for a moment

    def __init__(
        self,
        interval: float,
        concurrent: int | None,
        burst: int = 1,
        *,
        slow_start: bool = False,
    ) -> None:
        self._welcome = 1.0 if slow_start else None
        self._step = 1.0
        # requests that the service says it would still take
        self._left: float = math.inf
        self._sent = 0.0
        self._limits = PaceLimits(interval, concurrent, burst)
        self._own_limits = self._limits  # before a host asked for a slower pace
        self._next = 0.0
        self._cooldowns: dict[str, float] = {}
        super().__init__()

    def start_over(self) -> None:
        """Forget the requests of the parent process, which leave there."""
        # this class decides itself when a slot is free
        self._turns: Turns[Ticket] = Turns(0)
        self._lock = threading.Lock()

    @property
    def is_idle(self) -> bool:
        """Whether a new queue would be the same as this one."""
        with self._lock:
            now = monotonic()
            is_cooling_down = any(until > now for until in self._cooldowns.values())
            return not (
                self._turns.waiting
                or self._turns.held
                or is_cooling_down
                or self._next > now
            )

    def enter(self, ticket: Ticket) -> None:
        """Queue behind the other requests of this client."""
        with self._lock:
            self._turns.put(ticket.client, ticket)

    def slow_down(self, interval: float) -> None:
        """Keep at least *interval* seconds between the beginnings of two requests, and
        send one at a time.
        """
        with self._lock:
            limits = self._own_limits
            if interval:
                limits = PaceLimits(max(interval, limits.interval), 1, 1)
            self._limits = limits

    def find_cooldown(self, endpoint: str) -> float:
        """Return the seconds for which *endpoint* still wants no requests."""
        with self._lock:
            return self._find_cooldown(endpoint, monotonic())

    def wait(self, ticket: Ticket) -> float:
        """Return 0 if the request may be sent now, which is then counted, or else the
        seconds it will have to wait.
        """
        with self._lock:
            if ticket.has_left:
                return 0.0
            now = monotonic()
            cooldown = self._find_cooldown(ticket.endpoint, now)
            if cooldown:
                return cooldown
            ahead = self._count_ahead(ticket, now)
            behind_next = ahead + 1 - self._limits.burst
            due = self._next + behind_next * self._limits.interval - now
            if due > 0:
                return due
            if ahead or self._is_full(now):
                return _BLINK
            self._send(ticket)
            return 0.0

    def leave(self, ticket: Ticket) -> None:
        """Give the slot back: the request has ended, or was never sent. Idempotent."""
        with self._lock:
            ticket.has_left = True
            self._turns.drop(ticket.client, ticket)
            self._turns.give_back(ticket.client, ticket)

    def learn(
        self,
        endpoint: str,
        limits: Sequence[RateLimit],
        *,
        below: float = DAY,
        was_refused: bool = False,
    ) -> None:
        """Learn from the answer to a request that has left: send its endpoint nothing
        until a limit that is used up begins again, and let more requests begin at a
        time, or fewer if it *was_refused*.

        Limits of a day or longer (*below*) are left to the service: it may sell more,
        and says so if not.
        """
        has_slow_start = self._welcome is not None
        if has_slow_start:
            self._left = _count_left(limits, below)
            self._adapt(was_refused)
        waits: list[float] = []
        says_nothing = was_refused and not limits
        if says_nothing and has_slow_start:
            waits.append(_LATE)
        for limit in limits:
            wait = _until_reset(limit, below)
            if limit.is_exhausted and 0 < wait < below:
                waits.append(wait)
        if waits:
            self._start_cooldown(endpoint, min(max(waits), _LONGEST_COOLDOWN))

    def _adapt(self, was_refused: bool) -> None:
        """Change how many requests are welcome: half as many, or some more."""
        assert self._welcome is not None
        if was_refused:
            self._welcome = max(1.0, self._welcome / 2)
            self._step = max(self._step / 2, _LEAST_STEP)
        elif self._turns.waiting:
            self._welcome += self._step

    def _start_cooldown(self, endpoint: str, seconds: float) -> None:
        with self._lock:
            now = monotonic()
            cooldowns = self._cooldowns.items()
            self._cooldowns = {
                place: until for place, until in cooldowns if until > now
            }
            until = max(self._cooldowns.get(endpoint, 0), now + seconds)
            self._cooldowns[endpoint] = until

    def _send(self, ticket: Ticket) -> None:
        self._sent = monotonic()
        self._next = max(self._next, self._sent) + self._limits.interval
        self._turns.give(ticket.client, ticket)

    def _is_full(self, now: float) -> bool:
        concurrent = self._limits.concurrent
        if concurrent is not None and len(self._turns.held) >= concurrent:
            return True
        return self._is_held_back(now)

    def _is_held_back(self, now: float) -> bool:
        """Return whether an answer should come first, which is not waited for if it is
        late.
        """
        if self._welcome is None:
            return False
        welcome = max(1, min(int(self._welcome), self._left))
        return len(self._turns.held) >= welcome and now - self._sent < _LATE

    def _find_cooldown(self, endpoint: str, now: float) -> float:
        return max(0.0, self._cooldowns.get(endpoint, 0.0) - now)

    def _count_ahead(self, ticket: Ticket, now: float) -> int:
        def may_be_sent(other: Ticket) -> bool:
            return not self._find_cooldown(other.endpoint, now)

        return self._turns.count_ahead(ticket.client, ticket, may_be_sent)


def _count_left(limits: Sequence[RateLimit], below: float) -> float:
    """Return how many requests are left in windows shorter than *below*."""
    left = math.inf
    for limit in limits:
        if limit.limit == 0 or limit.remaining is None:
            continue
        if (limit.window or 0) < below:
            left = min(left, limit.remaining)
    return left


def _until_reset(limit: RateLimit, below: float) -> float:
    if (limit.window or 0) >= below:
        return 0.0
    if limit.reset is None:
        return limit.window or 0.0
    return limit.reset
