"""Keep a vector store up to date with web pages: only what changed is embedded again.
With LangChain's ``index``.

    python examples/ingest_langchain.py                                 # offline
    python examples/ingest_langchain.py https://docs.python.org/3/ ...  # live

Offline, it reads the pages of the example site. Live, it needs OPENAI_API_KEY, for the
embeddings.

The documents of an unchanged page are equal in every run, so the record manager knows
them. A page is split at its headings: of a page that changed, only the sections that
did are embedded.

examples/ingest_llamaindex.py is the same for LlamaIndex.
"""

from __future__ import annotations
import re
import sys
from collections.abc import Iterator
from typing import Any

from langchain.embeddings import init_embeddings
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.vectorstores import InMemoryVectorStore
from serve import Site

from langchain_websearch import WebPageLoader


def split(loader: WebPageLoader) -> Iterator[Document]:
    """Yield the sections of the pages, or whatever a splitter of yours makes of
    them.
    """
    for page in loader.lazy_load():
        for section in re.split(r"^(?=#+ )", page.page_content, flags=re.MULTILINE):
            if section.strip():
                yield Document(section, metadata=page.metadata)


class Ingest:
    """A vector store of web pages.

    Args:
        embeddings: The model.
    """

    def __init__(self, embeddings: Embeddings) -> None:
        # replace both by some that last, such as PGVector and
        self.store = InMemoryVectorStore(embeddings)
        # SQLRecordManager of langchain-classic
        self.records = InMemoryRecordManager("pages")
        self.records.create_schema()

    def run(self, loader: WebPageLoader) -> dict[str, Any]:
        """Embed what is new, and delete what it replaces; return how many sections were
        added, skipped and deleted.

        A page that could not be read this time stays as it was: ``scoped_full`` deletes
        only from pages that were.
        """
        sections = split(loader)
        return dict(
            index(
                sections,
                self.records,
                self.store,
                cleanup="scoped_full",
                source_id_key="source",
                key_encoder="blake2b",
            )
        )


def main() -> None:
    """Ingest the pages of the command line twice, or without any those of the example
    site, with an edit.
    """
    if urls := sys.argv[1:]:
        # or another model of LangChain
        ingest = Ingest(init_embeddings("openai:text-embedding-3-small"))
        # crawl=True reads the whole sites
        loader = WebPageLoader(urls, on_error="skip")
        print(ingest.run(loader), ingest.run(loader), sep="\n")
        return
    ingest = Ingest(DeterministicFakeEmbedding(size=32))
    with Site() as site:
        loader = WebPageLoader(
            f"{site.url}/docs/", crawl=True, on_error="skip", internal=[site.url]
        )
        print("first run: ", ingest.run(loader))
        print("second run:", ingest.run(loader))
        site.edit("/docs/rotation/", "keep two versions", "keep three versions")
        print("one edit:  ", ingest.run(loader))


if __name__ == "__main__":
    main()
