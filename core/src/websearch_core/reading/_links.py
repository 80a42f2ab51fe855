"""Resolve the links of a page to absolute http(s) URLs that cannot break out of
Markdown.
"""

from __future__ import annotations
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal
from urllib.parse import urljoin, urlsplit

from .._text.escaping import quote_match
from .._text.invisible import strip_invisible
from .._text.urls import as_slashes

Links = Literal["keep", "text", "drop"]

MAX_LINKS = 1000  # links listed for a page
_MAX_LENGTH = 2000  # characters: anything longer is data, not an address
# Fast path: most addresses match one of these patterns, and then need no cleaning or
# quoting.
_PLAIN = r"\w~!$&*+,=:@%\-"
_FRAGMENT = rf"(?:#[{_PLAIN}/?.]+)?"
_ABSOLUTE = re.compile(
    rf"(?P<origin>https?://[a-z0-9][a-z0-9.-]*)/[{_PLAIN}/?.]*(?<!\?){_FRAGMENT}",
    re.ASCII,
)
_FROM_ROOT = re.compile(
    rf"(?=[/#])(?:/[{_PLAIN}][{_PLAIN}.]*+)*+/?(?:\?[{_PLAIN}/?.]+)?{_FRAGMENT}",
    re.ASCII,
)
_FROM_HERE = re.compile(
    rf"[\w~-][\w~.-]*+(?:/[\w~-][\w~.-]*+)*+/?(?:\?[{_PLAIN}/?.]+)?{_FRAGMENT}",
    re.ASCII,
)
_IGNORED = re.compile(r"[\t\n\r]")
_UNSAFE = re.compile(r"""[\s<>"'()\\^`{|}\x00-\x20\x7f]""")
_NOT_PLAIN = re.compile(r"/[./]|/\Z")  # parts of a path that a resolution leaves out
_HALF = re.compile("[\ud800-\udfff]")  # of a pair of surrogates: no character
# only an IPv6 host may have brackets
_UNSAFE_AFTER_HOST = re.compile(_UNSAFE.pattern.replace("[", r"[\[\]", 1))


def absolute(href: str | None, base: str) -> str | None:
    """Resolve *href* against *base*; return None unless the result is an http(s)
    URL.
    """
    if href and len(href) <= _MAX_LENGTH:
        if _ABSOLUTE.fullmatch(href):
            return href
        if _FROM_ROOT.fullmatch(href):
            start = _split_base(base)[href[0]]
            if start:
                return start + href
        elif _FROM_HERE.fullmatch(href):
            start = _split_base(base)["."]
            if start:
                return start + href
    # browsers ignore these, so java\nscript: is javascript:
    address = _IGNORED.sub("", href or "").strip()
    if not address or len(address) > _MAX_LENGTH:
        return None
    address = as_slashes(address)
    before_query = address.partition("?")[0]
    if "\\" in without_fragment(before_query):  # one beside a host
        return None
    try:
        return _resolve(address, base)
    except ValueError:
        return None


def _resolve(address: str, base: str) -> str | None:
    """Return an address as a URL of its own; raises ValueError if it is none."""
    url = urljoin(base, address)
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return None
    if "@" in parts.netloc or _HALF.search(parts.netloc):
        return None
    # an IPv6 address keeps its brackets
    begin = len(parts.scheme) + len("://") + len(parts.netloc)
    visible, _ = strip_invisible(url[begin:])
    path = _UNSAFE_AFTER_HOST.sub(quote_match, visible)
    return _UNSAFE.sub(quote_match, url[:begin]) + path


def resolved(hrefs: Iterable[str], base: str) -> dict[str, str]:
    """Map each of *hrefs* that resolves to an http(s) URL to that URL."""
    targets: dict[str, str] = {}
    for href in dict.fromkeys(hrefs):
        url = absolute(href, base)
        if url:
            targets[href] = url
    return targets


@lru_cache(maxsize=64)
def _split_base(base: str) -> dict[str, str]:
    """Return what to put before a link that begins with /, with # or with a name;
    empty if *base* needs a full resolution.
    """
    site = _ABSOLUTE.match(base)
    page = _ABSOLUTE.fullmatch(without_fragment(base))
    starts = {"/": site["origin"] if site else "", "#": "", ".": ""}
    if page:
        starts["#"] = page[0]
        folder = page[0].partition("?")[0].rpartition("/")[0]
        if not _NOT_PLAIN.search(folder, len(page["origin"])):
            starts["."] = f"{folder}/"
    return starts


def without_fragment(url: str) -> str:
    """Return *url* without its fragment."""
    return url.partition("#")[0]
