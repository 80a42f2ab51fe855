"""The URLs of a page: absolute http(s), spelt so that they cannot break out of Markdown, or none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal
from urllib.parse import quote, urljoin, urlsplit

from .._text.invisible import strip_invisible

Links = Literal["keep", "text", "drop"]

MAX_LINKS = 1000  # of a page that are listed
_MAX_LENGTH = 2000  # characters: what is longer is data, not an address
# Most addresses are one of these, of which nothing has to be resolved, cleaned or quoted.
_PLAIN = r"\w~!$&*+,=:@%\-"
_PLACE = rf"(?:#[{_PLAIN}/?.]+)?"
_WHOLE = re.compile(rf"(?P<origin>https?://[a-z0-9][a-z0-9.-]*)/[{_PLAIN}/?.]*(?<!\?){_PLACE}", re.ASCII)
_FROM_ROOT = re.compile(rf"(?=[/#])(?:/[{_PLAIN}][{_PLAIN}.]*+)*+/?(?:\?[{_PLAIN}/?.]+)?{_PLACE}", re.ASCII)
_UNSAFE = re.compile(r"""[\s<>"'()\\^`{|}\x00-\x20\x7f]""")

_UNSAFE_BEHIND = re.compile(_UNSAFE.pattern.replace("[", r"[\[\]", 1))  # the host


def absolute(href: str | None, base: str) -> str | None:
    """
    Return where *href* leads, as seen from *base*; None if that is no web address.

    Args:
        href: What the page says.
        base: The absolute URL that it is relative to.

    """
    if href and len(href) <= _MAX_LENGTH:
        if _WHOLE.fullmatch(href):
            return href
        if _FROM_ROOT.fullmatch(href) and (begun := _begun(base)[href[0]]):
            return begun + href
    address = re.sub(r"[\t\n\r]", "", href or "").strip()  # browsers overlook these; java\nscript: is no trick
    if not address or len(address) > _MAX_LENGTH or "\\" in address:
        return None
    try:
        url = urljoin(base, address)
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
            return None
    except ValueError:
        return None
    begin = len(parts.scheme) + len("://") + len(parts.netloc)  # an address of IPv6 keeps its brackets
    visible, _ = strip_invisible(url[begin:])
    return _UNSAFE.sub(_quoted, url[:begin]) + _UNSAFE_BEHIND.sub(_quoted, visible)


def resolved(hrefs: Iterable[str], base: str) -> dict[str, str]:
    """Return where those lead that lead somewhere, by what the page has in their place."""
    return {href: url for href in dict.fromkeys(hrefs) if (url := absolute(href, base))}


def _quoted(found: re.Match[str]) -> str:
    return quote(found[0], safe="")


@lru_cache(maxsize=64)
def _begun(base: str) -> dict[str, str]:
    """Return what an address that begins with / or # goes on from; nothing where that has to be looked at."""
    site, page = _WHOLE.match(base), _WHOLE.fullmatch(without_fragment(base))
    return {"/": site["origin"] if site else "", "#": page[0] if page else ""}


def without_fragment(url: str) -> str:
    """Return the document that *url* is a place in."""
    return url.partition("#")[0]
