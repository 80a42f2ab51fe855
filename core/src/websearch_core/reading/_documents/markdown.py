"""Read Markdown: its front matter becomes metadata, and ``/llms.txt`` is read as the list that it is."""

from __future__ import annotations
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from ..._text.dates import parse_date
from ..._text.invisible import one_line
from ..._text.markup import strip_markup
from ..._text.quantity import quantity
from ...models import Page
from .._links import MAX_LINKS, absolute
from .._markdown.fences import outside_fences
from .._page import DESCRIPTION_LENGTH, NAME_LENGTH, TITLE_LENGTH, language_of, make_page
from .._types import Document
from .front_matter import read_front_matter
from .text import decode_text
from .unseen import remove_unseen

_HEADING = re.compile(r"^#{1,2} +(.+)$", re.MULTILINE)
# Collapsible parts: their label becomes bold, and they are shown open.
_SUMMARY = re.compile(
    r"^( {0,3}(?:<details(?: [^<>\n]{0,200})?>)?[ \t]*)<summary>([^<>*\n]++)</summary>", re.MULTILINE | re.IGNORECASE
)
_DETAILS = re.compile(r"^ {0,3}</?details(?: [^<>\n]{0,200})?>|</details>[ \t]*$", re.MULTILINE | re.IGNORECASE)
_MAIL = re.compile(r"<[^<>@\s]+@[^<>\s]+>")
_DESCRIPTIONS = "description summary excerpt abstract subtitle"
_AUTHORS = "author authors creator byline"
_PUBLISHED = (
    "date published datepublished published_at publishdate pubdate publish_date publication_date published_time "
    "created created_at"
)
_MODIFIED = (
    "modified updated lastmod last_updated last_modified lastupdated lastmodified datemodified updated_at last-updated "
    "last-modified modified_time"
)
_MAX_AUTHORS = 10

# Of ``/llms.txt``.
_LIST_TITLE = re.compile(r"\s*#[ \t]+(\S.*)")
_QUOTED = re.compile(r" {0,3}> ?(.*)")
_SECTION = re.compile(r" {0,3}#{2,6}[ \t]+\S")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(.+)")
_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*+\])*+\]\(\s*+<?([^\s<>()]*+(?:\([^\s<>()]*+\)[^\s<>()]*+)*+)>?[^()]*+\)")
_BARE = re.compile(r"<?(https?://[^\s<>]+)>?")
_MAX_ITEM_LENGTH = 5_000  # characters
_LINK_TEXT = re.compile(r"\[([^\[\]]*+)\]\([^()]*+\)")


def read_markdown(document: Document) -> Page:
    """Read Markdown."""
    url = document.url
    text, cut, notes = decode_text(document, markup=False)
    text = text.replace("\r\n", "\n").lstrip("\n")
    values, begin = read_front_matter(text)
    content, hidden = remove_unseen(text[begin:])
    if _DETAILS.search(content):
        content = outside_fences(content, _open_details)
    facts = dict(_facts(values))
    notes += (f"{quantity(hidden, 'hidden passage')} left out",) if hidden else ()
    if _is_llms_txt(url) and (listed := _read_page_list(content, url)):
        facts |= listed[0]
        notes += (listed[1],)
    elif "title" not in facts and (heading := _HEADING.search(content)):
        facts["title"] = one_line(heading[1], TITLE_LENGTH)
    return make_page(url, document.media_type, content, truncated=cut, notes=notes, **facts)


def _open_details(text: str) -> str:
    return _DETAILS.sub("", _SUMMARY.sub(lambda found: f"{found[1]}**{found[2].strip()}**", text))


def _facts(values: Mapping[str, list[str]]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a page that front matter states."""

    def find(keys: str) -> list[str]:
        return next((found for key in keys.split() if (found := [one for one in values.get(key, ()) if one])), [])

    if title := one_line(strip_markup(" ".join(find("title"))), TITLE_LENGTH):
        yield "title", title
    yield (
        "description",
        one_line(strip_markup(" ".join(find(_DESCRIPTIONS))), DESCRIPTION_LENGTH) or None,
    )
    authors = (_MAIL.sub("", strip_markup(author)).strip() for author in find(_AUTHORS)[:_MAX_AUTHORS])
    yield "author", one_line(", ".join(filter(None, authors)), NAME_LENGTH) or None
    yield "published", _date(values, _PUBLISHED)
    yield "modified", _date(values, _MODIFIED)
    yield "language", language_of(find("lang language locale"))
    yield "site_name", one_line(" ".join(find("site_name sitename site")), NAME_LENGTH) or None


def _date(values: Mapping[str, list[str]], keys: str) -> datetime | None:
    dates = (parse_date(value) for key in keys.split() for value in values.get(key, ())[:1])
    return next(filter(None, dates), None)


def _is_llms_txt(url: str) -> bool:
    """Return whether *url* names such a list, at the root of a site or of a part of it."""
    try:
        return urlsplit(url).path.lower().rpartition("/")[2] == "llms.txt"
    except ValueError:
        return False


def _read_page_list(text: str, url: str) -> tuple[dict[str, Any], str] | None:
    """Read a list of pages (https://llmstxt.org/): a title, a summary in a quotation, sections with lists of links.

    Returns the facts that it states, and a note; None if it has no title, or no link in a list.
    """
    title = _LIST_TITLE.match(text)
    if not title:
        return None
    links: dict[str, str | None] = {}  # by how they are written
    summary: list[str] = []
    sections = 0
    for line in text[title.end() :].splitlines():
        if len(links) < MAX_LINKS and (item := _LIST_ITEM.match(line)):
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
    facts = {"links": found, "title": one_line(title[1].rstrip(" #"), TITLE_LENGTH)}
    if about := one_line(plain, DESCRIPTION_LENGTH):
        facts["description"] = about
    return facts, (
        f"a list of pages for language models: {quantity(len(found), 'link')} in {quantity(sections, 'section')}"
    )
