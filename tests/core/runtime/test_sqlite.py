"""SQLite files whose locks hold: forks in the middle of writing, several connections in
one process, replaced files.
"""

from __future__ import annotations
import copy
import json
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from websearch_core._runtime import sqlite as _sqlite
from websearch_core._runtime.deadline import time_limit
from websearch_core._runtime.owners import UnsafeFile
from websearch_core.errors import ConfigurationError, TimedOut
from websearch_core.index import Index
from websearch_core.layers._caching.sqlite import NotACacheError, SQLiteBackend

MIB = 2**20
needs_fork = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="this system does not fork"
)
# Python 3.12 warns of every fork beside threads.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

FORKING = """
import json, os, signal, sys, threading
from datetime import date
from pathlib import Path
from websearch_core.index import Index
from websearch_core.layers._amounts import MILLION, Amount
from websearch_core.layers._caching.sqlite import SQLiteBackend
from websearch_core.layers._usage import UsageFile
from websearch_core.models import Page

folder = Path(sys.argv[1])
index, usage = Index(folder / "index.db"), UsageFile(folder / "usage.db")
caches = [SQLiteBackend(folder / "cache.db", 2**30) for _ in range(2)]

page = Page(url="https://sea.example/", title="Kelp")

def write(key):
    url = f"https://sea.example/{key}"
    # A copy: if a thread makes a model during a fork, a lock of pydantic-core can stay held in the child.
    index.add(page.model_copy(update={"url": url, "final_url": url, "content": f"word{key}"}))
    usage.add(date(2026, 11, 22), "tenant", "sea", Amount(MILLION))
    for cache in caches:
        cache.set(f"{id(cache)} {key}", b"x" * 3000, 3600)

acknowledged, ends = [], threading.Event()

def keep_writing(name):
    number = 0
    while not ends.is_set():
        write(f"{name}-{number}")
        acknowledged.append(f"{name}-{number}")
        number += 1

def write_in_a_child(name):
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            for number in range(1000):
                write(f"{name}-{number}")
                os.write(writing, f"{name}-{number}\\n".encode())
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        lines = [pipe.readline() for _ in range(5)]
        os.kill(child, signal.SIGKILL)
        lines += pipe.readlines()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    acknowledged.extend(line.strip() for line in lines)

threads = [threading.Thread(target=keep_writing, args=(f"thread{n}",)) for n in range(2)]
for thread in threads:
    thread.start()
for n in range(8):
    write_in_a_child(f"child{n}")
ends.set()
for thread in threads:
    thread.join()
urls = set(index.urls())
counted = sum(row.amount.calls for row in usage.read()) // MILLION
print(json.dumps({
    "written": len(acknowledged),
    "in the index": sum(f"https://sea.example/{key}" in urls for key in acknowledged),
    "in the cache": sum(caches[0].get(f"{id(cache)} {key}") is not None for key in acknowledged for cache in caches),
    "counted": counted,
}))
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.db"


def use_in_another_process(path):
    """Open and close the file as a process does that would be the last one to use it,
    if nobody had locks.
    """
    code = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('SELECT * FROM entries'); db.close()"
    subprocess.run([sys.executable, "-c", code, path], check=True)


def read_in_another_process(path, *keys):
    code = (
        "import sys; from pathlib import Path; from websearch_core.layers._caching.sqlite import SQLiteBackend\n"
        "print([SQLiteBackend(Path(sys.argv[1]), 2**20).get(key) for key in sys.argv[2:]])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path, *keys],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def in_child(work: Callable[[], bool]) -> int:
    """Return how a forked child ends: with 0 if *work* returned True."""
    if (child := os.fork()) == 0:
        # a child that hangs would keep the pipes of this process open, for which
        # everybody waits
        signal.alarm(120)
        status = 2
        try:
            status = 0 if work() else 1
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_second_connection_does_not_release_the_locks_of_the_first(path):
    first = SQLiteBackend(path, MIB)
    first.set("a", b"1", 60)
    SQLiteBackend(path, MIB).get("a")
    use_in_another_process(path)
    first.set("b", b"2", 60)

    assert read_in_another_process(path, "a", "b") == "[b'1', b'2']"


def test_an_index_does_not_read_a_cache_that_is_open_here(path):
    cache = SQLiteBackend(path, MIB)
    cache.set("a", b"1", 60)
    (path.parent / "kelp.txt").write_text("kelp")
    os.link(path, path.with_name("link.db"))
    report = Index(path.with_name("index.db")).add_folder(path.parent)
    use_in_another_process(path)
    cache.set("b", b"2", 60)

    assert report.added == 1
    assert report.skipped == ()
    assert read_in_another_process(path, "a", "b") == "[b'1', b'2']"


@pytest.mark.parametrize("name", ["-wal", "-shm"])
def test_an_index_reads_a_file_with_the_name_of_an_ending_alone(tmp_path, name):
    (tmp_path / name).write_text("kelp")

    assert Index(tmp_path / "index.db").add_folder(tmp_path / name).added == 1


@pytest.mark.skipif(
    sys.platform == "win32", reason="a file that is open cannot be removed"
)
def test_a_cache_that_is_removed_while_it_is_open_is_made_again(path):
    backend = SQLiteBackend(path, MIB)
    backend.set("a", b"1", 60)
    for file in path.parent.iterdir():
        file.unlink()

    assert backend.get("a") is None
    backend.set("b", b"2", 60)
    assert read_in_another_process(path, "b") == "[b'2']"


@pytest.mark.skipif(
    sys.platform == "win32", reason="a file that is open cannot be replaced"
)
def test_a_cache_that_is_moved_aside_elsewhere_is_left_by_those_who_have_it_open(path):
    first, second = (SQLiteBackend(path, MIB, may_replace=True) for _ in range(2))
    first.set("a", b"1", 60)
    assert second.get("a") == b"1"
    first._move_aside(
        _sqlite.identify_file(path),
        sqlite3.DatabaseError("database disk image is malformed"),
    )
    second.set("b", b"2", 60)

    assert first.get("b") == b"2"
    assert read_in_another_process(path, "a", "b") == "[None, b'2']"


def test_an_error_after_which_sqlite_rolled_back_is_raised(path):
    with _sqlite.connect(path, 1) as db:
        db.execute("CREATE TABLE a (b INTEGER UNIQUE ON CONFLICT ROLLBACK)")
        with (
            pytest.raises(sqlite3.IntegrityError, match="UNIQUE"),
            _sqlite.transaction(db),
        ):
            db.execute("INSERT INTO a VALUES (1), (1)")


@needs_fork
def test_forks_in_the_middle_of_writing_lose_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FORKING, tmp_path],
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)

    assert found["written"] > 40
    assert found["in the index"] == found["written"]
    assert found["in the cache"] == 2 * found["written"]
    # those under way in a child that was killed
    assert found["written"] <= found["counted"] <= found["written"] + 8
    for name in ("index.db", "cache.db", "usage.db"):
        with closing(sqlite3.connect(tmp_path / name)) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@needs_fork
def test_a_child_keeps_its_file_when_its_parent_has_done_with_it(path):
    parent = SQLiteBackend(path, MIB)
    parent.set("parent", b"1", 60)
    ours, theirs = os.pipe()
    begun, begins = os.pipe()

    def write():
        own = SQLiteBackend(path, MIB)
        own.set("before", b"2", 60)
        os.write(begins, b"x")
        os.read(ours, 1)
        own.set("after", b"3", 60)
        return parent.get("parent") == b"1"

    def end():
        nonlocal parent
        os.read(begun, 1)
        del parent
        use_in_another_process(path)
        os.write(theirs, b"x")

    ending = threading.Timer(0, end)
    ending.start()
    assert in_child(write) == 0
    ending.join()
    for end_of_pipe in (ours, theirs, begun, begins):
        os.close(end_of_pipe)

    assert (
        read_in_another_process(path, "parent", "before", "after")
        == "[b'1', b'2', b'3']"
    )


@needs_fork
def test_a_fork_waits_for_a_connection_in_use(path):
    using, done = threading.Event(), []

    def use():
        with _sqlite.connect(path, 1) as db:
            using.set()
            time.sleep(0.2)
            db.execute("CREATE TABLE a (b)")
            done.append(True)

    thread = threading.Thread(target=use)
    thread.start()
    using.wait()
    assert in_child(lambda: bool(done) and _can_write(path)) == 0
    thread.join()


@needs_fork
def test_a_child_refuses_a_file_that_was_in_use_for_too_long(path, monkeypatch):
    monkeypatch.setattr(_sqlite, "_PATIENCE", 0.05)
    other = path.with_name("other.db")
    with _sqlite.connect(path, 1) as db:
        db.execute("CREATE TABLE a (b)")

        def is_refused():
            with pytest.raises(
                ConfigurationError, match="was in use while this process was forked"
            ):
                _can_write(path)
            return _can_write(other)

        assert in_child(is_refused) == 0
    assert _can_write(path)


@pytest.fixture
def opened(monkeypatch):
    """The files that are opened as databases."""
    files = []
    connect = sqlite3.connect

    def note(file, **options):
        files.append(file)
        return connect(file, **options)

    monkeypatch.setattr(sqlite3, "connect", note)
    return files


def test_a_cache_is_opened_once_for_many_calls(path, opened):
    cache = SQLiteBackend(path, MIB)
    cache.set("a", b"1", 60)
    opened.clear()
    for _ in range(3):
        assert cache.get("a") == b"1"

    assert opened == []


def test_threads_that_use_a_cache_at_the_same_time_have_a_connection_each(path):
    path.touch()
    pool = _sqlite.Pool(path, 1, lambda _: None)
    with pool.connect() as first, pool.connect() as second:
        pass
    with pool.connect() as third, pool.connect() as fourth:
        pass

    assert first is not second
    assert {third, fourth} == {first, second}


def test_a_connection_that_failed_is_not_used_again(path, opened):
    pool = _sqlite.Pool(path, 1, lambda _: None)
    with pytest.raises(KeyError), pool.connect():
        raise KeyError
    with pool.connect():
        pass

    assert opened == [path, path]


def test_a_copy_of_a_cache_has_connections_of_its_own(path, opened):
    cache = SQLiteBackend(path, MIB)
    cache.set("a", b"1", 60)
    copies = [copy.deepcopy(cache), pickle.loads(pickle.dumps(cache))]
    opened.clear()

    assert [one.get("a") for one in copies] == [b"1", b"1"]
    assert opened == [path, path]


def test_what_another_program_adds_to_a_cache_that_is_open_is_noticed(path):
    cache = SQLiteBackend(path, MIB)
    cache.set("a", b"1", 60)
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE VIEW more AS SELECT * FROM entries")

    with pytest.raises(NotACacheError):
        cache.get("a")


@pytest.mark.skipif(sys.platform == "win32", reason="files have no such mode")
def test_a_cache_that_others_may_write_from_now_on_is_not_used(path):
    cache = SQLiteBackend(path, MIB)
    cache.set("a", b"1", 60)
    path.chmod(0o666)

    with pytest.raises(UnsafeFile):
        cache.get("a")


@needs_fork
def test_a_fork_closes_what_nobody_uses(path, opened):
    cache = SQLiteBackend(path, MIB)
    cache.set("a", b"1", 60)
    opened.clear()

    assert in_child(lambda: cache.get("a") == b"1" and opened == [path]) == 0
    assert cache.get("a") == b"1"
    assert opened == [path]


FORKED_BY_OTHERS = """
import ctypes, logging, os, sys
from contextlib import nullcontext
from pathlib import Path
from websearch_core._runtime.sqlite import connect
from websearch_core.errors import ConfigurationError
from websearch_core.layers._caching.sqlite import SQLiteBackend
from websearch_core.layers._cache import Store

parent = SQLiteBackend(Path(sys.argv[1]), 2**20)
store = Store(parent)
parent.set("a", b"1", 60)
in_use, idle = connect(Path(sys.argv[1]), 1), nullcontext()
for work, block in (
    (lambda: parent.get("a"), in_use),
    (lambda: store.load("a"), idle),
):
    with block as db:
        if db:
            db.execute("SELECT * FROM entries").fetchall()
        if (child := ctypes.PyDLL(None).fork()) == 0:
            try:
                work()
            except ConfigurationError as error:
                print("raised:", error, flush=True)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
parent.set("b", b"2", 60)
"""


@needs_fork
def test_a_process_that_was_not_forked_by_python_refuses_what_its_parent_has_open(path):
    """In a process with one thread: such a fork would leave the interpreter's own locks
    as other threads hold them.
    """
    done = subprocess.run(
        [sys.executable, "-c", FORKED_BY_OTHERS, path],
        capture_output=True,
        text=True,
        timeout=600,
    )

    assert (
        done.returncode,
        done.stdout.count("was in use while this process was forked"),
    ) == (0, 1)
    assert done.stdout.startswith("raised:")
    # the log says why the cache is not used
    assert "was in use while this process was forked" in done.stderr
    assert read_in_another_process(path, "a", "b") == "[b'1', b'2']"


def _can_write(path: Path) -> bool:
    with _sqlite.connect(path, 1) as db, _sqlite.transaction(db):
        db.execute("CREATE TABLE more (b)")
    return True


def test_an_error_that_is_no_damage_leaves_the_cache_where_it_is(path):
    backend = SQLiteBackend(path, MIB)
    backend.set("a", b"1", 60)
    with pytest.raises(sqlite3.DatabaseError):
        backend.set(object(), b"1", 60)

    assert backend.get("a") == b"1"
    assert [file.name for file in path.parent.iterdir() if "damaged" in file.name] == []


def test_a_cache_that_has_been_replaced_already_is_not_moved_aside(path):
    first, second = (SQLiteBackend(path, MIB, may_replace=True) for _ in range(2))
    for n in range(20):
        first.set(str(n), b"x" * 5000, 60)
    second.get("1")
    seen, damaged = (
        _sqlite.identify_file(path),
        sqlite3.DatabaseError("database disk image is malformed"),
    )
    first._move_aside(seen, damaged)
    third = SQLiteBackend(path, MIB)
    third.set("new", b"1", 60)
    second._move_aside(seen, damaged)

    assert read_in_another_process(path, "new") == "[b'1']"


ENDLESS = "WITH RECURSIVE up(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up) SELECT "


def test_a_statement_without_end_is_ended_at_the_deadline(tmp_path):
    with (
        pytest.raises(TimedOut, match="within the time allowed"),
        time_limit(0.1),
        _sqlite.connect(tmp_path / "file.db", 1) as db,
    ):
        db.execute(f"{ENDLESS} count(*) FROM up")


def test_a_change_that_the_deadline_interrupts_is_undone(tmp_path):
    path = tmp_path / "file.db"
    with _sqlite.connect(path, 1) as db:
        db.execute("CREATE TABLE notes (number)")

    def fill():
        with (
            time_limit(0.1),
            _sqlite.connect(path, 1) as db,
            _sqlite.transaction(db),
        ):
            db.execute("INSERT INTO notes VALUES (1)")
            db.execute(f"INSERT INTO notes {ENDLESS} n FROM up")

    with pytest.raises(TimedOut):
        fill()

    with _sqlite.connect(path, 1) as db:
        assert db.execute("SELECT count(*) FROM notes").fetchone() == (0,)


def test_what_is_short_is_done_after_the_deadline_too(tmp_path):
    with time_limit(0), _sqlite.connect(tmp_path / "file.db", 1) as db:
        assert db.execute("SELECT 7").fetchone() == (7,)
