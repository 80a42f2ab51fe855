"""Add the transcripts that a page names to its text, for readers that open pages
themselves.
"""

from __future__ import annotations
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

from .._runtime.deadline import time_left, time_limit
from .._runtime.scope import current_call
from .._text.escaping import escape_text
from .._text.media_types import HTML, MARKDOWN, parse_media_type
from ..errors import DisallowedByRobots, ServiceError, UnsafeURL, UnsupportedContent
from ..flow import Call, Flow, Response
from ..models import Page
from ._ports import PageReader
from ._reading import check_response, parse_response, with_text

MAX_BYTES = 2 * 2**20  # of a transcript: three hours of captions are 300 kB
_MAX_TRANSCRIPTS = 3  # of a page: each is a request
# UTF-16 has the last, and cannot be searched
_MARKS = b"<track", b"transcript", b"text/vtt", b"x-subrip", b"\x00"
_FEEDS = frozenset({"application/rss+xml", "application/atom+xml"})

Fetch = Callable[[str], Flow[tuple[Response, str]]]


def add_transcripts(
    reader: PageReader, page: Page, response: Response, fetch: Fetch
) -> Flow[Page]:
    """Return *page*, which was parsed from *response*, with the transcripts that it
    names, if the call wants them.

    *fetch* requests a URL, and returns the response and where redirects led to. A
    transcript that cannot be read, or not in half of the time left, is a note.
    """
    if current_call().content.transcripts != "keep":
        return page
    is_feed = page.media_type in _FEEDS
    may_name_some = is_feed or page.media_type in HTML
    if not may_name_some or not any(mark in response.content for mark in _MARKS):
        return page
    from ..reading import find_transcripts

    links = yield Call(
        find_transcripts,
        response.content,
        page.final_url,
        response.headers.get("content-type"),
        is_feed=is_feed,
    )
    parts = [page.content]
    notes: list[str] = []
    for link in links[:_MAX_TRANSCRIPTS]:
        host = urlsplit(link.url).hostname
        try:
            with time_limit(time_left() / 2):
                answer, final_url = yield from fetch(link.url)
                text: str = yield Call(
                    _parse, reader, answer, final_url, link.media_type
                )
        except (ServiceError, UnsafeURL, DisallowedByRobots) as error:
            notes.append(f"a transcript at {host} could not be read: {error.code}")
            continue
        heading = "## Transcript"
        if link.name:
            heading += f": {escape_text(link.name)}"
        parts += [heading, text]
        notes.append(f"a transcript from {host} is below its text")
    if len(links) > _MAX_TRANSCRIPTS:
        notes.append(
            f"of {len(links)} transcripts, the first {_MAX_TRANSCRIPTS} were asked for"
        )
    page = with_text(page, "\n\n".join(parts))
    return page.with_notes(*dict.fromkeys(notes))


def _parse(reader: PageReader, response: Response, final_url: str, kind: str) -> str:
    """Return the text of a transcript, whose page says what *kind* it is: many servers
    do not know.
    """
    check_response(response, reader)
    stated_type = response.headers.get("content-type", "")
    if kind not in HTML and parse_media_type(stated_type) not in HTML:
        parameters = stated_type.partition(";")[2]
        headers = {**response.headers, "content-type": f"{kind};{parameters}"}
        response = replace(response, headers=headers)
    page = parse_response(
        reader, response, final_url, final_url, MAX_BYTES, links="text"
    )
    if page.media_type in HTML:
        check_response(response, reader, page.content, final_url)
    if not _is_transcript(page, kind):
        raise UnsupportedContent(
            f"{reader.name} read failed: this is not a transcript", provider=reader.name
        )
    return page.content


def _is_transcript(page: Page, kind: str) -> bool:
    types = HTML if kind in HTML else {kind, "text/vtt", *MARKDOWN}
    if page.media_type not in types or not page.content.strip():
        return False
    if page.media_type != kind or kind == "text/plain":
        return True
    return not page.content.startswith("```")  # a format without cues stays as it is
