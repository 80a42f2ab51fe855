"""What the SQLite files of the project share: connections, transactions, and a stamp
that says whose file it is.

A connection is open for as long as one call takes. To open it takes most of that time,
so a `Pool` leaves some open for the next call.

Two things break a file that SQLite keeps whole otherwise
(https://www.sqlite.org/howtocorrupt.html, 2.2 and 2.6). A process loses all its locks
on a file as soon as it closes any descriptor of it, so nothing here opens a database's
file except through SQLite. And a connection must not be carried over a fork: in the
child, even new connections to the same file would rely on locks that only the parent
has. So a fork waits for the connections that other threads use, and closes those that
nobody uses. A fork that Python does not announce, such as that of uWSGI, does neither:
the child then refuses files that were open.
"""

from __future__ import annotations
import atexit
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias
from weakref import WeakSet

from ..errors import ConfigurationError, TimedOut
from .forks import Restartable, notice_fork
from .interrupts import releasing
from .owners import check_database
from .scope import current_call

# seconds that a fork, and the end of the program, wait for connections in use
_PATIENCE = 5.0
# How often a statement looks whether its time is over: in steps of SQLite's machine,
# which takes some milliseconds for so many.
_STEPS = 100_000
_MIN_TIME = 0.25  # seconds that a connection has, also after the deadline
_MAX_IDLE = 4  # connections of a pool that stay open
_SCHEMA_VERSION = "PRAGMA schema_version"
_log = logging.getLogger(__name__)


@dataclass(eq=False)
class _Connection:
    """An open connection.

    Args:
        path: The database.
        db: The connection.
        file: What the file was when it was opened.
        schema: The version of its tables when they were last checked.
    """

    path: Path
    db: sqlite3.Connection
    file: tuple[int, ...] | None
    schema: int | None = None


class _Use:
    """The use of a file by a thread."""

    connection: _Connection | None = None
    has_failed = True  # until it ends without an error

    def __init__(self, path: Path, pool: Pool | None = None) -> None:
        self.path = path
        self.pool = pool  # gets the connection, unless the use has failed
        self.thread = threading.get_ident()


class _Connections(Restartable):
    """The connections of this process, and the forks that wait for them."""

    def __init__(self) -> None:
        self._paths: set[Path] = set()  # of all databases that were ever open here
        self._uses: set[_Use] = set()
        self._inherited: set[_Use | _Connection] = set()
        self._pools: WeakSet[Pool] = WeakSet()
        super().__init__()

    def start_over(self) -> None:
        """Begin without connections: those of the parent must be neither used nor
        closed, not even by the collector.
        """
        self._inherited |= self._uses
        self._uses = set()
        for pool in self._pools:
            self._inherited.update(pool.empty())
        self._forks: set[int] = set()  # the threads that fork now
        # always entered itself, not as a `Condition`: see `interrupts`
        self.lock = threading.RLock()
        self._changed = threading.Condition(self.lock)

    def pause(self) -> None:
        """Wait until no other thread uses a connection, let none begin, and close those
        that nobody uses.
        """
        own = threading.get_ident()
        with self.lock:
            self._forks.add(own)
            self._changed.wait_for(lambda: not self._find_others(own), _PATIENCE)
            for pool in list(self._pools):
                pool.close()

    def resume(self) -> None:
        """Let connections be used again."""
        with self.lock:
            self._forks.discard(threading.get_ident())
            self._changed.notify_all()

    def end(self) -> None:
        """Let other threads finish what they write before the program ends: they are
        daemons, which end with it.
        """
        self.pause()
        others = self._find_others(threading.get_ident())
        files = ", ".join(sorted({str(use.path) for use in others}))
        if files:
            _log.warning(
                "the program ends before everything is written: %s: in use for more "
                "than %g s",
                files,
                _PATIENCE,
            )

    def _find_others(self, thread: int) -> list[_Use]:
        return [use for use in self._uses if use.thread != thread]

    def open(self, use: _Use, timeout: float, options: str) -> sqlite3.Connection:
        """Open the connection of *use*, and let no fork happen until `close`."""
        notice_fork()
        if use.pool is not None:
            db = self._reuse(use, use.pool)
            if db is not None:
                return db
        check_database(use.path)
        file = describe_file(use.path)
        with self.lock:
            self._begin(use)
            self._paths.add(use.path)
            uri = f"{use.path.absolute().as_uri()}?{options}" if options else use.path
            db = sqlite3.connect(
                uri,
                timeout=timeout,
                isolation_level=None,
                check_same_thread=False,
                uri=bool(options),
            )
            use.connection = _Connection(use.path, db, file)
            _bound(db)
            # its schema may be somebody else's: no function of it does anything outside
            db.execute("PRAGMA trusted_schema = OFF")
            return db

    def _reuse(self, use: _Use, pool: Pool) -> sqlite3.Connection | None:
        """Return a connection that is open already, if the file is still the same."""
        file = describe_file(use.path)
        with self.lock:
            self._begin(use)
            use.connection = pool.take(file)
        if use.connection is None:
            return None
        _bound(use.connection.db)
        return use.connection.db

    def _begin(self, use: _Use) -> None:
        """Let no fork happen from now on; wait for one that happens."""
        with self.lock:
            self._forks.discard(use.thread)  # it is over, even if Ctrl-C ended `resume`
            is_first = len(self._find_others(use.thread)) == len(self._uses)
            if is_first and not self._changed.wait_for(
                lambda: not self._forks, 2 * _PATIENCE
            ):
                self._forks.clear()  # for the same reason: none takes that long
            if any(_is_same(use.path, inherited.path) for inherited in self._inherited):
                raise ConfigurationError(
                    f"{use.path} was in use while this process was forked, which "
                    f"SQLite does not allow: fork at "
                    "another time, or start processes by 'spawn' or 'forkserver'"
                )
            self._uses.add(use)

    def close(self, use: _Use) -> None:
        """End *use*, unless it belongs to the parent of this process. Idempotent."""
        notice_fork()
        if use not in self._uses or self._give_back(use):
            return
        try:
            if use.connection is not None:
                use.connection.db.close()
        finally:
            with self.lock:
                self._uses.discard(use)
                if self._forks:
                    self._changed.notify_all()

    def _give_back(self, use: _Use) -> bool:
        """End *use*, and leave its connection open for the next; return whether it
        is.
        """
        if use.pool is None or use.has_failed:
            return False
        assert use.connection is not None
        with self.lock:
            if self._forks or not use.pool.put(use.connection):
                return False
            self._pools.add(use.pool)
            self._uses.discard(use)
            return True

    def knows(self, path: Path) -> bool:
        """Return whether a file is or was open here as a database, under whatever
        name.
        """
        return any(_is_same(path, other) for other in list(self._paths))


_connections = _Connections()
atexit.register(_connections.end)
if hasattr(os, "register_at_fork"):  # pragma: no branch
    os.register_at_fork(
        before=_connections.pause,
        # nobody may wait for this fork for ever
        after_in_parent=lambda: releasing(_connections.resume).close(),
    )


@contextmanager
def connect(
    path: Path, timeout: float, options: str = "", pool: Pool | None = None
) -> Iterator[sqlite3.Connection]:
    """Open a connection for as long as a block takes, without implicit transactions;
    make the file if there is none.

    Writing waits *timeout* seconds while somebody else writes. *options* are the
    parameters of SQLite's URI, such as ``mode=ro``. It fails if the file was in use
    while this process was forked, or others may change it. At the deadline of the call,
    a statement that still runs is ended, and that is `TimedOut`. The connection is one
    of *pool*, if there is one, and goes back there.
    """
    use = _Use(path, pool)
    release = releasing(partial(_connections.close, use))
    try:
        db = _connections.open(use, timeout, options)
        if pool is not None and use.connection is not None:
            pool.check(use.connection)
        yield db
        use.has_failed = False
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            raise TimedOut(f"{path} did not answer within the time allowed") from error
        raise
    finally:
        release.close()


class Pool:
    """The connections to one file that stay open between calls. A copy has none.

    Args:
        path: The file.
        timeout: Seconds for which writing waits while somebody else writes.
        prepare: Called with a new connection, and again when somebody has changed the
            tables.
    """

    def __init__(
        self, path: Path, timeout: float, prepare: Callable[[sqlite3.Connection], None]
    ) -> None:
        self._path = path
        self._timeout = timeout
        self._prepare = prepare
        self._idle: list[_Connection] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return Pool, (self._path, self._timeout, self._prepare)

    def __del__(self) -> None:
        notice_fork()
        self.close()

    def connect(self) -> AbstractContextManager[sqlite3.Connection]:
        """Do what the function `connect` does, with one of these connections."""
        return connect(self._path, self._timeout, pool=self)

    def take(self, file: tuple[int, ...] | None) -> _Connection | None:
        """Return a connection to *file*; the caller has the lock."""
        while self._idle:
            connection = self._idle.pop()
            if connection.file == file:
                return connection
            connection.db.close()
        return None

    def put(self, connection: _Connection) -> bool:
        """Keep a connection, if there is room; the caller has the lock."""
        if len(self._idle) >= _MAX_IDLE:
            return False
        self._idle.append(connection)
        return True

    def empty(self) -> list[_Connection]:
        """Return all connections, and forget them."""
        connections = self._idle
        self._idle = []
        return connections

    def close(self) -> None:
        """Close all connections; the caller has the lock, or is the last one."""
        for connection in self.empty():
            connection.db.close()

    def check(self, connection: _Connection) -> None:
        """Prepare a connection whose tables were not checked, or changed since."""
        (schema,) = connection.db.execute(_SCHEMA_VERSION).fetchone()
        if schema == connection.schema:
            return
        self._prepare(connection.db)
        (schema,) = connection.db.execute(_SCHEMA_VERSION).fetchone()
        connection.schema = schema


def _bound(db: sqlite3.Connection) -> None:
    """Let no statement of *db* run on after the deadline."""
    ends = max(current_call().end, time.monotonic() + _MIN_TIME)
    db.set_progress_handler(lambda: time.monotonic() > ends, _STEPS)


def is_database(path: Path) -> bool:
    """Return whether this process has used a file as a database, or one of the files
    beside it.
    """
    return _connections.knows(
        path.parent / path.name.removesuffix("-wal").removesuffix("-shm")
    )


def create_private(path: Path) -> None:
    """Create an empty file that only its owner can read, and its folder, if there is
    none. Raise `UnsafeFile` if another user could change it, or chose where it is.
    """
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_database(path)  # before a link of somebody else chooses where
    # Nothing can be connected to it before the lock is free: closing the file would
    # release the locks of a connection.
    with _connections.lock, suppress(FileExistsError):
        os.close(
            os.open(os.path.realpath(path), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        )


def describe_file(path: Path) -> tuple[int, ...] | None:
    """Return what tells a file from another, and who may change it; None if there is
    none.
    """
    try:
        status = os.stat(path)  # noqa: PTH116 - this runs with every call of a cache
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_uid, status.st_mode


def identify_file(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from one that takes its place; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def move_aside(path: Path, file: tuple[int, int] | None, target: Path) -> bool:
    """Move *path* if it is still *file*, which `identify_file` returned; return whether
    it was.
    """
    with _connections.lock:
        if file is None or identify_file(path) != file:
            return False
        path.replace(target)
        for ending in ("-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
    return True


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Do everything in this block, or nothing, while nobody else writes."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        # closed already, by Ctrl-C between two instructions of the caller
        with suppress(sqlite3.ProgrammingError):
            # SQLite itself has rolled back after some errors, such as that of a full
            # disk
            if db.in_transaction:
                db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def use_wal(db: sqlite3.Connection) -> None:
    """Let readers and a writer work at once; if several try to switch at once, one of
    the next connections does it.
    """
    if db.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        with suppress(sqlite3.OperationalError):  # SQLite does not wait here
            db.execute("PRAGMA journal_mode = WAL")


def read_stamp(db: sqlite3.Connection) -> tuple[int, int]:
    """Return the ID of the application that owns a file, and the version of its tables;
    zeros for a new file.
    """
    (owner,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return owner, version


class ForeignFile(Exception):
    """A file belongs to another application, or to another version."""


Schema: TypeAlias = tuple[str, ...]
_Objects: TypeAlias = frozenset[tuple[str, str, str | None]]


def check_objects(db: sqlite3.Connection, schema: Schema) -> None:
    """Raise `ForeignFile` if a file has other tables than those of *schema*, or views
    and triggers, which would do what somebody else wrote.
    """
    if not _read_objects(db) <= _find_objects(schema):
        raise ForeignFile


@cache
def _find_objects(schema: Schema) -> _Objects:
    """Return what the statements of *schema* make."""
    db = sqlite3.connect(":memory:")
    try:
        for statement in schema:
            db.execute(statement)
        return _read_objects(db)
    finally:
        db.close()


def _read_objects(db: sqlite3.Connection) -> _Objects:
    """Return kind, name and statement of each object of a file.

    How FTS5 writes the statements of its own tables depends on the version of SQLite.
    """
    rows = db.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    indexes = [name for _, name, sql in rows if "VIRTUAL TABLE" in str(sql)]
    objects: set[tuple[str, str, str | None]] = set()
    for kind, name, sql in rows:
        is_part = any(str(name).startswith(f"{index}_") for index in indexes)
        if is_part and str(sql).startswith("CREATE TABLE '"):
            objects.add((kind, name, None))
        else:
            objects.add((kind, name, sql))
    return frozenset(objects)


@contextmanager
def write_tables(
    path: Path, what: str, timeout: float, schema: Schema, stamp: tuple[int, int]
) -> Iterator[sqlite3.Connection]:
    """Open a connection for one transaction; an empty file gets its tables by the
    statements of *schema*.

    It also gets the *stamp*. Raise `ForeignFile` if the file has another one, or other
    tables, and a `ConfigurationError`, in which *what* stands before the path, if it
    cannot be created.
    """
    try:
        create_private(path)
    except OSError as error:
        raise ConfigurationError(
            f"{what} {path} cannot be created: {error.strerror}"
        ) from error
    with connect(path, timeout) as db:
        if path.stat().st_size == 0 or read_stamp(db) == stamp:
            use_wal(db)
        # a killed process loses nothing; a power cut the last transactions
        db.execute("PRAGMA synchronous = NORMAL")
        with transaction(db):
            if (
                read_stamp(db) == (0, 0)
                and not db.execute("SELECT 1 FROM sqlite_master").fetchone()
            ):
                for statement in (
                    *schema,
                    f"PRAGMA application_id = {stamp[0]}",
                    f"PRAGMA user_version = {stamp[1]}",
                ):
                    db.execute(statement)
            if read_stamp(db) != stamp:
                raise ForeignFile(path)
            check_objects(db, schema)
            yield db


def _is_same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:
        return False
