"""The rows of a list in LlamaIndex's `IngestionPipeline`: only what changed is worked
on.
"""

from __future__ import annotations
import json

from llama_index.core import Document
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.storage.docstore import SimpleDocumentStore

from websearch_core import Page
from websearch_core._cli.rows import Rows


def test_only_pages_that_changed_pass_the_pipeline(tmp_path):
    path = tmp_path / "pages.jsonl"
    pipeline = IngestionPipeline(
        transformations=[], docstore=SimpleDocumentStore(), docstore_strategy=DocstoreStrategy.DUPLICATES_ONLY,
        disable_cache=True,
    )  # fmt: skip
    passed = []
    for word in ("Brown", "Brown", "Red"):
        with Rows(str(path), refresh=True) as rows:
            rows.add(
                "https://sea.example/1",
                Page(url="https://sea.example/1", content="Kelp."),
            )
            rows.add(
                "https://sea.example/2",
                Page(url="https://sea.example/2", content=f"{word} algae."),
            )
        lines = map(json.loads, path.read_text("utf-8").splitlines())
        documents = [
            Document(
                text=row["content"], id_=row["url"], metadata={"hash": row["hash"]}
            )
            for row in lines
        ]
        passed.append([node.text for node in pipeline.run(documents=documents)])

    assert passed[0] == ["Kelp.", "Brown algae."]
    assert passed[2] == ["Red algae."]
    assert not passed[1]
