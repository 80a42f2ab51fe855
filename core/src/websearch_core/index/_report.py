"""What came of indexing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Skipped:
    """Something that was not indexed: a file or a URL, and why."""

    what: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """
    What came of indexing a folder or a site.

    Args:
        added: Pages that are in the index now, new or in place of an older text of theirs.
        removed: Pages that were taken out because they are no longer there.
        skipped: What was not indexed, and why.
        left: Links that were not followed because the limit was reached.

    """

    added: int = 0
    removed: int = 0
    skipped: tuple[Skipped, ...] = ()
    left: int = 0
