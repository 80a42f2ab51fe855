"""Something for each conversation, up to a maximum that tenants share fairly."""

from __future__ import annotations
from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

_T = TypeVar("_T")

_MAX_CONVERSATIONS = 1_000


class Conversations(Generic[_T]):
    """Keeps something for each conversation, up to 1,000 of them. Not safe for threads on its own.

    Of more, the tenant who has most of them loses the one that it used least recently: a tenant with many conversations
    costs another none. The tenant is what comes first in a conversation that is a tuple.
    """

    def __init__(self) -> None:
        self._by_tenant: dict[Hashable, dict[Hashable, _T]] = {}
        self._count = 0

    def __iter__(self) -> Iterator[_T]:
        return (kept for own in self._by_tenant.values() for kept in own.values())

    def get(self, conversation: Hashable) -> _T | None:
        """Return what is kept for a conversation."""
        return self._by_tenant.get(_find_tenant(conversation), {}).get(conversation)

    def keep(self, conversation: Hashable, kept: _T) -> _T | None:
        """Keep something for a conversation; return what was dropped for it."""
        tenant = _find_tenant(conversation)
        own = self._by_tenant.pop(tenant, {})  # what is added again is at the end: used last
        self._count += conversation not in own
        own.pop(conversation, None)
        own[conversation] = kept
        self._by_tenant[tenant] = own
        return self.drop() if self._count > _MAX_CONVERSATIONS else None

    def drop(self) -> _T:
        """Drop the conversation that the tenant who has most used least recently, and return what was kept for it."""
        most = max(self._by_tenant, key=lambda name: len(self._by_tenant[name]))
        dropped = self._by_tenant[most].pop(next(iter(self._by_tenant[most])))
        self._count -= 1
        if not self._by_tenant[most]:
            del self._by_tenant[most]
        return dropped


def _find_tenant(conversation: Hashable) -> Hashable:
    """Return the tenant of a conversation: its first part, else the user, but never the thread."""
    parts = conversation[:-1] if isinstance(conversation, tuple) else ()
    return next((part for part in parts if part is not None), None)
