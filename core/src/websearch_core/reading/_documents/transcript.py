"""Read transcripts (WebVTT, SubRip, the JSON of podcasts), and find those that a page
or a feed names.

Only what is said counts, so one loop over the lines reads the first two: a cue is what
follows a line with times. https://www.w3.org/TR/webvtt1/,
https://podcasting2.org/docs/podcast-namespace/tags/transcript
"""

from __future__ import annotations
import re
from collections.abc import Iterable, Iterator
from html import unescape
from io import StringIO
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

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
)
from .markup import read_attributes
from .text import decode_text, load_object, objects_in, read_text, text_in

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

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
    "text/vtt": VTT,
    "application/x-subrip": SRT,
    "application/srt": SRT,
    "text/srt": SRT,
    "application/json": TRANSCRIPT_JSON,
    "text/html": "text/html",
    "text/plain": "text/plain",
}
_SPEECH = frozenset({"captions", "subtitles"})
_MAX_SECONDS = 360_000  # of a recording
_MAX_SIZE = 2 * 2**20  # bytes of a page, or characters of a feed
_ENTRY = re.compile(r"<(?:item|entry)(?=[\s>])")
_TITLE = re.compile(
    r"<title(?:\s[^<>]{0,200})?>([^<]{0,1000}|<!\[CDATA\[.{0,1000}?\]\]>)</title>",
    re.DOTALL,
)
_NAMED = re.compile(r"<podcast:transcript\s([^<>]{1,4000})>")


class Cue(NamedTuple):
    """What is said: seconds from the beginning, who, and what."""

    seconds: float | None
    speaker: str
    words: str


class Transcript(NamedTuple):
    """Where a transcript is, how to read it, and what of."""

    url: str
    media_type: str
    name: str = ""


def read_transcript(document: Document) -> Page:
    """Read a transcript as paragraphs that begin with their time.

    If nothing is said in it, read it as text.
    """
    decoded = decode_text(document, markup=False)
    read = _in_captions
    if document.media_type.endswith("json"):
        read = _in_podcast
    cues = read(decoded.text)
    content = "\n\n".join(map(escape_text, _paragraphs(cues)))
    if not content:
        return read_text(document)
    return document.to_page(content, truncated=decoded.cut, notes=decoded.notes)


def _in_captions(text: str) -> Iterator[Cue]:
    begin: int | None = None  # None outside of cues: in notes, styles and numbers
    last = ""
    for line in StringIO(text):
        times = _TIMES.match(line)
        if times:
            begin = 0
            for part in times.groups():
                begin = 60 * begin + int(part or 0)
        elif not line.strip():
            begin = None
        elif begin is not None:
            words = unescape(_TAG.sub("", line)).strip()
            # captions that roll repeat the line above the new one
            if words and words != last:
                yield Cue(begin, _find_speaker(line), words)
                last = words


def _find_speaker(line: str) -> str:
    voice = _VOICE.search(line)
    if voice is None:
        return ""
    return unescape(voice[1])


def _in_podcast(text: str) -> Iterator[Cue]:
    for segment in objects_in(load_object(text).get("segments")):
        begin = segment.get("startTime")
        if not isinstance(begin, int | float) or not 0 <= begin < _MAX_SECONDS:
            begin = None
        words = text_in(segment, "body")
        if words:
            yield Cue(begin, text_in(segment, "speaker"), words)


def _paragraphs(cues: Iterable[Cue]) -> Iterator[str]:
    words: list[str] = []  # of the paragraph that is being written
    length = 0
    speaker = ""
    for cue in cues:
        is_new = cue.speaker not in {"", speaker}
        is_whole = length > _ENOUGH and words[-1].endswith(_ENDS)
        is_over = is_new or is_whole or length > _MOST
        if words and is_over:
            yield " ".join(words)
            words = []
            length = 0
        # what begins with its time is speech, not a heading, list or table
        if not words:
            words.append(_format_time(cue.seconds))
        if is_new:
            speaker = cue.speaker
            words.append(f"{one_line(speaker, NAME_LENGTH)}:")
        words.append(" ".join(cue.words.split()))
        length += len(cue.words)
    if words:
        yield " ".join(words)


def _format_time(begin: float | None) -> str:
    if begin is None:
        return "(?)"
    minutes, seconds = divmod(int(begin), 60)
    hours, rest = divmod(minutes, 60)
    if hours:
        return f"({hours}:{rest:02}:{seconds:02})"
    return f"({minutes}:{seconds:02})"


def find_transcripts(
    data: bytes, url: str, content_type: str | None, *, is_feed: bool
) -> list[Transcript]:
    """Return one transcript of each video, episode or page that has some.

    The one to read, if there are several. None leads from https to http, as no redirect
    does.
    """
    if is_feed:
        source = decode(data, content_type, limit=_MAX_SIZE).text
        transcripts = _in_feed(source, url)
    else:
        transcripts = _in_page(data, url, content_type)
    schemes: tuple[str, ...] = ("https:", "http:")
    if url.startswith("https:"):
        schemes = ("https:",)
    by_url = {
        transcript.url: transcript
        for transcript in transcripts
        if transcript.url.startswith(schemes)
    }
    by_url.pop(url, None)
    return list(by_url.values())


def _in_page(data: bytes, url: str, content_type: str | None) -> Iterator[Transcript]:
    """Yield the captions of each ``<video>``, and the transcript of the head."""
    document = parse_page(data, content_type, size=_MAX_SIZE)
    base = find_base(document, url)
    yield from _in_videos(document, base)
    links: list[tuple[str | None, str]] = []
    for link in document.css("link[rel][href]"):
        relations = (link.attributes.get("rel") or "").lower()
        kind = parse_media_type(link.attributes.get("type"))
        names = {"transcript"}
        if _KINDS.get(kind) in {VTT, SRT}:
            names.add("alternate")
        if not names.isdisjoint(relations.split()):
            links.append((link.attributes.get("href"), kind))
    yield from _best(links, base)


def _in_videos(document: LexborHTMLParser, base: str) -> Iterator[Transcript]:
    language = ""
    html = document.css_first("html[lang]")
    if html:
        language = _primary(html.attributes.get("lang"))

    def rank(track: LexborNode) -> tuple[bool, bool, bool]:
        attributes = track.attributes
        is_here = _primary(attributes.get("srclang")) == language
        # subtitles may be a translation
        is_spoken = _kind_of(track) == "captions"
        return is_here, "default" in attributes, is_spoken

    def holder(track: LexborNode) -> int | None:
        if track.parent is None:
            return None
        return track.parent.mem_id

    for _, tracks in groupby(document.css("track[src]"), holder):
        speech = [track for track in tracks if _kind_of(track) in _SPEECH]
        if speech:
            attributes = max(speech, key=rank).attributes
            label = attributes.get("label") or attributes.get("srclang") or ""
            source = attributes.get("src")
            name = one_line(label, TITLE_LENGTH)
            yield from _best([(source, VTT)], base, name)


def _kind_of(track: LexborNode) -> str:
    return (track.attributes.get("kind") or "subtitles").lower()


def _in_feed(source: str, base: str) -> Iterator[Transcript]:
    for entry in _ENTRY.split(source)[1:]:
        links = [_read_link(tag) for tag in _NAMED.findall(entry)]
        if not links:
            continue
        name = ""
        title = _TITLE.search(entry)
        if title:
            text = title[1].removeprefix("<![CDATA[").removesuffix("]]>")
            name = one_line(bare(unescape(text)), TITLE_LENGTH)
        yield from _best(links, base, name)


def _read_link(tag: str) -> tuple[str | None, str]:
    """Return the address and the media type that the tag of a feed states."""
    attributes = read_attributes(tag)
    return attributes.get("url"), parse_media_type(attributes.get("type"))


def _best(
    links: Iterable[tuple[str | None, str]], base: str, name: str = ""
) -> Iterator[Transcript]:
    """Yield the best of *links* that can be read, if there is one."""
    urls: dict[str, str] = {}  # by their type, the first of each
    for href, kind in links:
        url = absolute(href, base)
        if url:
            urls.setdefault(kind, url)
    for kind, media_type in _KINDS.items():
        if kind in urls:
            yield Transcript(urls[kind], media_type, name)
            return


def _primary(language: str | None) -> str:
    return (language or "").strip().lower().partition("-")[0]
