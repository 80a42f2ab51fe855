"""Read the metadata of a page: title, authors, dates, language, description, canonical
URL, site name.

All of it is only what the page claims. The most deliberate sources come first: JSON-LD,
then meta tags (Open Graph, Dublin Core, scholarly and news vocabularies), microdata,
and the text around the headline. A date in the URL is the last resort: it is used only
if there is no other, and only if it names the day.

The kind of page is stated only where such statements are nearly always right
(docs/reading.md); there is no guess.
"""

from __future__ import annotations
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from importlib.resources import files
from itertools import chain, islice
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..._text.dates import parse_date
from ..._text.invisible import one_line
from ..._text.markup import strip_markup
from ..._text.vocabulary import Kind
from .._links import absolute
from .._types import DESCRIPTION_LENGTH, NAME_LENGTH, TITLE_LENGTH, language_of
from .byline import is_past, line_of, person, read_byline
from .jsonld import (
    TYPES,
    JsonLd,
    Thing,
    is_at,
    parse_jsonld,
    parse_microdata,
    types,
)
from .titles import (
    MAX_HEADLINES,
    Stated,
    agree,
    chapter_of,
    find_below_trail,
    is_heading,
    is_site,
    title_element,
    title_of,
    without_site,
)

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_MAX_TAGS = 500
_MIN_HEAD_TAGS = 4  # meta tags: a head with fewer has none that describe the page
_MAX_AUTHORS = 10

# Names of meta tags, with a dot for whatever separates their parts: sites mix
# ``og:title`` and ``og_title``.
_TAGS: dict[str, list[str]] = json.loads(
    files(__package__ or "").joinpath("meta_tags.json").read_text("utf-8")
)
_PUBLISHED_KEYS = ("datePublished", "dateCreated", "uploadDate", "datePosted")
_SEPARATORS = re.compile(r"[:._-]+")
_MOBILE = re.compile(r"^(?:www\d?|m|mobile|amp)\.|(?<=\.)m\.")
# Unix time 0, in UTC and west of it: no date
_NO_DATES = frozenset({"1969-12-31", "1970-01-01"})
_DAY_IN_PATH = re.compile(r"/((?:19|20)\d\d)[/-](\d{1,2})[/-](\d{1,2})(?=[/-]|$)")
# Of the kind of a page: values of ``og:type``, and the programs and places of forums
# and manuals.
_KINDS: dict[str, Kind] = {
    "product": "product", "og:product": "product", "product.item": "product",
    "ebay-objects:item": "product",
    "product.group": "collection",
}  # fmt: skip
_FORUMS = re.compile(
    r"discourse|vbulletin|phpbb|xenforo|flarum|nodebb|mybb|invision community|vanilla",
    re.IGNORECASE,
)
_MANUAL_MAKERS = re.compile(
    r"docusaurus|sphinx|mkdocs|gitbook|vitepress|vuepress|starlight|mintlify|antora|docfx|doxygen|javadoc|mdbook|docsify",
    re.IGNORECASE,
)
_MANUAL_PLACES = re.compile(
    r"//(?:docs|documentation|devdocs|developers?|manual|man)\.|//[\w-]+\.readthedocs\.io|/(?:docs?|documentation|manual)/"
)
_FORUM_PLACES = re.compile(
    r"//(?:forums?|boards?|discuss(?:ions?)?)\.|/(?:forums?|threads?|discussions?)/"
)
_MARKED = '[itemtype*="DiscussionForumPosting"],[itemtype*="QAPage"]'
_MARKS = (b"DiscussionForumPosting", b"QAPage")
# What says most about a page, and what its source has in lower case if there is such an
# element.
_DATA, _NEXT = 'script[type*="ld+json"]', 'link[rel~="next"]'
_SELECTORS = {
    "h1": b"<h1",
    _DATA: b"<script",
    "[itemprop]": b"itemprop",
    _NEXT: b"<link",
}


@dataclass(frozen=True)
class Metadata:
    """What a page says about itself; every text is a single line of bounded length
    without invisible characters.
    """

    title: str = ""
    description: str | None = None  # its own summary
    # its authors, persons rather than companies, separated by commas
    author: str | None = None
    published: datetime | None = None  # when it was first published
    modified: datetime | None = None  # when it was last changed
    language: str | None = None  # BCP 47 tag
    # the URL that it gives as its own, if on the same site
    canonical_url: str | None = None
    # the URL whose words say what page it is: its own, on any site, if that has a path
    place: str = ""
    site_name: str | None = None  # what the site calls itself
    og_type: str = ""  # its ``og:type``, in lower case
    generator: str = ""  # the program that made it
    tier: str = ""  # whether it is ``free``, ``metered`` or ``locked``, in its own word
    # its JSON-LD
    linked: JsonLd = field(default_factory=JsonLd, repr=False, compare=False)
    # The JSON-LD thing that the page is about; empty if there is none, or too many of
    # one kind.
    about: Thing = field(default_factory=dict, repr=False, compare=False)
    # in microdata, or a product in meta tags
    marked: tuple[Thing, ...] = field(default=(), repr=False, compare=False)
    next_url: str = ""  # what follows it, as it is written


def read_metadata(document: LexborHTMLParser, url: str) -> Metadata:
    """Read the metadata of a parsed page."""
    meta = _contents_by_name(_metas(document))
    source = document.raw_html.lower()
    some = ",".join(selector for selector, sign in _SELECTORS.items() if sign in source)
    nodes = document.css(some) if some else []
    data = parse_jsonld(node for node in nodes if node.tag == "script")
    properties = [node for node in nodes if "itemprop" in node.attributes]
    marked = parse_microdata(properties)
    shown = [node for node in nodes if node.tag == "h1"][:MAX_HEADLINES]

    def metas(names: Iterable[str]) -> Iterator[str]:
        return (
            strip_markup(content) for name in names for content in meta.get(name, ())
        )

    site = one_line(_site(metas(_TAGS["sites"]), data), NAME_LENGTH)
    tab = document.css_first("title")
    window = (
        one_line(
            strip_markup(" ".join(tab.text()[: 20 * TITLE_LENGTH].split())),
            TITLE_LENGTH,
        )
        if tab
        else ""
    )
    # mostly the same
    shared = [
        one_line(title, TITLE_LENGTH) for title in dict.fromkeys(metas(_TAGS["titles"]))
    ]
    headlines = [one_line(line_of(headline), TITLE_LENGTH) for headline in shown]
    headline = one_line(data.text(data.main(url), "headline"), TITLE_LENGTH)
    claims = (without_site(next(iter(shared), ""), site, url), headline)
    if below := find_below_trail(document, next(iter(shown), None), claims):
        shown, headlines = [below[0]], [below[1]]
    main, name = _main(data, url, [*shared, window, *headlines])
    stated = Stated(name, shared, window)
    title = title_of(stated, headlines, site, url)
    if (chapter := chapter_of(title, stated)) and is_heading(chapter, document):
        title = chapter

    written = list(map(data.read, data.values(main, "author", "creator")))
    signed = (
        written,
        *filter(None, map(meta.get, _TAGS["authors"])),
        _twitter_author(meta),
    )
    authors = list(filter(None, map(_persons, signed)))
    persons = next((names for names in authors if not is_site(names[0], site, url)), [])
    # a book has a date of its own, and so has a version of a program
    dated = {} if TYPES["dated themselves"] & types(main) else main
    published = _first_date(
        chain(data.values(dated, *_PUBLISHED_KEYS), metas(_TAGS["published"]))
    )
    modified = _first_date(
        chain(data.values(dated, "dateModified"), metas(_TAGS["modified"]))
    )
    if not (persons and published):
        near = read_byline(title_element(title, shown, document), properties)
        persons = persons or list(filter(None, [near.author]))
        if (
            not persons
            and not authors
            and ("headline" in main or "article" in map(str.lower, metas(("og.type",))))
        ):
            linked = _persons(
                line_of(node) for node in document.css('a[rel~="author"]')
            )
            # if there are several, none is certain
            persons = linked if len(linked) == 1 else []
        published = published or near.published
        modified = modified or near.modified
    claimed = _attribute(document, 'link[rel="canonical"]', "href") or next(
        filter(None, metas(("og.url",))), ""
    )
    given = absolute(claimed, url) or ""
    return Metadata(
        title=title,
        description=one_line(
            next(metas(_TAGS["descriptions"]), data.text(main, "description")),
            DESCRIPTION_LENGTH,
        )
        or None,
        author=one_line(", ".join(persons or next(iter(authors), [])), NAME_LENGTH)
        or None,
        published=published or _day_in_path(url),
        modified=modified,
        language=language_of(
            (
                _attribute(document, "html", "lang"),
                *metas(_TAGS["languages"]),
                data.text(main, "inLanguage"),
            )
        ),
        # copied and hacked pages name others
        canonical_url=given if given and _same_site(given, url) else None,
        # many sites give their front page for every page
        place=given if urlsplit(given).path.strip("/") else url,
        site_name=site or None,
        og_type=one_line(next(metas(("og.type",)), ""), NAME_LENGTH).lower(),
        generator=one_line(next(metas(("generator",)), ""), NAME_LENGTH),
        tier=next(metas(_TAGS["tiers"]), "").lower(),
        linked=data,
        about=main,
        marked=(*marked, *_offered(meta)),
        next_url=next(
            (node.attributes.get("href") or "" for node in nodes if node.tag == "link"),
            "",
        ),
    )


def _offered(meta: dict[str, list[str]]) -> Iterator[Thing]:
    """Yield the product that the meta tags offer (https://ogp.me/, and its namespace
    ``product``).
    """

    def first(*names: str) -> str:
        return next((value for name in names for value in meta.get(name, ())), "")

    if price := first(*(f"{name}.amount" for name in _TAGS["prices"])):
        former = {
            "price": first("product.original.price.amount"),
            "priceType": "ListPrice",
        }
        offer = {
            "price": price,
            "priceCurrency": first(*(f"{name}.currency" for name in _TAGS["prices"])),
            "availability": first("product.availability", "og.availability"),
            "priceSpecification": former,
        }
        brand = first("product.brand", "og.brand")
        yield {
            "@type": "Product",
            "name": first("og.title"),
            "brand": brand,
            "offers": offer,
        }


def _metas(document: LexborHTMLParser) -> list[LexborNode]:
    """Return the meta tags of the head; of the whole page if a stray element ended the
    head too early.
    """
    within = document.head.css("meta") if document.head else []
    return (within if len(within) >= _MIN_HEAD_TAGS else document.css("meta"))[
        :_MAX_TAGS
    ]


def _contents_by_name(tags: Iterable[LexborNode]) -> defaultdict[str, list[str]]:
    """Return the contents of the meta tags by their names, in lower case and with
    dots.
    """
    found: defaultdict[str, list[str]] = defaultdict(list)
    for tag in tags:
        attributes = tag.attributes
        content = (attributes.get("content") or "")[: 20 * DESCRIPTION_LENGTH].strip()
        if content:
            names = " ".join(
                filter(None, map(attributes.get, ("property", "name", "http-equiv")))
            ).lower()
            for name in _SEPARATORS.sub(".", names).split():
                found[name].append(content)
    return found


def _main(data: JsonLd, url: str, titles: list[str]) -> tuple[Thing, str]:
    """Return the thing that the page is about, and its name; not a film or event on a
    page about something else.

    An article that gives the URL as its page is about it even if it has an older
    headline, which then is not the name.
    """
    main = data.main(url)
    names = [
        one_line(data.text(main, key), TITLE_LENGTH) for key in ("headline", "name")
    ]
    names = [name for name in names if name]
    fitting = next(
        (name for name in names if agree(name, titles) or not any(titles)), ""
    )
    is_about = fitting or not names or ("headline" in main and is_at(main, url))
    return (main, fitting) if is_about else ({}, "")


def _site(stated: Iterable[str], data: JsonLd) -> str:
    """Return what the site calls itself in its meta tags or in JSON-LD."""
    names = (
        data.text(thing, "name") for thing in data.things if "WebSite" in types(thing)
    )
    return next(filter(None, chain(stated, names)), "")


def _persons(names: Iterable[str]) -> list[str]:
    return list(
        dict.fromkeys(
            filter(
                None,
                (person(strip_markup(name)) for name in islice(names, _MAX_AUTHORS)),
            )
        )
    )


def _twitter_author(meta: dict[str, list[str]]) -> Iterator[str]:
    """Yield the author from the pairs of meta tags that are shown next to a link to the
    page (``twitter:label1``).
    """
    for number in ("1", "2"):
        if any(
            label.lower() in {"written by", "author"}
            for label in meta.get(f"twitter.label{number}", ())
        ):
            yield from meta.get(f"twitter.data{number}", ())


def _first_date(values: Iterable[object]) -> datetime | None:
    dates = (parse_date(value) for value in values)
    return next(
        (date for date in dates if date and date.date().isoformat() not in _NO_DATES),
        None,
    )


def _day_in_path(url: str) -> datetime | None:
    found = _DAY_IN_PATH.search(urlsplit(url).path)
    date = parse_date(f"{found[1]}-{found[2]:0>2}-{found[3]:0>2}") if found else None
    return date if date and is_past(date) else None


def _same_site(one: str, other: str) -> bool:
    """Return whether two URLs have the same host, or one a subdomain of the other,
    ignoring labels such as ``m``.
    """
    first, second = (
        _MOBILE.sub("", urlsplit(url).hostname or "") for url in (one, other)
    )
    return (
        first == second or first.endswith(f".{second}") or second.endswith(f".{first}")
    )


def _attribute(document: LexborHTMLParser, selector: str, name: str) -> str:
    node = document.css_first(selector)
    return (node.attributes.get(name) or "").strip() if node else ""


def find_kind(
    document: LexborHTMLParser, facts: Metadata, url: str, source: bytes
) -> Kind | None:
    """Return the kind of a page, or None if it does not say; *source* is for quick
    checks.
    """
    about, place = types(facts.about), url.lower()
    if _is_discussion(document, facts, place, source):
        return "forum"
    if about & TYPES["goods"] or facts.og_type in _KINDS:
        is_offered = "offers" in facts.about and facts.og_type != "article"
        return _KINDS.get(facts.og_type) or ("product" if is_offered else None)
    if not urlsplit(url).path.strip("/"):
        return None  # the front of a site
    if about & TYPES["news"]:
        return "article"
    if (
        about & TYPES["manuals"]
        or _MANUAL_MAKERS.search(facts.generator)
        or _MANUAL_PLACES.search(place)
    ):
        return "documentation"
    if (
        facts.og_type == "article"
        and facts.published
        and (facts.author or not about & TYPES["plain pages"])
    ):
        return "article"
    return "article" if about & TYPES["articles"] else None


def _is_discussion(
    document: LexborHTMLParser, facts: Metadata, place: str, source: bytes
) -> bool:
    return (
        bool(types(facts.about) & TYPES["discussions"])
        or (
            any(mark in source for mark in _MARKS)
            and document.css_first(_MARKED) is not None
        )
        or _FORUMS.search(facts.generator) is not None
        or _FORUM_PLACES.search(place) is not None
    )
