"""The callables for Ray Data. Ray gives them batches, and takes what they return;
tests/cluster has a cluster do so.
"""

from __future__ import annotations
import json
import pickle
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from websearch_core.errors import ConfigurationError, RateLimited
from websearch_core.ray import ReadPages, SearchQueries, partition_by_host
from websearch_core.testing import FakeWeb

KELP = "https://sea.example/kelp"


@pytest.fixture
def web():
    return FakeWeb(
        results={"kelp": [{"title": "Kelp", "url": KELP, "snippet": "An alga."}]},
        pages={KELP: "# Kelp\n\nKelp grows in cold seas, and needs light."},
        errors={"storm": RateLimited("slow down")},
    )


def test_each_url_is_a_row_with_its_page_or_its_error(web):
    batch = {
        "url": [KELP, "https://sea.example/none", "nonsense", None],
        "id": [1, 2, 3, 4],
    }
    pages = ReadPages(reader=web)(batch)

    assert pages["id"] == [1, 2, 3, 4]
    assert pages["url"] == batch["url"]
    assert {len(column) for column in pages.values()} == {4}
    assert pages["code"] == [None, "page_not_found", "unsafe_url", "invalid_option"]
    assert pages["message"][0] is None
    assert all(pages["message"][1:])
    assert pages["final_url"] == [KELP, None, None, None]
    assert "cold seas" in pages["content"][0]
    assert pages["provider"][0] == "fake"
    assert pages["fetched_at"][0].startswith("20")


def test_the_hash_is_that_of_the_content(web):
    reader = ReadPages("page", reader=web)
    first, again = (reader({"page": [KELP]})["hash"] for _ in range(2))
    web.pages[KELP] = "Kelp is gone."

    assert first == again
    assert reader({"page": [KELP]})["hash"] != first


def test_pages_are_whole_unless_options_say_otherwise(web):
    web.pages[KELP] = "Kelp grows in cold seas. " * 4_000
    (whole,) = ReadPages(reader=web)({"url": [KELP]})["content"]
    (part,) = ReadPages(reader=web, read_options={"max_length": 100})({"url": [KELP]})[
        "content"
    ]

    assert len(whole) > 90_000
    assert len(part) <= 100


def test_each_query_is_a_row_with_what_was_found(web):
    found = SearchQueries("q", provider=web, retry=False)(
        {"q": ["kelp", "storm", "nothing"]}
    )

    assert found["urls"] == [[KELP], None, []]
    assert [row["title"] for row in json.loads(found["results"][0])] == ["Kelp"]
    assert found["code"] == [None, "rate_limited", None]
    assert found["message"][0] is None
    assert found["message"][1]


def test_options_are_those_of_websearch(web):
    pages = ReadPages(
        reader=web, blocked_domains=["sea.example"], concurrency=1, give_up_after=None
    )({"url": [KELP]})

    assert pages["code"] == ["domain_not_allowed"]
    with pytest.raises(ConfigurationError, match="tavly"):
        SearchQueries(provider="tavly")


def test_a_missing_column_is_named(web):
    with pytest.raises(
        ConfigurationError, match="'url' is not in the batch, which has text"
    ):
        ReadPages(reader=web)({"text": [KELP]})


def test_urls_of_a_host_come_into_one_block():
    class Dataset:
        def map_batches(self, add):
            self.batch = add({"text": [KELP, "http://sea.example:8080/", "nonsense"]})
            return self

        def repartition(self, blocks, *, keys):
            return blocks, keys, self.batch["host"]

    assert partition_by_host(Dataset(), 64, column="text") == (
        64,
        ["host"],
        ["sea.example", "sea.example:8080", ""],
    )


@pytest.mark.repository
def test_the_job_that_the_page_shows_has_arguments_that_exist(monkeypatch):
    made = []

    class Dataset:
        def map_batches(self, function, *, fn_constructor_kwargs=None, **how):
            if fn_constructor_kwargs is not None:
                made.append((function(**fn_constructor_kwargs), sorted(how)))
            return self

        def repartition(self, blocks, *, keys):
            return self

        def write_parquet(self, path):
            made.append(path)

    data = SimpleNamespace(
        read_text=lambda _: Dataset(),
        ActorPoolStrategy=lambda *, min_size, max_size: None,
    )
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(data=data))
    page = Path(__file__).resolve().parents[2] / "docs" / "bulk.md"
    (block,) = re.findall(
        r"^```py\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    exec(block, {})

    (reader, how), path = made
    assert isinstance(reader, ReadPages)
    assert how == ["batch_size", "compute", "num_cpus"]
    assert path == "s3://bucket/pages"


def test_what_ray_sends_to_a_worker_can_be_pickled():
    assert pickle.loads(pickle.dumps((ReadPages, SearchQueries))) == (
        ReadPages,
        SearchQueries,
    )
