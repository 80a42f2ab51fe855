"""
What a page says of itself: title, authors, dates, language, description, canonical address, site.

All of it is the page's word, no more. It is looked for where a page speaks most deliberately first: in JSON-LD, in the
metas (Open Graph, Dublin Core, those of scholarly and news sites), in microdata, then around the headline. Trust ends
with a date that stands in the address: it is taken where nothing else tells one, and only if it names the day.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, islice
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..._text.dates import parse_date
from ..._text.invisible import one_line
from .._links import absolute
from .._page import DESCRIPTION_LENGTH, NAME_LENGTH, TITLE_LENGTH, language_of
from .byline import begins, line_of, person, read_byline
from .jsonld import JsonLd, Thing, parse_jsonld, plain, text, types
from .titles import agree, is_site, title_of

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_MAX_TAGS = 500
_FEW_TAGS = 4  # metas: no head has fewer that says anything of its page
_MAX_HEADLINES = 20
_MAX_AUTHORS = 10

_TITLES = ("og:title", "citation_title", "dc.title", "dcterms.title", "twitter:title", "parsely-title")
_DESCRIPTIONS = ("description", "og:description", "twitter:description", "dc.description", "dcterms.description")
_AUTHORS = (
    "citation_author", "author", "article:author", "dc.creator", "dcterms.creator", "dc.creator.personalname",
    "parsely-author", "sailthru.author", "byl", "book:author", "authors",
)  # fmt: skip
_PUBLISHED = (
    "article:published_time", "og:published_time", "datepublished", "citation_publication_date", "citation_date",
    "citation_online_date", "parsely-pub-date", "sailthru.date", "dcterms.issued", "dc.date.issued", "dcterms.created",
    "dc.date.created", "dcterms.date", "dc.date", "pubdate", "publish-date", "publishdate", "publish_date",
    "publication_date", "date", "uploaddate", "article.published",
)  # fmt: skip
_MODIFIED = (
    "article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "dc.date.modified", "last-modified",
    "lastmod", "article.updated", "updated_at", "revised",
)  # fmt: skip
_PUBLISHED_KEYS = ("datePublished", "dateCreated", "uploadDate", "datePosted")
_LANGUAGES = ("content-language", "dc.language", "dcterms.language", "language", "og:locale")
_SITES = ("og:site_name", "application-name", "apple-mobile-web-app-title", "dc.publisher", "citation_journal_title")
_MOBILE = re.compile(r"^(?:www\d?|m|mobile|amp)\.|(?<=\.)m\.")
_NO_DATES = frozenset({"1969-12-31", "1970-01-01"})  # how machines write none, here and west of here
_DAY_IN_PATH = re.compile(r"/((?:19|20)\d\d)[/-](\d{1,2})[/-](\d{1,2})(?=[/-]|$)")


@dataclass(frozen=True)
class Metadata:
    """
    What a page tells of itself; every text is a single line without invisible characters, and bounded.

    Args:
        title: What it is called.
        description: Its own summary.
        author: Who wrote it, persons rather than companies; several with commas between them.
        published: When, at first.
        modified: When it was last changed.
        language: BCP 47 tag.
        canonical_url: The address that it gives as its own, if that is one of the same site.
        site_name: What the site calls itself.
        linked: Its JSON-LD.
        about: The thing of its JSON-LD that the page is about; empty if it tells of none, or of many alike.

    """

    title: str = ""
    description: str | None = None
    author: str | None = None
    published: datetime | None = None
    modified: datetime | None = None
    language: str | None = None
    canonical_url: str | None = None
    site_name: str | None = None
    linked: JsonLd = field(default=JsonLd(), repr=False, compare=False)
    about: Thing = field(default_factory=dict, repr=False, compare=False)


def read_metadata(document: LexborHTMLParser, url: str) -> Metadata:
    """
    Collect what a parsed page says of itself.

    Args:
        document: The page.
        url: Its address.

    """
    meta = _meta(_metas(document))
    telling = document.css('h1,script[type*="ld+json"]')
    data = parse_jsonld(node for node in telling if node.tag == "script")
    shown = [node for node in telling if node.tag == "h1"][:_MAX_HEADLINES]

    def told(names: Iterable[str]) -> Iterator[str]:
        return (plain(content) for name in names for content in meta.get(name, ()))

    site = one_line(_site(told(_SITES), data), NAME_LENGTH)
    named = dict.fromkeys((*told(_TITLES), plain(_text(document.css_first("title")))))  # most tell the same
    titles = [one_line(title, TITLE_LENGTH) for title in named]
    headlines = [one_line(line_of(headline), TITLE_LENGTH) for headline in shown]
    main, name = _main(data, url, [*titles, *headlines])
    title = title_of([name, *titles], headlines, site, url)

    written = [text(one) for one in data.values(main, "author", "creator")]
    signed = (written, *filter(None, map(meta.get, _AUTHORS)), _labelled(meta))
    authors = list(filter(None, map(_persons, signed)))
    persons = next((names for names in authors if not is_site(names[0], site, url)), [])
    published = _first_date(chain(data.values(main, *_PUBLISHED_KEYS), told(_PUBLISHED)))
    modified = _first_date(chain(data.values(main, "dateModified"), told(_MODIFIED)))
    if not (persons and published):
        near = read_byline(document, _shown_at(title, shown, document))
        persons = persons or list(filter(None, [near.author]))
        published = published or near.published
        modified = modified or near.modified
    return Metadata(
        title=title,
        description=one_line(next(told(_DESCRIPTIONS), data.text(main, "description")), DESCRIPTION_LENGTH) or None,
        author=one_line(", ".join(persons or next(iter(authors), [])), NAME_LENGTH) or None,
        published=published or _day_in_path(url),
        modified=modified,
        language=language_of((_attribute(document, "html", "lang"), *told(_LANGUAGES), data.text(main, "inLanguage"))),
        canonical_url=_canonical((_attribute(document, 'link[rel="canonical"]', "href"), *told(("og:url",))), url),
        site_name=site or None,
        linked=data,
        about=main,
    )


def _metas(document: LexborHTMLParser) -> list[LexborNode]:
    """The metas of the head; those of the whole page where a stray element ended the head too early."""
    within = document.head.css("meta") if document.head else []
    return (within if len(within) >= _FEW_TAGS else document.css("meta"))[:_MAX_TAGS]


def _meta(tags: Iterable[LexborNode]) -> defaultdict[str, list[str]]:
    """Return what the metas say, by their names in small letters."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for tag in tags:
        attributes = tag.attributes
        content = (attributes.get("content") or "")[: 20 * DESCRIPTION_LENGTH].strip()
        if content:
            names = " ".join(filter(None, map(attributes.get, ("property", "name", "http-equiv")))).lower()
            for name in names.replace("dc:", "dc.").replace("dcterms:", "dcterms.").split():
                found[name].append(content)
    return found


def _main(data: JsonLd, url: str, titles: list[str]) -> tuple[Thing, str]:
    """Return what the page is about, and its name; not a film or an event on a page about something else."""
    main = data.main(url)
    names = [one_line(data.text(main, key), TITLE_LENGTH) for key in ("headline", "name")]
    names = [name for name in names if name]
    fitting = next((name for name in names if agree(name, titles) or not any(titles)), "")
    return (main, fitting) if fitting or not names else ({}, "")


def _site(told: Iterable[str], data: JsonLd) -> str:
    """What the site calls itself: in a meta, or as a thing of JSON-LD."""
    names = (data.text(thing, "name") for thing in data.things if "WebSite" in types(thing))
    return next(filter(None, chain(told, names)), "")


def _persons(told: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, (person(plain(name)) for name in islice(told, _MAX_AUTHORS)))))


def _labelled(meta: dict[str, list[str]]) -> Iterator[str]:
    """The author in a pair of metas that say what is to be shown beside a link to the page."""
    for number in ("1", "2"):
        if any(label.lower() in {"written by", "author"} for label in meta.get(f"twitter:label{number}", ())):
            yield from meta.get(f"twitter:data{number}", ())


def _shown_at(title: str, headlines: list[LexborNode], document: LexborHTMLParser) -> LexborNode | None:
    """Where the title is shown; forums do it in lesser headings."""
    places = chain(headlines, (heading for name in ("h2", "h3") for heading in document.css(name)[:_MAX_HEADLINES]))
    return next((place for place in places if title and begins(place, title)), next(iter(headlines), None))


def _first_date(told: Iterable[object]) -> datetime | None:
    """The first that is a date."""
    dates = (parse_date(date) for date in told)
    return next((date for date in dates if date and date.date().isoformat() not in _NO_DATES), None)


def _day_in_path(url: str) -> datetime | None:
    found = _DAY_IN_PATH.search(urlsplit(url).path)
    return parse_date(f"{found[1]}-{found[2]:0>2}-{found[3]:0>2}") if found else None


def _canonical(told: Iterable[str], url: str) -> str | None:
    """
    Return the address that the page gives as its own, if it is one of the same site.

    A page cannot speak for another site, as copies of pages and pages that were broken into do.
    """
    for href in told:
        if href:
            place = absolute(href, url)
            return place if place and _same_site(place, url) else None
    return None


def _same_site(one: str, other: str) -> bool:
    """Whether two hosts are one, or one is above the other; the labels for phones and the like do not count."""
    first, second = (_MOBILE.sub("", urlsplit(url).hostname or "") for url in (one, other))
    return first == second or first.endswith(f".{second}") or second.endswith(f".{first}")


def _text(node: LexborNode | None) -> str:
    return " ".join(node.text()[: 20 * TITLE_LENGTH].split()) if node else ""


def _attribute(document: LexborHTMLParser, selector: str, name: str) -> str:
    node = document.css_first(selector)
    return (node.attributes.get(name) or "").strip() if node else ""
