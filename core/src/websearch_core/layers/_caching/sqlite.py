"""A cache in one SQLite file, which processes, threads and event loops share."""

from __future__ import annotations
import logging
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ..._runtime.sqlite import (
    ForeignFile,
    check_objects,
    connect,
    create_private,
    identify,
    move_aside,
    read_stamp,
    transaction,
    use_wal,
)
from .backend import CacheStats

T = TypeVar("T")

_APPLICATION = 0x77656263  # "webc", in the header of the file
_VERSION = 1
# seconds to wait while others write; more would be felt, and less is over on a busy
# machine
_PATIENCE = 2.0
_FULL = 0.9  # of the limit, after old entries have been removed
_SCHEMA = (
    """CREATE TABLE IF NOT EXISTS entries (
        key TEXT PRIMARY KEY, value BLOB NOT NULL,
        stored REAL NOT NULL, expires REAL NOT NULL
    )""",
    "CREATE INDEX IF NOT EXISTS by_age ON entries (stored)",
)
_DROP_OLDEST = """
DELETE FROM entries WHERE key IN (
    SELECT key FROM entries ORDER BY stored
    LIMIT 1 + (SELECT count(*) FROM entries) / 16
)
"""
_log = logging.getLogger(__name__)


class NotACacheError(Exception):
    """The file belongs to something else, or to a newer version; it is left alone."""


class SQLiteBackend:
    """Keeps entries in one file, with a write-ahead log, so that a process that is
    killed leaves it whole.

    The file is made when it is first needed, readable for its owner only. Of entries
    that take more than *max_bytes*, the oldest ones go first. A damaged file without
    the mark of a cache is moved aside only if *may_replace*.
    """

    def __init__(
        self, path: Path, max_bytes: int, *, may_replace: bool = False
    ) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._may_replace = may_replace

    def get(self, key: str) -> bytes | None:
        """Return an entry that has not expired."""
        query = "SELECT value FROM entries WHERE key = ? AND expires > ?"
        row = self._run(lambda db: db.execute(query, (key, time.time())).fetchone())
        if row is None or not isinstance(row[0], bytes):
            return None
        return row[0]

    def set(self, key: str, value: bytes, ttl: float) -> None:
        """Keep an entry, and remove the oldest ones if there is no room."""
        if len(value) > self._max_bytes // 2:
            value = b""
            ttl = 0.0
        now = time.time()
        row = (key, value, now, now + ttl)

        def write(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", row)
            self._trim(db)

        self._run(write)

    def clear(self) -> None:
        """Remove everything, and make the file small."""

        def remove(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM entries")
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

        if self._path.exists():
            self._run(remove)

    def stats(self) -> CacheStats:
        query = (
            "SELECT count(*), coalesce(sum(length(value)), 0) FROM entries WHERE "
            "expires > ?"
        )
        if not self._path.exists():
            return CacheStats(0, 0, str(self._path))
        entries, size = self._run(
            lambda db: db.execute(query, (time.time(),)).fetchone()
        )
        return CacheStats(entries, size, str(self._path))

    def _run(self, work: Callable[[sqlite3.Connection], T], *, again: bool = True) -> T:
        """Run *work*; once more if the file turns out to be damaged, on a new one."""
        create_private(self._path)
        file = identify(self._path)
        try:
            with connect(self._path, _PATIENCE) as db:
                _prepare(db)
                return work(db)
        except sqlite3.DatabaseError as error:
            is_damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF in {
                sqlite3.SQLITE_CORRUPT,
                sqlite3.SQLITE_NOTADB,
            }
            if not (again and is_damaged):
                raise
            self._move_aside(file, error)
        return self._run(work, again=False)

    def _trim(self, db: sqlite3.Connection) -> None:
        if _used(db) <= self._max_bytes:
            return
        db.execute("DELETE FROM entries WHERE expires <= ?", (time.time(),))
        while _used(db) > self._max_bytes * _FULL and db.execute(_DROP_OLDEST).rowcount:
            pass

    def _move_aside(
        self, file: tuple[int, int] | None, error: sqlite3.DatabaseError
    ) -> None:
        """Keep the damaged *file* under another name, unless it is not ours, or has
        been replaced already.
        """
        if not (self._may_replace or _is_marked(self._path)):
            raise NotACacheError(f"{self._path} is not a cache") from error
        aside = self._path.with_name(f"{self._path.name}.damaged")
        if move_aside(self._path, file, aside):
            _log.warning("the cache was damaged (%s): moved to %s", error, aside)


def _prepare(db: sqlite3.Connection) -> None:
    stamp = read_stamp(db)
    if stamp != (_APPLICATION, _VERSION):
        _check_owner(db)
    use_wal(db)
    # A killed process loses nothing; after a power cut, a damaged file is moved aside.
    # With any other setting, closing the connection would wait for the disk.
    db.execute("PRAGMA synchronous = OFF")
    if stamp != (_APPLICATION, _VERSION):
        with transaction(db):
            db.execute(f"PRAGMA application_id = {_APPLICATION}")
            for statement in _SCHEMA:
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {_VERSION}")
    try:
        check_objects(db, _SCHEMA)
    except ForeignFile:
        raise NotACacheError("the file has other tables than a cache") from None


def _check_owner(db: sqlite3.Connection) -> None:
    # The tables first: if another process makes them in between, with its stamp, the
    # file only seems to be empty still.
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    application, version = read_stamp(db)
    if tables and application != _APPLICATION:
        raise NotACacheError("the file is a database, but not a cache")
    if version > _VERSION:
        raise NotACacheError(f"the cache was written by a newer version ({version})")


def _used(db: sqlite3.Connection) -> int:
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    (free,) = db.execute("PRAGMA freelist_count").fetchone()
    (size,) = db.execute("PRAGMA page_size").fetchone()
    return int((pages - free) * size)


def _is_marked(path: Path) -> bool:
    """Return whether the header of a file says that it is a cache."""
    try:
        with connect(path, _PATIENCE) as db:
            return read_stamp(db)[0] == _APPLICATION
    except sqlite3.DatabaseError:
        return False
