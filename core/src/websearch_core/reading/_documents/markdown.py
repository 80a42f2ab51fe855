"""Read Markdown: its front matter becomes metadata, and ``/llms.txt`` is read as the list that it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from ..._text.dates import parse_date
from ..._text.invisible import one_line, removal_note, strip_invisible
from ..._text.markup import strip_markup
from ..._text.quantity import quantity
from ...models import Page
from .._charset import decode
from .._markdown.fences import outside_fences
from .._page import DESCRIPTION_LENGTH, NAME_LENGTH, TITLE_LENGTH, language_of, make_page
from .._types import Document
from .front_matter import read_front_matter
from .llms_txt import is_llms_txt, read_page_list
from .text import MAX_CHARACTERS
from .unseen import remove_unseen

_HEADING = re.compile(r"^#{1,2} +(.+)$", re.MULTILINE)
# Collapsible parts: their label becomes bold, and they are shown open.
_SUMMARY = re.compile(
    r"^( {0,3}(?:<details(?: [^<>\n]{0,200})?>)?[ \t]*)<summary>([^<>*\n]++)</summary>", re.MULTILINE | re.IGNORECASE
)
_DETAILS = re.compile(r"^ {0,3}</?details(?: [^<>\n]{0,200})?>|</details>[ \t]*$", re.MULTILINE | re.IGNORECASE)
_MAIL = re.compile(r"<[^<>@\s]+@[^<>\s]+>")
_TITLES = ("title",)
_DESCRIPTIONS = ("description", "summary", "excerpt", "abstract", "subtitle")
_AUTHORS = ("author", "authors", "creator", "byline")
_PUBLISHED = (
    "date", "published", "datepublished", "published_at", "publishdate", "pubdate", "publish_date",
    "publication_date", "published_time", "created", "created_at",
)  # fmt: skip
_MODIFIED = (
    "modified", "updated", "lastmod", "last_updated", "last_modified", "lastupdated", "lastmodified", "datemodified",
    "updated_at", "last-updated", "last-modified", "modified_time",
)  # fmt: skip
_LANGUAGES = ("lang", "language", "locale")
_SITES = ("site_name", "sitename", "site")
_MAX_AUTHORS = 10


def read_markdown(document: Document) -> Page:
    """Read Markdown."""
    url = document.url
    text, decoding = decode(document.data, document.content_type, markup=False, most=MAX_CHARACTERS + 1)
    cut = len(text) > MAX_CHARACTERS
    text, invisible = strip_invisible(text[:MAX_CHARACTERS])
    text = text.replace("\r\n", "\n").lstrip("\n")
    values, begin = read_front_matter(text)
    content, hidden = remove_unseen(text[begin:])
    if _DETAILS.search(content):
        content = outside_fences(content, _open_details)
    facts = dict(_facts(values))
    notes = [
        *([decoding] if decoding else []),
        *removal_note(invisible),
        *([f"{quantity(hidden, 'hidden passage')} left out"] if hidden else []),
        *(["the text is too long to be read whole: this is its beginning"] if cut else []),
    ]
    if is_llms_txt(url) and (listed := read_page_list(content, url)):
        facts |= {"links": listed.links, "title": one_line(listed.title, TITLE_LENGTH)}
        facts |= {"description": one_line(listed.summary, DESCRIPTION_LENGTH) or facts.get("description")}
        notes.append(f"a list of pages for language models: {quantity(len(listed.links), 'link')}"
                     f" in {quantity(listed.sections, 'section')}")  # fmt: skip
    elif "title" not in facts and (heading := _HEADING.search(content)):
        facts["title"] = one_line(heading[1], TITLE_LENGTH)
    return make_page(url, document.media_type, content, truncated=cut, notes=tuple(notes), **facts)


def _open_details(text: str) -> str:
    return _DETAILS.sub("", _SUMMARY.sub(lambda found: f"{found[1]}**{found[2].strip()}**", text))


def _facts(values: Mapping[str, list[str]]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a page that front matter states."""

    def find(keys: Iterable[str]) -> list[str]:
        return next((found for key in keys if (found := [one for one in values.get(key, ()) if one])), [])

    if title := one_line(strip_markup(" ".join(find(_TITLES))), TITLE_LENGTH):
        yield "title", title
    yield "description", one_line(strip_markup(" ".join(find(_DESCRIPTIONS))), DESCRIPTION_LENGTH) or None
    authors = (_MAIL.sub("", strip_markup(author)).strip() for author in find(_AUTHORS)[:_MAX_AUTHORS])
    yield "author", one_line(", ".join(filter(None, authors)), NAME_LENGTH) or None
    yield "published", _date(values, _PUBLISHED)
    yield "modified", _date(values, _MODIFIED)
    yield "language", language_of(find(_LANGUAGES))
    yield "site_name", one_line(" ".join(find(_SITES)), NAME_LENGTH) or None


def _date(values: Mapping[str, list[str]], keys: Iterable[str]) -> datetime | None:
    dates = (parse_date(value) for key in keys for value in values.get(key, ())[:1])
    return next(filter(None, dates), None)
