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
    Pool,
    check_objects,
    connect,
    create_private,
    identify_file,
    move_aside,
    read_stamp,
    transaction,
    use_wal,
)
from .backend import CacheStats

T = TypeVar("T")

_APPLICATION = 0x77656263  # "webc", in the header of the file
_VERSION = 1
# seconds to wait while others write: users notice more, and on a busy machine, less is
# not enough
_PATIENCE = 2.0
_TRIMMED = 0.9  # the share of the limit that entries may fill after `_trim`
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
    """The file belongs to something else, or to a newer version: do not touch it."""


class SQLiteBackend:
    """Keeps entries in one file. Its write-ahead log leaves the file intact if a
    process is killed.

    The file is created when it is first needed, and only its owner can read it. If
    entries take more than *max_bytes*, the oldest go first. A damaged file whose header
    does not say that it is a cache is moved aside only if *may_replace*.
    """

    def __init__(
        self, path: Path, max_bytes: int, *, may_replace: bool = False
    ) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._may_replace = may_replace
        self._pool = Pool(path, _PATIENCE, _prepare)

    def get(self, key: str) -> bytes | None:
        """Return an entry that has not expired."""
        query = "SELECT value FROM entries WHERE key = ? AND expires > ?"
        row = self._run(lambda db: db.execute(query, (key, time.time())).fetchone())
        if row is None or not isinstance(row[0], bytes):
            return None
        return row[0]

    def set(self, key: str, value: bytes, ttl: float) -> None:
        """Store an entry, and remove the oldest ones if there is no room.

        A value of more than half of the limit is not stored.
        """
        if len(value) > self._max_bytes // 2:
            value = b""  # that has expired, in place of an earlier value
            ttl = 0.0
        now = time.time()
        row = (key, value, now, now + ttl)

        def write(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", row)
            self._trim(db)

        self._run(write)

    def clear(self) -> None:
        """Remove all entries, and shrink the file."""

        def remove(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM entries")
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

        if self._path.exists():
            self._run(remove)

    def stats(self) -> CacheStats:
        """Count the entries that have not expired, and their bytes."""
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

    def _run(
        self, work: Callable[[sqlite3.Connection], T], *, may_repeat: bool = True
    ) -> T:
        """Run *work*. If the file turns out to be damaged, move it aside, and run
        *work* on a new one.
        """
        file = identify_file(self._path)
        if file is None:
            create_private(self._path)
            file = identify_file(self._path)
        try:
            with self._pool.connect() as db:
                return work(db)
        except sqlite3.DatabaseError as error:
            is_damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF in {
                sqlite3.SQLITE_CORRUPT,
                sqlite3.SQLITE_NOTADB,
            }
            if not (may_repeat and is_damaged):
                raise
            self._move_aside(file, error)
        return self._run(work, may_repeat=False)

    def _trim(self, db: sqlite3.Connection) -> None:
        if _used(db) <= self._max_bytes:
            return
        db.execute("DELETE FROM entries WHERE expires <= ?", (time.time(),))
        while _used(db) > self._max_bytes * _TRIMMED:
            if db.execute(_DROP_OLDEST).rowcount == 0:
                return  # what is left is not entries

    def _move_aside(
        self, file: tuple[int, int] | None, error: sqlite3.DatabaseError
    ) -> None:
        """Rename the damaged *file*, unless another process has replaced it already.

        Raise `NotACacheError` if it is not ours.
        """
        if not (self._may_replace or _is_stamped(self._path)):
            raise NotACacheError(f"{self._path} is not a cache") from error
        aside = self._path.with_name(f"{self._path.name}.damaged")
        if move_aside(self._path, file, aside):
            _log.warning("the cache was damaged (%s): moved to %s", error, aside)


def _prepare(db: sqlite3.Connection) -> None:
    """Make the tables of a new file; raise `NotACacheError` before a foreign one is
    written to.
    """
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
    # Count the tables before reading the stamp: another process that makes both in
    # between makes a cache, and not tables without a stamp.
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    application, version = read_stamp(db)
    if tables and application != _APPLICATION:
        raise NotACacheError("the file is a database, but not a cache")
    if version > _VERSION:
        raise NotACacheError(f"the cache was written by a newer version ({version})")


def _used(db: sqlite3.Connection) -> int:
    """Return the bytes of the file that are in use."""
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    (free,) = db.execute("PRAGMA freelist_count").fetchone()
    (size,) = db.execute("PRAGMA page_size").fetchone()
    return int((pages - free) * size)


def _is_stamped(path: Path) -> bool:
    """Return whether the header of a file says that it is a cache."""
    try:
        with connect(path, _PATIENCE) as db:
            return read_stamp(db)[0] == _APPLICATION
    except sqlite3.DatabaseError:
        return False
