"""
Read transcripts: WebVTT, SubRip, and the JSON of podcasts, as paragraphs that begin with their time.

Only what is said counts, so one loop over the lines reads the first two: a cue is what follows a line with times.
https://www.w3.org/TR/webvtt1/, https://podcasting2.org/docs/podcast-namespace/tags/transcript
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from io import StringIO
from typing import Any, NamedTuple

from ..._text.escaping import escape_text
from ..._text.invisible import one_line, removal_note, strip_invisible
from ...models import Page
from .._charset import decode
from .._page import NAME_LENGTH, make_page
from .._types import Document
from .text import MAX_CHARACTERS, read_text

_TIMES = re.compile(r"[ \t]{0,9}(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,]\d{1,3}[ \t]{1,9}-->", re.ASCII)
_VOICE = re.compile(r"<v(?:\.[^<>\s]{1,100})?[ \t]([^<>]{1,100})>")
_TAG = re.compile(r"</?[A-Za-z\d][^<>]{0,200}>|</>|\{\\[^{}]{0,100}\}")
_ENDS = (".", "?", "!", "。", "？", "！", "…")  # noqa: RUF001 - of sentences, in Chinese and Japanese too
_ENOUGH = 400  # characters after which a paragraph ends with a sentence
_MOST = 1_200  # characters after which it ends anyway


class _Cue(NamedTuple):
    at: float | None  # seconds from the beginning
    speaker: str
    lines: list[str]


def read_transcript(document: Document) -> Page:
    """Read a transcript. If it has no cues, read it as text."""
    text, decoding = decode(document.data, document.content_type, markup=False, most=MAX_CHARACTERS + 1)
    cut = len(text) > MAX_CHARACTERS
    text, invisible = strip_invisible(text[:MAX_CHARACTERS])
    cues = _segments(text) if document.media_type.endswith("json") else _cues(text)
    content = "\n\n".join(_paragraphs(cues))
    if not content:
        return read_text(document)
    notes = (
        *([decoding] if decoding else []),
        *removal_note(invisible),
        *(["the text is too long to be read whole: this is its beginning"] if cut else []),
    )
    return make_page(document.url, document.media_type, content, truncated=cut, notes=notes)


def _cues(text: str) -> Iterator[_Cue]:
    """Yield the cues of WebVTT or SubRip; notes, styles and numbers stand outside of any."""
    cue: _Cue | None = None
    last = ""
    for line in StringIO(text):
        if times := _TIMES.match(line):
            if cue and cue.lines:
                yield cue
            hours, minutes, seconds = (int(part or 0) for part in times.groups())
            cue = _Cue(3600 * hours + 60 * minutes + seconds, "", [])
        elif cue and (said := unescape(_TAG.sub("", line)).strip()):
            if voice := _VOICE.search(line):
                cue = cue._replace(speaker=unescape(voice[1]).strip())
            if cue.lines or said != last:  # captions that roll repeat the line above the new one
                cue.lines.append(said)
            last = said
        elif cue and cue.lines and not line.strip():
            yield cue
            cue = None
    if cue and cue.lines:
        yield cue


def _segments(text: str) -> Iterator[_Cue]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return
    segments = data.get("segments") if isinstance(data, dict) else None
    for one in segments if isinstance(segments, list) else ():
        if isinstance(one, dict) and isinstance(said := one.get("body"), str) and said.strip():
            speaker = one.get("speaker")
            yield _Cue(_as_seconds(one.get("startTime")), speaker if isinstance(speaker, str) else "", [said])


def _as_seconds(value: Any) -> float | None:
    return value if isinstance(value, int | float) and 0 <= value < 360_000 else None


def _paragraphs(cues: Iterator[_Cue]) -> Iterator[str]:
    words: list[str] = []
    first = _Cue(None, "", [])
    speaker, length = "", 0
    for cue in cues:
        who = cue.speaker or speaker
        if words and (who != speaker or length > _MOST or (length > _ENOUGH and words[-1].endswith(_ENDS))):
            yield _write(first, words)
            words, length = [], 0
        if not words:
            first = cue._replace(speaker=who if who != speaker else "")
            speaker = who
        words += cue.lines
        length += sum(map(len, cue.lines))
    if words:
        yield _write(first, words)


def _write(first: _Cue, words: list[str]) -> str:
    minutes, seconds = divmod(int(first.at or 0), 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
    clock = "?" if first.at is None else clock
    name = one_line(first.speaker, NAME_LENGTH)
    # What begins with its time is no heading, list or table, whatever is said.
    return escape_text(f"({clock}) {f'{name}: ' if name else ''}{' '.join(' '.join(words).split())}")
