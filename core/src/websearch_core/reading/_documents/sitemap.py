"""Sitemap -> Page: the addresses that it lists, with the days on which they changed."""

from __future__ import annotations
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from io import StringIO
from itertools import islice
from urllib.parse import urlsplit
from xml.sax.saxutils import unescape

from ...errors import UnsupportedContent
from ...models import Page
from .._charset import decode
from .._links import absolute
from .._page import make_page
from .._types import Document
from .text import read_text

_MAX_SOURCE_LENGTH = 10 * 2**20  # characters
_MAX_ADDRESSES = 50_000  # of one file: https://www.sitemaps.org/protocol.html
_MAX_CONTENT_LENGTH = 1_000_000  # characters
_ROOT = re.compile(
    r"(?:\s|<\?[^>]*>|<!--(?:(?!-->).)*+-->)*+<((?:[a-z]{1,20}:)?)(urlset|sitemapindex)(?=[\s>/])", re.DOTALL
)
_VALUE = r"[^>]{0,500}>\s{0,100}(?:<!\[CDATA\[)?([^<>\]]{1,4000})"
_SAMPLE = 2000  # bytes


def read_sitemap(document: Document) -> Page:
    """Read a sitemap, or an index of sitemaps, also compressed. If the XML is something else, read it as text."""
    if is_packed := document.media_type.endswith("gzip"):
        with suppress(zlib.error):
            data = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(document.data, _MAX_SOURCE_LENGTH)
            document = replace(document, data=data, content_type="application/xml")
    url, content_type = document.url, document.content_type
    if not _ROOT.match(decode(document.data[:_SAMPLE], content_type).text):
        if is_packed:
            raise UnsupportedContent("application/gzip has no text that can be read, unless it is a sitemap")
        return read_text(document)
    source, decoding = decode(document.data, content_type, most=_MAX_SOURCE_LENGTH)
    root = _ROOT.match(source)
    if root is None:
        return read_text(document)
    out = StringIO()
    links: list[str] = []
    for address, changed in islice(_places(source, root[1], url), _MAX_ADDRESSES):
        links.append(address)
        if out.tell() <= _MAX_CONTENT_LENGTH:
            out.write(f"- {address}{f' ({changed})' if changed else ''}\n")
    content = out.getvalue()
    count = content.count("\n")
    cut = out.tell() > _MAX_CONTENT_LENGTH or len(source) == _MAX_SOURCE_LENGTH
    what = "sitemaps" if root[2] == "sitemapindex" else "addresses"
    return make_page(
        url,
        document.media_type,
        content,
        title=f"Sitemap of {urlsplit(url).hostname or url}",
        links=tuple(links),
        truncated=cut,
        notes=(*([decoding] if decoding else []), f"the first {count} {what}" if cut else f"{count} {what}"),
    )


def _places(source: str, prefix: str, base: str) -> Iterator[tuple[str, str]]:
    """Yield each address and the day it changed, if given; pictures and videos have prefixes of their own."""
    tag = re.compile(f"<{prefix}(loc|lastmod)(?=[\\s>]){_VALUE}")
    address = ""
    for found in tag.finditer(source):
        value = unescape(found[2].strip())
        if found[1] == "loc":
            if address:
                yield address, ""
            address = absolute(value, base) or ""
        elif address:
            day = re.match(r"\d{4}(?:-\d{2}(?:-\d{2})?)?", value)
            yield address, day[0] if day else ""
            address = ""
    if address:
        yield address, ""
