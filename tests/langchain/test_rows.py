"""The rows of a list in LangChain's `index`: only what changed is embedded."""

from __future__ import annotations
import json

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.vectorstores import InMemoryVectorStore

from websearch_core import Page
from websearch_core._cli.rows import Rows
from websearch_core.errors import PageNotFound


def documents_of(path):
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return [
        Document(row["content"], metadata={"source": row["url"], "hash": row["hash"]})
        for row in rows
        if row["status"] == "success"
    ]


def test_only_pages_that_changed_are_embedded_again(tmp_path):
    path, embedded = tmp_path / "pages.jsonl", []

    class Embedding(DeterministicFakeEmbedding):
        def embed_documents(self, texts):
            embedded.extend(texts)
            return super().embed_documents(texts)

    records, store = (
        InMemoryRecordManager("pages"),
        InMemoryVectorStore(Embedding(size=8)),
    )
    counts = []
    for word, gone in (("Brown", False), ("Red", False), ("Red", True)):
        with Rows(str(path), refresh=True) as rows:
            rows.add(
                "https://sea.example/1",
                Page(url="https://sea.example/1", content="Kelp."),
            )
            rows.add(
                "https://sea.example/2",
                Page(url="https://sea.example/2", content=f"{word} algae."),
            )
            if gone:
                rows.add("https://sea.example/3", PageNotFound("gone"))
            else:
                rows.add(
                    "https://sea.example/3",
                    Page(url="https://sea.example/3", content="Dulse."),
                )
        counts.append(
            index(
                documents_of(path),
                records,
                store,
                cleanup="full",
                source_id_key="source",
                key_encoder="sha256",
            )
        )

    assert embedded == ["Kelp.", "Brown algae.", "Dulse.", "Red algae."]
    assert [(one["num_added"], one["num_skipped"], one["num_deleted"]) for one in counts] == [
        (3, 0, 0), (1, 2, 1), (0, 2, 1),
    ]  # fmt: skip
