"""Keep for a while what a conversation was given, so that it can read on in a page, or
ask again, without a request.

It stays in this process and is given to no other conversation. So it may also hold what
a site lets nobody store.
"""

from __future__ import annotations
import sys
import threading
import time
from collections.abc import Hashable, Iterator
from typing import Generic, NamedTuple, TypeVar

from ..models import Page, SearchResponse

_T = TypeVar("_T")

_MAX_CONVERSATIONS = 1_000
_MAX_KEPT = 20  # pages of a conversation, and as many searches; the oldest go first
_MAX_BYTES = 4 * 2**20  # of a conversation
_MAX_TOTAL = 64 * 2**20  # bytes of all of them
_MAX_SECONDS = 900.0
_SWEEP = 60.0  # seconds between looks for what is too old


class Conversations(Generic[_T]):
    """Keeps something for each conversation, up to 1,000 of them. Not safe for threads
    on its own.

    Of more, the tenant who has most of them loses the one that it used least recently:
    a tenant with many conversations costs another none. The tenant is what comes first
    in a conversation that is a tuple.
    """

    def __init__(self) -> None:
        self._by_tenant: dict[Hashable, dict[Hashable, _T]] = {}
        self._count = 0

    def __iter__(self) -> Iterator[_T]:
        return (kept for own in self._by_tenant.values() for kept in own.values())

    def get(self, conversation: Hashable) -> _T | None:
        return self._by_tenant.get(_find_tenant(conversation), {}).get(conversation)

    def keep(self, conversation: Hashable, kept: _T) -> _T | None:
        """Keep something for a conversation; return what was dropped for it."""
        tenant = _find_tenant(conversation)
        # what is added again is at the end: used last
        own = self._by_tenant.pop(tenant, {})
        self._count += conversation not in own
        own.pop(conversation, None)
        own[conversation] = kept
        self._by_tenant[tenant] = own
        return self.drop() if self._count > _MAX_CONVERSATIONS else None

    def drop(self) -> _T:
        """Drop the conversation that the tenant who has most used least recently, and
        return what was kept for it.
        """
        most = max(self._by_tenant, key=lambda name: len(self._by_tenant[name]))
        dropped = self._by_tenant[most].pop(next(iter(self._by_tenant[most])))
        self._count -= 1
        if not self._by_tenant[most]:
            del self._by_tenant[most]
        return dropped


def _find_tenant(conversation: Hashable) -> Hashable:
    """Return the tenant of a conversation: its first part, else the user, but never the
    thread.
    """
    parts = conversation[:-1] if isinstance(conversation, tuple) else ()
    return next((part for part in parts if part is not None), None)


class Kept(NamedTuple):
    """What a conversation was given."""

    answer: Page | SearchResponse | None  # None for one that must not be kept
    at: float  # when, as `time.monotonic` says it
    size: int  # its bytes, more or less

    @property
    def age(self) -> float:
        """Return how old it is, in seconds."""
        return time.monotonic() - self.at


class Memory:
    """What all conversations were given. A copy starts empty: it may hold what only one
    user may read.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: Conversations[dict[Hashable, Kept]] = Conversations()
        self._size = 0
        self._swept = time.monotonic()

    def __reduce__(self) -> tuple[type[Memory], tuple[()]]:
        return Memory, ()

    def find(self, conversation: Hashable, key: Hashable) -> Kept | None:
        """Return what is kept under *key*, if it is not too old."""
        with self._lock:
            kept = (self._kept.get(conversation) or {}).get(key)
        return kept if kept and kept.age < _MAX_SECONDS else None

    def keep(
        self,
        conversation: Hashable,
        key: Hashable,
        answer: Page | SearchResponse | None,
    ) -> None:
        """Keep *answer* under *key*; it must not be larger than all that a conversation
        may keep.
        """
        new = Kept(answer, time.monotonic(), _measure(answer))
        if new.size > _MAX_BYTES:
            return
        with self._lock:
            own = self._kept.get(conversation) or {}
            for dropped in (self._kept.keep(conversation, own) or {}).values():
                self._size -= dropped.size
            self._forget(own, key)
            own[key] = new
            self._size += new.size
            alike = [
                name for name, one in own.items() if type(one.answer) is type(answer)
            ]
            for name in alike[:-_MAX_KEPT]:
                self._forget(own, name)
            while sum(one.size for one in own.values()) > _MAX_BYTES:
                self._forget(own, next(iter(own)))
            if new.at - self._swept > _SWEEP:
                self._sweep(new.at)
            while self._size > _MAX_TOTAL:
                self._size -= sum(one.size for one in self._kept.drop().values())

    def _sweep(self, now: float) -> None:
        self._swept = now
        for own in self._kept:
            for name in [name for name, one in own.items() if one.age >= _MAX_SECONDS]:
                self._forget(own, name)

    def _forget(self, own: dict[Hashable, Kept], key: Hashable) -> None:
        if (dropped := own.pop(key, None)) is not None:
            self._size -= dropped.size


class Recall(NamedTuple):
    """What is kept for one conversation: what `websearch_core.client` looks into before
    it sends anything.
    """

    memory: Memory
    conversation: Hashable
    gives: bool = True  # else it only keeps

    def find(self, key: Hashable) -> Kept | None:
        return self.memory.find(self.conversation, key) if self.gives else None

    def keep(self, key: Hashable, answer: Page | SearchResponse | None) -> None:
        self.memory.keep(self.conversation, key, answer)


def _measure(answer: Page | SearchResponse | None) -> int:
    """Return about how many bytes an answer takes: those of its long texts, and some
    for each part.
    """
    if answer is None:
        return 0
    if isinstance(answer, SearchResponse):
        texts = [
            text
            for one in answer.results
            for text in (one.url, one.title, one.snippet, one.content or "")
        ]
        return sum(map(sys.getsizeof, texts)) + 1_000 * (1 + len(answer.results))
    return (
        sum(
            map(
                sys.getsizeof,
                (answer.content, answer.rest, *answer.links, *answer.files.values()),
            )
        )
        + 1_000
    )
