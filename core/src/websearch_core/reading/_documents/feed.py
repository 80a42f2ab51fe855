"""Read feeds (RSS of all versions, Atom, JSON Feed), each entry under its own heading,
and sitemaps.

feedparser knows the dialects and their common errors. It only gets text that is already
decoded, and nothing that makes it slow: no entities that the feed defines, no tags with
thousands of attributes, no names of thousands of characters (it searches them for an
address, in quadratic time), no more than a megabyte. A sitemap becomes the addresses
that it lists, with the days on which they changed.
"""

from __future__ import annotations
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
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
    make_page,
)
from .text import decode_text, read_text

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
_MAX_SOURCE_LENGTH = 10 * 2**20  # characters
_MAX_ADDRESSES = 50_000  # of one file: https://www.sitemaps.org/protocol.html
_ROOT = re.compile(
    r"(?:\s|<\?[^>]*>|<!--(?:(?!-->).)*+-->)*+<((?:[a-z]{1,20}:)?)(urlset|sitemapindex)(?=[\s>/])",
    re.DOTALL,
)
_VALUE = r"[^>]{0,500}>\s{0,100}(?:<!\[CDATA\[)?([^<>\]]{1,4000})"
_SAMPLE = 2000  # bytes


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
    """Read the entries of a feed, in its order. If it cannot be parsed as a feed, read
    it as text.
    """
    url, media_type = document.url, document.media_type
    source, cut, notes = decode_text(document, markup=True, most=_MAX_CHARACTERS)
    feed = _json_feed(source) if media_type.endswith("json") else _xml_feed(source)
    if feed is None:
        return read_text(document)
    base = absolute(feed.link, url) or url
    content, targets, written = _write(feed, base, document.links)
    count = len(feed.entries)
    partly = cut or written < count
    entries = quantity(written if partly else count, "entry", "entries")
    return make_page(
        url,
        media_type,
        content,
        title=one_line(bare(feed.title), TITLE_LENGTH),
        description=one_line(bare(feed.description), DESCRIPTION_LENGTH) or None,
        author=one_line(feed.author, NAME_LENGTH) or None,
        language=feed.language,
        modified=feed.updated,
        links=tuple(dict.fromkeys(targets))[:MAX_LINKS],
        truncated=partly,
        notes=(*notes, f"the first {entries} of the feed" if partly else entries),
    )


def _write(feed: _Feed, base: str, links: Links) -> tuple[str, list[str], int]:
    """Return the text, the URLs of its links, and how many entries it has."""
    out = StringIO()
    targets: list[str] = []
    if about := one_line(bare(feed.description), DESCRIPTION_LENGTH):
        out.write(about + "\n\n")
    written = 0
    for entry in feed.entries:
        target = absolute(entry.link, base)
        title = (
            one_line(bare(entry.title), TITLE_LENGTH)
            or (target if target and links == "keep" else "")
            or "Untitled"
        )
        label = title.replace("[", "\\[").replace("]", "\\]")
        out.write(
            f"## [{label}]({target})\n\n"
            if target and links == "keep"
            else f"## {label}\n\n"
        )
        day = entry.date.date().isoformat() if entry.date else ""
        if by := " · ".join(
            filter(None, [day, one_line(bare(entry.author), NAME_LENGTH)])
        ):
            out.write(f"{by}\n\n")
        body, inside = (
            read_fragment(entry.html, target or base, links=links, below=2)
            if entry.html
            else (entry.text, [])
        )
        if body := body.strip():
            out.write(f"{body}\n\n")
        files = (
            [(name, at) for name, href in entry.files if (at := absolute(href, base))]
            if links == "keep"
            else []
        )
        if files:
            out.write(
                ", ".join(
                    f"[{one_line(name, 100) or 'file'}]({at})" for name, at in files
                )
                + "\n\n"
            )
        if links == "keep":
            targets += [
                *([target] if target else []),
                *inside,
                *(at for _, at in files),
            ]
        written += 1
        if out.tell() > _MAX_CONTENT_LENGTH:
            break
    return out.getvalue(), targets, written


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
        title=_text(about.get("title")),
        description=_text(about.get("subtitle")),
        link=_text(about.get("link")),
        author=_text(about.get("author")),
        language=language_of([_text(about.get("language"))]),
        updated=_to_datetime(dict.get(about, "updated_parsed"))
        or _to_datetime(dict.get(about, "published_parsed")),
        entries=tuple(_xml_entry(entry) for entry in parsed.entries[:_MAX_ENTRIES]),
    )


def _without_long_names(source: str) -> str:
    """Return the feed without what stands in the elements of persons, where that is
    longer than any name.
    """
    kept, copied = [], 0
    depth = begin = 0
    for tag in _PERSON.finditer(source):
        if tag["closes"] == "":
            begin, depth = begin if depth else tag.end(), depth + 1
        elif tag["closes"] and depth:
            depth -= 1
            end = tag.start()
            if not depth and (
                end - begin > _MAX_NAMES_LENGTH or _LONG_WORD.search(source, begin, end)
            ):
                kept.append(source[copied:begin])
                copied = end
    if depth and len(source) - begin > _MAX_NAMES_LENGTH:
        return "".join(kept) + source[copied:begin]  # it is never closed
    return "".join(kept) + source[copied:]


def _xml_entry(entry: Any) -> _Entry:
    content = [_text(part.get("value")) for part in entry.get("content", ())]
    html = max([*content, _text(entry.get("summary"))], key=len)
    # `dict.get`, since feedparser's own method warns when it substitutes one date for
    # the other.
    published, updated = (
        dict.get(entry, name) for name in ("published_parsed", "updated_parsed")
    )
    files = tuple(
        (_text(one.get("type")), _text(one.get("href")))
        for one in entry.get("enclosures", ())[:10]
        if one.get("href")
    )
    transcript = entry.get("podcast_transcript")  # the last one
    if isinstance(transcript, dict) and (href := _text(transcript.get("url"))):
        files += (("transcript", href),)
    return _Entry(
        title=_text(entry.get("title")),
        link=_text(entry.get("link")),
        author=_text(entry.get("author")),
        date=_to_datetime(published) or _to_datetime(updated),
        html=html,
        files=files,
    )


def _json_feed(source: str) -> _Feed | None:
    try:
        about = json.loads(source)
    except (ValueError, RecursionError):
        return None
    if not isinstance(about, dict):
        return None
    items = about.get("items")
    entries = (
        [item for item in items if isinstance(item, dict)]
        if isinstance(items, list)
        else []
    )
    return _Feed(
        title=_text(about.get("title")),
        description=_text(about.get("description")),
        link=_text(about.get("home_page_url")),
        author=", ".join(_authors(about)),
        language=language_of([_text(about.get("language"))]),
        updated=None,
        entries=tuple(_json_entry(item) for item in entries[:_MAX_ENTRIES]),
    )


def _json_entry(item: dict[str, Any]) -> _Entry:
    attached = item.get("attachments")
    files = (
        [one for one in attached if isinstance(one, dict)][:10]
        if isinstance(attached, list)
        else []
    )
    return _Entry(
        title=_text(item.get("title")),
        link=_text(item.get("url") or item.get("external_url")),
        author=", ".join(_authors(item)),
        date=parse_date(item.get("date_published"))
        or parse_date(item.get("date_modified")),
        html=_text(item.get("content_html")),
        text=_text(item.get("content_text")) or _text(item.get("summary")),
        files=tuple(
            (_text(one.get("mime_type")), _text(one.get("url"))) for one in files
        ),
    )


def _authors(thing: dict[str, Any]) -> Iterator[str]:
    several = thing.get("authors")
    for author in several[:10] if isinstance(several, list) else [thing.get("author")]:
        if isinstance(author, dict) and (name := _text(author.get("name"))):
            yield name


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _to_datetime(value: object) -> datetime | None:
    try:
        return (
            datetime(*value[:6], tzinfo=UTC) if isinstance(value, struct_time) else None
        )
    except ValueError:
        return None


def read_sitemap(document: Document) -> Page:
    """Read a sitemap, or an index of sitemaps, also compressed. If the XML is something
    else, read it as text.
    """
    if is_packed := document.media_type.endswith("gzip"):
        with suppress(zlib.error):
            data = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(
                document.data, _MAX_SOURCE_LENGTH
            )
            document = replace(document, data=data, content_type="application/xml")
    url, content_type = document.url, document.content_type
    if not _ROOT.match(decode(document.data[:_SAMPLE], content_type).text):
        if is_packed:
            raise UnsupportedContent(
                "application/gzip has no text that can be read, unless it is a sitemap"
            )
        return read_text(document)
    source, decoding = decode(document.data, content_type, most=_MAX_SOURCE_LENGTH)
    root = _ROOT.match(source)
    if root is None:
        return read_text(document)
    out = StringIO()
    links: list[str] = []
    for address, changed in islice(
        _read_addresses(source, root[1], url), _MAX_ADDRESSES
    ):
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
        notes=(
            *([decoding] if decoding else []),
            f"the first {count} {what}" if cut else f"{count} {what}",
        ),
    )


def _read_addresses(source: str, prefix: str, base: str) -> Iterator[tuple[str, str]]:
    """Yield each address and the day it changed, if given; pictures and videos have
    prefixes of their own.
    """
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
