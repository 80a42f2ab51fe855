"""Databases that somebody else owns, may write or redirects are not used: caches,
indexes and usage files.
"""

from __future__ import annotations
import asyncio
import os
import stat
from datetime import date
from pathlib import Path

import pytest

from websearch_core import WebSearch
from websearch_core._runtime import owners as _owners
from websearch_core.errors import ConfigurationError
from websearch_core.index import Index
from websearch_core.layers._amounts import Amount
from websearch_core.layers._caching.sqlite import SQLiteBackend
from websearch_core.layers._usage import UsageFile
from websearch_core.models import Page
from websearch_core.testing import FakeWeb

pytestmark = pytest.mark.skipif(
    not hasattr(os, "geteuid"), reason="no owners and permissions like those of Unix"
)

URL = "https://sea.example/kelp"
COMPANIONS = ["-wal", "-shm", "-journal"]


def use_cache(path):
    SQLiteBackend(path, 2**20).set("key", b"value", 60)


def use_usage_file(path):
    UsageFile(path).add(date(2026, 11, 22), "ann", "sea", Amount(calls=1))


def use_index(path):
    Index(path).add(Page(url=URL, content="kelp"))


def read_index(path):
    Index(path).urls()


@pytest.fixture(params=[use_cache, use_usage_file, use_index])
def use(request):
    return request.param


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data base.db"


@pytest.fixture
def another_user(monkeypatch):
    """Return a function that makes us another user than the one who made all files so
    far.
    """

    def become():
        monkeypatch.setattr(_owners, "_find_own_ids", lambda: {12345})
        monkeypatch.setattr(_owners, "_ROOT", 12345)

    return become


def refusal(use, path):
    with pytest.raises(ConfigurationError) as refused:
        use(path)
    return str(refused.value)


def test_a_file_of_another_user_is_refused_and_left_alone(use, path, another_user):
    use(path)
    before = path.read_bytes()
    another_user()

    assert f"chown {os.geteuid()} '{path}'" in refusal(use, path)
    assert path.read_bytes() == before


def test_an_empty_file_that_another_user_put_there_is_refused(use, path, another_user):
    path.touch()
    another_user()

    assert "belongs to another user" in refusal(use, path)
    assert path.stat().st_size == 0


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_refused_until_they_may_not(use, path, mode):
    use(path)
    path.chmod(mode)

    assert f"chmod go-w '{path}'" in refusal(use, path)

    path.chmod(mode & ~0o022)
    use(path)


@pytest.mark.parametrize("ending", COMPANIONS)
def test_the_files_beside_it_count_too(use, path, ending):
    use(path)
    beside = path.with_name(path.name + ending)
    beside.touch()
    beside.chmod(0o666)

    assert str(beside) in refusal(use, path)


def test_a_link_of_another_user_is_not_followed_even_to_a_file_of_ours(
    use, path, tmp_path, monkeypatch
):
    use(path)
    link = tmp_path / "link.db"
    link.symlink_to(path)
    use(link)  # our own link is
    _give_away(link, monkeypatch)

    assert "symbolic link of another user" in refusal(use, link)


def test_neither_is_one_in_the_middle_nor_one_that_leads_to_nothing(
    use, path, tmp_path, monkeypatch
):
    first, middle = tmp_path / "first.db", tmp_path / "middle.db"
    first.symlink_to("middle.db")
    middle.symlink_to(path)
    _give_away(middle, monkeypatch)

    assert str(middle) in refusal(use, first)
    assert not path.exists()


def test_a_folder_where_everybody_may_replace_files_is_refused_unless_its_sticky_bit_is_set(
    use, tmp_path
):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)

    assert f"{folder}/websearch/one.db" in refusal(use, folder / "one.db")

    use(folder / "websearch" / "one.db")
    folder.chmod(0o1777)
    use(folder / "one.db")


def test_an_index_that_root_made_for_all_may_be_read(path, monkeypatch):
    use_index(path)
    path.chmod(0o644)
    owner = path.stat().st_uid
    monkeypatch.setattr(_owners, "_find_own_ids", lambda: {12345})
    monkeypatch.setattr(_owners, "_ROOT", owner)

    read_index(path)


def test_reading_an_index_of_another_user_is_refused_too(path, another_user):
    use_index(path)
    another_user()

    assert "belongs to another user" in refusal(read_index, path)


def test_what_we_make_passes_whatever_the_umask(use, path):
    before = os.umask(0)
    try:
        use(path)
        use(path)
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def search(web):
    return web.search("kelp")


def asearch(web):
    return asyncio.run(web.asearch("kelp"))


def read(web):
    return web.read(URL)


@pytest.mark.parametrize("call", [search, asearch, read])
def test_a_call_with_a_cache_that_others_may_change_fails_before_anything_is_sent(
    path, call
):
    use_cache(path)
    path.chmod(0o666)
    fake = FakeWeb(results=[{"title": "Kelp", "url": URL}], pages={URL: "Kelp"})
    web = WebSearch(fake, reader=fake, cache=str(path))
    before = path.read_bytes()

    for _ in range(2):
        with pytest.raises(ConfigurationError, match="chmod go-w") as refused:
            call(web)
        assert str(path) in str(refused.value)
    assert fake.queries == fake.urls == []
    assert path.read_bytes() == before

    path.chmod(0o600)
    assert call(web)


def test_without_owners_as_on_windows_everything_passes(use, path, monkeypatch):
    use(path)
    path.chmod(0o666)
    monkeypatch.delattr(os, "geteuid")

    use(path)


def _give_away(link, monkeypatch):
    """Let *link* belong to another user; only root can do so, others pretend."""
    lstat = Path.lstat

    def pretend(self, **options):
        found = lstat(self, **options)
        return (
            os.stat_result((*found[:4], 12345, *found[5:])) if self == link else found
        )

    monkeypatch.setattr(Path, "lstat", pretend)
