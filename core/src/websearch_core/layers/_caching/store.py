"""A backend whose failures fail no call, unless somebody else could decide what is in it."""

from __future__ import annotations
import logging
import sqlite3
import time
from pathlib import Path
from typing import Any

from ..._runtime.owners import UnsafeFile
from ...errors import ConfigurationError
from .backend import CacheBackend, MemoryBackend
from .entries import Entry, decode, encode
from .redis import SCHEMES, RedisBackend
from .sqlite import NotACacheError, SQLiteBackend

_REST = 10.0  # seconds for which a backend that failed is left alone
_log = logging.getLogger(__name__)


def open_backend(location: str | Path | CacheBackend | None, max_bytes: int) -> CacheBackend:
    """Return the backend at *location*: a file, ``:memory:``, a URL of Redis, or itself; by default, a file."""
    if location is None:
        return SQLiteBackend(default_path(), max_bytes, may_replace=True)
    if isinstance(location, str) and location.startswith(SCHEMES):
        return RedisBackend(location)
    if str(location) == ":memory:":  # as SQLite calls it, which would make a file of this name beside it
        return MemoryBackend(max_bytes)
    if isinstance(location, str | Path):
        return SQLiteBackend(Path(location).expanduser(), max_bytes)
    return location


def default_path() -> Path:
    """Return the file that is used by default."""
    import platformdirs

    return platformdirs.user_cache_path("websearch", appauthor=False) / "answers.db"


class Store:
    """Keeps entries in a backend. If that fails, it is logged once, and left alone for a while.

    A file that another user may change is an error: `UnsafeFile`.
    """

    def __init__(self, backend: CacheBackend) -> None:
        self.backend = backend
        self.is_prompt = isinstance(backend, SQLiteBackend | MemoryBackend)  # waits for nobody for long
        self._rests = {"get": 0.0, "set": 0.0}
        self._has_failed = False

    def load(self, *keys: str) -> list[Entry | None]:
        """Return the entry under each of *keys*, or None."""
        found: list[Entry | None] = []
        for key in keys:
            data = self._try("get", key)
            found.append(decode(data) if isinstance(data, bytes) else None)
        return found

    def save(self, entries: dict[str, tuple[Entry | None, float]]) -> None:
        """Keep *entries*, each for its seconds; None, or what is not JSON, replaces what is there by nothing."""
        for key, (entry, ttl) in entries.items():
            self._try("set", key, (encode(entry) if entry else None) or b"", ttl)

    def _try(self, method: str, *arguments: Any) -> Any:
        if time.monotonic() < self._rests[method]:
            return None
        try:
            return getattr(self.backend, method)(*arguments)
        except UnsafeFile:  # without its owner, it would not work at the next call either
            raise
        except Exception as error:  # noqa: BLE001 - logged; a cache never fails a call
            self._rests[method] = time.monotonic() + _REST
            if not self._has_failed:
                self._has_failed = True
                _log.warning("the cache does not work (%s): calls go on without it", _describe(error))
            return None


def _describe(error: Exception) -> str:
    """Describe *error* without what a client of a server might say about its password."""
    named = type(error).__name__
    is_ours = isinstance(error, sqlite3.Error | OSError | NotACacheError | ConfigurationError)
    return f"{named}: {error}" if is_ours else named
