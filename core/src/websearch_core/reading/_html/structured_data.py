"""Turn the structured data of a page into markup, for pages whose text is written only
by scripts.

The markup goes through the same steps as any page: hidden parts are left out, links are
resolved, invisible characters are removed, and nothing in it is read as Markdown.
"""

from __future__ import annotations
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape, unescape
from itertools import chain
from typing import Any, NamedTuple

from ..._text.markup import MARKUP
from .harden import harden
from .jsonld import MAX_LENGTH, JsonLd, Thing, types
from .metadata import Metadata
from .offers import Offer, read_offer, split_words, write_price
from .parse import parse

_MAX_LENGTH = 300_000  # characters of all markup together
_MAX_THINGS = 50
_MIN_ARTICLE_LENGTH = 600  # characters
_MIN_TIMES_LONGER = 1.5
_SAMPLES = 24  # of an article, taken at equal distances
_SAMPLE_LENGTH = 30  # characters
_BODIES = ("articleBody", "text", "reviewBody", "transcript", "description", "abstract")
ANSWERS = ("acceptedAnswer", "suggestedAnswer")


def lacks_article(texts: Sequence[str], length: int, facts: Metadata) -> bool:
    """Return whether a page that shows *texts* does not show the article that its data
    has.

    The article must be much longer than what was selected, *length* characters. Most
    data has the article that the page shows too, or only its beginning; then the page
    is better, since it has the links and headings.
    """
    article = " ".join(facts.linked.text(facts.about, "articleBody").split())
    if len(article) < max(_MIN_ARTICLE_LENGTH, _MIN_TIMES_LONGER * length):
        return False
    page_text = " ".join(texts)
    step = (len(article) - _SAMPLE_LENGTH) // (_SAMPLES - 1)
    matches = 0
    for number in range(_SAMPLES):
        begin = number * step
        matches += article[begin : begin + _SAMPLE_LENGTH] in page_text
    return 2 * matches < _SAMPLES


def markup_from_data(facts: Metadata, *, comments: bool = True) -> str:
    """Return the structured data of a page as markup: its main thing, then others, or
    only its description.

    Questions keep their answers, products prices, recipes steps, lists links; with
    *comments*, postings their replies.
    """
    if not comments:
        facts = _without_comments(facts)
    pieces = list(_limit(_things(facts)))
    if not pieces:
        pieces = list(_limit([_prose(facts.linked, facts.description)]))
    if not pieces:
        return ""
    return "".join([_heading(1, facts.title), *pieces])


def _without_comments(facts: Metadata) -> Metadata:
    def strip(thing: Thing) -> Thing:
        return {key: value for key, value in thing.items() if key != "comment"}

    linked = replace(facts.linked, things=tuple(map(strip, facts.linked.things)))
    return replace(facts, about=strip(facts.about), linked=linked)


def _things(facts: Metadata) -> Iterator[str]:
    data = facts.linked
    about = facts.about
    if types(about) & _WRITERS.keys():
        yield from _parts(data, about)
    else:
        yield from _body(data, about)
    done = [about]
    for thing in data.things[:_MAX_THINGS]:
        if thing not in done:
            done.append(thing)
            yield from _with_heading(
                _heading(2, data.text(thing, "headline", "name")), _parts(data, thing)
            )


def _with_heading(heading: str, parts: Iterable[str]) -> Iterator[str]:
    """Yield a heading and the non-empty parts below it, or nothing; one by one, since
    there may be many.
    """
    for part in filter(None, parts):
        yield heading
        yield part
        heading = ""


def _limit(pieces: Iterable[str]) -> Iterator[str]:
    """Yield the non-empty pieces until the size limit is reached."""
    left = _MAX_LENGTH
    for piece in filter(None, pieces):
        left -= len(piece)
        if left < 0:
            return
        yield piece


def _parts(data: JsonLd, thing: Thing) -> Iterator[str]:
    """Yield the markup of a thing, if any of its types is known."""
    for write in dict.fromkeys(
        _WRITERS[kind] for kind in sorted(types(thing)) if kind in _WRITERS
    ):
        yield from write(data, thing)


def _body(data: JsonLd, thing: Thing) -> Iterator[str]:
    for key in _BODIES:
        for value in data.values(thing, key):
            prose = _prose(data, value)
            if prose:
                yield prose
                return


def _product(data: JsonLd, thing: Thing) -> Iterator[str]:
    offer = read_offer(data, thing)
    yield _fact_list(
        ("Price", _write_prices(offer)),
        ("Availability", offer.availability),
        ("Brand", data.text(thing, "brand", "manufacturer")),
        ("SKU", data.text(thing, "sku", "mpn", "gtin", "gtin13")),
    )
    yield from _body(data, thing)


def _write_prices(offer: Offer) -> str:
    """Return ``12.99 EUR``, or ``from 10 to 20 EUR``; maybe an empty string."""
    if not offer.prices:
        return ""
    price = write_price(min(offer.prices))
    highest = write_price(max(offer.prices))
    if highest != price:
        price = f"from {price} to {highest}"
    return f"{price} {offer.currency}".strip()


def _questions(data: JsonLd, thing: Thing) -> Iterator[str]:
    yield from _body(data, thing)
    for question in data.inner(thing, "mainEntity", "hasPart"):
        if "Question" in types(question):
            heading = _heading(2, data.text(question, "name", "text"))
            yield from _with_heading(heading, _replies(data, question, *ANSWERS))


def _question(data: JsonLd, thing: Thing) -> Iterator[str]:
    yield from _body(data, thing)
    yield from _replies(data, thing, *ANSWERS)


def _posting(data: JsonLd, thing: Thing) -> Iterator[str]:
    yield from _body(data, thing)
    yield from _replies(data, thing, "comment")


def _replies(data: JsonLd, thing: Thing, *keys: str) -> Iterator[str]:
    replies = chain.from_iterable(data.values(thing, key) for key in keys)
    for reply in replies:
        if isinstance(reply, dict):
            author = data.text(reply, "author")
            heading = ""
            if author:
                heading = f"<p><b>{escape(author)}</b>:</p>"
            yield from _with_heading(heading, _body(data, reply))
        elif isinstance(reply, str):
            yield _prose(data, reply)


def _recipe(data: JsonLd, thing: Thing) -> Iterator[str]:
    yield from _body(data, thing)
    yield _fact_list(
        ("Yield", data.text(thing, "recipeYield")),
        ("Time", data.text(thing, "totalTime", "cookTime")),
    )
    yield _section(
        "Ingredients",
        "ul",
        map(data.read, data.values(thing, "recipeIngredient", "ingredients")),
    )
    yield from _steps(data, thing)


def _steps(data: JsonLd, thing: Thing) -> Iterator[str]:
    steps: list[Any] = []
    for step in data.values(thing, "recipeInstructions", "step", "steps"):
        within: list[Any] = []
        if isinstance(step, dict):
            within = data.values(step, "itemListElement")
        steps += within or [step]
    yield _section("Steps", "ol", (read_text(data, step) for step in steps))


def read_text(data: JsonLd, value: Any) -> str:
    """Return what a step or an answer says, a thing or a text."""
    if isinstance(value, dict):
        return data.text(value, "text", "description", "name")
    return data.read(value)


def _list(data: JsonLd, thing: Thing) -> Iterator[str]:
    yield from _body(data, thing)
    yield _rows(
        "ul", (_link(data, item) for item in data.values(thing, "itemListElement"))
    )


def _link(data: JsonLd, item: Any) -> str:
    """Return an item of a list, or the thing inside it, as a link."""
    if not isinstance(item, dict):
        return escape(_flatten(data.read(item)))
    listed = read_item(data, item)
    name = escape(_flatten(listed.name))
    if not name:
        return ""
    line = name
    if listed.url:
        line = f'<a href="{escape(listed.url)}">{name}</a>'
    price = _write_prices(read_offer(data, listed.thing))
    if price:
        return f"{line}: {escape(price)}"
    return line


class ListedThing(NamedTuple):
    """A thing in a list, with its name and where it is; both may be empty."""

    thing: Thing
    name: str
    url: str


def read_item(data: JsonLd, item: Thing) -> ListedThing:
    """Return the thing in an item of a list, or the item itself."""
    thing = next(iter(data.inner(item, "item")), item)
    name = data.text(thing, "name", "headline") or data.text(item, "name")
    return ListedThing(thing, name, _find_url(data, (thing, item)))


def _find_url(data: JsonLd, things: Iterable[Thing]) -> str:
    for thing in things:
        for key in ("url", "@id", "item"):
            for url in data.values(thing, key):
                if isinstance(url, str):
                    return url
    return ""


def _event(data: JsonLd, thing: Thing) -> Iterator[str]:
    ends = [data.text(thing, "startDate"), data.text(thing, "endDate")]
    yield _fact_list(
        ("When", " to ".join(filter(None, ends))),
        ("Where", place_of(data, thing, "location")),
        ("Price", _write_prices(read_offer(data, thing))),
    )
    yield from _body(data, thing)


def _job(data: JsonLd, thing: Thing) -> Iterator[str]:
    yield _fact_list(
        ("Company", data.text(thing, "hiringOrganization")),
        ("Location", place_of(data, thing, "jobLocation")),
        (
            "Employment",
            split_words(
                ", ".join(map(data.read, data.values(thing, "employmentType")))
            ),
        ),
        ("Apply by", data.text(thing, "validThrough")),
    )
    yield from _body(data, thing)


def place_of(data: JsonLd, thing: Thing, key: str) -> str:
    """Return the name and address of the first place under *key*."""
    for place in data.values(thing, key):
        if not isinstance(place, dict):
            return data.read(place)
        keys = (
            "streetAddress",
            "postalCode",
            "addressLocality",
            "addressRegion",
            "addressCountry",
        )
        address = next(iter(data.values(place, "address")), place)
        parts = (
            [data.text(address, part) for part in keys]
            if isinstance(address, dict)
            else [data.read(address)]
        )
        return ", ".join(
            dict.fromkeys(filter(None, [data.text(place, "name"), *parts]))
        )
    return ""


_WRITERS: dict[str, Callable[[JsonLd, Thing], Iterable[str]]] = {
    "Product": _product,
    "ProductGroup": _product,
    "SoftwareApplication": _product,
    "MobileApplication": _product,
    "WebApplication": _product,
    "FAQPage": _questions,
    "Question": _question,
    "DiscussionForumPosting": _posting,
    "SocialMediaPosting": _posting,
    "Recipe": _recipe,
    "HowTo": _recipe,
    "ItemList": _list,
    "Event": _event,
    "MusicEvent": _event,
    "BusinessEvent": _event,
    "EducationEvent": _event,
    "SportsEvent": _event,
    "TheaterEvent": _event,
    "Festival": _event,
    "JobPosting": _job,
}


def _heading(level: int, name: str) -> str:
    if not name:
        return ""
    return f"<h{level}>{escape(_flatten(name))}</h{level}>"


def _fact_list(*facts: tuple[str, str]) -> str:
    return _rows(
        "ul", [f"{label}: {escape(_flatten(value))}" for label, value in facts if value]
    )


def _section(heading: str, kind: str, lines: Iterable[str]) -> str:
    rows = _rows(kind, map(escape, map(_flatten, lines)))
    if not rows:
        return ""
    return f"<h2>{heading}</h2>{rows}"


def _rows(kind: str, lines: Iterable[str]) -> str:
    rows = "".join(f"<li>{line}</li>" for line in lines if line)
    if not rows:
        return ""
    return f"<{kind}>{rows}</{kind}>"


def _prose(data: JsonLd, value: Any) -> str:
    """Return a text, plain or markup (maybe escaped once too often), as markup with
    every element closed.
    """
    if isinstance(value, dict):
        value = value.get("@value") or value.get("text")
    if not isinstance(value, str) or not value.strip():
        return ""
    value = value[:MAX_LENGTH]
    if not data.effort.spend(characters=len(value)):
        return ""
    if "&lt;" in value and not MARKUP.search(value):
        value = unescape(value)
    if MARKUP.search(value):
        body = parse(harden(value.encode("utf-8", "replace")).source).body
        return f"<div>{(body and body.inner_html) or ''}</div>"
    lines = unescape(value).splitlines()
    return "".join(f"<p>{escape(line.strip())}</p>" for line in lines if line.strip())


def _flatten(value: str) -> str:
    """Return a text on one line, without markup."""
    return " ".join(MARKUP.sub(" ", value).split())
