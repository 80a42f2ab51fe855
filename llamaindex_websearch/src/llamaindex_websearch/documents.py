"""Results and pages as what LlamaIndex knows: documents, and the metadata of nodes."""

from __future__ import annotations

from typing import Any

from llama_index.core.schema import Document

from websearch_core import Page, SearchResult

# What is not said to a model.
LLM_EXCLUDED = ["citation_id", "language", "media_type", "next_offset", "provider", "read_error", "score", "truncated"]
EMBED_EXCLUDED = [*LLM_EXCLUDED, "published", "url"]


def result_document(result: SearchResult) -> Document:
    """Return *result* as a document: its text is what its page says, if it was read, or the snippet, or the title."""
    return Document(
        id_=result.url,
        text=result.content or result.snippet or result.title,
        metadata=result_metadata(result),
        excluded_llm_metadata_keys=LLM_EXCLUDED,
        excluded_embed_metadata_keys=EMBED_EXCLUDED,
    )


def page_document(page: Page) -> Document:
    """Return *page*, or the window of it, as a document."""
    return Document(
        id_=page.url,
        text=page.content,
        metadata=page_metadata(page),
        excluded_llm_metadata_keys=LLM_EXCLUDED,
        excluded_embed_metadata_keys=EMBED_EXCLUDED,
    )


def result_metadata(result: SearchResult) -> dict[str, Any]:
    """Return what is known of *result*, flat and as JSON, as vector stores want it."""
    return _known(
        url=result.url,
        title=result.title,
        score=result.score,
        published=result.published and result.published.isoformat(),
        provider=result.provider,
        citation_id=result.citation_id,
    )


def page_metadata(page: Page) -> dict[str, Any]:
    """Return what is known of *page*, likewise; ``url`` is where it was found in the end."""
    return _known(
        url=page.final_url or page.url,
        title=page.title,
        author=page.author,
        published=page.published and page.published.isoformat(),
        modified=page.modified and page.modified.isoformat(),
        description=page.description,
        canonical_url=page.canonical_url,
        site_name=page.site_name,
        language=page.language,
        media_type=page.media_type,
        provider=page.provider,
        next_offset=page.next_offset,
        truncated=page.truncated or None,
    )


def _known(**facts: Any) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value not in (None, "")}
