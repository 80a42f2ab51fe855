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
from ._reading import check_response, parse_response

MAX_BYTES = 2 * 2**20  # of a transcript: three hours of captions are 300 kB
_MOST = 3  # transcripts of a page, each of which is a request
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
    is_feed = page.media_type in _FEEDS
    if current_call().wanted.transcripts != "keep" or not (
        is_feed or page.media_type in HTML
    ):
        return page
    if not any(mark in response.content for mark in _MARKS):
        return page
    from ..reading import find_transcripts

    kind = response.headers.get("content-type")
    found = yield Call(
        find_transcripts, response.content, page.final_url, kind, is_feed=is_feed
    )
    parts, notes = [page.content], list[str]()
    for one in found[:_MOST]:
        host = urlsplit(one.url).hostname
        try:
            with time_limit(time_left() / 2):
                answer, here = yield from fetch(one.url)
                text: str = yield Call(_parse, reader, answer, here, one.media_type)
        except (ServiceError, UnsafeURL, DisallowedByRobots) as error:
            notes.append(f"a transcript at {host} could not be read: {error.code}")
        else:
            parts.append(
                f"## Transcript{f': {escape_text(one.name)}' if one.name else ''}\n\n{text}"
            )
            notes.append(f"a transcript from {host} is below its text")
    if len(found) > _MOST:
        notes.append(f"of {len(found)} transcripts, the first {_MOST} were asked for")
    content = "\n\n".join(parts)
    update = {
        "content": content,
        "content_length": len(content),
        "original_length": len(content),
    }
    return page.model_copy(update=update).with_notes(*dict.fromkeys(notes))


def _parse(reader: PageReader, response: Response, here: str, kind: str) -> str:
    """Return the text of a transcript, whose page says what *kind* it is: many servers
    do not know.
    """
    check_response(response, reader)
    stated = response.headers.get("content-type", "")
    if kind not in HTML and parse_media_type(stated) not in HTML:
        response = replace(
            response,
            headers={
                **response.headers,
                "content-type": f"{kind};{stated.partition(';')[2]}",
            },
        )
    page = parse_response(reader, response, here, here, MAX_BYTES, links="text")
    if page.media_type in HTML:
        check_response(response, reader, page.content, here)
    right = page.media_type in (HTML if kind in HTML else {kind, "text/vtt", *MARKDOWN})
    has_no_cues = page.media_type == kind != "text/plain" and page.content.startswith(
        "```"
    )
    if not right or has_no_cues or not page.content.strip():
        raise UnsupportedContent(
            f"{reader.name} read failed: this is not a transcript", provider=reader.name
        )
    return page.content
