"""The media types that several modules ask for, and what a ``Content-Type`` names (RFC
9110, 8.3.1).
"""

from __future__ import annotations

HTML = frozenset({"text/html", "application/xhtml+xml"})
MARKDOWN = frozenset({"text/markdown", "text/x-markdown"})


def parse_media_type(content_type: str | None) -> str:
    """Return the media type in *content_type*, in lower case and without parameters;
    empty if there is none.
    """
    return (content_type or "").partition(";")[0].strip().lower()
