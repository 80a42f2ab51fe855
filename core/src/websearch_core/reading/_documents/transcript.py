"""Read transcripts (WebVTT, SubRip, the JSON of podcasts), and find those that a page
or a feed names.

Only what is said counts, so one loop over the lines reads the first two: a cue is what
follows a line with times. https://www.w3.org/TR/webvtt1/,
https://podcasting2.org/docs/podcast-namespace/tags/transcript
"""

from __future__ import annotations
import json
import re
from collections.abc import Iterable, Iterator
from html import unescape
from io import StringIO
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._text.escaping import escape_text
from ..._text.invisible import one_line
from ..._text.media_types import parse_media_type
from ...models import Page
from .._charset import decode
from .._html.fragment import bare
from .._html.parse import find_base, parse_page
from .._links import absolute
from .._types import (
    NAME_LENGTH,
    SRT,
    TITLE_LENGTH,
    TRANSCRIPT_JSON,
    VTT,
    Document,
    make_page,
)
from .text import decode_text, read_text

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_TIMES = re.compile(
    r"[ \t]{0,9}(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,]\d{1,3}[ \t]{1,9}-->", re.ASCII
)
_VOICE = re.compile(r"<v(?:\.[^<>\s]{1,100})?[ \t]([^<>]{1,100})>")
_TAG = re.compile(r"</?[A-Za-z\d][^<>]{0,200}>|</>|\{\\[^{}]{0,100}\}")
_ENDS = (".", "?", "!", "。", "？", "！", "…")  # noqa: RUF001 - of sentences, in Chinese and Japanese too
_ENOUGH = 400  # characters after which a paragraph ends with a sentence
_MOST = 1_200  # characters after which it ends anyway
# The types of transcripts that pages name, the best first, and how they are read.
_KINDS = {
    "text/vtt": VTT, "application/x-subrip": SRT, "application/srt": SRT,
    "text/srt": SRT,
    "application/json": TRANSCRIPT_JSON, "text/html": "text/html",
    "text/plain": "text/plain",
}  # fmt: skip
_MAX_SIZE = 2 * 2**20  # bytes of a page, or characters of a feed
_ENTRY = re.compile(r"<(?:item|entry)(?=[\s>])")
_TITLE = re.compile(
    r"<title(?:\s[^<>]{0,200})?>([^<]{0,1000}|<!\[CDATA\[.{0,1000}?\]\]>)</title>",
    re.DOTALL,
)
_NAMED = re.compile(r"<podcast:transcript\s([^<>]{1,4000})>")
_ATTRIBUTE = re.compile(r"\b(url|type)\s{0,9}=\s{0,9}(?:\"([^\"]*+)\"|'([^']*+)')")

_Said = tuple[float | None, str, str]  # seconds from the beginning, who, what


class Transcript(NamedTuple):
    """Where a transcript is, how to read it, and what of."""

    url: str
    media_type: str
    name: str = ""


def read_transcript(document: Document) -> Page:
    """Read a transcript as paragraphs that begin with their time. If nothing is said in
    it, read it as text.
    """
    text, cut, notes = decode_text(document, markup=False)
    said = (
        _in_podcast(text)
        if document.media_type.endswith("json")
        else _in_captions(text)
    )
    if not (content := "\n\n".join(map(escape_text, _paragraphs(said)))):
        return read_text(document)
    return make_page(
        document.url, document.media_type, content, truncated=cut, notes=notes
    )


def _in_captions(text: str) -> Iterator[_Said]:
    at: int | None = None  # None outside of cues: in notes, styles and numbers
    last = ""
    for line in StringIO(text):
        if times := _TIMES.match(line):
            hours, minutes, seconds = (int(part or 0) for part in times.groups())
            at = 3600 * hours + 60 * minutes + seconds
        elif not line.strip():
            at = None
        elif (
            at is not None
            and (said := unescape(_TAG.sub("", line)).strip())
            and said != last
        ):
            voice = _VOICE.search(line)
            yield at, unescape(voice[1]) if voice else "", said
            last = said  # captions that roll repeat the line above the new one


def _in_podcast(text: str) -> Iterator[_Said]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return
    segments = data.get("segments") if isinstance(data, dict) else None
    for one in segments if isinstance(segments, list) else ():
        if (
            isinstance(one, dict)
            and isinstance(said := one.get("body"), str)
            and said.strip()
        ):
            at, who = one.get("startTime"), one.get("speaker")
            known: Any = (
                at if isinstance(at, int | float) and 0 <= at < 360_000 else None
            )
            yield known, who if isinstance(who, str) else "", said


def _paragraphs(cues: Iterable[_Said]) -> Iterator[str]:
    words: list[str] = []
    length, speaker = 0, ""
    for at, who, said in cues:
        is_new = who not in {"", speaker}
        if words and (
            is_new or length > _MOST or (length > _ENOUGH and words[-1].endswith(_ENDS))
        ):
            yield " ".join(words)
            words, length = [], 0
        # what begins with its time is speech, not a heading, list or table
        if not words:
            minutes, seconds = divmod(int(at or 0), 60)
            hours = (
                f"{minutes // 60}:{minutes % 60:02}" if minutes >= 60 else f"{minutes}"
            )
            words.append("(?)" if at is None else f"({hours}:{seconds:02})")
        if is_new:
            words.append(f"{one_line(who, NAME_LENGTH)}:")
            speaker = who
        words.append(" ".join(said.split()))
        length += len(said)
    if words:
        yield " ".join(words)


def find_transcripts(
    data: bytes, url: str, content_type: str | None, *, is_feed: bool
) -> list[Transcript]:
    """Return one transcript of each video, episode or page that has some: the one to
    read, if there are several.

    None leads from https to http, as no redirect does.
    """
    found = (
        _in_feed(decode(data, content_type, most=_MAX_SIZE).text, url)
        if is_feed
        else _in_page(data, url, content_type)
    )
    schemes = ("https:",) if url.startswith("https:") else ("https:", "http:")
    return list(
        {
            one.url: one
            for one in found
            if one.url != url and one.url.startswith(schemes)
        }.values()
    )


def _in_page(data: bytes, url: str, content_type: str | None) -> Iterator[Transcript]:
    """Yield the captions of each ``<video>``, and the transcript that the head
    names.
    """
    document = parse_page(data, content_type, size=_MAX_SIZE)
    base, html = find_base(document, url), document.css_first("html[lang]")
    language = _primary(html.attributes.get("lang") if html else "")

    def worth(track: LexborNode) -> tuple[bool, bool, bool]:
        given = track.attributes
        # subtitles may be a translation
        spoken = (given.get("kind") or "").lower() == "captions"
        return _primary(given.get("srclang")) == language, "default" in given, spoken

    def is_speech(track: LexborNode) -> bool:
        return (track.attributes.get("kind") or "subtitles").lower() in {
            "captions",
            "subtitles",
        }

    for _, tracks in groupby(
        document.css("track[src]"), lambda track: track.parent and track.parent.mem_id
    ):
        for given in [
            one.attributes
            for one in sorted(filter(is_speech, tracks), key=worth, reverse=True)[:1]
        ]:
            label = one_line(
                given.get("label") or given.get("srclang") or "", TITLE_LENGTH
            )
            yield from _best([(given.get("src"), VTT)], base, label)
    links: list[tuple[str | None, str]] = []
    for link in document.css("link[rel][href]"):
        relations = (link.attributes.get("rel") or "").lower().split()
        kind = parse_media_type(link.attributes.get("type"))
        if "transcript" in relations or (
            "alternate" in relations and _KINDS.get(kind) in {VTT, SRT}
        ):
            links.append((link.attributes.get("href"), kind))
    yield from _best(links, base)


def _in_feed(source: str, base: str) -> Iterator[Transcript]:
    for entry in _ENTRY.split(source)[1:]:
        if tags := _NAMED.findall(entry):
            given = [
                {
                    name: unescape(one or two)
                    for name, one, two in _ATTRIBUTE.findall(tag)
                }
                for tag in tags
            ]
            title = _TITLE.search(entry)
            text = (
                title[1].removeprefix("<![CDATA[").removesuffix("]]>") if title else ""
            )
            links = [
                (one.get("url"), parse_media_type(one.get("type"))) for one in given
            ]
            yield from _best(links, base, one_line(bare(unescape(text)), TITLE_LENGTH))


def _best(
    links: Iterable[tuple[str | None, str]], base: str, name: str = ""
) -> Iterator[Transcript]:
    known = [
        (kind, there)
        for href, kind in links
        if kind in _KINDS and (there := absolute(href, base))
    ]
    for kind, there in sorted(known, key=lambda link: list(_KINDS).index(link[0]))[:1]:
        yield Transcript(there, _KINDS[kind], name)


def _primary(language: str | None) -> str:
    return (language or "").strip().lower().partition("-")[0]
