"""
What the SQLite files of the project share: connections, transactions, and a stamp that says whose file it is.

Two things break a file that SQLite keeps whole otherwise (https://www.sqlite.org/howtocorrupt.html, 2.2 and 2.6). A
process loses all its locks on a file as soon as it closes any descriptor of it, so nothing here opens a database's file
except through SQLite. And a connection must not be carried over a fork: in the child, even new connections to the same
file would rely on locks that only the parent has. So a fork waits for connections that are in use, and closes those
that are kept.
"""

from __future__ import annotations

import atexit
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar
from weakref import WeakSet

from ..errors import ConfigurationError, TimedOut
from .forks import notice_fork, pause_for_fork
from .owners import check_database
from .turns import Places

T = TypeVar("T")

_PATIENCE = 5.0  # seconds that a fork, and the end of the program, wait for connections in use
_TURN = 1.0  # seconds that a thread waits for other threads that use the same connection
_log = logging.getLogger(__name__)


class _Connections:
    """The connections of this process, and the forks that wait for them."""

    def __init__(self) -> None:
        self._kept: WeakSet[KeptConnection] = WeakSet()
        self._open: dict[sqlite3.Connection, Path] = {}
        self._inherited: dict[sqlite3.Connection, Path] = {}
        self.start_over()
        pause_for_fork(self)

    def start_over(self) -> None:
        """Begin without connections: those of the parent must be neither used nor closed, not even by the collector."""
        self._inherited |= self._open
        self._open = {}
        self._lock = threading.RLock()  # always entered itself: Ctrl-C can leave a `Condition` locked
        self._changed = threading.Condition(self._lock)
        self._uses: dict[object, int] = {}  # under way, and the thread of each
        self._forks: set[int] = set()  # the threads that fork now
        for kept in self._kept:
            kept.start_over()

    def pause(self) -> None:
        """Wait until no other thread uses a connection, let none begin, and close those that are kept."""
        own = threading.get_ident()
        with self._lock:
            self._forks.add(own)
            self._changed.wait_for(lambda: self._is_alone(own), _PATIENCE)
            for kept in self._kept:
                kept.rest()

    def _is_alone(self, thread: int) -> bool:
        return all(other == thread for other in self._uses.values())

    def end(self) -> None:
        """Let other threads finish what they write before the program ends: they are daemons, which end with it."""
        self.pause()
        if not self._is_alone(threading.get_ident()):
            files = ", ".join(sorted({str(path) for path in list(self._open.values())}))
            _log.warning(
                "the program ends before everything is written: %s: in use for more than %g s", files, _PATIENCE
            )

    def resume(self) -> None:
        """Let connections be used again."""
        with self._lock:
            self._forks.discard(threading.get_ident())
            self._changed.notify_all()

    def enter(self, use: object) -> None:
        """Let no fork happen until this thread calls `leave`."""
        notice_fork()
        thread = threading.get_ident()
        with self._lock:
            self._forks.discard(thread)  # it is over, even if Ctrl-C ended `resume`
            if thread not in self._uses.values() and not self._changed.wait_for(lambda: not self._forks, 2 * _PATIENCE):
                self._forks.clear()  # for the same reason: none takes that long
            self._uses[use] = thread

    def leave(self, use: object, db: sqlite3.Connection | None = None) -> None:
        """Let forks happen again, if this thread uses nothing else; close *db* before. Idempotent."""
        try:
            if db is not None:
                self.close(db)
        finally:
            with self._lock:
                self._uses.pop(use, None)
                if self._forks:
                    self._changed.notify_all()

    def open(self, path: Path, timeout: float, options: str) -> sqlite3.Connection:
        """Open a connection; its arguments are those of `connect`."""
        if any(_is_same(path, inherited) for inherited in self._inherited.values()):
            raise ConfigurationError(
                f"{path} was in use while this process was forked, which SQLite does not allow: fork at another time, "
                "or start processes by 'spawn' or 'forkserver'"
            )
        check_database(path)
        place = f"{path.absolute().as_uri()}?{options}" if options else path
        db = sqlite3.connect(place, timeout, isolation_level=None, check_same_thread=False, uri=bool(options))
        self._open[db] = path
        return db

    def close(self, db: sqlite3.Connection) -> None:
        """Close a connection, unless it belongs to the parent of this process. Idempotent."""
        notice_fork()
        if db in self._open:
            try:
                db.close()
            finally:
                self._open.pop(db, None)

    def has(self, db: sqlite3.Connection) -> bool:
        """Return whether a connection is open."""
        return db in self._open

    def knows(self, path: Path) -> bool:
        """Return whether this process has a file open, under whatever name."""
        return any(_is_same(path, one) for one in list(self._open.values()))

    def keep(self, kept: KeptConnection) -> None:
        """Close *kept* before each fork."""
        with self._lock:
            self._kept.add(kept)

    def create(self, path: Path) -> None:
        """Create an empty file, one at a time: no connection can have locks yet that closing it here would release."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_database(path)  # before a link of somebody else chooses where
        with self._lock, suppress(FileExistsError):
            os.close(os.open(os.path.realpath(path), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))

    def move(self, path: Path, file: tuple[int, int] | None, target: Path) -> bool:
        """Move *path* if it is still *file*, one at a time."""
        with self._lock:
            if file is None or _identify(path) != file:
                return False
            path.replace(target)
            for ending in ("-wal", "-shm"):
                path.with_name(path.name + ending).unlink(missing_ok=True)
        return True


_connections = _Connections()
atexit.register(_connections.end)


@contextmanager
def connect(path: Path, timeout: float, options: str = "") -> Iterator[sqlite3.Connection]:
    """
    Open a connection for as long as a block takes, without implicit transactions.

    Args:
        path: The file; made if it does not exist.
        timeout: Seconds to wait while somebody else writes.
        options: The parameters of SQLite's URI, such as ``mode=ro``.

    Raises:
        ConfigurationError: The file was in use while this process was forked, or others may change it.

    """
    use, db = object(), None
    try:
        _connections.enter(use)
        db = _connections.open(path, timeout, options)
        yield db
    finally:
        try:
            _connections.leave(use, db)
        except BaseException:
            _connections.leave(use, db)  # Ctrl-C came in between
            raise


class KeptConnection:
    """
    A connection that stays open for the next call, while the file stays in its place, or until a fork.

    One thread at a time uses it.

    Args:
        path: The file; made as `create_private` does.
        timeout: Seconds to wait while somebody else writes.
        prepare: Called with each new connection.

    """

    def __init__(self, path: Path, timeout: float, prepare: Callable[[sqlite3.Connection], None]) -> None:
        self._path, self._timeout, self._prepare = path, timeout, prepare
        self._file: tuple[int, int] | None = None  # what was opened last
        self._turn = Places(1)
        self.start_over()
        _connections.keep(self)

    def start_over(self) -> None:
        """Forget the connection, in a forked process."""
        self._db: sqlite3.Connection | None = None

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """
        Do *work* with the connection. After an error, the next call opens a new one.

        Raises:
            sqlite3.OperationalError: Other threads need the connection for too long.
            OSError: The file cannot be created.
            ConfigurationError: The file was in use while this process was forked, or others may change it.

        """
        use = object()
        try:
            _connections.enter(use)
            return self._turn.hold(use, partial(self._run, work), _TURN)
        except TimedOut:  # each of many threads may wait for another process in turn
            raise sqlite3.OperationalError("other threads need the connection for too long") from None
        finally:
            try:
                _connections.leave(use)
            except BaseException:
                _connections.leave(use)  # Ctrl-C came in between
                raise

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            if self._db is not None and not _connections.has(self._db):  # Ctrl-C came while it was closed
                self._db = None
            if self._db is not None and _identify(self._path) != self._file:  # it was removed or replaced
                self._close()
            if self._db is None:
                self._db = self._open()
                self._prepare(self._db)
            return work(self._db)
        except BaseException:
            self._close()
            raise

    def move_aside(self, target: Path) -> bool:
        """Move the damaged file that was opened last; return False if another one has taken its place already."""
        return _connections.move(self._path, self._file, target)

    def rest(self) -> None:
        """Close the connection unless it is in use."""
        with suppress(TimedOut):
            self._turn.hold(self, self._close, 0)

    def _open(self) -> sqlite3.Connection:
        _connections.create(self._path)
        self._file = _identify(self._path)  # if it is replaced now, the next call notices
        return _connections.open(self._path, self._timeout, "")

    def _close(self) -> None:
        if self._db is not None:
            with suppress(sqlite3.Error):
                _connections.close(self._db)
            self._db = None

    __del__ = _close


def is_open(path: Path) -> bool:
    """Return whether a file is a database that is open in this process, or one of the files beside it."""
    return _connections.knows(path.parent / path.name.removesuffix("-wal").removesuffix("-shm"))


def create_private(path: Path) -> None:
    """
    Create an empty file that only its owner can read, and its folder, if there is none.

    Raises:
        OSError: It cannot be created.
        ConfigurationError: Another user could change it, or chose where it is.

    """
    _connections.create(path)


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Do everything in this block, or nothing, while nobody else writes."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.ProgrammingError):  # closed already, by Ctrl-C between two instructions of the caller
            if db.in_transaction:  # SQLite itself has rolled back after some errors, such as that of a full disk
                db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def use_wal(db: sqlite3.Connection) -> None:
    """Let readers and a writer work at once; if several try to switch at once, one of the next connections does it."""
    if db.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        with suppress(sqlite3.OperationalError):  # SQLite does not wait here
            db.execute("PRAGMA journal_mode = WAL")


def read_stamp(db: sqlite3.Connection) -> tuple[int, int]:
    """Return the ID of the application that owns a file, and the version of its tables; zeros for a new file."""
    (owner,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return owner, version


def create_tables(db: sqlite3.Connection, schema: Sequence[str], stamp: tuple[int, int]) -> bool:
    """
    Create the tables in an empty file.

    Args:
        db: A connection to the file.
        schema: The statements that create the tables, and stamp the file.
        stamp: The stamp of a file with these tables.

    Returns:
        Whether the file has the tables now; False for the file of another application or version.

    """
    if read_stamp(db) != (0, 0) or db.execute("SELECT 1 FROM sqlite_master").fetchone():
        return read_stamp(db) == stamp
    for statement in schema:
        db.execute(statement)
    return True


def _is_same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:
        return False


def _identify(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
