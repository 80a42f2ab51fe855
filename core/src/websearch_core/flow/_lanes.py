"""Take turns among hosts, so that a slow one does not hold up the pages of the others."""

from __future__ import annotations
import threading
from collections import Counter, deque
from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate
from math import inf
from time import monotonic
from typing import Generic, TypeVar

from .._runtime.bugs import as_error
from .._runtime.deadline import time_left
from .._runtime.scope import Deadline, Delay, current_call, scope
from ..errors import RateLimited, TimedOut, Unavailable, WebSearchError
from . import Flow, Sleep

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

_STEP = 0.25  # seconds; whoever waits longer looks again, since another host may have become free
_AHEAD = 8  # items that are known beyond those under way, so that nobody waits for the next
_MOST_WAITING = 16  # items for each place: few hosts may have taken all turns, and the next ones come later
_SILENCE = {None, 429, 503}  # statuses of failures that say nothing about a page, only about its host


class Lanes(Generic[K, T]):
    """What waits and is under way, by host. Flows that `work` returns, in threads or tasks, do it in turn.

    The time of each item begins when it is sent: what it waits for its turn in a `Throttle` is time of the whole list.
    What that held back because its host is too slow for the time of one item begins again when the host is ready, if
    there is time. Until then, the host takes no place.

    Args:
        do: Returns the flow for up to *size* items of one host, which returns their answers in order.
        limit: How many such flows run at a time.
        host_limit: How many of them are for one host.
        size: Items are kept until there are so many of a host, unless no more will come.
        give_up_after: How many items of a host in a row may get no answer; then the others of this host get an error
            without being sent. Until a host has answered it has one place, and one that did not answer comes after all
            others, which keep half of the places. None never gives up, and treats all hosts alike.
    """

    def __init__(
        self,
        do: Callable[[list[K]], Flow[list[T | WebSearchError]]],
        limit: int,
        host_limit: int,
        *,
        size: int = 1,
        give_up_after: int | None = None,
    ) -> None:
        self.done: deque[tuple[K, T | WebSearchError]] = deque()
        self.most_done = inf  # then nothing begins until some of it was taken
        self.notify: Callable[[], object] = bool  # called, in the thread or task of a worker, when something is done
        self.host_limit = host_limit
        self._do, self._limit, self._size, self._give_up_after = do, limit, size, give_up_after
        self._waiting: dict[str, deque[K]] = {}
        self._count = 0  # of what waits
        self._is_whole = False  # whether nothing more is to come now
        self._ready: dict[str, None] = {}  # hosts with something waiting and room for it, in order
        self._late: dict[str, None] = {}  # the same, of those that did not answer the last time
        self._under_way: Counter[str] = Counter()
        self._rests: dict[str, float] = {}  # the hosts that rest, and when that ends
        self._failures: dict[str, tuple[int, str]] = {}  # of hosts in a row: how many, and the code of the last
        self._answered: set[str] = set()  # hosts with something waiting or under way that have answered
        self._workers = 0
        self._lock = threading.Lock()

    @property
    def hosts(self) -> int:
        """How many hosts have something waiting."""
        return len(self._waiting)

    @property
    def wants_more(self) -> bool:
        """Whether another item would be done soon, as far as its host is another one."""
        if self._size > 1:
            return self._count < 2 * self._size
        with self._lock:
            soon = len(self._ready) + self._under_way.total()
            return soon < self._limit + _AHEAD and self._count < self._limit * _MOST_WAITING

    def add(self, item: K, host: str) -> None:
        """Let *item* wait for its turn; one of a host that was given up is done at once."""
        with self._lock:
            if self._is_given_up(host):
                self.done.append((item, self._refuse(host)))
                return
            self._waiting.setdefault(host, deque()).append(item)
            self._count += 1
            self._is_whole = False
            if host not in self._rests:
                self._admit(host)

    def complete(self) -> None:
        """Say that nothing more comes now: what waits for more of its host does not wait longer."""
        with self._lock:
            self._is_whole = True
            for host in self._waiting.keys() - self._rests.keys():
                self._admit(host)

    def clear(self) -> None:
        """Let nothing wait any longer."""
        with self._lock:
            for kept in (self._waiting, self._ready, self._late, self._rests):
                kept.clear()
            self._count = 0

    def hire(self) -> bool:
        """Return whether another worker has something to do; it counts as one from now on."""
        with self._lock:
            free = self._workers - self._under_way.total()
            if self._workers >= self._limit or len(self.done) >= self.most_done:
                return False
            turns = (min(len(self._waiting[host]), self._room(host)) for host in self._find_ready())
            if any(total > free for total in accumulate(turns, initial=len(self._rests))):
                self._workers += 1
                return True
            return False

    def work(self) -> Flow[None]:
        """Do what there is until nothing is left that may be done now."""
        while (turn := self._take(time_left())) is not None:
            if isinstance(turn, float):
                yield Sleep(min(turn, time_left()))
                continue
            host, items = turn
            rest, end = 0.0, current_call().end
            answers: list[T | WebSearchError] = []
            try:
                with scope(deadline=Deadline(end), delay=Delay(end)):
                    answers = yield from self._do(items)
            except WebSearchError as error:
                answers = [error] * len(items)
                if isinstance(error, RateLimited) and error.status is None:  # nothing was sent: it begins again then
                    rest = error.retry_after or 0.0
            except Exception as bug:  # noqa: BLE001 - logged, and returned as an error
                answers = [as_error(bug, "one of several")] * len(items)
            finally:
                waits = rest <= time_left() and current_call().patience.allows(rest)
                self._leave(host, items, answers, rest if waits else 0.0)
                self.notify()
            if any(isinstance(answer, WebSearchError) for answer in answers):
                yield Sleep(0)  # many that fail at once must not occupy an event loop

    def _take(self, patience: float) -> tuple[str, list[K]] | float | None:
        """Return what to do next with its host, the seconds after which to look again, or None.

        None may also mean that every host with something waiting has as much under way as it may: those who are at it
        do the rest. A rest that is longer than *patience* is not waited for.
        """
        with self._lock:
            now = monotonic()
            for host in [host for host, end in self._rests.items() if not now < end <= now + patience]:
                del self._rests[host]
                self._admit(host)
            ready = self._find_ready()
            if not ready and self._rests:
                return min(min(self._rests.values()) - now, _STEP)
            if not ready or len(self.done) >= self.most_done:
                self._workers -= 1
                return None
            host = next(iter(ready))
            del ready[host]
            waiting = self._waiting[host]
            items = [waiting.popleft() for _ in range(min(self._size, len(waiting)))]
            self._count -= len(items)
            self._under_way[host] += 1
            self._admit(host)  # again, as the last
            return host, items

    def _leave(self, host: str, items: Sequence[K], answers: Sequence[T | WebSearchError], rest: float) -> None:
        """Say that *items* have been done; or, with a *rest* in seconds, that they have to be done again after that."""
        with self._lock:
            self._under_way[host] -= 1
            if rest:
                self._waiting.setdefault(host, deque()).extendleft(reversed(items))
                self._count += len(items)
                self._ready.pop(host, None)
                self._late.pop(host, None)
                self._rests[host] = max(monotonic() + rest, self._rests.get(host, 0.0))
            else:
                self.done.extend(zip(items, answers, strict=False))  # without answers, it was cut off
                for answer in answers:
                    self._judge(host, answer)
                if host not in self._rests:
                    self._admit(host)
            if not self._under_way[host]:
                del self._under_way[host]
                if not self._waiting.get(host):
                    self._waiting.pop(host, None)
                    self._answered.discard(host)

    def _judge(self, host: str, answer: T | WebSearchError) -> None:
        """Remember whether *host* answered, and give it up if it has not for too long."""
        is_silent = isinstance(answer, TimedOut | Unavailable | RateLimited) and answer.status in _SILENCE
        if self._give_up_after is None:
            return
        if not is_silent:
            self._failures.pop(host, None)
            self._answered.add(host)
            if host in self._late:
                del self._late[host]
            return
        assert isinstance(answer, WebSearchError)
        self._failures[host] = self._failures.get(host, (0, ""))[0] + 1, answer.code
        self._ready.pop(host, None)
        self._answered.discard(host)
        if self._is_given_up(host):
            left = self._waiting.pop(host, deque())
            self._count -= len(left)
            self._late.pop(host, None)
            self._rests.pop(host, None)
            self.done.extend((item, self._refuse(host)) for item in left)

    def _is_given_up(self, host: str) -> bool:
        return self._give_up_after is not None and self._failures.get(host, (0, ""))[0] >= self._give_up_after

    def _refuse(self, host: str) -> Unavailable:
        number, code = self._failures[host]
        return Unavailable(f"not requested: the last {number} pages of {host} got no answer ({code})")

    def _find_ready(self) -> dict[str, None]:
        """Return the hosts whose turn it is; those that did not answer leave half of the places to the others."""
        if self._ready or not self._late:
            return self._ready
        late = sum(number for host, number in self._under_way.items() if host in self._failures)
        return self._late if late < max(1, self._limit // 2) else self._ready

    def _room(self, host: str) -> int:
        """Return how many more items of *host* may be under way."""
        room = self.host_limit
        if self._give_up_after is not None and host not in self._answered:
            room = min(room, self._give_up_after - self._failures[host][0] if host in self._failures else 1)
        return room - self._under_way[host]

    def _admit(self, host: str) -> None:
        if len(self._waiting.get(host, ())) >= (1 if self._is_whole else self._size) and self._room(host) > 0:
            (self._late if host in self._failures else self._ready).setdefault(host)
