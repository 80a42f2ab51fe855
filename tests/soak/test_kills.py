"""What was acknowledged survives the death of the process, and a disk that is full or read-only is a typed error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_KILLS = 15  # for each file; `make soak` kills more


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_what_was_acknowledged_is_there_after_a_kill():
    command = [sys.executable, "-m", "benchmarks.soak.kills", str(_KILLS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)

    assert done.returncode == 0, done.stderr
    for name, findings in json.loads(done.stdout).items():
        assert (name, findings["problems"]) == (name, [])
        assert findings["kills"] == _KILLS
        assert findings["writes"] > _KILLS, name


@contextmanager
def mounted(folder, size, *options):
    """A small disk of its own, where this process may mount one."""
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.name != "posix" or os.geteuid() != 0 or subprocess.run(words, capture_output=True).returncode != 0:
        pytest.skip("this process may not mount a disk")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def disk(tmp_path):
    """A disk of 400 KB."""
    with mounted(tmp_path / "disk", "400k"):
        yield tmp_path / "disk"


def fill(disk):
    with (disk / "ballast").open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096) == 4096:
                pass
        except OSError:
            return


PROGRAM = """
import json, resource, signal, sys
from datetime import date
from pathlib import Path
from websearch_core import WebSearch
from websearch_core.errors import WebSearchError
from websearch_core.index import Index
from websearch_core.layers import Budget
from websearch_core.models import Page, SearchQuery
from websearch_core.testing import FakeWeb

folder, limit = Path(sys.argv[1]), int(sys.argv[2])
if limit:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
index, ended, added = Index(folder / "index.db"), {}, []

def attempt(name, work):
    try:
        work()
    except WebSearchError as error:
        ended[name] = error.code, getattr(error, "temporary", None), str(error)
    return name not in ended

def add(n):
    url = f"https://sea.example/{n}"
    index.add(Page(url=url, final_url=url, title="Kelp", content=f"word{n} " * 2000))
    added.append(n)

pages = {f"https://a.example/{n}": "text " * 5000 for n in range(40)}
cached = WebSearch(FakeWeb(pages=pages), cache=str(folder / "cache.db"))
assert all(cached.read(url).content for url in pages)
for n in range(200):
    if not attempt("index", lambda: add(n)):
        break
counted = 0
spending = WebSearch(FakeWeb(), layers=[Budget(limit="99999 calls/day", usage_file=folder / "usage.db")])
for n in range(int(sys.argv[3])):
    if not attempt("usage", lambda: spending.search(f"kelp {n}")):
        break
    counted += 1
for n in added:
    attempt("reading", lambda: index.page(f"https://sea.example/{n}"))
    attempt("reading", lambda: index.search(SearchQuery(text=f"word{n}")).hits[0])
print(json.dumps({"added": added, "counted": counted, "ended": ended}))
"""


def execute(folder, limit=0, spending=300):
    command = [sys.executable, "-c", PROGRAM, str(folder), str(limit), str(spending)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("the cache does not work") == 1  # and no call failed for it
    return json.loads(done.stdout)
