"""Tell whether a page says that it is not free to read, or asks to sign in; what is
free is read as always.

Pages say so with schema.org's ``isAccessibleForFree``, where ``hasPart`` names the
elements that are not free
(https://developers.google.com/search/docs/appearance/structured-data/paywalled-content),
with the meta tag ``article:content_tier`` (``free``, ``metered`` or ``locked``), and
with the markup around an offer to subscribe.
"""

from __future__ import annotations
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from .jsonld import JsonLd, Thing, types
from .metadata import Metadata
from .nodes import has_text
from .phrases import PHRASES
from .text_blocks import TELLING_TAGS, Blocks, TextBlocks

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

_PAGES = frozenset({"WebPage", "ItemPage", "Article", "NewsArticle"})
_FALSE = frozenset(
    {"false", "http://schema.org/false", "https://schema.org/false", "no", "0"}
)
_SELECTOR = re.compile(r"\s*([.#][A-Za-z_-][\w-]{0,100})\s*")
_MAX_SELECTORS = 10
_MIN_LENGTH = 200  # characters: a part for subscribers that has fewer was not sent
_PAID_TIERS = frozenset({"locked", "metered", "premium", "paid"})

# Parts of the words below: most pages have none of them, and need no closer look.
_HINTS = (
    "paywall regwall -wall _wall riber-only ribers-only riberonly riber_only gated "
    "t-gate"
).split()
_OFFER = re.compile(
    r"(?<![a-z])(?:pay|reg|registration|subscription|premium|metered?)[-_]{0,2}wall(?![a-z])|[a-z]-paywall(?![a-z])"
    r"|subscribers?[-_]{0,2}only|gated[-_]{0,2}content|content[-_]{0,2}gate(?![a-z])"
)
_NO_OFFER = re.compile(
    r"overlay|modal|popup|header|loader|hidden|\bhide\b|title|titel|enabled|badge|label|icon|advert"
)
_OFFER_LENGTHS = range(30, 2_000)  # characters of an offer
_FRAME = (
    TELLING_TAGS["header"]
    | TELLING_TAGS["footer"]
    | TELLING_TAGS["nav"]
    | TELLING_TAGS["aside"]
)
_ACTS = frozenset({"a", "button"})

_SIGN_IN = re.compile(PHRASES["sign in"], re.IGNORECASE)
_SIGN_IN_LENGTH = 600  # characters: a page with more says something besides

NOT_FREE = (
    "the page says that it is not free to read, or not always: a part of it may be "
    "missing"
)
NOT_SENT = (
    "a part of the page is for subscribers only and was not sent: this is the part "
    "that is free"
)
OFFERED = (
    "the page shows an offer to subscribe or to sign in with its text: a part of it "
    "may be missing"
)
SIGN_IN = "the page asks to sign in: this is what it shows without signing in"


def wall_notes(
    note: str | None, facts: Metadata, outline: TextBlocks, content: str
) -> tuple[str, ...]:
    """Return a note on what stands between a reader and the whole page, if anything
    does; *note* is the one on what the page states.
    """
    asks = facts.has_password and len(content) <= _SIGN_IN_LENGTH
    if asks and _SIGN_IN.match(facts.title):
        return (SIGN_IN,)
    if note is not None:
        return (note,)
    if _shows_offer(outline):
        return (OFFERED,)
    return ()


def find_wall(document: LexborHTMLParser, facts: Metadata) -> str | None:
    """Return a note on what a page states about being free to read, if it does."""
    closed = [
        thing
        for thing in _statements(facts)
        if _is_false(thing.get("isAccessibleForFree"))
    ]
    if not closed:
        if facts.tier not in _PAID_TIERS:
            return None
        return NOT_FREE
    selectors = _selectors(facts.linked, (*closed, *facts.linked.things))
    elements = [*chain.from_iterable(map(document.css, selectors))]
    if elements and not has_text(elements, _MIN_LENGTH):
        return NOT_SENT
    return NOT_FREE


def drop_offer(outline: TextBlocks, content: Blocks, facts: Metadata) -> Blocks:
    """Leave out what stands where the text for subscribers would: an offer."""
    selectors = _selectors(facts.linked, facts.linked.things)
    names = {selector[1:] for selector in selectors}
    marks = {mark for mark in set(outline.marks) if not names.isdisjoint(mark.split())}
    offers = outline.blocks_in({*outline.marked(marks)} - {0})
    return content - offers or content


def _statements(facts: Metadata) -> Iterator[Thing]:
    """Yield the things that speak for the whole page: not the articles that it only
    lists.
    """
    if facts.about:
        yield facts.about
    others = [thing for thing in facts.linked.things if thing is not facts.about]
    stating = [thing for thing in others if "isAccessibleForFree" in thing]
    if len(stating) == 1 and _PAGES & types(stating[0]):
        yield stating[0]


def _selectors(data: JsonLd, things: Iterable[Thing]) -> list[str]:
    """Return the selectors of what things say is not free: those of single classes and
    ids, the only ones that a page has to use.
    """
    lists = [(thing, *data.inner(thing, "hasPart")) for thing in things]
    parts = chain.from_iterable(lists)
    closed = [part for part in parts if _is_false(part.get("isAccessibleForFree"))]
    texts = chain.from_iterable(data.values(part, "cssSelector") for part in closed)
    written = ",".join(text for text in texts if isinstance(text, str)).split(",")
    simple = filter(None, map(_SELECTOR.fullmatch, written))
    return list(dict.fromkeys(selector[1] for selector in simple))[:_MAX_SELECTORS]


def _is_false(value: object) -> bool:
    if value is False:
        return True
    return isinstance(value, str) and value.strip().lower() in _FALSE


def _shows_offer(outline: TextBlocks) -> bool:
    """Return whether the page shows an offer to subscribe or sign in, marked as a wall,
    outside its frame.
    """
    offers = _find_offers(outline)
    if not offers:
        return False
    inside = outline.holders(offers)
    acts = {
        offer
        for offer, name in zip(inside, outline.names, strict=True)
        if name in _ACTS
    }
    lengths = dict.fromkeys(acts - {0}, 0)
    for element, text in zip(outline.block_elements, outline.block_texts, strict=True):
        offer = inside[element]
        if offer in lengths:
            lengths[offer] += len(text)
    return any(length in _OFFER_LENGTHS for length in lengths.values())


def _find_offers(outline: TextBlocks) -> list[int]:
    """Return the elements that are marked as a wall, not those inside another."""
    marks = {
        mark
        for mark in outline.find_marks(_OFFER, _HINTS)
        if not _NO_OFFER.search(mark.lower())
    }
    offers: list[int] = []
    end = 0  # of the last one
    if not marks:
        return offers
    for element in outline.marked(marks):
        if element >= end and not outline.around[element] & _FRAME:
            offers.append(element)
            end = outline.ends[element]
    return offers
