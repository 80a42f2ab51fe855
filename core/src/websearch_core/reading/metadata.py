"""What a page says of itself: title, meta, Open Graph, JSON-LD. All of it is the page's word, no more."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..clean import one_line
from ..dates import parse_date

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

TITLE_LENGTH = 300  # characters
DESCRIPTION_LENGTH = 1000
_AUTHOR_LENGTH = 200
_MOST_TAGS = 500
_LARGEST_SCRIPT = 500_000  # characters of JSON-LD
_MOST_OBJECTS = 2_000  # of JSON-LD

_TITLES = ("og:title", "twitter:title")
_DESCRIPTIONS = ("description", "og:description", "twitter:description", "dc.description")
_AUTHORS = ("author", "article:author", "dc.creator", "dcterms.creator", "parsely-author", "sailthru.author", "byl")
_DATES = (
    "article:published_time", "og:published_time", "datepublished", "date", "dc.date", "dc.date.issued",
    "dcterms.date", "dcterms.created", "citation_publication_date", "parsely-pub-date", "pubdate", "publish-date",
    "publishdate", "sailthru.date",
)  # fmt: skip
_LANGUAGES = ("content-language", "og:locale", "dc.language", "language")


@dataclass(frozen=True)
class Metadata:
    """What the page tells of itself; every text is a single line without invisible characters, and bounded."""

    title: str = ""
    description: str | None = None
    author: str | None = None
    published: datetime | None = None
    language: str | None = None


def metadata(document: LexborHTMLParser) -> Metadata:
    """Collect what a parsed page says of itself."""
    meta = _meta(document)
    objects = list(_json_ld(document))

    def first(names: tuple[str, ...]) -> Iterator[str]:
        return (meta[name] for name in names if meta.get(name))

    def told(key: str) -> Iterator[Any]:
        return (thing[key] for thing in objects if thing.get(key))

    title = next(first(_TITLES), "") or _text(document, "title") or _text(document, "h1")
    authors = (name for name in (*first(_AUTHORS), *map(_name, told("author"))) if name and "://" not in name)
    dates = (parse_date(date) for date in (*first(_DATES), *told("datePublished"), *_times(document)))
    return Metadata(
        title=one_line(title, TITLE_LENGTH),
        description=one_line(next(first(_DESCRIPTIONS), ""), DESCRIPTION_LENGTH) or None,
        author=one_line(next(authors, ""), _AUTHOR_LENGTH) or None,
        published=next((date for date in dates if date), None),
        language=_language((_attribute(document, "html", "lang"), *first(_LANGUAGES))),
    )


def _meta(document: LexborHTMLParser) -> dict[str, str]:
    found: dict[str, str] = {}
    for tag in document.css("meta")[:_MOST_TAGS]:
        attributes = tag.attributes
        content = (attributes.get("content") or "")[: 20 * DESCRIPTION_LENGTH].strip()
        for key in ("property", "name", "itemprop", "http-equiv"):
            if content and (name := attributes.get(key)):
                found.setdefault(name.strip().lower(), content)
    return found


def _json_ld(document: LexborHTMLParser) -> Iterator[dict[str, Any]]:
    """Every object in the page's JSON-LD, the outer before the inner. Broken JSON is no JSON-LD."""
    count = 0
    for script in document.css('script[type="application/ld+json"]')[:20]:
        source = script.text()
        if len(source) > _LARGEST_SCRIPT:
            continue
        try:
            waiting = [json.loads(source)]
        except (ValueError, RecursionError):
            continue
        while waiting and count < _MOST_OBJECTS:
            count += 1
            thing = waiting.pop(0)
            if isinstance(thing, dict):
                yield thing
            inner = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list) else ()
            waiting += [value for value in inner if isinstance(value, dict | list)]


def _name(author: Any) -> str:
    """An author is a name, a thing with a name, or several of those."""
    if isinstance(author, list):
        return ", ".join(filter(None, (_name(one) for one in author[:10] if not isinstance(one, list))))
    if isinstance(author, dict):
        author = author.get("name")
    return author.strip() if isinstance(author, str) else ""


def _times(document: LexborHTMLParser) -> Iterator[str]:
    for selector in ('time[itemprop="datePublished"]', "time[pubdate]", "article time", "time"):
        yield _attribute(document, selector, "datetime")


def _text(document: LexborHTMLParser, selector: str) -> str:
    node = document.css_first(selector)
    return node.text()[: 20 * TITLE_LENGTH].strip() if node else ""


def _attribute(document: LexborHTMLParser, selector: str, name: str) -> str:
    node = document.css_first(selector)
    return (node.attributes.get(name) or "").strip() if node else ""


def _language(candidates: tuple[str, ...]) -> str | None:
    for candidate in candidates:
        tag = candidate.split(",")[0].strip().replace("_", "-")
        if re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}", tag):
            return tag
    return None
