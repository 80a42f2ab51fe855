"""The file of the cache: processes, loops, kills, damage, and disks that are full or
read-only.
"""

from __future__ import annotations
import asyncio
import copy
import os
import pickle
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tests.waiting import ended_by
from websearch_core import WebSearch
from websearch_core._runtime import sqlite as _sqlite
from websearch_core.events import CacheHit
from websearch_core.layers import Cache
from websearch_core.layers._caching import sqlite
from websearch_core.layers._caching.sqlite import NotACacheError, SQLiteBackend
from websearch_core.testing import FakeWeb

MIB = 2**20
WRITER = """
import sys
from pathlib import Path
from websearch_core.layers._caching.sqlite import SQLiteBackend
backend = SQLiteBackend(Path(sys.argv[1]), 50 * 2**20)
n = 0
while True:
    backend.set(f"{sys.argv[2]}-{n % 200}", b"x" * (n % 50_000), 3600)
    n += 1
    if n == 20:
        print("writing", flush=True)
    if n == int(sys.argv[3]):
        break
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.db"


def write(path, name, times):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, path, name, str(times)],
        stdout=subprocess.PIPE,
        text=True,
    )


def is_whole(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_entries_are_found_until_their_time_is_up(path):
    backend = SQLiteBackend(path, MIB)
    backend.set("a", b"one", 3600)
    backend.set("a", b"two", 3600)
    backend.set("b", b"short", 0)

    assert backend.get("a") == b"two"
    assert backend.get("b") is None
    assert backend.get("c") is None
    assert backend.stats().entries == 1
    backend.clear()
    assert backend.stats().entries == 0
    for again in (copy.deepcopy(backend), pickle.loads(pickle.dumps(backend))):
        again.set("a", b"three", 3600)
        assert backend.get("a") == b"three"


def test_nothing_is_made_by_looking_how_full_it_is(path):
    backend = SQLiteBackend(path, MIB)
    backend.clear()
    assert backend.stats().entries == 0
    assert not path.exists()


def test_the_oldest_entries_go_when_there_is_no_room(path):
    backend = SQLiteBackend(path, MIB)
    for n in range(100):
        backend.set(str(n), bytes([n]) * 50_000, 3600)
    backend.set("big", b"x" * MIB, 3600)

    assert backend.get("99")
    assert backend.get("0") is None
    assert backend.get("big") is None
    assert backend.stats().size < MIB
    assert path.stat().st_size < 2 * MIB


def test_a_limit_below_an_empty_file_leaves_no_entry(path):
    backend = SQLiteBackend(path, 1)
    backend.set("empty", b"", 3600)

    assert backend.get("empty") is None


def test_expired_entries_make_room_first(path):
    backend = SQLiteBackend(path, MIB)
    backend.set("old but good", b"x" * 100_000, 3600)
    for n in range(20):
        backend.set(str(n), b"x" * 60_000, 0)

    assert backend.get("old but good")


def test_only_the_owner_can_read_it(path):
    SQLiteBackend(path, MIB).set("a", b"b", 60)

    assert {file.stat().st_mode & 0o077 for file in path.parent.iterdir()} == {0}


def test_processes_write_to_one_file(path):
    writers = [write(path, name, 300) for name in ("a", "b")]
    assert [writer.wait(200) for writer in writers] == [0, 0]
    for writer in writers:
        writer.stdout.close()

    backend = SQLiteBackend(path, 50 * MIB)
    assert backend.get("a-199")
    assert backend.get("b-199")
    assert is_whole(path)


def test_a_process_that_is_killed_while_it_writes_leaves_it_whole(path):
    for n in (0, 2, 4):
        with write(path, f"k{n}", -1) as writer:
            writer.stdout.readline()
            time.sleep(0.02 * n)
            writer.send_signal(signal.SIGKILL)
        assert is_whole(path)
    backend = SQLiteBackend(path, 50 * MIB)
    backend.set("after", b"fine", 60)

    assert backend.get("after") == b"fine"
    written = backend.get("k0-7")
    # it may have been written again, each time longer
    assert (written.strip(b"x"), len(written) % 200) == (b"", 7)


def test_two_event_loops_and_threads_share_it(path):
    fakes = [
        FakeWeb(pages={f"https://a.example/{n}": "text" for n in range(10)})
        for _ in range(2)
    ]

    def on_a_loop(fake):
        web = WebSearch(fake, cache=str(path))

        async def read():
            return await asyncio.gather(
                *(web.aread(f"https://a.example/{n % 10}") for n in range(50))
            )

        return asyncio.run(read())

    with ThreadPoolExecutor(2) as threads:
        pages = [page for some in threads.map(on_a_loop, fakes) for page in some]

    assert len(pages) == 100
    assert sum(len(fake.urls) for fake in fakes) <= 20
    assert is_whole(path)


READER = """
import asyncio, sys
from websearch_core.layers._caching import sqlite
sqlite._PATIENCE = 60  # this is about sharing; on a busy machine, the others may hold it for long
from concurrent.futures import ThreadPoolExecutor
from websearch_core import WebSearch
from websearch_core.testing import FakeWeb

pages = {f"https://a.example/{n}": f"text {n}" for n in range(20)}

def on_a_loop(fake):
    web = WebSearch(fake, cache=sys.argv[1])
    async def read():
        found = []
        for _ in range(3):
            found += await asyncio.gather(*(web.aread(url) for url in pages))
        return [page.content for page in found]
    return asyncio.run(read())

fakes = [FakeWeb(pages=pages) for _ in range(2)]
sys.stdin.readline()
with ThreadPoolExecutor(2) as threads:
    read = [content for some in threads.map(on_a_loop, fakes) for content in some]
assert read == list(pages.values()) * 6, read
print(sum(len(fake.urls) for fake in fakes))
"""


def test_a_file_whose_tables_another_process_makes_meanwhile_is_a_cache(
    path, monkeypatch
):
    read_stamp = sqlite.read_stamp

    def read_before_another_makes_it(db):
        found = read_stamp(db)
        monkeypatch.setattr(sqlite, "read_stamp", read_stamp)
        SQLiteBackend(path, MIB).set("other", b"x", 60)
        return found

    monkeypatch.setattr(sqlite, "read_stamp", read_before_another_makes_it)
    backend = SQLiteBackend(path, MIB)
    backend.set("own", b"y", 60)

    assert [backend.get(key) for key in ("other", "own")] == [b"x", b"y"]


def test_two_processes_with_two_event_loops_each_share_it(path):
    command = [sys.executable, "-c", READER, path]
    pipes = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
    }
    processes = [subprocess.Popen(command, **pipes) for _ in range(2)]
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    ends = [process.communicate(timeout=200) for process in processes]

    assert not [error for _, error in ends if error]
    # each page at most once for each loop, of 240 reads
    assert sum(int(output) for output, _ in ends) <= 4 * 20
    assert is_whole(path)
    late = FakeWeb(pages={f"https://a.example/{n}": f"text {n}" for n in range(20)})
    assert (
        WebSearch(late, cache=str(path)).read("https://a.example/7").content == "text 7"
    )
    assert late.urls == []


# Damage


@pytest.mark.parametrize("where", [0, 20, 4096, 8192 + 100])
def test_a_damaged_cache_is_moved_aside_or_survives(path, where, caplog):
    backend = SQLiteBackend(path, 50 * MIB)
    for n in range(50):
        backend.set(str(n), b"x" * 5000, 60)
    del backend  # its connections hold what the file does not
    with path.open("r+b") as file:
        file.seek(where)
        file.write(os.urandom(20_000))
    again = SQLiteBackend(path, 50 * MIB, may_replace=True)
    for n in range(50):
        again.set(str(n), b"y" * 5000, 60)
        again.get(str(n))

    assert again.get("49") == b"y" * 5000
    if path.with_name("answers.db.damaged").exists():
        assert "damaged" in caplog.text


def test_a_damaged_cache_of_ours_is_known_by_its_header(path):
    SQLiteBackend(path, MIB).set("a", b"b", 60)
    with path.open("r+b") as file:
        file.seek(100)
        file.write(os.urandom(3000))
    again = SQLiteBackend(path, MIB)
    again.set("a", b"c", 60)

    assert again.get("a") == b"c"
    assert path.with_name("answers.db.damaged").exists()


@pytest.mark.parametrize(
    "content", [b"My notes, which are not a database. " * 100, b"\0" * 5000]
)
def test_a_file_of_somebody_else_is_left_alone(path, content, caplog):
    path.write_bytes(content)
    with pytest.raises(NotACacheError):
        SQLiteBackend(path, MIB).get("a")
    web = WebSearch(FakeWeb(pages={"https://a.example/": "text"}), cache=str(path))

    assert web.read("https://a.example/").content == "text"
    assert path.read_bytes() == content
    assert "is not a cache" in caplog.text


def test_a_database_of_somebody_else_and_a_newer_cache_are_left_alone(path, tmp_path):
    newer = tmp_path / "newer.db"
    with closing(sqlite3.connect(path)) as db, closing(sqlite3.connect(newer)) as cache:
        db.execute("CREATE TABLE mine (a)")
        cache.execute("PRAGMA user_version = 99")
    for file in (path, newer):
        before = file.read_bytes()
        with pytest.raises(NotACacheError):
            SQLiteBackend(file, MIB, may_replace=True).set("a", b"b", 60)
        assert file.read_bytes() == before


def test_a_value_that_is_not_bytes_is_as_good_as_none(path):
    backend = SQLiteBackend(path, MIB)
    backend.set("a", b"b", 60)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE entries SET value = 'text'")

    assert backend.get("a") is None


def test_a_table_that_is_gone_fails_no_call(path, caplog):
    backend = SQLiteBackend(path, MIB)
    backend.set("a", b"b", 60)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP TABLE entries")
    web = WebSearch(FakeWeb(pages={"https://a.example/": "text"}), cache=str(path))

    assert web.read("https://a.example/").content == "text"
    assert "no such table" in caplog.text


# Disks


@pytest.mark.parametrize(
    "place", [f"{__file__}/answers.db", "/proc/nothing/answers.db"]
)
def test_a_place_that_cannot_be_written_fails_no_call(place, caplog):
    fake = FakeWeb(pages={"https://a.example/": "text"})
    web = WebSearch(fake, cache=place)
    for _ in range(3):
        assert web.read("https://a.example/").content == "text"

    assert len(fake.urls) == 3
    assert (
        len(
            [
                record
                for record in caplog.records
                if "cache does not work" in record.message
            ]
        )
        == 1
    )


def test_a_full_disk_fails_no_call_and_leaves_the_file_whole(path):
    script = f"""
import resource, signal
from websearch_core import WebSearch
from websearch_core.testing import FakeWeb
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
pages = {{f"https://a.example/{{n}}": "text " * 10_000 for n in range(20)}}
web = WebSearch(FakeWeb(pages=pages), cache={str(path)!r})
assert all(web.read(url).content for url in pages)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr
    assert done.stderr.count("cache does not work") == 1
    assert is_whole(path)
    assert resource.RLIMIT_FSIZE


def test_a_read_only_file_fails_no_call(path, monkeypatch, caplog):
    SQLiteBackend(path, MIB).set("a", b"b", 60)
    open_file = _sqlite._connections.open
    monkeypatch.setattr(
        _sqlite._connections,
        "open",
        lambda path, timeout, _: open_file(path, timeout, "mode=ro"),
    )
    web = WebSearch(FakeWeb(pages={"https://a.example/": "text"}), cache=str(path))

    assert web.read("https://a.example/").content == "text"
    assert "readonly" in caplog.text


def test_a_file_that_another_process_locks_is_not_waited_for_long(path):
    backend = SQLiteBackend(path, MIB)
    backend.set("a", b"b", 60)
    web = WebSearch(FakeWeb(pages={"https://a.example/": "text"}), cache=str(path))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with ended_by(1):
            assert web.read("https://a.example/").content == "text"
        other.execute("ROLLBACK")


def test_many_threads_do_not_wait_for_another_process_in_turn(path):
    backend, together = SQLiteBackend(path, MIB), threading.Barrier(100)
    backend.set("a", b"b", 60)

    def write(n):
        together.wait()
        with pytest.raises(sqlite3.OperationalError):
            backend.set(str(n), b"b", 60)

    with (
        closing(sqlite3.connect(path, isolation_level=None)) as other,
        ThreadPoolExecutor(100) as threads,
    ):
        other.execute("BEGIN IMMEDIATE")
        with ended_by(2):  # in turn, they would wait for 200 seconds
            list(threads.map(write, range(100)))
        other.execute("ROLLBACK")
    assert backend.get("a") == b"b"


def test_threads_use_it_together(path):
    backend, errors = SQLiteBackend(path, MIB), []

    def work(n):
        try:
            for turn in range(50):
                backend.set(f"{n}-{turn}", b"x" * 100, 60)
                assert backend.get(f"{n}-{turn}") == b"x" * 100
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_a_home_folder_is_understood():
    assert Cache(location="~/answers.db").backend._path == Path.home() / "answers.db"


@pytest.mark.parametrize("location", [":memory:", Path(":memory:")])
def test_memory_is_no_file(location, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    events = []
    web = WebSearch(
        FakeWeb(pages={"https://a.example/": "text"}),
        cache=Cache(location=location),
        on_event=events.append,
    )
    for _ in range(2):
        assert web.read("https://a.example/").content == "text"

    assert [type(event) for event in events].count(CacheHit) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER more AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
        "CREATE VIEW more AS SELECT * FROM entries",
        "CREATE TABLE more (text)",
    ],
)
def test_a_file_that_does_more_than_keep_entries_is_no_cache(path, statement):
    backend = SQLiteBackend(path, MIB)
    backend.set("a", b"kept", 60)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(statement)

    with pytest.raises(NotACacheError, match="other tables"):
        backend.get("a")
