"""Parse HTML with lexbor, through selectolax, and find what a page points to instead of
itself.

That is where it sends its visitors, ``<meta http-equiv="refresh" content="0;
url=...">``, read as browsers read it
(https://html.spec.whatwg.org/multipage/semantics.html#attr-meta-http-equiv-refresh),
and the Markdown that it names as another form of itself, in its head or in the header
``Link`` (RFC 8288). selectolax is imported for the first page.
"""

from __future__ import annotations
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..._text.media_types import MARKDOWN, parse_media_type
from ..._text.urls import find_origin
from .._charset import to_utf8
from .._links import MAX_LINKS, absolute, without_fragment
from .harden import harden

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_MAX_SIZE = 100_000  # bytes: such a page is short
_MAX_DELAY = 5  # seconds: with more, the page is there to be read first
_CONTENT = re.compile(
    r"\s*+(?=[\d.])(\d{0,9})[\d.]*+(?:\s*+[;,]\s*+|\s++)(?:url\s*+=\s*+)?(?:\"([^\"]*)|'([^']*)|(.*))",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)
_HEAD_SIZE = 200_000  # bytes that may have to be read to the end of the head
_MAX_HEADER_LENGTH = 8_000  # characters
_LINK = re.compile(
    r"<([^<>]*)>((?:\s*;\s*[\w!#$&+.^`|~*-]+(?:\s*=\s*(?:\"(?:[^\"\\]|\\.)*+\"|[^\s\",;]*))?)*+)"
)
_PARAMETER = re.compile(r";\s*([\w*-]+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*+)\"|([^\s\",;]*))")
# such a file is about the site, not the page
_SITE_WIDE = re.compile(r"/llms(?:-\w+)?\.(?:txt|md)\Z", re.IGNORECASE)


def parse(source: bytes) -> LexborHTMLParser:
    """Parse UTF-8 markup that `harden` has checked."""
    from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

    # No events: they take time quadratic in the options of a <select>.
    return LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS)


def parse_page(
    data: bytes, content_type: str | None = None, *, size: int
) -> LexborHTMLParser:
    """Parse the first *size* bytes of a page in any encoding and form."""
    text = to_utf8(data, content_type, limit=size).data
    return parse(harden(text.replace(b"\x00", b"")).source)


def find_base(document: LexborHTMLParser, url: str) -> str:
    """Return the URL that links are resolved against."""
    if b"<base" not in document.raw_html.lower():
        return url
    tag = document.css_first("base[href]")
    if tag is None:
        return url
    return read_base(tag, url)


def read_base(tag: LexborNode, url: str) -> str:
    """Return the URL that a ``<base>`` has links resolved against; it counts only if
    it is http(s).
    """
    return absolute(tag.attributes.get("href"), url) or url


def find_refresh(data: bytes, url: str, content_type: str | None = None) -> str | None:
    """Return the http(s) URL that a page leads to within five seconds, or that of its
    only frame; None if there is none. It is never the page itself.
    """
    document = parse_page(data, content_type, size=_MAX_SIZE)
    base = find_base(document, url)
    for tag in document.css("meta[http-equiv][content]"):
        if (tag.attributes.get("http-equiv") or "").strip().lower() != "refresh":
            continue
        refresh = _CONTENT.match(tag.attributes.get("content") or "")
        if refresh is None:
            continue
        if int(refresh[1] or 0) > _MAX_DELAY:
            continue
        target = absolute(refresh[2] or refresh[3] or refresh[4], base)
        if target and without_fragment(target) != without_fragment(url):
            return target
    frames = _find_frames(document, url)
    if len(frames) != 1:
        return None
    return frames[0]


def find_frames(data: bytes, url: str, content_type: str | None = None) -> list[str]:
    """Return the URLs of the frames of a page that consists of them."""
    return _find_frames(parse_page(data, content_type, size=_MAX_SIZE), url)


def _find_frames(document: LexborHTMLParser, url: str) -> list[str]:
    base = find_base(document, url)
    here = without_fragment(url)
    frames: dict[str, None] = {}
    for tag in document.css("html > frameset frame[src]"):
        target = absolute(tag.attributes.get("src"), base)
        if target and without_fragment(target) != here:
            frames[target] = None
    return [*frames]


def find_followed(
    links: tuple[str, ...], data: bytes, url: str, content_type: str | None = None
) -> tuple[str, ...]:
    """Return the *links* of a page and those of its image maps and frames, without
    those that it asks programs not to follow: some, or by ``robots`` all.

    A page with more links than *links* may have gives all.
    """
    document = parse_page(data, content_type, size=len(data))
    if document.css_first('meta[name="robots" i][content*="nofollow" i]'):
        return ()
    base = find_base(document, url)
    refused = document.css('[href][rel~="nofollow" i]')
    left_out = {absolute(tag.attributes.get("href"), base) for tag in refused}
    selector = "area[href], frame[src]"
    if len(links) >= MAX_LINKS:
        selector += ", a[href]"
    targets = dict.fromkeys(links)
    for tag in document.css(selector):
        address = tag.attributes.get("href") or tag.attributes.get("src")
        target = absolute(address, base)
        if target:
            targets[target] = None
    return tuple(link for link in targets if link not in left_out)


def find_markdown_alternate(
    data: bytes, url: str, content_type: str | None = None, header: str = ""
) -> str | None:
    """Return the URL of the Markdown that a page, or the *header* ``Link`` with it,
    names as its alternate, or None.

    Only a URL of the same origin counts: a page cannot have another site speak for it.
    """
    for href in (
        *_in_header(header[:_MAX_HEADER_LENGTH]),
        *_in_head(data[:_HEAD_SIZE], content_type),
    ):
        target = absolute(href, url)
        if not target or target == url:
            continue
        if _SITE_WIDE.search(urlsplit(target).path):
            continue
        origin = find_origin(target)
        if origin and origin == find_origin(url):
            return target
    return None


def _in_header(header: str) -> Iterator[str]:
    for link in _LINK.finditer(header):
        parameters = {
            parameter[1].lower(): parameter[2] or parameter[3] or ""
            for parameter in _PARAMETER.finditer(link[2])
        }
        if _is_markdown(parameters.get("rel"), parameters.get("type")):
            yield link[1].strip()


def _in_head(data: bytes, content_type: str | None) -> Iterator[str]:
    # quick, and enough for all but UTF-16
    if b"markdown" not in data.lower() and b"\x00" not in data:
        return
    for link in parse_page(data, content_type, size=_HEAD_SIZE).css(
        "link[rel][href][type]"
    ):
        attributes = link.attributes
        if _is_markdown(attributes.get("rel"), attributes.get("type")):
            yield attributes.get("href") or ""


def _is_markdown(relation: str | None, kind: str | None) -> bool:
    return (
        "alternate" in (relation or "").lower().split()
        and parse_media_type(kind) in MARKDOWN
    )
