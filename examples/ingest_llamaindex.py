"""Keep a vector store up to date with web pages: only what changed is embedded again.
With an `IngestionPipeline`.

    python examples/ingest_llamaindex.py                                 # offline
    python examples/ingest_llamaindex.py https://docs.python.org/3/ ...  # live

Offline, it reads the pages of the example site. Live, it needs OPENAI_API_KEY, for the
embeddings.

A document has the URL of its page as its id, and an unchanged page makes an equal
document, which the pipeline finds in its document store. The nodes of a page that
changed are replaced.

examples/ingest_langchain.py is the same for LangChain.
"""

from __future__ import annotations
import sys
from collections.abc import Sequence

from llama_index.core import MockEmbedding, Settings
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import MarkdownNodeParser
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import SimpleVectorStore
from serve import Site

from llamaindex_websearch import WebPageReader


def make_pipeline(embed_model: BaseEmbedding) -> IngestionPipeline:
    """Return a pipeline that embeds what is new or has changed."""
    return IngestionPipeline(
        transformations=[MarkdownNodeParser(), embed_model],
        # which pages are known, with their hashes: pipeline.persist(folder) keeps it
        docstore=SimpleDocumentStore(),
        vector_store=SimpleVectorStore(),  # replace it by yours, which lasts
        disable_cache=True,  # the document store is enough
    )


def ingest(
    pipeline: IngestionPipeline, reader: WebPageReader, urls: Sequence[str]
) -> str:
    """Read the pages, embed what is new, and say how much that was. A page that cannot
    be read stays as it was.
    """
    pages = reader.load_data(urls)
    nodes = pipeline.run(documents=pages)
    embedded = {node.ref_doc_id for node in nodes}
    return (
        f"{len(pages)} pages read, {len(embedded)} of them embedded, as {len(nodes)} "
        f"nodes"
    )


def main() -> None:
    """Ingest the pages of the command line twice, or without any those of the example
    site, with an edit.
    """
    if urls := sys.argv[1:]:
        # of OpenAI: pip install llama-index-embeddings-openai
        pipeline = make_pipeline(Settings.embed_model)
        reader = WebPageReader()  # crawl=True reads the whole sites
        print(ingest(pipeline, reader, urls), ingest(pipeline, reader, urls), sep="\n")
        return
    pipeline = make_pipeline(MockEmbedding(embed_dim=32))
    with Site() as site:
        urls = [f"{site.url}/docs/"]
        reader = WebPageReader(crawl=True, internal=[site.url])
        print("first run: ", ingest(pipeline, reader, urls))
        print("second run:", ingest(pipeline, reader, urls))
        site.edit("/docs/rotation/", "keep two versions", "keep three versions")
        print("one edit:  ", ingest(pipeline, reader, urls))


if __name__ == "__main__":
    main()
