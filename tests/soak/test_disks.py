"""A disk that is full or read-only: typed errors of the index and the usage file, and
no failed call for the cache.
"""

from __future__ import annotations
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

PROGRAM = """
import json, signal, sys
from contextlib import suppress
from pathlib import Path
from websearch_core import WebSearch
from websearch_core.errors import WebSearchError
from websearch_core.index import Index
from websearch_core.layers import Budget
from websearch_core.models import Page, SearchQuery
from websearch_core.testing import FakeWeb

folder, limit = Path(sys.argv[1]), int(sys.argv[2])
if limit:
    import resource
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
index, ended = Index(folder / "index.db"), {}

def repeat(name, times, work):
    for number in range(times):
        try:
            work(number)
        except WebSearchError as error:
            ended[name] = error.code, getattr(error, "temporary", None)
            return number
    return times

def add(number):
    url = f"https://sea.example/{number}"
    index.add(Page(url=url, final_url=url, title="Kelp", content=f"word{number} " * 2000))

def find(number):
    assert index.page(f"https://sea.example/{number}").content.startswith(f"word{number} ")
    assert index.search(SearchQuery(text=f"word{number}")).hits

spending = WebSearch(FakeWeb(), budget=Budget(limit="99999 calls/day", usage_file=folder / "usage.db"))
counted = repeat("usage", 5, lambda number: spending.search(f"kelp {number}"))
added = repeat("index", 200, add)
with suppress(OSError), (folder / "rest").open("wb", buffering=0) as rest:
    while rest.write(b"x" * 4096) == 4096:
        pass
repeat("usage", 20, lambda number: spending.search(f"algae {number}"))
with suppress(OSError):
    (folder / "rest").unlink()
pages = {f"https://a.example/{number}": "text " * 5000 for number in range(40)}
cached = WebSearch(FakeWeb(pages=pages), cache=str(folder / "cache.db"))
assert all(cached.read(url).content for url in pages)
repeat("reading", int(sys.argv[3]) or added, find)
print(json.dumps({"added": added, "counted": counted, "ended": ended}))
"""


def execute(folder, limit=0, known=0):
    """Add pages, spend, cache and read until the disk has no room; *known* pages are
    there already.
    """
    command = [sys.executable, "-c", PROGRAM, str(folder), str(limit), str(known)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    # and no call failed for it
    assert done.stderr.count("the cache does not work") == 1
    return json.loads(done.stdout)


def is_whole(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.fixture
def disk(tmp_path):
    """A disk of 400 KB of its own, where this process may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(folder)]
    if (
        not hasattr(os, "geteuid")
        or os.geteuid() != 0
        or subprocess.run(mounting, capture_output=True).returncode
    ):
        pytest.skip("this process may not mount a disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.skipif(
    sys.platform == "win32", reason="a process cannot limit the size of its files"
)
def test_a_file_that_cannot_grow_is_a_typed_error_and_loses_nothing(tmp_path):
    found = execute(tmp_path, limit=400_000)

    assert found["added"]
    assert found["ended"] == {"index": ["unavailable", False]}
    assert is_whole(tmp_path / "index.db")


def test_a_full_disk_is_a_typed_error_loses_nothing_and_can_be_cleared(disk, tmp_path):
    (disk / "ballast").write_bytes(b"x" * 100_000)
    found = execute(disk)
    assert found["added"]
    assert found["counted"] == 5
    assert found["ended"] == {
        "index": ["unavailable", False],
        "usage": ["configuration", None],
    }

    (disk / "ballast").unlink()
    again = execute(disk, known=found["added"])
    assert again["added"]
    assert again["counted"] == 5
    assert "reading" not in again["ended"]
    # even to look at a file, SQLite needs some room
    copy = shutil.copytree(disk, tmp_path / "copy")
    assert is_whole(copy / "index.db")
    assert is_whole(copy / "usage.db")


def test_on_a_read_only_disk_writing_is_a_typed_error_and_the_index_can_be_searched(
    disk,
):
    found = execute(disk)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    again = execute(disk, known=found["added"])

    assert again["ended"] == {
        "index": ["configuration", None],
        "usage": ["configuration", None],
    }
    assert found["added"]
    assert again["added"] == again["counted"] == 0
