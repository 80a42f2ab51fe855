"""Add the transcripts that a page names to its text, for readers that open pages themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

from .._runtime.deadline import time_left, time_limit
from .._runtime.scope import current_call
from .._text.escaping import escape_text
from .._text.media_types import HTML, MARKDOWN, parse_media_type
from .._text.quantity import quantity
from ..errors import DisallowedByRobots, ServiceError, UnsafeURL, UnsupportedContent
from ..flow import Call, Flow, Response
from ..models import Page
from ._ports import PageReader
from ._reading import check_response, parse_response

MAX_BYTES = 2 * 2**20  # of a transcript: three hours of captions are 300 kB
_MOST = 3  # transcripts of a page, each of which is a request
_MARKS = b"<track", b"transcript", b"text/vtt", b"x-subrip", b"\x00"  # UTF-16 has the last, and cannot be searched
_FEEDS = frozenset({"application/rss+xml", "application/atom+xml"})

Fetch = Callable[[str], Flow[tuple[Response, str]]]


def add_transcripts(reader: PageReader, page: Page, response: Response, fetch: Fetch) -> Flow[Page]:
    """
    Return *page* with the transcripts that it names below its text, if the call wants them.

    A transcript that cannot be read, or not in half of the time left, is a note.

    Args:
        reader: The reader.
        page: The page, which was parsed from *response*.
        response: The site's response.
        fetch: Requests a URL as the reader requests pages, and returns the response and where redirects led to.

    """
    is_feed = page.media_type in _FEEDS
    if current_call().choices.transcripts != "keep" or not (is_feed or page.media_type in HTML):
        return page
    if not any(mark in response.content for mark in _MARKS):
        return page
    from ..reading import find_transcripts

    kind = response.headers.get("content-type")
    found = yield Call(find_transcripts, response.content, page.final_url, kind, is_feed=is_feed)
    parts, hosts, notes = [page.content] if page.content else [], dict[str, None](), list[str]()
    for one in found[:_MOST]:
        host = urlsplit(one.url).hostname or ""
        try:
            with time_limit(time_left() / 2):
                answer, here = yield from fetch(one.url)
                text: str = yield Call(_parse, reader, answer, here, one.media_type)
        except (ServiceError, UnsafeURL, DisallowedByRobots) as error:
            notes.append(f"a transcript at {host} could not be read: {error.code}")
            continue
        parts.append(f"## Transcript{f': {escape_text(one.name)}' if one.name else ''}\n\n{text}")
        hosts[host] = None
    if hosts:
        count = len(parts) - bool(page.content)
        notes.insert(0, f"with {quantity(count, 'transcript')} below its text, from {', '.join(hosts)}")
    if len(found) > _MOST:
        notes.append(f"of {len(found)} transcripts, the first {_MOST} were asked for")
    content = "\n\n".join(parts)
    size = len(content)
    update = {"content": content, "content_length": size, "original_length": size}
    return page.model_copy(update=update).with_notes(*notes)


def _parse(reader: PageReader, response: Response, here: str, kind: str) -> str:
    """Return the text of a transcript, whose page says what *kind* it is: many servers do not know."""
    check_response(response, reader)
    stated = response.headers.get("content-type", "")
    if kind not in HTML and parse_media_type(stated) not in HTML:
        _, semicolon, parameters = stated.partition(";")
        response = replace(response, headers={**response.headers, "content-type": f"{kind}{semicolon}{parameters}"})
    own = {name: getattr(reader, name, None) for name in ("isolate", "processes")}
    page = parse_response(reader, response, here, here, MAX_BYTES, links="text", **own)
    if page.media_type in HTML:
        check_response(response, reader, page.content, here)
    right = page.media_type in (HTML if kind in HTML else {kind, "text/vtt", *MARKDOWN})
    has_no_cues = page.media_type == kind != "text/plain" and page.content.startswith("```")
    if not right or has_no_cues or not page.content.strip():
        raise UnsupportedContent(f"{reader.name} read failed: this is no transcript", provider=reader.name)
    return page.content
