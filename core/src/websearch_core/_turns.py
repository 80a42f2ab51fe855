"""
Share places among the clients of a process, so that one that asks for many does not hold up the others.

A client is a `websearch_core.client.WebSearch`, or one of its tenants, as named by `websearch_core.layers.charge_to`.
Threads, look-ups of names and pages that are being parsed are shared by one rule: clients that wait take turns, and a
client takes another place only while more are free than it has. So one alone gets half of the places, two get a third
each, and one that has none gets the next free one. Nothing is kept for a client that neither waits nor has a place.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Hashable
from contextvars import ContextVar
from math import inf
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)

_web: ContextVar[Hashable] = ContextVar("websearch_web", default=None)
_tenant: ContextVar[str] = ContextVar("websearch_tenant", default="")


class web_scope:  # noqa: N801 - a block, which every call enters: a generator would take longer
    """Say in this block whose calls these are: what identifies the `WebSearch`."""

    __slots__ = "_token", "_web"

    def __init__(self, web: Hashable) -> None:
        self._web = web

    def __enter__(self) -> None:
        self._token = _web.set(self._web)

    def __exit__(self, *_: object) -> None:
        _web.reset(self._token)


class tenant_scope:  # noqa: N801 - like `web_scope`
    """Say in this block for which of its tenants it is called."""

    __slots__ = "_tenant", "_token"

    def __init__(self, tenant: str) -> None:
        self._tenant = tenant

    def __enter__(self) -> None:
        self._token = _tenant.set(self._tenant)

    def __exit__(self, *_: object) -> None:
        _tenant.reset(self._token)


def current_client() -> Hashable:
    """Return whose call this is."""
    return _web.get(), _tenant.get()


class Turns(Generic[T]):
    """
    A number of places, and what waits for them. Whoever uses it holds a lock.

    Args:
        places: How many there are.
        each: Maximum number for one client, besides the rule above.
        kept: How many are only for clients that have none: they do not count as free for the others.

    """

    def __init__(self, places: int, *, each: float = inf, kept: int = 0) -> None:
        self._places, self._each, self._kept = places, each, kept
        # Of each client what waits, in order, with the maximum that it allows; the client whose turn it is first.
        self._waiting: dict[Hashable, OrderedDict[T, float]] = {}
        self._taken: Counter[Hashable] = Counter()
        self._free = places

    def grow(self, places: int) -> None:
        """Have this many places, if there are fewer."""
        self._free += max(0, places - self._places)
        self._places = max(places, self._places)

    def put(self, client: Hashable, one: T, most: float = inf) -> None:
        """Let *one* of a client wait for a place; it gets none while the client has *most*."""
        self._waiting.setdefault(client, OrderedDict())[one] = most

    def drop(self, client: Hashable, one: T) -> None:
        """Let it wait no longer, if it still does."""
        line = self._waiting.get(client, OrderedDict())
        line.pop(one, None)
        if not line:
            self._waiting.pop(client, None)

    def clear(self) -> list[T]:
        """Let nothing wait any longer; return what did."""
        left = [one for line in self._waiting.values() for one in line]
        self._waiting.clear()
        return left

    def take(self) -> tuple[Hashable, T] | None:
        """Give a place to what is next, and return it with its client; None if nothing may have one now."""
        client = self._find_next()
        if client is None:
            return None
        line = self._waiting.pop(client)
        one, _ = line.popitem(last=False)
        if line:
            self._waiting[client] = line  # as the last
        self._taken[client] += 1
        self._free -= 1
        return client, one

    def give_back(self, client: Hashable) -> None:
        """Free a place of a client."""
        self._free += 1
        self._taken[client] -= 1
        if not self._taken[client]:
            del self._taken[client]

    def can_take(self) -> bool:
        """Return whether `take` would return something."""
        return self._find_next() is not None

    def count_waiting(self, client: Hashable) -> int:
        """Return how much of a client waits."""
        return len(self._waiting.get(client, ()))

    def _find_next(self) -> Hashable | None:
        if not self._free:
            return None
        most = min(self._each, self._free - self._kept)
        for client, line in self._waiting.items():
            if self._taken[client] < max(1, min(most, next(iter(line.values())))):
                return client
        return None
