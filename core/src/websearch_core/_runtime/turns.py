"""Share slots among the clients of a process, so that one that asks for many does not
hold up the others.

A client is a `websearch_core.client.WebSearch`, or one of its tenants, as named by
`websearch_core.layers.charge_to`. Threads, look-ups of names and pages that are being
parsed are shared by one rule: clients that wait take turns, and a client takes another
slot only while more are free than it has. So of n clients, each holds at most 1/(n+1)
of the slots, and one that has none gets the next free one. Nothing is kept for a client
that neither waits nor has a slot. The requests to a service or host
(`websearch_core.layers.Throttle`) take turns, too, without that limit: one client alone
may use all that the service allows.
"""

from __future__ import annotations
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import partial
from itertools import chain, islice
from math import inf
from typing import Generic, TypeAlias, TypeVar

from ..errors import TimedOut
from .forks import Restartable
from .interrupts import releasing, wait_in_steps

T = TypeVar("T", bound=Hashable)
R = TypeVar("R")
_Turn: TypeAlias = threading.Lock  # locked from queuing until the turn comes


class Turns(Generic[T]):
    """A number of slots, and what waits for them. Its users hold a lock.

    An interrupt can end any of these methods half-way. So they keep no counts, and each
    can be called again: it then does what is left.

    *each* is the maximum for one client, besides the rule above. Of the slots,
    *reserve* are only for clients that have none: they do not count as free for the
    others.
    """

    def __init__(self, slots: int, *, each: float = inf, reserve: int = 0) -> None:
        self._slots = slots
        self._each = each
        self._reserve = reserve
        # Of each client what waits, in order, with the maximum that it allows; the
        # client whose turn it is first.
        self.waiting: OrderedDict[Hashable, OrderedDict[T, float]] = OrderedDict()
        self._taken: dict[Hashable, set[T]] = {}  # of each client
        self.held: set[T] = set()  # of all clients

    def grow(self, slots: int) -> None:
        """Have this many slots, if there are fewer."""
        self._slots = max(slots, self._slots)

    def put(self, client: Hashable, turn: T, limit: float = inf) -> None:
        """Let a *turn* of a client wait for a slot; it gets none while the client has
        *limit*.
        """
        self.waiting.setdefault(client, OrderedDict())[turn] = limit

    def drop(self, client: Hashable, turn: T) -> None:
        """Let it wait no longer, if it still does."""
        line = self.waiting.get(client)
        if line is not None:
            line.pop(turn, None)
            if not line:
                self.waiting.pop(client, None)

    def clear(self) -> list[T]:
        """Let nothing wait any longer; return what did."""
        turns = list(chain.from_iterable(self.waiting.values()))
        self.waiting.clear()
        return turns

    def take(self) -> tuple[Hashable, T] | None:
        """Give a slot to what is next, and return it with its client; None if nothing
        may have one now.
        """
        client = self._find_next()
        if client is None:
            return None
        line = self.waiting[client]
        turn = next(iter(line))
        self.give(client, turn)
        return client, turn

    def give(self, client: Hashable, turn: T) -> None:
        """Give a slot to a *turn* of a client, whose next one comes after those of the
        others.
        """
        self.held.add(turn)  # first: what is held is never given to somebody else
        self._taken.setdefault(client, set()).add(turn)
        if client in self.waiting:
            self.waiting.move_to_end(client)
            self.drop(client, turn)

    def count_ahead(
        self, client: Hashable, turn: T, counts: Callable[[T], bool]
    ) -> int:
        """Return how much of what *counts* comes before a *turn* of a client."""
        turns = 0
        for earlier in self.waiting[client]:
            if earlier is turn:
                break
            turns += counts(earlier)
        ahead = turns
        is_before = 1
        for other, line in self.waiting.items():
            if other == client:
                is_before = 0
            else:  # in each round, those before it in line have had one turn more
                ahead += sum(1 for _ in islice(filter(counts, line), turns + is_before))
        return ahead

    def take_at_once(self, client: Hashable, turn: T, limit: float = inf) -> bool:
        """Give a slot to a *turn* of a client and return True, if nothing waits and it
        may have one now.
        """
        free = self._slots - len(self.held)
        if self.waiting or free <= 0:
            return False
        if not self._may_take(client, limit, free):
            return False
        self.give(client, turn)
        return True

    def give_back(self, client: Hashable, turn: T) -> None:
        """Free the slot of a *turn* of a client, if it has one."""
        self.held.discard(turn)
        taken = self._taken.get(client)
        if taken is not None:
            taken.discard(turn)
            if not taken:
                self._taken.pop(client, None)

    def can_take(self) -> bool:
        """Return whether `take` would return something."""
        return self._find_next() is not None

    def count_waiting(self, client: Hashable) -> int:
        """Return how much of a client waits."""
        return len(self.waiting.get(client, ()))

    def _find_next(self) -> Hashable | None:
        free = self._slots - len(self.held)
        if free <= 0:
            return None
        for client, line in self.waiting.items():
            if line and self._may_take(client, next(iter(line.values())), free):
                return client
        return None

    def _may_take(self, client: Hashable, limit: float, free: int) -> bool:
        share = min(limit, self._each, free - self._reserve)
        return len(self._taken.get(client, ())) < max(1, share)


class Slots(Restartable):
    """A number of slots that threads hold while they work."""

    def __init__(self, slots: int = 0) -> None:
        self._slots = slots
        super().__init__()

    def start_over(self) -> None:
        """Free all slots: in a forked process, nobody waits for one or holds one."""
        self._lock = threading.Lock()
        self._turns: Turns[_Turn] = Turns(self._slots)

    def grow(self, slots: int) -> None:
        """Have this many slots, if there are fewer."""
        with self._lock:
            self._turns.grow(slots)

    @property
    def waiting(self) -> int:
        """How many wait for a slot."""
        with self._lock:
            return sum(map(len, self._turns.waiting.values()))

    @property
    def held(self) -> int:
        """How many have one."""
        return len(self._turns.held)

    def hold(
        self,
        client: Hashable,
        work: Callable[[], R],
        seconds: float | None = None,
        *,
        limit: float = inf,
    ) -> R:
        """Wait for a slot, in turn with the other clients, and hold it for as long as
        *work* takes.

        After *seconds* without a slot, raise `TimedOut`. *limit* bounds the slots that
        this client may have for that.
        """
        turn = threading.Lock()
        release = releasing(partial(self._leave, client, turn))
        try:
            self._queue(client, turn, limit)
            if turn.locked() and not wait_in_steps(
                lambda step: turn.acquire(timeout=step), seconds
            ):
                raise TimedOut(
                    "too much is under way: no turn came within the time allowed"
                )
            return work()
        finally:
            release.close()

    def _queue(self, client: Hashable, turn: _Turn, limit: float) -> None:
        with self._lock:
            if not self._turns.take_at_once(client, turn, limit):
                turn.acquire()
                self._turns.put(client, turn, limit)
                self._admit()

    def _leave(self, client: Hashable, turn: _Turn) -> None:
        with self._lock:
            self._turns.drop(client, turn)
            self._turns.give_back(client, turn)
            if self._turns.waiting:
                self._admit()

    def _admit(self) -> None:
        """Wake those who get a slot; call with the lock held."""
        try:
            following = self._turns.take()
            while following is not None:
                _wake(following[1])
                following = self._turns.take()
        except BaseException:  # interrupted: somebody may have a slot and not know it
            for turn in self._turns.held:
                _wake(turn)
            raise


def _wake(turn: _Turn) -> None:
    if turn.locked():  # else it was woken before an interrupt
        turn.release()
