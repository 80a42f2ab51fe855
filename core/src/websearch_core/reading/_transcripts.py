"""
Find the transcripts that a page names: captions of its videos, and those of the episodes of a podcast.

``<track>`` (https://html.spec.whatwg.org/multipage/media.html#the-track-element), ``<link rel="transcript">``, a link
to captions as an alternate, and in feeds ``<podcast:transcript>``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape
from itertools import chain, groupby
from typing import TYPE_CHECKING, NamedTuple

from .._text.invisible import one_line
from .._text.media_types import parse_media_type
from ._charset import decode
from ._html.fragment import bare
from ._html.parse import find_base, parse_page
from ._links import absolute
from ._page import TITLE_LENGTH
from ._types import SRT, TRANSCRIPT_JSON, VTT

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_MAX_SIZE = 2 * 2**20  # bytes of a page, or characters of a feed
# The types of transcripts, the best first, and how they are read.
_TYPES = {
    "text/vtt": VTT, "application/x-subrip": SRT, "application/srt": SRT, "text/srt": SRT,
    "application/json": TRANSCRIPT_JSON, "text/html": "text/html", "text/plain": "text/plain",
}  # fmt: skip
_RANKS = {kind: rank for rank, kind in enumerate(_TYPES)}
_ENTRY = re.compile(r"<(?:item|entry)(?=[\s>])")
_TITLE = re.compile(r"<title(?:\s[^<>]{0,200})?>([^<]{0,1000}|<!\[CDATA\[.{0,1000}?\]\]>)</title>", re.DOTALL)
_TRANSCRIPT = re.compile(r"<podcast:transcript\s([^<>]{1,4000})>")
_ATTRIBUTE = re.compile(r"\b(url|type)\s{0,9}=\s{0,9}(?:\"([^\"]*+)\"|'([^']*+)')")


class Transcript(NamedTuple):
    """Where a transcript is, how to read it, and what of."""

    url: str
    media_type: str
    name: str = ""


def find_transcripts(data: bytes, url: str, content_type: str | None, *, is_feed: bool) -> list[Transcript]:
    """
    Return one transcript of each video, episode or page that has some: the one to read, if there are several.

    None leads from https to http, as no redirect does.
    """
    if is_feed:
        found = _in_feed(decode(data, content_type, most=_MAX_SIZE).text, url)
    else:
        document = parse_page(data, content_type, most=_MAX_SIZE)
        base = find_base(document, url)
        found = chain(_in_players(document, base), _in_head(document, base))
    schemes = ("https:",) if url.startswith("https:") else ("https:", "http:")
    return list({one.url: one for one in found if one.url != url and one.url.startswith(schemes)}.values())


def _in_players(document: LexborHTMLParser, base: str) -> Iterator[Transcript]:
    html = document.css_first("html[lang]")
    language = _primary(html.attributes.get("lang") if html else "")

    def worth(track: LexborNode) -> tuple[bool, bool, bool]:
        attributes = track.attributes
        spoken = (attributes.get("kind") or "").lower() == "captions"  # subtitles may be a translation
        return _primary(attributes.get("srclang")) == language, "default" in attributes, spoken

    for _, tracks in groupby(document.css("track[src]"), lambda track: track.parent and track.parent.mem_id):
        known = [
            one for one in tracks if (one.attributes.get("kind") or "subtitles").lower() in {"captions", "subtitles"}
        ]
        for track in sorted(known, key=worth, reverse=True)[:1]:
            if there := absolute(track.attributes.get("src"), base):
                label = track.attributes.get("label") or track.attributes.get("srclang") or ""
                yield Transcript(there, VTT, one_line(label, TITLE_LENGTH))


def _in_head(document: LexborHTMLParser, base: str) -> Iterator[Transcript]:
    links: list[tuple[str | None, str | None]] = []
    for link in document.css("link[rel][href]"):
        relations = (link.attributes.get("rel") or "").lower().split()
        kind = parse_media_type(link.attributes.get("type"))
        if "transcript" in relations or ("alternate" in relations and _TYPES.get(kind) in {VTT, SRT}):
            links.append((link.attributes.get("href"), kind))
    yield from _best(links, base)


def _in_feed(source: str, base: str) -> Iterator[Transcript]:
    for entry in _ENTRY.split(source)[1:]:
        links: list[tuple[str | None, str | None]] = []
        for tag in _TRANSCRIPT.findall(entry):
            given = {name: unescape(double or single) for name, double, single in _ATTRIBUTE.findall(tag)}
            links.append((given.get("url"), parse_media_type(given.get("type"))))
        if links:
            title = _TITLE.search(entry)
            text = title[1].removeprefix("<![CDATA[").removesuffix("]]>") if title else ""
            yield from _best(links, base, one_line(bare(unescape(text)), TITLE_LENGTH))


def _best(links: Iterable[tuple[str | None, str | None]], base: str, name: str = "") -> Iterator[Transcript]:
    known = [(there, kind) for href, kind in links if kind in _TYPES and (there := absolute(href, base))]
    for there, kind in sorted(known, key=lambda link: _RANKS[link[1] or ""])[:1]:
        yield Transcript(there, _TYPES[kind or ""], name)


def _primary(language: str | None) -> str:
    return (language or "").strip().lower().partition("-")[0]
