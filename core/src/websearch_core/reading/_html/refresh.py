"""
Find where a page sends its visitors by itself: ``<meta http-equiv="refresh" content="0; url=...">``.

It is read as browsers read it: https://html.spec.whatwg.org/multipage/semantics.html#attr-meta-http-equiv-refresh
"""

from __future__ import annotations

import re

from .._links import absolute, without_fragment
from .parse import find_base, parse_page

_MAX_SIZE = 100_000  # bytes: such a page is short
_MAX_DELAY = 5  # seconds: with more, the page is there to be read first
_CONTENT = re.compile(
    r"\s*+(?=[\d.])(\d{0,9})[\d.]*+(?:\s*+[;,]\s*+|\s++)(?:url\s*+=\s*+)?(?:\"([^\"]*)|'([^']*)|(.*))",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)


def find_refresh(data: bytes, url: str, content_type: str | None = None) -> str | None:
    """Return the http(s) URL that a page leads to within five seconds, or None; never the page itself."""
    document = parse_page(data, content_type, most=_MAX_SIZE)
    base = find_base(document, url)
    for tag in document.css("meta[http-equiv][content]"):
        found = _CONTENT.match(tag.attributes.get("content") or "")
        if found is None or (tag.attributes.get("http-equiv") or "").strip().lower() != "refresh":
            continue
        there = absolute(found[2] or found[3] or found[4], base)
        if there and int(found[1] or 0) <= _MAX_DELAY and without_fragment(there) != without_fragment(url):
            return there
    return None
