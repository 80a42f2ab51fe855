"""Read feeds (RSS of all versions, Atom, JSON Feed), each entry under its own heading,
and sitemaps.

feedparser knows the dialects and their common errors. It only gets text that is already
decoded, and nothing that makes it slow: no entities that the feed defines, no tags with
thousands of attributes, no names of thousands of characters (it searches them for an
address, in quadratic time), no more than a megabyte. A sitemap becomes the addresses
that it lists, with the days on which they changed.
"""

from __future__ import annotations
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import BytesIO, StringIO
from itertools import islice
from time import struct_time
from typing import Any
from urllib.parse import urlsplit
from xml.sax.saxutils import unescape

from ..._text.dates import parse_date
from ..._text.invisible import one_line
from ..._text.quantity import quantity
from ..._text.vocabulary import LINKS_LEFT_OUT
from ...errors import UnsupportedContent
from ...models import Page
from .._charset import decode
from .._html.fragment import bare, read_fragment
from .._links import MAX_LINKS, Links, absolute
from .._types import (
    DESCRIPTION_LENGTH,
    NAME_LENGTH,
    TITLE_LENGTH,
    Document,
    language_of,
)
from .text import decode_text, load_object, objects_in, read_text, text_in

_MAX_CHARACTERS = 2**20  # of source: later entries are old ones
_MAX_ENTRIES = 1000
_MAX_CONTENT_LENGTH = 1_000_000  # characters
# What stands before the first element, which nobody needs, and which feedparser
# searches in quadratic time.
_HEAD = re.compile(
    r"(?:[^<]++|<\?.*?\?>|<!--.*?-->|<!(?!--)[^<>]*+>)*+(?=<\w)", re.DOTALL
)
_SLOW = re.compile(r"<!ENTITY|<[^<>]{10000}")  # not needed in a feed
# characters of source between the tags of a person: name, address, e-mail
_MAX_NAMES_LENGTH = 1_000
_LONG_WORD = re.compile(r"[\w.+-]{200}")  # longer than any name or mailbox
# A tag of a person, or what only looks like tags.
_PERSON = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)"
    r"|<(?P<closes>/?)(?:[\w.-]{1,100}:)?(?:author|creator|contributor|managingeditor|publisher|webmaster|owner)"
    r"(?=[\s/>])[^<>]*(?<!/)>",
    re.IGNORECASE | re.DOTALL,
)
# Of sitemaps.
# Of one file: https://www.sitemaps.org/protocol.html
_MAX_SOURCE_LENGTH = 50 * 2**20  # characters
_MAX_ADDRESSES = 50_000
# also after what a program printed before it, but not after declarations of its own
_ROOT = re.compile(
    r"(?:(?!<!(?!--)).)*?<((?:[a-z]{1,20}:)?)(urlset|sitemapindex)(?=[\s>/])", re.DOTALL
)
_VALUE = r"[^>]{0,500}>\s{0,100}(?:<!\[CDATA\[)?([^<>\]]{1,4000})"
_DAY = re.compile(r"(?:\d{4}(?:-\d{2}(?:-\d{2})?)?)?")
_SAMPLE = 4096  # bytes


@dataclass(frozen=True)
class _Entry:
    title: str
    link: str
    author: str
    date: datetime | None
    html: str
    text: str = ""
    # media type and URL of attached files, such as an episode
    files: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class _Feed:
    title: str
    description: str
    link: str
    author: str
    language: str | None
    updated: datetime | None
    entries: tuple[_Entry, ...]


def read_feed(document: Document) -> Page:
    """Read the entries of a feed, in its order.

    If it cannot be parsed as a feed, read it as text.
    """
    url = document.url
    decoded = decode_text(document, markup=True, limit=_MAX_CHARACTERS)
    read = _xml_feed
    if document.media_type.endswith("json"):
        read = _json_feed
    feed = read(decoded.text)
    if feed is None:
        return read_text(document)
    writer = _Writer(absolute(feed.link, url) or url, document.links)
    writer.write(feed)
    is_cut = decoded.cut or writer.count < len(feed.entries)
    note = quantity(writer.count, "entry", "entries")
    if is_cut:
        note = f"the first {note} of the feed"
    return document.to_page(
        writer.out.getvalue(),
        title=one_line(bare(feed.title), TITLE_LENGTH),
        description=one_line(bare(feed.description), DESCRIPTION_LENGTH) or None,
        author=one_line(feed.author, NAME_LENGTH) or None,
        language=feed.language,
        modified=feed.updated,
        links=tuple(writer.targets)[:MAX_LINKS],
        truncated=is_cut,
        notes=(*decoded.notes, note),
    )


class _Writer:
    """Write the entries of a feed, whose addresses are resolved against *base*."""

    def __init__(self, base: str, links: Links) -> None:
        self.out = StringIO()
        self.targets: dict[str, None] = {}  # of its links, in order
        self.count = 0  # of entries
        self._base = base
        self._links: Links = links

    def write(self, feed: _Feed) -> None:
        """Write a feed, or as many entries as there is room for."""
        self._write_block(one_line(bare(feed.description), DESCRIPTION_LENGTH))
        for entry in feed.entries:
            self._write_entry(entry)
            self.count += 1
            if self.out.tell() > _MAX_CONTENT_LENGTH:
                break

    def _write_block(self, text: str) -> None:
        if text:
            self.out.write(f"{text}\n\n")

    def _write_entry(self, entry: _Entry) -> None:
        url = absolute(entry.link, self._base)
        target = self._keep_link(entry.link)
        title = one_line(bare(entry.title), TITLE_LENGTH) or target or "Untitled"
        label = title.replace("[", "\\[").replace("]", "\\]")
        if target:
            label = f"[{label}]({target})"
        self._write_block(f"## {label}")
        facts: list[str] = []
        if entry.date:
            facts.append(entry.date.date().isoformat())
        author = one_line(bare(entry.author), NAME_LENGTH)
        if author:
            facts.append(author)
        self._write_block(" · ".join(facts))
        body = entry.text
        if entry.html:
            body, targets = read_fragment(
                entry.html, url or self._base, links=self._links, below=2
            )
            self.targets |= dict.fromkeys(targets)
        self._write_block(body.strip())
        files: list[str] = []
        for name, href in entry.files:
            target = self._keep_link(href)
            if target:
                files.append(f"[{one_line(name, 100) or 'file'}]({target})")
        self._write_block(", ".join(files))

    def _keep_link(self, href: str) -> str:
        """Return the address of a link of the page, empty if it is to have none."""
        if self._links != "keep":
            return ""
        target = absolute(href, self._base)
        if target is None:
            return ""
        self.targets[target] = None
        return target


def _xml_feed(source: str) -> _Feed | None:
    import feedparser

    head = _HEAD.match(source)
    if head is None or _SLOW.search(source):
        return None
    stream = BytesIO(
        _without_long_names(source[head.end() :]).encode("utf-8", "replace")
    )
    headers = {"content-type": "application/xml; charset=utf-8"}
    try:
        parsed = feedparser.parse(
            stream,
            response_headers=headers,
            sanitize_html=False,
            resolve_relative_uris=False,
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        # raised for some broken feeds
        return None
    about = parsed.feed
    if not parsed.entries and not about.get("title"):
        return None
    return _Feed(
        title=text_in(about, "title"),
        description=text_in(about, "subtitle"),
        link=text_in(about, "link"),
        author=text_in(about, "author"),
        language=language_of([text_in(about, "language")]),
        updated=_date_in(about, "updated") or _date_in(about, "published"),
        entries=tuple(_xml_entry(entry) for entry in parsed.entries[:_MAX_ENTRIES]),
    )


def _without_long_names(source: str) -> str:
    """Return the feed without persons whose elements hold more than any name."""
    pieces: list[str] = []
    copied = 0  # the end of what is in the pieces, or was left out
    depth = 0  # of the elements of persons that are open
    begin = 0  # of the text in the outermost one
    for tag in _PERSON.finditer(source):
        if tag["closes"] is None:
            continue
        if not tag["closes"]:
            if not depth:
                begin = tag.end()
            depth += 1
        elif depth:
            depth -= 1
            end = tag.start()
            if not depth and _is_no_name(source, begin, end):
                pieces.append(source[copied:begin])
                copied = end
    if depth and len(source) - begin > _MAX_NAMES_LENGTH:
        pieces.append(source[copied:begin])  # it is never closed
    else:
        pieces.append(source[copied:])
    return "".join(pieces)


def _is_no_name(source: str, begin: int, end: int) -> bool:
    if end - begin > _MAX_NAMES_LENGTH:
        return True
    return _LONG_WORD.search(source, begin, end) is not None


def _xml_entry(entry: Any) -> _Entry:
    texts = [text_in(part, "value") for part in entry.get("content", ())]
    texts.append(text_in(entry, "summary"))
    files = [
        (text_in(enclosure, "type"), text_in(enclosure, "href"))
        for enclosure in entry.get("enclosures", ())[:10]
    ]
    transcript = entry.get("podcast_transcript")  # the last one
    if isinstance(transcript, dict):
        files.append(("transcript", text_in(transcript, "url")))
    return _Entry(
        title=text_in(entry, "title"),
        link=text_in(entry, "link"),
        author=text_in(entry, "author"),
        date=_date_in(entry, "published") or _date_in(entry, "updated"),
        html=max(texts, key=len),
        files=tuple(files),
    )


def _json_feed(source: str) -> _Feed | None:
    about = load_object(source)
    if not about:
        return None
    entries = objects_in(about.get("items"))
    return _Feed(
        title=text_in(about, "title"),
        description=text_in(about, "description"),
        link=text_in(about, "home_page_url"),
        author=_join_authors(about),
        language=language_of([text_in(about, "language")]),
        updated=None,
        entries=tuple(_json_entry(item) for item in entries[:_MAX_ENTRIES]),
    )


def _json_entry(item: dict[str, Any]) -> _Entry:
    files = [
        (text_in(file, "mime_type"), text_in(file, "url"))
        for file in objects_in(item.get("attachments"))[:10]
    ]
    return _Entry(
        title=text_in(item, "title"),
        link=text_in(item, "url") or text_in(item, "external_url"),
        author=_join_authors(item),
        date=parse_date(item.get("date_published"))
        or parse_date(item.get("date_modified")),
        html=text_in(item, "content_html"),
        text=text_in(item, "content_text") or text_in(item, "summary"),
        files=tuple(files),
    )


def _join_authors(thing: dict[str, Any]) -> str:
    authors = objects_in(thing.get("authors")) or objects_in([thing.get("author")])
    names = [text_in(author, "name") for author in authors[:10]]
    return ", ".join(filter(None, names))


def _date_in(thing: dict[str, Any], name: str) -> datetime | None:
    # feedparser's own `get` warns when it substitutes one date for the other
    value = dict.get(thing, f"{name}_parsed")
    if not isinstance(value, struct_time):
        return None
    try:
        return datetime(*value[:6], tzinfo=UTC)
    except ValueError:
        return None


def read_sitemap(document: Document) -> Page:
    """Read a sitemap, or an index of sitemaps, also compressed.

    If the XML is something else, read it as text.
    """
    is_packed = document.media_type.endswith("gzip")
    if is_packed:
        document = _unpack(document)
    content_type = document.content_type
    sample = decode(document.data[:_SAMPLE], content_type).text
    if not _ROOT.match(sample):
        if is_packed:
            raise UnsupportedContent(
                "application/gzip has no text that can be read, unless it is a sitemap"
            )
        return read_text(document)
    source, decoding = decode(document.data, content_type, limit=_MAX_SOURCE_LENGTH)
    root = _ROOT.match(source, 0, _SAMPLE)
    if root is None:
        return read_text(document)
    return _list_addresses(document, source, root, decoding)


def _unpack(document: Document) -> Document:
    """Return a compressed sitemap as XML; what is damaged, as it is."""
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        data = unpacker.decompress(document.data, _MAX_SOURCE_LENGTH)
    except zlib.error:
        return document
    return replace(document, data=data, content_type="application/xml")


def _list_addresses(
    document: Document, source: str, root: re.Match[str], decoding: str | None
) -> Page:
    """Return the addresses in a sitemap with a *root* element as a page."""
    url = document.url
    out = StringIO()
    links: list[str] = []
    addresses = _read_addresses(source, root[1], url)
    for address, day in islice(addresses, _MAX_ADDRESSES):
        links.append(address)
        if out.tell() > _MAX_CONTENT_LENGTH:
            continue
        if day:
            out.write(f"- {address} ({day})\n")
        else:
            out.write(f"- {address}\n")
    content = out.getvalue()
    is_cut = len(source) == _MAX_SOURCE_LENGTH
    has_more = is_cut or next(addresses, None) is not None
    cut = is_cut or out.tell() > _MAX_CONTENT_LENGTH
    name = "addresses"
    if root[2] == "sitemapindex":
        name = "sitemaps"
    note = f"{content.count(chr(10))} {name}"
    if cut:
        note = f"the first {note}"
    notes = [decoding, note]
    if has_more:
        notes.append(LINKS_LEFT_OUT)
    return document.to_page(
        content,
        title=f"Sitemap of {urlsplit(url).hostname or url}",
        links=links,
        truncated=cut,
        notes=[*filter(None, notes)],
    )


def _read_addresses(source: str, prefix: str, base: str) -> Iterator[tuple[str, str]]:
    """Yield each address and the day it changed, empty if none is stated.

    Pictures and videos have prefixes of their own.
    """
    tag = re.compile(f"<{prefix}(loc|lastmod)(?=[\\s>]){_VALUE}")
    address = ""
    for match in tag.finditer(source):
        value = unescape(match[2].strip())
        if match[1] == "loc":
            if address:
                yield address, ""
            address = absolute(value, base) or ""
        elif address:
            yield address, _DAY.match(value)[0]  # type: ignore[index]  # maybe of nothing
            address = ""
    if address:
        yield address, ""
