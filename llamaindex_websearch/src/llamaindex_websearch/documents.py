"""Results and pages as LlamaIndex documents."""

from __future__ import annotations

from llama_index.core.schema import Document

from websearch_core import Page, SearchResult
from websearch_core._document import make_metadata, make_text

# Metadata that models are not shown.
LLM_EXCLUDED = [
    "citation_id",
    "language",
    "media_type",
    "next_offset",
    "provider",
    "read",
    "read_error",
    "requested_url",
    "score",
    "source",
    "truncated",
]
EMBED_EXCLUDED = [*LLM_EXCLUDED, "published", "url"]


def result_document(result: SearchResult) -> Document:
    """Return *result* as a document; its text is the page, if it was read, or the snippet, or the title."""
    return Document(
        id_=result.url,
        text=make_text(result),
        metadata=make_metadata(result),
        excluded_llm_metadata_keys=LLM_EXCLUDED,
        excluded_embed_metadata_keys=EMBED_EXCLUDED,
    )


def page_document(page: Page) -> Document:
    """Return *page*, whole or in part, as a document."""
    metadata = make_metadata(page=page)
    return Document(
        id_=metadata["source"],
        text=page.content,
        metadata=metadata,
        excluded_llm_metadata_keys=LLM_EXCLUDED,
        excluded_embed_metadata_keys=EMBED_EXCLUDED,
    )
