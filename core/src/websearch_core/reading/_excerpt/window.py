"""Cut a window of a long page at a natural boundary."""

from __future__ import annotations
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ...errors import InvalidOption
from ...models import Page
from .._markdown.fences import find_fences, span_at

# Where a part of a text begins and ends.
Part: TypeAlias = tuple[int, int]
# Cuts a page to at most so many characters.
Cut: TypeAlias = Callable[[int], Page]

_LAST_PART = 3  # give up at most a third of the window for a better place to cut
_MAX_LINK_LENGTH = 4_000  # characters
OUTSIDE = "outside the main text of the page"
_MAX_TITLE_LENGTH = 80  # characters of a heading in a mark
LINK = re.compile(r"\[(?:[^\[\]\n]|\[[^\[\]\n]{0,200}\])*+\]\([^()\n]*+\)")


def without_targets(text: str) -> str:
    """Return Markdown with the text of its links in their place."""
    return LINK.sub(_text_of_link, text)


def _text_of_link(link: re.Match[str]) -> str:
    return link[0][1 : link[0].rindex("](")]


def cut_window(page: Page, max_length: int, offset: int = 0) -> Page:
    """Cut a window of at most *max_length* characters out of a whole page; beyond its
    end, the window is empty.

    The windows that ``next_offset`` leads to join to exactly the whole text. The cut
    falls between blocks if possible, else between lines, else between words. It never
    falls inside a link, a table row or a code block, unless that alone is longer than
    the window; then the parts of a link that was cut come back as plain text, with a
    space that `sanitize` adds. At any other offset, inside code in a quotation, the
    block may be closed early.
    """
    check(max_length, offset)
    whole = page.content
    end = _end(whole, offset, offset + max_length)
    is_end = end >= len(whole)
    next_offset = None if is_end else end
    part = show(
        page,
        whole[offset:end],
        offset=offset,
        rest="",
        next_offset=next_offset,
        truncated=page.truncated or not is_end,
    )
    return beyond(part)


def show(page: Page, content: str, **facts: Any) -> Page:
    """Return a whole page with only *content* as its text, and *facts*: other fields of
    it.
    """
    update = {
        "content": content,
        "content_length": len(content),
        "original_length": len(page.content),
    }
    return page.model_copy(update=update | facts)


def beyond(cut: Page) -> Page:
    """Add a note if *cut* begins beyond the end of the text."""
    if cut.offset and cut.offset >= cut.original_length:
        return cut.with_notes(
            f"offset {cut.offset} is beyond the end: the text has "
            f"{cut.original_length} characters"
        )
    return cut


def check(max_length: int, offset: int) -> None:
    """Check the limits of a window, and raise `InvalidOption` if one is out of
    range.
    """
    if max_length < 1:
        raise InvalidOption(f"max_length: must be at least 1, not {max_length}")
    if offset < 0:
        raise InvalidOption(f"offset: must be at least 0, not {offset}")


def _end(text: str, start: int, limit: int) -> int:
    if limit >= len(text):
        return len(text)
    code = find_fences(text, limit)
    fence = span_at(code, limit, within=True)
    line = text.rfind("\n", start, limit) + 1
    if fence is not None:
        if fence[0] > start:
            return fence[0]
        return line or limit  # the fence is longer than the window
    earliest = limit - (limit - start) // _LAST_PART
    for boundary in ("\n\n", "\n"):
        cut = _last(text, boundary, earliest, limit, code)
        if cut is not None:
            return cut
    if line > start and text.startswith("|", line):
        return line
    cut = text.rfind(" ", earliest, limit) + 1 or limit
    for link in LINK.finditer(text, max(line, start), limit + _MAX_LINK_LENGTH):
        begin, after = link.span()
        if begin < cut < after and begin > start:
            return begin
    return cut


def _last(
    text: str,
    boundary: str,
    earliest: int,
    limit: int,
    code: Sequence[Part],
) -> int | None:
    """Return the last position after a *boundary*, between *earliest* and *limit*, that
    is outside code.
    """
    place = text.rfind(boundary, earliest, limit)
    while place >= 0:
        cut = place + len(boundary)
        fence = span_at(code, cut, within=True)
        if fence is None:
            return cut
        place = text.rfind(boundary, earliest, fence[0])
    return None


def join_rest(page: Page) -> str:
    """Return the whole text of a page, and after it what else a person sees on it:
    offsets lead to both.
    """
    if not page.rest:
        return page.content
    return f"{page.content}\n\n{page.rest}"


def plain_title(title: str) -> str:
    """Return the text of a heading, without Markdown and not too long."""
    title = title.rstrip(" \t\n#")
    if "](" in title:
        title = without_targets(title)
    for mark in "*`\\":
        title = title.replace(mark, "")
    line = " ".join(title.split())
    if len(line) <= _MAX_TITLE_LENGTH:
        return line
    beginning = line[: _MAX_TITLE_LENGTH - 1].rstrip()
    return f"{beginning}…"
