"""Take turns among hosts, so that a slow one does not hold up the pages of the others."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Sequence
from typing import TypeVar

from ._bugs import as_error
from .errors import WebSearchError
from .flow import Flow, Gather

T = TypeVar("T")


def gather_by_host(
    flows: Sequence[Flow[T]], hosts: Sequence[str], limit: int, host_limit: int
) -> Flow[list[T | WebSearchError]]:
    """
    Run *flows* as a `Gather` does, but in turn for each host, and those of one host in order.

    Args:
        flows: The flows.
        hosts: The host of each.
        limit: How many to run at a time.
        host_limit: How many of them may be for one host.

    Returns:
        For each flow, in order, its result or its error.

    """
    lanes = _Lanes(hosts, host_limit)
    answers: dict[int, T | WebSearchError] = {}

    def work() -> Flow[None]:
        while (number := lanes.take()) is not None:
            try:
                answers[number] = yield from flows[number]
            except WebSearchError as error:
                answers[number] = error
            except Exception as bug:  # noqa: BLE001 - logged, and returned as an error
                answers[number] = as_error(bug, "one of several")
            finally:
                lanes.leave(number)

    yield Gather([work() for _ in range(min(limit, len(flows)))], limit)
    return [answers[number] for number in range(len(flows))]


class _Lanes:
    """What is waiting and under way, by host."""

    def __init__(self, hosts: Sequence[str], host_limit: int) -> None:
        self._hosts, self._host_limit = hosts, host_limit
        self._waiting: dict[str, deque[int]] = {}
        for number, host in enumerate(hosts):
            self._waiting.setdefault(host, deque()).append(number)
        self._ready = deque(self._waiting)  # hosts with something waiting, and room for it
        self._under_way: Counter[str] = Counter()
        self._lock = threading.Lock()

    def take(self) -> int | None:
        """
        Return the number of what to do next, or None.

        None may also mean that every host with something waiting has as much under way as it may: those who are at it
        do the rest.
        """
        with self._lock:
            if not self._ready:
                return None
            host = self._ready.popleft()
            number = self._waiting[host].popleft()
            self._under_way[host] += 1
            if self._waiting[host] and self._under_way[host] < self._host_limit:
                self._ready.append(host)
            return number

    def leave(self, number: int) -> None:
        """Say that something has been done."""
        host = self._hosts[number]
        with self._lock:
            if self._waiting[host] and self._under_way[host] == self._host_limit:
                self._ready.append(host)
            self._under_way[host] -= 1
