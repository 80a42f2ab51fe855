"""
Read ``/llms.txt``: the list of pages that a site recommends to language models.

The format is Markdown: a title, a summary in a quotation, details, and sections with lists of links and notes.
https://llmstxt.org/
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from .._links import MAX_LINKS, absolute

_TITLE = re.compile(r"\s*#[ \t]+(\S.*)")
_QUOTED = re.compile(r" {0,3}> ?(.*)")
_SECTION = re.compile(r" {0,3}#{2,6}[ \t]+\S")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(.+)")
_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*+\])*+\]\(\s*+<?([^\s<>()]*+(?:\([^\s<>()]*+\)[^\s<>()]*+)*+)>?[^()]*+\)")
_BARE = re.compile(r"<?(https?://[^\s<>]+)>?")
_MAX_ITEM_LENGTH = 5_000  # characters
_LINK_TEXT = re.compile(r"\[([^\[\]]*+)\]\([^()]*+\)")


class PageList(NamedTuple):
    """The title and the summary of a list, its links as absolute URLs, and the number of its sections."""

    title: str
    summary: str
    links: tuple[str, ...]
    sections: int


def is_llms_txt(url: str) -> bool:
    """Return whether *url* names such a list, at the root of a site or of a part of it."""
    try:
        return urlsplit(url).path.lower().rpartition("/")[2] == "llms.txt"
    except ValueError:
        return False


def read_page_list(text: str, url: str) -> PageList | None:
    """Read a list of pages, written in Markdown at *url*; return None if it has no title, or no link in a list."""
    title = _TITLE.match(text)
    if not title:
        return None
    links: dict[str, str | None] = {}  # by how they are written
    summary: list[str] = []
    sections = 0
    for line in text[title.end() :].splitlines():
        if len(links) < MAX_LINKS and (item := _ITEM.match(line)):
            entry = item[1][:_MAX_ITEM_LENGTH]
            target = _LINK.search(entry) or _BARE.match(entry)
            if target and target[1] not in links:
                links[target[1]] = absolute(target[1], url)
        elif not sections and not links and (quoted := _QUOTED.match(line)):
            summary.append(quoted[1])
        sections += bool(_SECTION.match(line))
    found = tuple(dict.fromkeys(filter(None, links.values())))
    if not found:
        return None
    plain = _LINK_TEXT.sub(r"\1", " ".join(summary)).replace("**", "").replace("`", "")
    return PageList(title[1].rstrip(" #"), plain, found, sections)
