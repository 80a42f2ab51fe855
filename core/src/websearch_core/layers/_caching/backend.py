"""The port of a cache: what keeps bytes for a time."""

from __future__ import annotations
import time
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Protocol


@dataclass(frozen=True)
class CacheStats:
    """How full a cache is.

    Args:
        entries: How many answers and pages it holds.
        size: Their bytes.
        location: Where they are.
    """

    entries: int
    size: int
    location: str


class CacheBackend(Protocol):
    """Keeps the entries of a `Cache`. Its methods block, are called in threads, and
    several at a time.

    What they raise never fails a call: it is logged, and the cache is left alone for a
    while.
    """

    def get(self, key: str) -> bytes | None:
        """Return what was set under *key*, or None if there is nothing or its time is
        up.
        """
        ...

    def set(self, key: str, value: bytes, ttl: float) -> None:
        """Keep *value* under *key* for *ttl* seconds; if it is too large, keep nothing
        under *key*.
        """
        ...

    def clear(self) -> None:
        """Remove everything."""
        ...

    def stats(self) -> CacheStats:
        """Return how full it is."""
        ...


class MemoryBackend:
    """Keeps entries in this process; what was used least recently goes first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._size = 0
        self._lock = Lock()
        self._entries: OrderedDict[str, tuple[bytes, float]] = OrderedDict()

    def get(self, key: str) -> bytes | None:
        with self._lock:
            value, expires = self._entries.get(key, (None, 0.0))
            if value is None or expires < time.time():
                return None
            self._entries.move_to_end(key)
            return value

    def set(self, key: str, value: bytes, ttl: float) -> None:
        with self._lock:
            self._drop(key)
            if len(value) > self._max_bytes:
                return
            self._entries[key] = value, time.time() + ttl
            self._size += len(value)
            while self._size > self._max_bytes:
                self._drop(next(iter(self._entries)))

    def _drop(self, key: str) -> None:
        value, _ = self._entries.pop(key, (b"", 0.0))
        self._size -= len(value)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._size = 0

    def stats(self) -> CacheStats:
        with self._lock:
            return CacheStats(len(self._entries), self._size, "memory")
