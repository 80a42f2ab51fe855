"""Keep the answers of a conversation for a while, so that it can read on in a page, or
ask again, without a request.

They stay in this process, and no other conversation gets them. So they may also be what
a site lets nobody store.
"""

from __future__ import annotations
import sys
import threading
import time
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from ..models import Page, SearchResponse

_T = TypeVar("_T")

_MAX_CONVERSATIONS = 1_000
_MAX_ANSWERS = 20  # pages of a conversation, and as many searches; the oldest go first
_MAX_BYTES = 4 * 2**20  # of a conversation
_MAX_TOTAL = 64 * 2**20  # bytes of all of them
_MAX_SECONDS = 900.0
_SWEEP = 60.0  # seconds between looks for what is too old
_PART = 1_000  # bytes of a page or a result, beside its long texts


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
        for entries in self._by_tenant.values():
            yield from entries.values()

    def get(self, conversation: Hashable) -> _T | None:
        tenant = _find_tenant(conversation)
        entries = self._by_tenant.get(tenant, {})
        return entries.get(conversation)

    def keep(self, conversation: Hashable, value: _T) -> _T | None:
        """Keep a value for a conversation; return the value that went for it."""
        tenant = _find_tenant(conversation)
        # what is added again is at the end: used last
        entries = self._by_tenant.pop(tenant, {})
        if conversation not in entries:
            self._count += 1
        entries.pop(conversation, None)
        entries[conversation] = value
        self._by_tenant[tenant] = entries
        if self._count <= _MAX_CONVERSATIONS:
            return None
        return self.drop()

    def drop(self) -> _T:
        """Drop the conversation that the tenant who has most used least recently, and
        return its value.
        """
        largest = max(self._by_tenant, key=lambda name: len(self._by_tenant[name]))
        entries = self._by_tenant[largest]
        oldest = next(iter(entries))
        value = entries.pop(oldest)
        self._count -= 1
        if not entries:
            del self._by_tenant[largest]
        return value


def _find_tenant(conversation: Hashable) -> Hashable:
    """Return the tenant of a conversation: its first part, else the user, but never the
    thread.
    """
    if not isinstance(conversation, tuple):
        return None
    for part in conversation[:-1]:
        if part is not None:
            return part  # type: ignore[no-any-return]
    return None


class Entry(NamedTuple):
    """An answer that a conversation has had."""

    answer: Page | SearchResponse | None  # None for one that must not be kept
    at: float  # when, as `time.monotonic` says it
    size: int  # its bytes, more or less

    @property
    def age(self) -> float:
        """Return how old it is, in seconds."""
        return time.monotonic() - self.at


class Memory:
    """The answers of all conversations. A copy starts empty: it may hold what only one
    user may read.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: Conversations[dict[Hashable, Entry]] = Conversations()
        self._size = 0  # bytes of all entries
        self._last_sweep = time.monotonic()

    def __reduce__(self) -> tuple[type[Memory], tuple[()]]:
        return Memory, ()

    def find(self, conversation: Hashable, key: Hashable) -> Entry | None:
        """Return the entry under *key*, if it is not too old."""
        with self._lock:
            entries = self._entries.get(conversation) or {}
            entry = entries.get(key)
        if entry is None:
            return None
        if entry.age >= _MAX_SECONDS:
            return None
        return entry

    def keep(
        self,
        conversation: Hashable,
        key: Hashable,
        answer: Page | SearchResponse | None,
    ) -> None:
        """Keep *answer* under *key*, unless it is larger than all answers that a
        conversation may have.
        """
        entry = Entry(answer, time.monotonic(), _measure(answer))
        if entry.size > _MAX_BYTES:
            return
        with self._lock:
            entries = self._entries.get(conversation) or {}
            others = self._entries.keep(conversation, entries) or {}
            self._size -= _add_sizes(others)
            self._forget(entries, key)
            entries[key] = entry
            self._size += entry.size
            self._cut(entries, type(answer))
            if entry.at - self._last_sweep > _SWEEP:
                self._sweep(entry.at)
            while self._size > _MAX_TOTAL:
                self._size -= _add_sizes(self._entries.drop())

    def _cut(self, entries: dict[Hashable, Entry], kind: type[object]) -> None:
        """Forget the oldest answers of a conversation: those of a kind beyond their
        number, then those beyond the bytes.
        """
        alike = [key for key, entry in entries.items() if type(entry.answer) is kind]
        for key in alike[:-_MAX_ANSWERS]:
            self._forget(entries, key)
        while _add_sizes(entries) > _MAX_BYTES:
            oldest = next(iter(entries))
            self._forget(entries, oldest)

    def _sweep(self, now: float) -> None:
        self._last_sweep = now
        for entries in self._entries:
            for key, entry in list(entries.items()):
                if entry.age >= _MAX_SECONDS:
                    self._forget(entries, key)

    def _forget(self, entries: dict[Hashable, Entry], key: Hashable) -> None:
        entry = entries.pop(key, None)
        if entry is not None:
            self._size -= entry.size


def _add_sizes(entries: Mapping[Hashable, Entry]) -> int:
    return sum(entry.size for entry in entries.values())


class Recall(NamedTuple):
    """The memory of one conversation, which `websearch_core.client` looks into before
    it sends anything.
    """

    memory: Memory
    conversation: Hashable
    gives: bool = True  # else it only keeps

    def find(self, key: Hashable) -> Entry | None:
        if not self.gives:
            return None
        return self.memory.find(self.conversation, key)

    def keep(self, key: Hashable, answer: Page | SearchResponse | None) -> None:
        self.memory.keep(self.conversation, key, answer)


def _measure(answer: Page | SearchResponse | None) -> int:
    """Return about how many bytes an answer takes: those of its long texts, and some
    for each part.
    """
    if answer is None:
        return 0
    if isinstance(answer, Page):
        texts: list[Any] = [
            answer.content,
            answer.rest,
            *answer.links,
            *answer.files.values(),
        ]
        return sum(map(sys.getsizeof, texts)) + _PART
    size = _PART
    for result in answer.results:
        texts = [result.url, result.title, result.snippet, result.content or ""]
        size += sum(map(sys.getsizeof, texts)) + _PART
    return size
