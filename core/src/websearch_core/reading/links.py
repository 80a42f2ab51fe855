"""The URLs of a page: absolute http(s), spelt so that they cannot break out of Markdown, or none."""

from __future__ import annotations

import re
from urllib.parse import quote, urljoin, urlsplit

from ..clean import clean

_LONGEST = 2000  # characters: what is longer is data, not an address
_UNSAFE = re.compile(r"""[\s<>"'()\\^`{|}\x00-\x20\x7f]""")


def absolute(href: str | None, base: str) -> str | None:
    """
    Return where *href* leads, as seen from *base*; None if that is no web address.

    Args:
        href: What the page says.
        base: The absolute URL that it is relative to.

    """
    address = re.sub(r"[\t\n\r]", "", href or "").strip()  # browsers overlook these; java\nscript: is no trick
    if not address or len(address) > _LONGEST or "\\" in address:
        return None
    try:
        url = urljoin(base, address)
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
            return None
    except ValueError:
        return None
    visible, _ = clean(url)
    return _UNSAFE.sub(lambda found: quote(found[0], safe=""), visible)


def without_fragment(url: str) -> str:
    """Return the document that *url* is a place in."""
    return url.partition("#")[0]
