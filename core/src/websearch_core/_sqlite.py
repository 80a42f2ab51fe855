"""What the SQLite files of the project share: transactions, and a stamp that says whose file it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Do everything in this block, or nothing, while nobody else writes."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


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
