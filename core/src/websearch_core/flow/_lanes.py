"""Take turns among hosts, so that a slow one does not hold up the pages of the others."""

from __future__ import annotations
import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TypeVar

from .._runtime.bugs import as_error
from .._runtime.deadline import time_left
from .._runtime.scope import Deadline, Delay, current_call, scope
from ..errors import RateLimited, WebSearchError
from . import Flow, Gather, Sleep

T = TypeVar("T")

_STEP = 0.25  # seconds; a call that waits longer looks again, since another host may have become free


def gather_by_host(
    starts: Sequence[Callable[[], Flow[T]]], hosts: Sequence[str], limit: int, host_limit: int
) -> Flow[list[T | WebSearchError]]:
    """Run flows as a `Gather` does, but in turn for each host, and those of one host in order.

    The time of each begins when it is sent: what it waits for its turn in a `Throttle` is time of the whole list. What
    that held back because its host is too slow for the time of one page begins again when the host is ready, if there
    is time. Until then, the host takes no place.

    At most *limit* run at a time, and at most *host_limit* of them for one of several hosts.
    """
    lanes = _Lanes(hosts, host_limit)
    answers: dict[int, T | WebSearchError] = {}

    def work() -> Flow[None]:
        while (turn := lanes.take(time_left())) is not None:
            if isinstance(turn, float):
                yield Sleep(min(turn, time_left()))
                continue
            rest, end = 0.0, current_call().end
            try:
                with scope(deadline=Deadline(end), delay=Delay(end)):
                    answers[turn] = yield from starts[turn]()
            except WebSearchError as error:
                answers[turn] = error
                if isinstance(error, RateLimited) and error.status is None:  # nothing was sent: it begins again then
                    rest = error.retry_after or 0.0
            except Exception as bug:  # noqa: BLE001 - logged, and returned as an error
                answers[turn] = as_error(bug, "one of several")
            finally:
                waits = rest <= time_left() and current_call().patience.allows(rest)
                lanes.leave(turn, rest if waits else 0.0)

    yield Gather([work() for _ in range(min(limit, len(starts)))], limit)
    return [answers[number] for number in range(len(starts))]


class _Lanes:
    """What is waiting and under way, by host."""

    def __init__(self, hosts: Sequence[str], host_limit: int) -> None:
        self._hosts = hosts
        self._waiting: dict[str, deque[int]] = {}
        for number, host in enumerate(hosts):
            self._waiting.setdefault(host, deque()).append(number)
        self._host_limit = host_limit if len(self._waiting) > 1 else len(hosts)
        self._ready = dict.fromkeys(self._waiting)  # hosts with something waiting and room for it, in order
        self._under_way: Counter[str] = Counter()
        self._rests: dict[str, float] = {}  # the hosts that rest, and when that ends
        self._lock = threading.Lock()

    def take(self, patience: float) -> int | float | None:
        """Return the number of what to do next, the seconds after which to look again, or None.

        None may also mean that every host with something waiting has as much under way as it may: those who are at it
        do the rest. A rest that is longer than *patience* is not waited for.
        """
        with self._lock:
            now = monotonic()
            for host in [host for host, end in self._rests.items() if not now < end <= now + patience]:
                del self._rests[host]
                self._admit(host)
            if not self._ready:
                return min(min(self._rests.values()) - now, _STEP) if self._rests else None
            host = next(iter(self._ready))
            del self._ready[host]
            number = self._waiting[host].popleft()
            self._under_way[host] += 1
            self._admit(host)  # again, as the last
            return number

    def leave(self, number: int, rest: float) -> None:
        """Say that something has been done; or, with a *rest* in seconds, that it has to be done again after that."""
        host = self._hosts[number]
        with self._lock:
            self._under_way[host] -= 1
            if rest:
                self._waiting[host].appendleft(number)
                self._ready.pop(host, None)
                self._rests[host] = max(monotonic() + rest, self._rests.get(host, 0.0))
            elif host not in self._rests:
                self._admit(host)

    def _admit(self, host: str) -> None:
        if self._waiting[host] and self._under_way[host] < self._host_limit:
            self._ready.setdefault(host)
