"""The second run of an ingest embeds only what changed, with LangChain's index and
LlamaIndex's pipeline.
"""

from __future__ import annotations
import re
import sys

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from llama_index.core import MockEmbedding, Settings

from langchain_websearch import WebPageLoader
from llamaindex_websearch import WebPageReader

pytestmark = pytest.mark.enable_socket
PATHS = ["/ferries/", "/docs/rotation/", "/docs/install/"]


class Embeddings(DeterministicFakeEmbedding):
    """Remembers what was embedded."""

    size: int = 8
    embedded: list[str] = []  # noqa: RUF012 - a field of pydantic

    def embed_documents(self, texts):
        self.embedded.extend(texts)
        return super().embed_documents(texts)


class LlamaEmbeddings(MockEmbedding):
    embedded: list[str] = []  # noqa: RUF012 - a field of pydantic

    def _get_text_embedding(self, text):
        self.embedded.append(text)
        return super()._get_text_embedding(text)

    def _get_text_embeddings(self, texts):
        return [self._get_text_embedding(text) for text in texts]


class ChainIngest:
    """The example of LangChain; each run has a loader of its own, as in a program that
    is started again.
    """

    def __init__(self, load_example, site):
        self.embeddings = Embeddings()
        self._ingest = load_example("ingest_langchain").Ingest(self.embeddings)
        self._site = site

    def run(self):
        """Return the texts that were embedded."""
        self.embeddings.embedded.clear()
        urls = [self._site.url + path for path in PATHS]
        self._ingest.run(
            WebPageLoader(urls, on_error="skip", internal=[self._site.url])
        )
        return list(self.embeddings.embedded)

    def stored(self):
        """Return the text of everything in the store."""
        return "\n".join(one["text"] for one in self._ingest.store.store.values())


class PipelineIngest:
    """The same for LlamaIndex."""

    def __init__(self, load_example, site):
        self.embeddings = LlamaEmbeddings(embed_dim=8)
        self._example = load_example("ingest_llamaindex")
        self._pipeline = self._example.make_pipeline(self.embeddings)
        self._site = site

    def run(self):
        self.embeddings.embedded.clear()
        urls = [self._site.url + path for path in PATHS]
        self._example.ingest(
            self._pipeline, WebPageReader(internal=[self._site.url]), urls
        )
        return list(self.embeddings.embedded)

    def stored(self):
        return "\n".join(one.text for one in self._pipeline.docstore.docs.values())

    def vectors(self):
        return list(self._pipeline.vector_store.data.embedding_dict)


@pytest.fixture
def site(load_example):
    with load_example("serve").Site() as running:
        yield running


@pytest.fixture(params=[ChainIngest, PipelineIngest])
def ingest(request, load_example, site):
    return request.param(load_example, site)


def test_a_second_run_embeds_nothing(ingest):
    assert len(ingest.run()) > len(PATHS)
    assert ingest.run() == []


def test_only_the_page_that_was_edited_is_embedded_again(ingest, site):
    ingest.run()
    site.edit("/ferries/", "09:15", "09:45")
    embedded = ingest.run()

    assert any("09:45" in text for text in embedded)
    assert [text for text in embedded if "rotate" in text.lower()] == []
    assert "09:45" in ingest.stored()
    assert "09:15" not in ingest.stored()  # nor is the old text found any more


def test_of_an_edited_page_only_the_sections_that_changed_are_embedded_by_langchain(
    load_example, site
):
    ingest = ChainIngest(load_example, site)
    ingest.run()
    site.edit(
        "/docs/rotation/",
        "keep two versions valid at once",
        "keep three versions valid at once",
    )

    (embedded,) = ingest.run()
    assert "keep three versions" in embedded


def test_a_page_that_cannot_be_read_this_time_stays_as_it_was(ingest, site):
    ingest.run()
    gone = site.files.pop("/docs/rotation/")

    assert ingest.run() == []
    assert "keep two versions valid at once" in ingest.stored()
    site.files["/docs/rotation/"] = gone
    assert ingest.run() == []


def test_the_example_of_langchain_shows_two_runs_and_an_edit(load_example, capsys):
    load_example("ingest_langchain").main()

    first, second, edit = capsys.readouterr().out.splitlines()
    assert re.match(
        r"first run: .*'num_added': \d\d+, .*'num_skipped': 0, 'num_deleted': 0", first
    )
    assert re.match(
        r"second run: .*'num_added': 0, .*'num_skipped': \d\d+, 'num_deleted': 0",
        second,
    )
    assert re.match(
        r"one edit: .*'num_added': 1, .*'num_skipped': \d\d+, 'num_deleted': 1", edit
    )


def test_the_example_of_llamaindex_shows_two_runs_and_an_edit(load_example, capsys):
    load_example("ingest_llamaindex").main()

    shown = re.findall(
        r"(\d+) pages read, (\d+) of them embedded", capsys.readouterr().out
    )
    pages = shown[0][0]
    assert shown == [(pages, pages), (pages, "0"), (pages, "1")]
    assert int(pages) > 5


def test_the_vectors_of_an_edited_page_replace_those_of_llamaindex(load_example, site):
    ingest = PipelineIngest(load_example, site)
    ingest.run()
    before = set(ingest.vectors())
    site.edit("/ferries/", "09:15", "09:45")
    embedded = ingest.run()

    assert len(ingest.vectors()) == len(before)
    assert len(set(ingest.vectors()) - before) == len(embedded)


def test_live_the_urls_are_arguments_and_the_model_that_of_langchain(
    load_example, site, fake_web, monkeypatch, capsys
):
    fake_web.pages["https://sea.example/"] = (
        "# Kelp\n\nKelp grows.\n\n## Tides\n\nHigh at noon."
    )
    example = load_example("ingest_langchain")
    asked = []
    monkeypatch.setattr(
        example, "init_embeddings", lambda name: asked.append(name) or Embeddings()
    )
    monkeypatch.setattr(
        sys, "argv", ["example", "https://sea.example/", "https://sea.example/gone"]
    )
    example.main()

    assert asked == ["openai:text-embedding-3-small"]
    assert re.findall(r"'num_added': (\d+)", capsys.readouterr().out) == ["2", "0"]


def test_live_the_urls_are_arguments_and_the_model_that_of_llamaindex(
    load_example, fake_web, monkeypatch, capsys
):
    fake_web.pages["https://sea.example/"] = (
        "# Kelp\n\nKelp grows.\n\n## Tides\n\nHigh at noon."
    )
    example = load_example("ingest_llamaindex")
    monkeypatch.setattr(Settings, "_embed_model", LlamaEmbeddings(embed_dim=8))
    monkeypatch.setattr(
        sys, "argv", ["example", "https://sea.example/", "https://sea.example/gone"]
    )
    example.main()

    assert capsys.readouterr().out == (
        "1 pages read, 1 of them embedded, as 2 nodes\n1 pages read, 0 of them embedded, as 0 nodes\n"
    )
