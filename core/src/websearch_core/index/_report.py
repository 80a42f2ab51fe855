"""The result of indexing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SkippedFile:
    """A file or URL that was not indexed, and why."""

    what: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """
    The result of indexing a folder or a site.

    Args:
        added: Number of pages that are new, or that have another text than before.
        unchanged: Number of pages that were there already, with the same text.
        removed: Number of pages that were removed because they no longer exist.
        skipped: Files and URLs that were not indexed, and why.
        left: Number of links that were not followed because the limit was reached.

    """

    added: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: tuple[SkippedFile, ...] = ()
    left: int = 0
