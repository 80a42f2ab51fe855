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
from collections.abc import Iterable, Iterator, Sequence
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
from .byline import FULL_NAME, Byline, is_past, line_of, lines_near, person, read_byline
from .jsonld import (
    TYPES,
    JsonLd,
    Thing,
    is_at,
    is_event,
    parse_jsonld,
    parse_microdata,
    types,
)
from .parse import read_base
from .titles import (
    MAX_HEADLINES,
    Stated,
    agree,
    chapter_of,
    find_below_trail,
    is_heading,
    is_site,
    letters_of,
    site_of,
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
# After a title: elements of the page, the last of which may be cut; not the one tag
# that a page is about.
_SPILLED = re.compile(
    r"(?<=\w)\s+<[a-zA-Z]{1,20}(?:\s[^<>]{0,300}(?:$|>[^<]{0,300}<)|>\s?<[a-zA-Z]).*"
)
_DAY_IN_PATH = re.compile(r"/((?:19|20)\d\d)[/-](\d{1,2})[/-](\d{1,2})(?=[/-]|$)")
# Of the kind of a page: values of ``og:type``, and the programs and places of forums
# and manuals.
_KINDS: dict[str, Kind] = {
    "product": "product",
    "og:product": "product",
    "product.item": "product",
    "ebay-objects:item": "product",
    "product.group": "collection",
}
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
# What says most about a page, in one search: each further one takes nearly as long, and
# one for a word in the source half of that.
_TELLING = (
    'h1,script[type*="ld+json"],[itemprop],link[rel~="next"],base[href],'
    'input[type="password" i]'
)
_NAMES_OF_TAGS = ("property", "name", "http-equiv")
_TEMPLATE = ("author", "authors")  # tags that have the same content on many a site
_TEAM = re.compile(
    r"\b(?:team|staff|desk|editor|editors|editorial|guest|contributor|author|admin"
    r"|redaktion|redazione|redaction|rédaction|redacción)\b",
    re.IGNORECASE,
)
_PROGRAM = re.compile(r"[^\W\d][^\d(,]*")  # without its version
_AUTHOR_LABELS = frozenset({"written by", "author"})


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
    base: str = ""  # the URL that its links are resolved against
    has_password: bool = False  # it has a field for one


class _MetaTags:
    """The contents of the meta tags of a page by their names, in lower case and with
    dots.
    """

    def __init__(self, document: LexborHTMLParser) -> None:
        self._contents: defaultdict[str, list[str]] = defaultdict(list)
        for tag in _find_metas(document):
            attributes = tag.attributes
            content = (attributes.get("content") or "")[: 20 * DESCRIPTION_LENGTH]
            content = content.strip()
            if not content:
                continue
            names = filter(None, map(attributes.get, _NAMES_OF_TAGS))
            for name in _SEPARATORS.sub(".", " ".join(names).lower()).split():
                self._contents[name].append(content)

    def get(self, name: str) -> list[str]:
        """Return the contents of the tags with a name, as they are written."""
        return self._contents.get(name, [])

    def first(self, *names: str) -> str:
        """Return the first content under the first of *names* that has one, as it is
        written; maybe an empty string.
        """
        return next(chain.from_iterable(map(self.get, names)), "")

    def texts(self, *names: str) -> Iterator[str]:
        """Yield the contents of the tags with one of *names*, without markup."""
        return map(strip_markup, chain.from_iterable(map(self.get, names)))

    def text(self, *names: str) -> str:
        """Return the first of these texts, or an empty string."""
        return next(self.texts(*names), "")


@dataclass(frozen=True)
class _Sources:
    """Where a page says something about itself."""

    document: LexborHTMLParser
    url: str
    tags: _MetaTags
    data: JsonLd
    site: str  # what it calls itself; may be empty
    properties: list[LexborNode]  # of microdata


@dataclass(frozen=True)
class _Subject:
    """What a page is about."""

    title: str
    window: str  # the title of the window; may be empty
    thing: Thing  # in JSON-LD; empty if there is none
    headings: list[LexborNode]  # that may show the title


def read_metadata(document: LexborHTMLParser, url: str) -> Metadata:
    """Read the metadata of a parsed page."""
    tags = _MetaTags(document)
    nodes = document.css(_TELLING)
    by_tag: defaultdict[str, list[LexborNode]] = defaultdict(list)
    for node in nodes:
        by_tag[node.tag or ""].append(node)
    data = parse_jsonld(by_tag["script"])
    properties = [node for node in nodes if "itemprop" in node.attributes]
    marked = parse_microdata(properties)
    site = one_line(_find_site(tags, data), NAME_LENGTH)
    sources = _Sources(document, url, tags, data, site, properties)
    subject = _find_subject(sources, by_tag["h1"][:MAX_HEADLINES])
    about = subject.thing
    byline = _read_byline(sources, subject)
    canonical_url = _find_canonical(sources)
    is_own = canonical_url and _are_same_site(canonical_url, url)
    next_links = (node.attributes.get("href") for node in by_tag["link"])
    description = next(
        tags.texts(*_TAGS["descriptions"]), data.text(about, "description")
    )
    return Metadata(
        title=subject.title,
        description=one_line(description, DESCRIPTION_LENGTH) or None,
        author=byline.author,
        published=byline.published or _day_in_path(url),
        modified=byline.modified,
        language=language_of(
            (
                _attribute(document, "html", "lang"),
                _attribute(document, "html", "xml:lang"),
                *tags.texts(*_TAGS["languages"]),
                data.text(about, "inLanguage"),
            )
        ),
        # copied and hacked pages name others
        canonical_url=canonical_url if is_own else None,
        place=_find_place(canonical_url, url),
        site_name=site or None,
        og_type=one_line(tags.text("og.type"), NAME_LENGTH).lower(),
        generator=one_line(tags.text("generator"), NAME_LENGTH),
        tier=tags.text(*_TAGS["tiers"]).lower(),
        linked=data,
        about=about,
        marked=(*marked, *_find_offered(tags)),
        next_url=next(next_links, None) or "",
        base=_find_base(by_tag["base"], url),
        has_password=_has_password(by_tag["input"]),
    )


def _find_place(canonical_url: str, url: str) -> str:
    if urlsplit(canonical_url).path.strip("/"):
        return canonical_url
    return url  # many sites give their front page for every page


def _has_password(fields: Iterable[LexborNode]) -> bool:
    kinds = (field.attributes.get("type") or "" for field in fields)
    return "password" in map(str.lower, kinds)


def _find_base(tags: list[LexborNode], url: str) -> str:
    """Return what the links of a page are relative to."""
    for tag in tags:
        if "href" in tag.attributes:
            return read_base(tag, url)
    return url


def _find_subject(sources: _Sources, headings: list[LexborNode]) -> _Subject:
    """Return what a page is about; *headings* are its ``<h1>``."""
    document = sources.document
    data = sources.data
    site = sources.site
    url = sources.url
    window = _read_window(document)
    # mostly the same
    titles = dict.fromkeys(
        _SPILLED.sub("", title) for title in sources.tags.texts(*_TAGS["titles"])
    )
    shared = [one_line(title, TITLE_LENGTH) for title in titles]
    headlines = [one_line(line_of(heading), TITLE_LENGTH) for heading in headings]
    headline = one_line(data.text(data.main(url), "headline"), TITLE_LENGTH)
    first_shared = next(iter(shared), "")
    claims = (without_site(first_shared, site, url), headline)
    below = find_below_trail(document, next(iter(headings), None), claims)
    if below is not None:
        heading, headline = below
        headings = [heading]
        headlines = [headline]
    thing, name = _find_main(data, url, [*shared, window, *headlines])
    stated_titles = Stated(name, shared, window)
    title = title_of(stated_titles, headlines, site, url)
    for line in (title, *headlines[:1]):
        chapter = chapter_of(line, stated_titles)
        if chapter and is_heading(chapter, document):
            title = chapter
            break
    return _Subject(title, window, thing, headings)


def _read_window(document: LexborHTMLParser) -> str:
    """Return the title of the window that shows a page."""
    element = document.css_first("title")
    if element is None:
        return ""
    line = " ".join(element.text()[: 20 * TITLE_LENGTH].split())
    return one_line(strip_markup(_SPILLED.sub("", line)), TITLE_LENGTH)


def _read_byline(sources: _Sources, subject: _Subject) -> Byline:
    """Return the authors and dates that a page states, or else shows."""
    thing = subject.thing
    byline = _read_dates(sources, thing)
    house = _House(sources, subject)
    is_article = byline.published is not None or _is_article(sources.tags, thing)
    heading = title_element(subject.title, subject.headings, sources.document)
    authors = _find_stated_authors(sources, thing, house, is_article=is_article)
    if byline.published and _is_shown_near(heading, authors):
        byline.author = _join(authors)
        return byline

    near = read_byline(heading, sources.properties)
    _drop_other_meanings(near, thing)
    site = f"{urlsplit(sources.url).hostname} {sources.site}"
    if near.author and _may_replace(near.author, authors, site):
        authors = house.without([near.author]) or authors
    if not authors and is_article:
        authors = house.without(_find_linked_author(sources.document))
    if not authors:  # the template may name the agency or the program that made it
        names = _find_named_authors(sources.tags, house, _TEMPLATE)
        if _is_shown_near(heading, names):
            authors = names
    byline.author = _join(authors)
    byline.published = byline.published or near.published
    byline.modified = byline.modified or near.modified
    return byline


def _read_dates(sources: _Sources, thing: Thing) -> Byline:
    """Return the dates that a page states."""
    tags = sources.tags
    data = sources.data
    # a book has a date of its own, and so has a version of a program
    if TYPES["dated themselves"] & types(thing):
        thing = {}
    published = (data.values(thing, *_PUBLISHED_KEYS), tags.texts(*_TAGS["published"]))
    modified = (data.values(thing, "dateModified"), tags.texts(*_TAGS["modified"]))
    return Byline(
        published=_first_date(chain.from_iterable(published)),
        modified=_first_date(chain.from_iterable(modified)),
    )


def _drop_other_meanings(byline: Byline, thing: Thing) -> None:
    """Take from what is shown near a headline the day of an event, and who sells a
    product.
    """
    if is_event(thing):
        byline.published = None
    if TYPES["products"] & types(thing):
        byline.author = None


def _is_article(tags: _MetaTags, thing: Thing) -> bool:
    return "headline" in thing or "article" in map(str.lower, tags.texts("og.type"))


def _join(authors: Iterable[str]) -> str | None:
    return one_line(", ".join(authors), NAME_LENGTH) or None


class _House:
    """The names of who makes a page available: of its site, publisher and program.

    None of them wrote it.
    """

    def __init__(self, sources: _Sources, subject: _Subject) -> None:
        data = sources.data
        publishers = data.values(subject.thing, "publisher", "sourceOrganization")
        organizations = [thing for thing in data.things if _is_organization(thing)]
        self._site = sources.site
        self._url = sources.url
        # a site may have the name of the person whose it is
        names = {data.text(thing, "name") for thing in organizations}
        names |= {data.read(value) for value in publishers if _is_organization(value)}
        self._organizations = set(map(letters_of, names))
        program = sources.tags.text("generator")
        names = {program, *_PROGRAM.findall(program)[:1]}
        names |= {*map(data.read, publishers), site_of(subject.title, subject.window)}
        self._names = self._organizations.union(map(letters_of, names))
        authors = data.values(subject.thing, "author", "creator")
        persons = (data.read(value) for value in authors if _is_person(value))
        self._persons = set(map(letters_of, persons))

    def has(self, name: str) -> bool:
        """Return whether *name* is one of the house, and not that of a person."""
        letters = letters_of(name)
        if letters in self._persons and letters not in self._organizations:
            return False
        return letters in self._names or is_site(name, self._site, self._url)

    def without(self, names: Iterable[str]) -> list[str]:
        """Return those of *names* that are none of the house."""
        return [name for name in names if not self.has(name)]


def _is_organization(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    kinds = types(value)
    return "Person" not in kinds and any("Organization" in kind for kind in kinds)


def _is_person(value: object) -> bool:
    return isinstance(value, dict) and "Person" in types(value)


def _find_stated_authors(
    sources: _Sources, thing: Thing, house: _House, *, is_article: bool
) -> list[str]:
    """Return the authors that the data of a page, or else its meta tags, state."""
    data = sources.data
    values = data.values(thing, "author", "creator")
    authors = house.without(_persons(map(data.read, values)))
    if authors:
        return authors
    names = _TAGS["authors"]
    if not is_article:
        names = [name for name in names if name not in _TEMPLATE]
    return _find_named_authors(sources.tags, house, names)


def _find_named_authors(
    tags: _MetaTags, house: _House, names: Iterable[str]
) -> list[str]:
    """Return the authors that the meta tags with one of *names* state."""
    for contents in (*map(tags.get, names), _twitter_authors(tags)):
        authors = house.without(_persons(contents))
        if authors:
            return authors
    return []


def _may_replace(name: str, authors: Sequence[str], site: str) -> bool:
    """Return whether the *name* that a page shows is that of another person than the
    only one of the *authors* that it states, which may be the account of a program.

    The name of a team, which contains that of the *site*, does not count either.
    """
    if not authors:
        return True
    if len(authors) > 1 or _TEAM.search(name):
        return False
    if FULL_NAME.fullmatch(name) is None:
        return False
    letters = letters_of(f"{authors[0]} {site}")
    return not any(letters_of(word) in letters for word in name.split())


def _is_shown_near(heading: LexborNode | None, names: Sequence[str]) -> bool:
    """Return whether the page shows *names* near its headline."""
    if heading is None or not names:
        return False
    text = " ".join(map(letters_of, lines_near(heading)))
    return all(letters_of(name) in text for name in names)


def _find_linked_author(document: LexborHTMLParser) -> list[str]:
    """Return the one author that a page links to; if there are several, none is
    certain.
    """
    links = document.css('a[rel~="author"]')
    names = _persons(map(line_of, links))
    if len(names) != 1:
        return []
    return names


def _find_canonical(sources: _Sources) -> str:
    """Return the URL that a page gives as its own; maybe an empty string."""
    claim = _attribute(sources.document, 'link[rel="canonical"]', "href")
    if not claim:
        claim = next(filter(None, sources.tags.texts("og.url")), "")
    return absolute(claim, sources.url) or ""


def _find_offered(tags: _MetaTags) -> Iterator[Thing]:
    """Yield the product that the meta tags offer (https://ogp.me/, and its namespace
    ``product``).
    """
    price = tags.first(*(f"{name}.amount" for name in _TAGS["prices"]))
    if not price:
        return
    former = {
        "price": tags.first("product.original.price.amount"),
        "priceType": "ListPrice",
    }
    currencies = (f"{name}.currency" for name in _TAGS["prices"])
    offer = {
        "price": price,
        "priceCurrency": tags.first(*currencies),
        "availability": tags.first("product.availability", "og.availability"),
        "priceSpecification": former,
    }
    yield {
        "@type": "Product",
        "name": tags.first("og.title"),
        "brand": tags.first("product.brand", "og.brand"),
        "offers": offer,
    }


def _find_metas(document: LexborHTMLParser) -> list[LexborNode]:
    """Return the meta tags of the head; of the whole page if a stray element ended the
    head too early.
    """
    metas = []
    if document.head:
        metas = document.head.css("meta")
    if len(metas) < _MIN_HEAD_TAGS:
        metas = document.css("meta")
    return metas[:_MAX_TAGS]


def _find_main(data: JsonLd, url: str, titles: list[str]) -> tuple[Thing, str]:
    """Return the thing that the page is about, and its name; not a film or event on a
    page about something else.

    An article that gives the URL as its page is about it even if it has an older
    headline, which then is not the name.
    """
    main = data.main(url)
    texts = (data.text(main, key) for key in ("headline", "name"))
    lines = (one_line(text, TITLE_LENGTH) for text in texts)
    names = list(filter(None, lines))
    has_titles = any(titles)
    for name in names:
        if not has_titles or agree(name, titles):
            return main, name
    is_article_here = "headline" in main and is_at(main, url)
    if not names or is_article_here:
        return main, ""
    return {}, ""


def _find_site(tags: _MetaTags, data: JsonLd) -> str:
    """Return what the site calls itself in its meta tags or in JSON-LD."""
    sites = (thing for thing in data.things if "WebSite" in types(thing))
    names = (data.text(site, "name") for site in sites)
    return next(filter(None, chain(tags.texts(*_TAGS["sites"]), names)), "")


def _persons(names: Iterable[str]) -> list[str]:
    lines = map(strip_markup, islice(names, _MAX_AUTHORS))
    return list(dict.fromkeys(filter(None, map(person, lines))))


def _twitter_authors(tags: _MetaTags) -> list[str]:
    """Return the authors from the pairs of meta tags that are shown next to a link to
    the page (``twitter:label1``).
    """
    authors: list[str] = []
    for number in ("1", "2"):
        labels = map(str.lower, tags.get(f"twitter.label{number}"))
        if _AUTHOR_LABELS & {*labels}:
            authors += tags.get(f"twitter.data{number}")
    return authors


def _first_date(values: Iterable[object]) -> datetime | None:
    for date in filter(None, map(parse_date, values)):
        if date.date().isoformat() not in _NO_DATES:
            return date
    return None


def _day_in_path(url: str) -> datetime | None:
    match = _DAY_IN_PATH.search(urlsplit(url).path)
    if match is None:
        return None
    date = parse_date(f"{match[1]}-{match[2]:0>2}-{match[3]:0>2}")
    if date is None or not is_past(date):
        return None
    return date


def _are_same_site(one_url: str, other_url: str) -> bool:
    """Return whether two URLs have the same host, or one a subdomain of the other,
    ignoring labels such as ``m``.
    """
    hosts = [urlsplit(url).hostname or "" for url in (one_url, other_url)]
    shorter, longer = sorted((_MOBILE.sub("", host) for host in hosts), key=len)
    return longer == shorter or longer.endswith(f".{shorter}")


def _attribute(document: LexborHTMLParser, selector: str, name: str) -> str:
    node = document.css_first(selector)
    if node is None:
        return ""
    return (node.attributes.get(name) or "").strip()


def find_kind(
    document: LexborHTMLParser, facts: Metadata, url: str, source: bytes
) -> Kind | None:
    """Return the kind of a page, or None if it does not say; *source* is for quick
    checks.
    """
    about = types(facts.about)
    place = url.lower()
    if _is_discussion(document, facts, place, source):
        return "forum"
    if about & TYPES["goods"] or facts.og_type in _KINDS:
        return _kind_of_goods(facts)
    if not urlsplit(url).path.strip("/"):
        return None  # the front of a site
    if about & TYPES["news"]:
        return "article"
    if _is_manual(facts, place):
        return "documentation"
    if about & TYPES["articles"]:
        return "article"
    if facts.og_type != "article" or not facts.published:
        return None
    is_signed = facts.author or not about & TYPES["plain pages"]
    if not is_signed:
        return None
    return "article"


def _kind_of_goods(facts: Metadata) -> Kind | None:
    kind = _KINDS.get(facts.og_type)
    if kind is not None:
        return kind
    if facts.og_type == "article" or "offers" not in facts.about:
        return None
    return "product"


def _is_manual(facts: Metadata, place: str) -> bool:
    if types(facts.about) & TYPES["manuals"]:
        return True
    if _MANUAL_MAKERS.search(facts.generator):
        return True
    return _MANUAL_PLACES.search(place) is not None


def _is_discussion(
    document: LexborHTMLParser, facts: Metadata, place: str, source: bytes
) -> bool:
    if types(facts.about) & TYPES["discussions"]:
        return True
    may_be_marked = any(mark in source for mark in _MARKS)
    if may_be_marked and document.css_first(_MARKED) is not None:
        return True
    if _FORUMS.search(facts.generator):
        return True
    return _FORUM_PLACES.search(place) is not None
